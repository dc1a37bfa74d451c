"""Sealed arrays: numpy reads them, they appear together, and any change is found."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.sealed_arrays import open_sealed, opened_sealed, write_all_sealed, write_sealed

ARRAYS = {
    "matrix": np.arange(12, dtype=np.float16).reshape(4, 3),
    "bools": np.array([True, False, True]),
    "records": np.array(
        [(5, (1, 2), True)], dtype=[("key", "<i8"), ("ends", "<i4", 2), ("is", "?")]
    ),
    "no row": np.zeros((0, 3), dtype=np.int64),
    "no column": np.zeros((3, 0), dtype=np.int64),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_comes_back_and_numpy_reads_it(name: str, tmp_path: Path) -> None:
    path, array = tmp_path / "a.npy", ARRAYS[name]
    write_sealed(path, array)
    found = open_sealed(path, array.dtype)
    assert found is not None and found.dtype == array.dtype and found.shape == array.shape
    assert found.tobytes() == np.load(path).tobytes() == array.tobytes()


def test_arrays_appear_together_and_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    paths = tmp_path / "halves.npy", tmp_path / "counts.npy"
    halves, counts = np.arange(6, dtype=np.float16).reshape(3, 2), np.array([[5], [6]])

    def blocks(fails: bool) -> Iterator[tuple[NDArray[Any], ...]]:
        yield halves, counts[:0]
        assert not any(path.exists() for path in paths)
        if fails:
            raise FileError("no")
        yield halves[:0], counts

    with pytest.raises(FileError, match="no"):
        write_all_sealed(paths, blocks(True))
    assert list(tmp_path.iterdir()) == []
    write_all_sealed(paths, blocks(False))
    assert len(synced) == 2
    for path, expected in zip(paths, (halves, counts), strict=True):
        assert (opened_sealed(path, expected.dtype) == expected).all()


def test_every_bit_is_sealed(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    write_sealed(path, ARRAYS["records"])
    data, dtype = path.read_bytes(), ARRAYS["records"].dtype
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << random.Random(place).randrange(8)
        path.write_bytes(bytes(changed))
        assert open_sealed(path, dtype) is None, place
    for other in (data[:-1], data + b"\0", data[:100], b"", data[:-16]):
        path.write_bytes(other)
        assert open_sealed(path, dtype) is None
    path.write_bytes(data)
    assert open_sealed(path, np.int64) is None
    assert open_sealed(path, dtype) is not None


def test_the_names_of_the_file_and_its_folder_are_sealed(tmp_path: Path) -> None:
    path = tmp_path / "one" / "a.npy"
    path.parent.mkdir()
    write_sealed(path, ARRAYS["bools"])
    for other in (tmp_path / "one" / "b.npy", tmp_path / "other" / "a.npy"):
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(path.read_bytes())
        assert open_sealed(other, bool) is None
    (tmp_path / "away").mkdir()
    moved = path.parent.rename(tmp_path / "away" / "one")  # a run may be moved
    assert open_sealed(moved / "a.npy", bool) is not None


def test_what_is_no_sealed_array_is_dropped_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    write_sealed(path, ARRAYS["bools"])
    assert opened_sealed(path, bool).tolist() == [True, False, True]
    np.save(path, ARRAYS["bools"])
    with pytest.raises(FileError, match=r"a\.npy: is gone, or was changed") as caught:
        opened_sealed(path, bool)
    assert caught.value.hint == "run it again"
    assert not path.exists()


def test_a_mark_stands_for_the_names(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    write_all_sealed([path], [(ARRAYS["matrix"],)], "work")
    moved = path.rename(tmp_path / "b.npy")
    assert open_sealed(moved, np.float16, "work") is not None
    assert (
        open_sealed(moved, np.float16, "other") is None and open_sealed(moved, np.float16) is None
    )
