"""Sealed files that later runs find again: a shared folder of the same names.

A file is a hard link to that of a run where the disk is the same, so that it takes no room; on
another disk it is a copy. Nothing but a warning comes of a cache that cannot be read or written.
"""

import errno
import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from xmine.errors import FileError
from xmine.files.atomic import replacing
from xmine.progress import silent

# Of runs and of the cache: seals of files cover the name of the folder as well.
PARTS = "parts"
_DAY = 86_400  # seconds
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EACCES, errno.ENOSYS)

Warn = Callable[[str], None]


def cache_folder() -> Path:
    """Name the folder: $XMINE_CACHE, or xmine in the folder for caches of this system."""
    from platformdirs import user_cache_dir  # 0.02 s

    return Path(os.environ.get("XMINE_CACHE") or user_cache_dir("xmine", appauthor=False))


@dataclass(frozen=True, slots=True)
class Cache:
    """The files of all runs; `warn` is told what is wrong with the folder."""

    warn: Warn = silent

    def take(self, paths: Sequence[Path]) -> None:
        """Link or copy the files of these names to these paths, as far as they are there."""
        for path in paths:
            there = cache_folder() / PARTS / path.name
            if there.exists() and self._try(there, path):
                with suppress(OSError):  # whoever may not write here reads all the same
                    os.utime(there)

    def keep(self, paths: Sequence[Path]) -> None:
        """Link or copy whole files into the cache."""
        folder = cache_folder() / PARTS
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.warn(f"{folder}: vectors cannot be kept for later runs: {error.strerror}")
            return
        for path in paths:
            if not self._try(path, folder / path.name):
                return

    def drop(self, paths: Sequence[Path]) -> None:
        """Remove files that were changed."""
        for path in paths:
            with suppress(OSError):
                (cache_folder() / PARTS / path.name).unlink()

    def _try(self, path: Path, link: Path) -> bool:
        try:
            _link(path, link)
        except (OSError, FileError) as error:
            why = error.strerror if isinstance(error, OSError) else error.message
            self.warn(f"{cache_folder()}: cannot be used as a cache: {why}")
            return False
        return True


def _link(path: Path, link: Path) -> None:
    """Make a hard link, or a copy on another disk; a file that is there stays."""
    try:
        os.link(path, link)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with replacing(link) as partial:
            shutil.copyfile(path, partial)


def cached() -> list[os.DirEntry[str]]:
    """List the files of the cache."""
    try:
        with os.scandir(cache_folder() / PARTS) as found:
            return [each for each in found if each.is_file()]
    except FileNotFoundError:
        return []


def remove_cached(days: float | None = None) -> tuple[int, int, int]:
    """Remove the files that were not used for so many days, or all.

    Returns:
        how many files there were, the bytes that are freed, and the bytes that runs still have.
    """
    files, freed, kept = 0, 0, 0
    for each in cached():
        state = each.stat()
        if days is not None and state.st_mtime >= time.time() - days * _DAY:
            continue
        os.unlink(each.path)
        files += 1
        if state.st_nlink > 1:
            kept += state.st_size
        else:
            freed += state.st_size
    return files, freed, kept
