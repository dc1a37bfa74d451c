"""Output that is whole or not there: written under a temporary name, then renamed."""

import errno
import glob
import gzip
import lzma
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from xmine.errors import FileError
from xmine.files.portable import lock_at_once

# How the names of files end that are not whole.
PARTIAL = ".partial"
_LONGEST = 40  # characters of a name within a hidden one
# Outputs that are replaced together at the end of a command.
_WAITING: ContextVar[tuple[ExitStack, set[str]] | None] = ContextVar("outputs", default=None)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's error of what writes to `path` into a FileError that names the path."""
    try:
        yield
    except OSError as error:
        raise _not_written(str(path), error) from error


def _not_written(name: str, error: OSError) -> FileError:
    """Say why a file cannot be written; numpy's own errors have a text and no number."""
    is_full = error.errno in _FULL or error.errno is None
    hint = "make room there, or write it elsewhere" if is_full else ""
    return FileError(f"{name}: cannot be written: {error.strerror or error}", hint)


def remove(path: Path) -> None:
    """Delete a file, a folder with all that is in it, or a link and not what it leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check_free(path: Path, *, force: bool, folder: bool = False) -> None:
    """Refuse to overwrite unless `force`; called before the work whose result goes to `path`.

    A folder without files is as good as none. What a killed process has left beside the path goes:
    here, once for an output, as each look at a folder takes as long as it has files.
    """
    is_empty = path.is_dir() and not path.is_mount() and not any(path.iterdir())
    there = path.exists() and not (folder and is_empty)
    if there and path.is_dir() != folder:
        raise FileError(f"{path}: is a {'file' if folder else 'folder'}", "give another name")
    if there and not (path.is_file() or folder):  # a device or a pipe: it would be replaced
        raise FileError(f"{path}: is not a regular file", "give another name")
    if there and not force:
        raise FileError(f"{path}: exists already", "give another name, or --force to replace it")
    check_parent(path)
    for left in path.parent.glob(partial_names(path)):  # of processes that no longer live
        with suppress(OSError), left.open("r+b") as file:
            lock_at_once(file.fileno())
            left.unlink()


def check_parent(path: Path) -> None:
    """Refuse a path in a folder that is not there, or in a file."""
    parent = path.absolute().parent
    if parent.exists() and not parent.is_dir():
        raise FileError(f"{path.parent}: is a file, not a folder", "give another name")
    if not parent.is_dir():
        raise FileError(f"{path.parent}: no such folder", f"mkdir -p {path.parent}")


@contextmanager
def together(*outputs: object) -> Iterator[None]:
    """Give the outputs that are replaced inside their names at its end, or none of them.

    A command with several outputs that is killed between them could not be repeated.
    """
    names = {name for each in outputs if each for name in str(each).split(",")}
    with ExitStack() as waiting:
        outer = _WAITING.set((waiting, names))
        try:
            yield
        finally:
            _WAITING.reset(outer)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file beside `path`; on success it becomes `path`, on failure it goes."""
    with replacing_all([path]) as partials:
        yield partials[0]


@contextmanager
def replacing_all(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Give a temporary file for each path; on success all get their names, on failure none does.

    Where a path is a symbolic link, what it leads to is replaced. See also `together`.
    """
    waiting = _WAITING.get()
    if waiting and {*map(str, paths)} <= waiting[1]:
        yield waiting[0].enter_context(_replacing(paths))
    else:
        with _replacing(paths) as partials:
            yield partials


@contextmanager
def _replacing(paths: Sequence[Path]) -> Iterator[list[Path]]:
    targets = [Path(os.path.realpath(path)) if path.is_symlink() else path for path in paths]
    partials: list[Path] = []
    handles: list[int] = []
    at: Path | None = None
    try:
        for path, target in zip(paths, targets, strict=True):
            at = path
            handle, name = tempfile.mkstemp(**_beside(target))
            handles.append(handle)
            with suppress(OSError):  # without locks nobody can tell that this process lives
                lock_at_once(handle)
            partials.append(Path(name))
        at = None
        yield partials
        for done, (path, target) in enumerate(zip(paths, targets, strict=True)):
            at = path
            try:
                partials[done].chmod(0o666 & ~_umask())
                partials[done].replace(target)
            except OSError:
                for other in targets[:done]:  # half of a Moses pair is worse than none
                    other.unlink(missing_ok=True)
                raise
    except OSError as error:
        name = str(at or ",".join(map(str, paths)))
        raise _not_written(name, error) from error
    finally:
        for handle in handles:
            os.close(handle)
        for partial in partials:
            partial.unlink(missing_ok=True)


def partial_names(path: Path) -> str:
    """Give the pattern of the names that `path` has while it is written."""
    return f"{glob.escape(hidden_start(path))}*{PARTIAL}"


def hidden_start(path: Path) -> str:
    """Begin the hidden name of what becomes `path`: its own for each path, and never too long."""
    name = path.name
    if len(name) > _LONGEST:
        rest = blake2b(os.fsencode(name), digest_size=6).hexdigest()
        name = f"{name[: _LONGEST - len(rest) - 1]}-{rest}"
    return f".{name}."


def _beside(path: Path) -> dict[str, Any]:
    return {"prefix": hidden_start(path), "suffix": PARTIAL, "dir": path.parent}


def packing(stream: BinaryIO, suffix: str) -> AbstractContextManager[BinaryIO]:
    """Compress what goes into `stream` as its suffix says; without one, write it plain.

    The same content gives the same bytes: no time and no name goes into the archive.
    """
    packed: Any = nullcontext(stream)
    if suffix == ".gz":
        packed = gzip.GzipFile("", "wb", 6, stream, mtime=0)
    elif suffix == ".xz":
        packed = lzma.LZMAFile(stream, "wb")  # noqa: SIM115 - the caller enters it
    elif suffix == ".zst":
        compressor = zstandard.ZstdCompressor(level=9, write_checksum=True)
        packed = compressor.stream_writer(stream, closefd=False)
    return cast("AbstractContextManager[BinaryIO]", packed)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside `path`; on success it becomes `path`, on failure it goes.

    Where the path is a symbolic link, what it leads to is replaced.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    with writing(path):
        partial = Path(tempfile.mkdtemp(**_beside(path)))
        try:
            yield partial
            for inside in (each for each in partial.rglob("*") if each.is_file()):
                inside.chmod(0o666 & ~_umask())  # some libraries write for their user alone
            partial.chmod(0o777 & ~_umask())
            old = partial.with_suffix(".old")
            if path.exists():
                path.replace(old)  # a moment without either, and no moment with half of one
            partial.replace(path)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)  # there is no way to read it without setting it
    os.umask(mask)
    return mask
