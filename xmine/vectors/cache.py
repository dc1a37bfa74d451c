"""Texts, encoder and prompt -> the vectors that an earlier run made of them, in a cache.

An entry is a matrix that a run has written, and a small TOML file about it. The matrix is a hard
link where the disk is the same, so that it takes no room; on another disk it is a copy.
"""

import errno
import os
import shutil
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from xmine.errors import FileError, OptionError
from xmine.files.atomic import hidden_start
from xmine.files.digests import NOBODY, Watch, digest_of
from xmine.files.npy import open_matrix
from xmine.options import dump_toml

_NEW = ".new-"
_DAY = 86_400  # seconds, in which any copy of a matrix is done
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EACCES, errno.ENOSYS)

Warn = Callable[[str], None]


def unheard(message: str) -> None:
    """Hear no warning: the default of every function that takes a `warn`."""


@dataclass(frozen=True, slots=True)
class About:
    """The file beside a matrix: text input, encoder, size and time for people, and the digest."""

    text: str = ""
    encoder: str = ""
    rows: int = 0
    dim: int = 0
    made: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A matrix in the cache.

    Attributes:
        key: 32 hexadecimal digits.
        about: the file beside it.
        used: the time of its last use, in seconds since 1970.
        bytes: its size on disk.
        freed: the bytes that removing it frees; none while a run has the matrix, too.
        wrong: the reason why it is of no use; empty if there is none.
    """

    key: str
    about: About
    used: float
    bytes: int = 0
    freed: int = 0
    wrong: str = ""


def folder() -> Path:
    """Name the folder: $XMINE_CACHE, or xmine in $XDG_CACHE_HOME, or in ~/.cache."""
    if own := os.environ.get("XMINE_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "xmine")


def find(key: str, warn: Warn = unheard) -> Path | None:
    """Find the matrix of a key, and note that it is used; None if there is none that is whole.

    `warn` is told of one that is broken.
    """
    path = _matrix(key)
    try:
        if not os.path.lexists(path):
            return None
        if wrong := _entry(path).wrong:
            warn(f"{path}: is left out: {wrong}")
            return None
    except OSError as error:
        warn(f"{path}: cannot be read: {error.strerror}")
        return None
    except FileError as error:
        warn(error.message)
        return None
    with suppress(OSError):  # whoever may not write here reads all the same
        os.utime(path.with_suffix(".toml"))
    return path


def keep(key: str, path: Path, text: str, encoder: str, warn: Warn = unheard) -> None:
    """Put a complete matrix into the cache; it must not be changed in place.

    Args:
        key: see `xmine.vectors.encoding.vectors_key`.
        path: of the matrix.
        text, encoder: the names of the text input and of the encoder, for people.
        warn: told why the matrix cannot be kept; nothing else comes of that.
    """
    made = datetime.now(UTC).isoformat(timespec="seconds")
    target = _matrix(key)
    try:
        matrix = open_matrix(path)
        if matrix is None or find(key) is not None:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        for left in target.parent.glob(f"{_NEW}*"):  # of a process that was killed
            with suppress(FileNotFoundError):  # another process has finished it
                if left.stat().st_mtime < time.time() - _DAY:
                    shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=_NEW) as new:
            link, about = Path(new, "link"), Path(new, "about")
            if not _linked(path, link):  # a run may go, or give the file another name
                shutil.copyfile(path, link)
            rows, dim = matrix.shape
            facts = About(text, encoder, rows, dim, made, digest_of(path))
            about.write_text(dump_toml(facts), encoding="utf-8")
            about.replace(target.with_suffix(".toml"))
            link.replace(target)
    except (OSError, RuntimeError, FileError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        warn(f"the vectors of {text} cannot be kept for later runs: {target.parent}: {why}")


def take(key: str, path: Path, warn: Warn = unheard, watch: Watch = NOBODY) -> bool:
    """Link the matrix of a key to `path`, in place of what is there; tell whether there is one.

    A matrix that is not what it was when it was kept is taken out of the cache; one that cannot be
    read now stays.
    """
    found = find(key, warn)
    if found is None:
        return False
    new = path.with_name(f"{hidden_start(path)}link.part")
    try:
        entry, digest = _entry(found), digest_of(found)
        if digest != entry.about.digest:
            warn(f"{found}: is left out: it was changed since it was written")
            remove(entry)
            return False
        new.unlink(missing_ok=True)
        if not _linked(found, new):
            new.symlink_to(found.resolve())
        watch.sealed(path, digest)
        new.replace(path)
        new.unlink(missing_ok=True)  # replacing a file by itself does nothing
    except (OSError, RuntimeError) as error:
        warn(f"{found}: cannot be used: {error}")
        return False
    except FileError as error:
        warn(error.message)
        return False
    return open_matrix(path) is not None


def _linked(path: Path, link: Path) -> bool:
    """Make a hard link, if the disk is the same and has such links; tell whether it is made."""
    try:
        os.link(path.resolve(strict=True), link)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return False
    return True


def entries() -> list[Entry]:
    """List what there is, what was used last first."""
    found = [_entry(path) for path in _vectors().glob("*.npy")]
    return sorted(found, key=lambda entry: (-entry.used, entry.key))


def chosen(keys: Sequence[str]) -> list[Entry]:
    """Find entries by the beginnings of their keys."""
    every = entries()
    found: dict[str, Entry] = {}
    for key in keys:
        fitting = [entry for entry in every if entry.key.startswith(key)]
        if not key or len(fitting) != 1:
            many = f"{len(fitting)} entries begin" if fitting else "no entry begins"
            raise OptionError(f"{key!r}: {many} so", "xmine cache ls shows their keys")
        found[fitting[0].key] = fitting[0]
    return list(found.values())


def remove(entry: Entry) -> None:
    """Take an entry out; a run that has the matrix, too, keeps it."""
    for path in (_matrix(entry.key), _matrix(entry.key).with_suffix(".toml")):
        path.unlink(missing_ok=True)


def clear() -> None:
    """Take out what is left when all entries are: parts of such as were never finished."""
    for path in _vectors().glob(f"{_NEW}*"):
        shutil.rmtree(path)


def _vectors() -> Path:
    return folder() / "vectors"


def _matrix(key: str) -> Path:
    return _vectors() / f"{key}.npy"


def _entry(path: Path) -> Entry:
    """Read what is known of a matrix, and look whether it is whole."""
    beside = path.with_suffix(".toml")
    try:
        about = About(**tomllib.loads(beside.read_text(encoding="utf-8")))
        if any(type(getattr(about, each.name)) is not type(each.default) for each in fields(About)):
            about = About()
    except (FileNotFoundError, TypeError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        about = About()
    entry = Entry(path.stem, about, (beside if beside.exists() else path).lstat().st_mtime)
    try:
        at = path.stat()
    except FileNotFoundError:
        return replace(entry, wrong="it is gone")
    entry = replace(entry, bytes=at.st_size, freed=0 if at.st_nlink > 1 else at.st_size)
    wrong = "" if about.digest else "it has no digest"
    return replace(entry, wrong=wrong if open_matrix(path) is not None else "it is broken")
