"""Output that is whole or not there: written under a temporary name, then renamed."""

import gzip
import lzma
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from xmine.errors import FileError

# How the names of files end that are not whole.
PARTIAL = ".partial"


def remove(path: Path) -> None:
    """Delete a file, a folder with all that is in it, or a link and not what it leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check_free(path: Path, *, force: bool, folder: bool = False) -> None:
    """Refuse to overwrite unless `force`; called before the work whose result goes to `path`.

    Args:
        path: a file to write or, with `folder`, a folder.
        force: whether it may be there already.
        folder: what it is; one never replaces the other.

    Raises:
        FileError: `path` exists, or its parent folder does not.
    """
    if path.exists() and path.is_dir() != folder:
        raise FileError(f"{path}: is a {'file' if folder else 'folder'}", "give another name")
    if path.exists() and not (path.is_file() or folder):  # a device or a pipe: it would be replaced
        raise FileError(f"{path}: is not a regular file", "give another name")
    if path.exists() and not force:
        raise FileError(f"{path}: exists already", "give another name, or --force to replace it")
    if not path.absolute().parent.is_dir():
        raise FileError(f"{path.parent}: no such folder", f"mkdir -p {path.parent}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file beside `path`; on success it becomes `path`, on failure it goes."""
    with replacing_all([path]) as partials:
        yield partials[0]


@contextmanager
def replacing_all(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Give a temporary file for each path; on success all get their names, on failure none does.

    Where a path is a symbolic link, what it leads to is replaced.
    """
    targets = [Path(os.path.realpath(path)) if path.is_symlink() else path for path in paths]
    partials: list[Path] = []
    at: Path | None = None
    try:
        for path, target in zip(paths, targets, strict=True):
            at = path
            handle, name = tempfile.mkstemp(**_beside(target))
            os.close(handle)
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
        raise FileError(f"{name}: cannot be written: {error.strerror}") from error
    finally:
        for partial in partials:
            partial.unlink(missing_ok=True)


def _beside(path: Path) -> dict[str, Any]:
    """Name a temporary file so that it is never too long where `path` itself is not."""
    return {"prefix": f".{path.name[:40]}.", "suffix": PARTIAL, "dir": path.parent}


@contextmanager
def packing(stream: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """Compress what goes into `stream` as its suffix says; without one, write it plain.

    The same content gives the same bytes: no time and no name goes into the archive.
    """
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", 6, stream, mtime=0) as packed:
            yield cast("BinaryIO", packed)
    elif suffix == ".xz":
        with lzma.LZMAFile(stream, "wb") as packed_xz:
            yield cast("BinaryIO", packed_xz)
    elif suffix == ".zst":
        compressor = zstandard.ZstdCompressor(level=9, write_checksum=True)
        with compressor.stream_writer(stream, closefd=False) as packed_zst:
            yield cast("BinaryIO", packed_zst)
    else:
        yield stream


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside `path`; on success it becomes `path`, on failure it goes."""
    try:
        partial = Path(tempfile.mkdtemp(**_beside(path)))
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from error
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
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)  # there is no way to read it without setting it
    os.umask(mask)
    return mask
