"""A folder in which one process works at a time."""

import errno
import fcntl
from pathlib import Path

import pytest

from xmine.errors import FileError
from xmine.files.lock import held


def test_a_folder_is_held_by_one_and_free_again(tmp_path: Path) -> None:
    for _ in range(2):
        with (
            held(tmp_path, "training in"),
            pytest.raises(FileError, match="another process is mining into it"),
            held(tmp_path, "mining into"),
        ):
            pass


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_locks_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(number, "of the system")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with held(tmp_path, "training in"):
        pass
    number = errno.EIO
    with pytest.raises(OSError, match="of the system"), held(tmp_path, "training in"):
        pass
