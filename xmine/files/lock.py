"""A folder in which one process works at a time."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xmine.errors import FileError
from xmine.files.atomic import writing
from xmine.files.portable import lock_at_once

LOCK_FILE = ".lock"
# File systems without locks, such as Lustre as it is often mounted: nobody is kept out there.
_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)


@contextmanager
def held(folder: Path, work: str) -> Iterator[None]:
    """Hold the lock of a folder; the system lets it go when the process ends, however it ends.

    Raises:
        FileError: another process holds it; `work` says in a word or two what it does there.
    """
    with writing(folder):
        lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            lock_at_once(lock)
        except BlockingIOError:
            raise FileError(
                f"{folder}: another process is {work} it",
                "wait until it is done, or give another folder",
            ) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        yield
    finally:
        os.close(lock)
