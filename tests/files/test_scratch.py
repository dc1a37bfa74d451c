"""Scratch arrays hold what is put there, in memory or in a folder, and leave no file behind."""

import errno
import mmap
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from xmine.errors import FileError
from xmine.files import scratch
from xmine.hardware import anonymous_memory

MEGABYTE = 2**20


def is_mapped(array: object) -> bool:
    """Tell whether an array lies in a file that is mapped."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return isinstance(array, memoryview) or type(array).__name__ == "mmap"


def test_large_arrays_are_mapped_within_a_folder_only(tmp_path: Path) -> None:
    assert not is_mapped(scratch.empty(MEGABYTE, np.int8))
    with scratch.scratch_in(tmp_path):
        large = scratch.empty((MEGABYTE // 8, 2), np.float32)
        assert is_mapped(large) and not is_mapped(scratch.empty(MEGABYTE - 1, np.int8))
        assert large.shape == (MEGABYTE // 8, 2) and large.dtype == np.float32
    large[:] = 7  # the array outlives the block
    assert large.sum() == 7 * large.size
    assert not is_mapped(scratch.empty(MEGABYTE, np.int8))
    assert list(tmp_path.iterdir()) == []


def test_a_mapped_array_is_no_anonymous_memory(tmp_path: Path) -> None:
    with scratch.scratch_in(tmp_path):
        before = anonymous_memory()
        array = scratch.empty(32 * MEGABYTE, np.int8)
        array[:] = 1
        assert anonymous_memory() - before < 4 * MEGABYTE


def test_what_is_stored_taken_and_joined_is_what_numpy_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "ROWS_AT_ONCE", 7)
    array = np.random.default_rng(1).random((100, 3))
    rows = np.array([3, 99, 0, 3] * 9)
    some = array[:, 0] > 0.5
    for least in (1, MEGABYTE):
        monkeypatch.setattr(scratch, "LEAST", least)
        with scratch.scratch_in(tmp_path):
            assert np.array_equal(scratch.stored(array), array)
            assert np.array_equal(scratch.taken(array, rows), array[rows])
            assert np.array_equal(scratch.taken(array, some), array[some])
            assert np.array_equal(scratch.joined([array, array[:5]]), [*array, *array[:5]])
            assert scratch.empty((0, 3), np.int64).shape == (0, 3)
    assert scratch.stored(array) is array
    assert [(each.start, each.stop) for each in scratch.slices(16)] == [(0, 7), (7, 14), (14, 16)]


@pytest.mark.parametrize("least", [1, 5, MEGABYTE])
def test_appended_bytes_are_read_again(
    least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "LEAST", least)
    parts = [b"one", b"", b"seven77", b"2", b"eleven bytes"]
    with scratch.scratch_in(tmp_path):
        spool = scratch.Spool()
        assert list(map(spool.append, parts)) == [3, 3, 10, 11, 23]
        assert spool.array().tobytes() == b"".join(parts)
        assert scratch.Spool().array().tobytes() == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("why", [None, errno.EINVAL, errno.EOPNOTSUPP])
def test_room_is_taken_where_the_system_has_no_call_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: int | None
) -> None:
    def refuse(*_: int) -> None:
        assert why is not None
        raise OSError(why, os.strerror(why))

    if why is None:
        monkeypatch.delattr(os, "posix_fallocate")
    else:
        monkeypatch.setattr(os, "posix_fallocate", refuse)
    taken: list[int] = []
    mapped = mmap.mmap

    def look(file: int, size: int) -> mmap.mmap:
        taken.append(os.fstat(file).st_blocks * 512)
        return mapped(file, size)

    monkeypatch.setattr("xmine.files.scratch.mmap.mmap", look)
    with scratch.scratch_in(tmp_path):
        assert not scratch.empty(3 * MEGABYTE + 5, np.int8).any()
    assert taken[0] >= 3 * MEGABYTE + 5


def test_a_full_disk_is_an_error_before_the_array_is_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with scratch.scratch_in(tmp_path), pytest.raises(FileError, match="No space left") as error:
        scratch.empty(MEGABYTE, np.int8)
    assert "make room" in error.value.hint


def test_temporary_folders_of_killed_processes_are_deleted_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = "import sys; from xmine.files.scratch import *\nwith temporary_folder() as folder:\n"
    script += " (folder / 'x').touch(); print(folder, flush=True); sys.stdin.read()"
    (own := tmp_path / "xmine-mine").mkdir()  # a folder of the user's
    (own / ".lock").touch()
    made = []
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        assert process.stdout
        made.append((process, Path(process.stdout.readline().decode().strip())))
    (killed, gone), (living, stays) = made
    killed.kill()
    killed.communicate()
    assert (gone / "x").exists()
    with scratch.temporary_folder() as folder:
        assert folder.parent == tmp_path and not list(folder.iterdir())
        assert not gone.exists() and (stays / "x").exists()
    living.communicate()
    assert list(tmp_path.iterdir()) == [own] and (own / ".lock").exists()
