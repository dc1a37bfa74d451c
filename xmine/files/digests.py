"""Digests of files when they are written, so that a later reader can tell whether they changed.

Digests are BLAKE2b (RFC 7693). They find bits that flip, tails that are lost, and files of another
run; they do not keep out somebody who writes new digests as well. A file that cannot be read now is
an error, and never counts as changed.
"""

import os
from hashlib import blake2b
from pathlib import Path

from xmine.errors import FileError

_BYTES = 16
_BYTES_AT_ONCE = 2**20
# The header of a .npy file is written last, since it says how many rows there are: it is hashed
# last, so that the rest can be hashed as it is written.
HEAD = 128
_SEAL = "# blake2b "
Identity = (
    tuple[int, int, int] | None
)  # the number of a file, its size, the time of its last change

_NO_FILE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


def refuse_unreadable(path: str | Path, error: Exception) -> None:
    """Raise a FileError, unless the error of opening or reading tells that no file is there."""
    if isinstance(error, OSError) and not isinstance(error, _NO_FILE):
        hint = "nothing was changed: give the command again when the file can be read"
        raise FileError(f"{path}: cannot be read: {error.strerror or error}", hint) from error


def identity(path: str | Path) -> Identity:
    """Tell which file is at a path, and in which state; None where no file is."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        refuse_unreadable(path, error)
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_unchanged(path: str | Path, known: Identity) -> None:
    """Refuse a file that was replaced or written to since it had an identity."""
    if identity(path) != known:
        raise FileError(f"{path}: was changed while it was read", "give the command again")


def digest_of(path: Path) -> str:
    """Hash a file: 32 hexadecimal digits; none where no file is.

    Raises:
        FileError: the file cannot be read.
    """
    state = blake2b(digest_size=_BYTES)
    try:
        with path.open("rb", buffering=0) as file:
            head = file.read(HEAD)
            while block := file.read(_BYTES_AT_ONCE):
                state.update(block)
    except OSError as error:
        refuse_unreadable(path, error)
        return ""
    state.update(head)
    return state.hexdigest()


def digest(*parts: str | bytes | memoryview) -> str:
    """Hash parts, each with its length: 32 hexadecimal digits."""
    state = blake2b(digest_size=_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(b"%d " % memoryview(data).nbytes)
        state.update(data)
    return state.hexdigest()


def sealed(text: str, mark: str = "") -> str:
    """Put the digest of a text before it, in a line that is a comment in TOML."""
    return f"{_SEAL}{digest(mark, text)}\n{text}"


def unsealed(text: str, mark: str = "") -> str | None:
    """Give a text without its digest; None where it is not what was sealed with this mark."""
    own = text.partition("\n")[2]
    return own if text == sealed(own, mark) else None


def read_sealed(path: Path, mark: str = "") -> str | None:
    """Read a text that was sealed; None where it is not what was written, or is not there."""
    try:
        return unsealed(path.read_text(encoding="utf-8"), mark)
    except (OSError, UnicodeDecodeError) as error:
        refuse_unreadable(path, error)
        return None
