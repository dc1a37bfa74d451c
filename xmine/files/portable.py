"""Locks and owners: Windows has other calls than Linux and macOS."""

import os
import stat
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _FAR = 2**40  # a byte behind any end, so that no reader is kept out

    def lock_at_once(handle: int) -> None:
        """Lock an open file until it is closed; BlockingIOError if another process holds it."""
        at = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(str(error)) from None
        finally:
            os.lseek(handle, at, os.SEEK_SET)

else:
    import fcntl

    def lock_at_once(handle: int) -> None:
        """Lock an open file until it is closed; BlockingIOError if another process holds it."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_ours(path: Path) -> bool:
    """Tell whether a file or folder is this user's, as is a link to it, and has no sticky bit.

    In a folder with a sticky bit, such as /tmp, others may put files. Windows knows neither.

    Raises:
        OSError: nothing is there.
    """
    if not hasattr(os, "getuid"):
        return True
    found = path.stat()
    return {found.st_uid, path.lstat().st_uid} == {os.getuid()} and not found.st_mode & stat.S_ISVTX
