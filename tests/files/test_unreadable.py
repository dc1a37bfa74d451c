"""A file that cannot be read now is an error, and neither missing nor changed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.toys.faults import CODES, failing
from xmine.errors import FileError
from xmine.files.digests import digest_of, read_sealed, sealed
from xmine.files.npy import open_matrix, write_matrix
from xmine.files.sealed_arrays import open_sealed, write_sealed

READERS: dict[str, tuple[Callable[[Path], object], object]] = {
    "digest_of": (digest_of, ""),
    "read_sealed": (read_sealed, None),
    "open_matrix": (open_matrix, None),
    "open_sealed": (lambda path: open_sealed(path, np.float16), None),
}


def written(path: Path, reader: str) -> bytes:
    if reader == "read_sealed":
        path.write_text(sealed("a = 1\n"))
    elif reader == "open_sealed":
        write_sealed(path, np.ones((3, 4), np.float16))
    else:
        write_matrix(path, [np.ones((3, 4), np.float16)])
    return path.read_bytes()


@pytest.mark.parametrize("reader", READERS)
def test_an_unreadable_file_is_an_error_and_stays(reader: str, tmp_path: Path) -> None:
    path, (read, _) = tmp_path / "a.npy", READERS[reader]
    before = written(path, reader)
    for code, reading in [*((code, False) for code in CODES), (0, True)]:
        with (
            failing(path.__eq__, code, reading=reading) as hit,
            pytest.raises(FileError, match=r"a\.npy: cannot be read: \w") as error,
        ):
            read(path)
        assert hit and "give the command again" in error.value.hint
        assert path.read_bytes() == before
    read(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("reader", READERS)
def test_a_missing_file_and_a_folder_are_no_files(reader: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    read, nothing = READERS[reader]
    for name in ("missing", "missing/inside", "file/inside", "folder"):
        assert read(tmp_path / name) == nothing
