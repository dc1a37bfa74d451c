"""Files of steps are found again by their names; trouble with the cache is but told."""

import errno
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.engines import Shuffled
from xmine.files import cache
from xmine.files.cache import PARTS, Cache
from xmine.run.steps import Blocks, Steps, joined


def ones(start: int, stop: int) -> Blocks:
    yield (np.ones((stop - start, 4), np.float16),)


def made(run: Path, warnings: list[str] | None = None) -> tuple[Path, int]:
    """Make a block in a run: its file, and how many tasks that took."""
    run.mkdir(exist_ok=True)
    engine = Shuffled()
    steps = Steps(run / PARTS, engine)
    kept = Cache() if warnings is None else Cache(warnings.append)
    files = steps.make({"vectors": np.float16}, ["a"], range(0, 3, 4), ones, cache=kept)
    assert joined(files, 0, np.float16).tolist() == [[1] * 4] * 3
    return files[0][0], len(engine.ran)


def test_the_folder_is_where_the_user_wants_it(
    monkeypatch: pytest.MonkeyPatch, cache_of_its_own: Path
) -> None:
    assert cache.cache_folder() == cache_of_its_own
    monkeypatch.delenv("XMINE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.cache_folder() == Path("/somewhere/xmine")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache.cache_folder() == Path("/home/somebody/.cache/xmine")


def test_a_run_takes_what_another_made(tmp_path: Path, cache_of_its_own: Path) -> None:
    first, ran = made(tmp_path / "a")
    kept = cache_of_its_own / PARTS / first.name
    assert ran == 1 and kept.samefile(first)  # which takes no room
    os.utime(kept, (1000, 1000))
    second, ran = made(tmp_path / "b")
    assert ran == 0 and second.samefile(kept) and kept.stat().st_mtime > 1000
    second.unlink()
    kept.unlink()
    assert made(tmp_path / "b")[1] == 1


def test_on_another_disk_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_disk(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", other_disk)
    first, _ = made(tmp_path / "a")
    second, ran = made(tmp_path / "b")
    assert ran == 0 and not second.samefile(first)
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("trouble", ["a file in the way", "a full disk"])
def test_trouble_is_told_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str, cache_of_its_own: Path
) -> None:
    if trouble == "a full disk":

        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "link", full)
    else:
        cache_of_its_own.write_text("in the way")
    warnings: list[str] = []
    assert made(tmp_path / "a", warnings)[1] == 1
    assert len(warnings) == 1 and str(cache_of_its_own) in warnings[0]


def test_files_are_removed_by_their_age(tmp_path: Path) -> None:
    path, _ = made(tmp_path / "a")
    size = path.stat().st_size
    kept = cache.cache_folder() / PARTS / path.name
    assert cache.remove_cached(1.0) == (0, 0, 0)
    long_ago = time.time() - 2 * 86_400
    os.utime(kept, (long_ago, long_ago))
    path.unlink()
    assert cache.remove_cached(1.0) == (1, size, 0) and cache.cached() == []
    path, _ = made(tmp_path / "b")
    assert cache.remove_cached() == (1, 0, size) and path.exists()


def test_no_cache_has_no_files(cache_of_its_own: Any) -> None:
    assert cache.cached() == [] and cache.remove_cached() == (0, 0, 0)
