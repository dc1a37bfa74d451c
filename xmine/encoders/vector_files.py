"""Vectors that exist already: a file on disk -> unit rows of the sentences that are mined."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.vectors import VECTORS, EncodedFiles
from xmine.errors import FileError
from xmine.files.digests import Identity, check_unchanged, digest, identity
from xmine.progress import Report, silent, ticks
from xmine.run.local import LocalEngine
from xmine.run.steps import Blocks, Steps
from xmine.text.sentences import Sentences

# Rows as long as one to this are left alone: dividing by 0.9999999 would move the last bit, and
# the pairs would not be those of the encoder that wrote the file.
_NEAR_ONE = 1e-4
_ROWS_AT_ONCE = 8192  # of 1,024 numbers: 32 MB, and as much again for what is made of them


class GivenVectors(np.memmap[Any, Any]):
    """A matrix on the disk, and the identity of its file when it was opened."""

    identity: Identity = None

    def __array_finalize__(self, obj: object) -> None:
        """Let a slice know the identity too."""
        super().__array_finalize__(obj)
        self.identity = getattr(obj, "identity", None)


def read_vectors(path: str | Path) -> NDArray[Any]:
    """Open a matrix of vectors, a row per line of a text file; it is not read into memory.

    Args:
        path: `.npy`, float32 or float16 [lines, dim].
    """
    known, path = identity(path), Path(path)
    found = _open_vectors(path).view(GivenVectors)
    found.identity = known
    return found


def _open_vectors(path: Path) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            start = file.read(6)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    if not start:
        raise FileError(f"{path}: the file is empty")
    if start.startswith(b"PK\x03\x04"):
        raise FileError(
            f"{path}: a .npz archive, which holds several arrays",
            'write one of them: numpy.save("vectors.npy", numpy.load(path)["name"])',
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a header as Python 2 wrote it, or one that looks so
            vectors = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # numpy parses headers as Python, whose errors come as they are
        is_said = isinstance(error, (ValueError, OSError, UserWarning))
        why = str(error).partition("\n")[0][:200] if is_said else "its header cannot be parsed"
        raise FileError(
            f"{path}: not a .npy file, or a broken one: {why}",
            "write it with numpy.save(path, vectors); raw numbers of width 1024 are "
            'numpy.fromfile(raw, "float32").reshape(-1, 1024)',
        ) from error
    is_matrix = vectors.ndim == 2 and vectors.shape[1] > 0
    if not is_matrix or vectors.dtype.name not in ("float32", "float16"):
        raise FileError(
            f"{path}: {vectors.dtype} {list(vectors.shape)}; expected float32 [lines, dim]",
            'write it with numpy.save(path, vectors.astype("float32"))',
        )
    return vectors


def check_vectors(
    sentences: tuple[Sentences, Sentences], vectors: tuple[NDArray[Any], NDArray[Any]]
) -> None:
    """Refuse vectors whose number is not that of the lines, or whose dimensions differ."""
    for side, rows in zip(sentences, vectors, strict=True):
        if len(rows) != side.total:
            raise FileError(
                f"{side.name} has {side.total:,} lines, its vectors have {len(rows):,} rows",
                "give a row for every line, blank and repeated ones too, as xmine encode does",
            )
    widths = [rows.shape[1] for rows in vectors]
    if widths[0] != widths[1]:
        raise FileError(
            f"vectors of {sentences[0].name} are {widths[0]:,} numbers long, those of "
            f"{sentences[1].name} {widths[1]:,}",
            "make both with the same encoder",
        )


def unit_rows(
    vectors: NDArray[Any],
    sentences: Sentences,
    steps: Steps,
    report: Report = silent,
    prepare: Callable[[], object] = lambda: None,
) -> EncodedFiles:
    """Scale the rows of sentences to length one, in files of a step.

    The lines of sentences tell which of the vectors [lines, dim] are taken; a row of zeros stays
    one. The matrix is never in memory as a whole; `prepare` is called before rows are scaled.

    Raises:
        FileError: a number is not finite, or the file was changed since it was opened.
    """
    rows = range(0, len(sentences), _ROWS_AT_ONCE)

    def taken(start: int, stop: int) -> NDArray[Any]:
        return np.ascontiguousarray(vectors[sentences.lines[start:stop] - 1])

    def made_of(start: int, stop: int) -> list[str]:
        if not steps.kept:
            return ["given", str(id(vectors)), digest(sentences.lines[start:stop].tobytes())]
        some = taken(start, stop)
        return ["given", str(some.dtype), digest(some.data.cast("B"))]

    def scale(start: int, stop: int) -> Blocks:
        block = taken(start, stop).astype(np.float32)
        if isinstance(vectors, GivenVectors) and vectors.filename and vectors.identity:
            check_unchanged(str(vectors.filename), vectors.identity)
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = int(sentences.lines[start + np.argmin(finite)])
            name = sentences.name
            raise FileError(f"vectors of {name}: row {row:,} has a number that is not finite")
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        keep = (lengths == 0) | (np.abs(lengths - 1) < _NEAR_ONE)
        scaled = (block / np.where(keep, 1, lengths)[:, None]).astype(np.float16)
        known = np.asarray(scaled.any(axis=1))
        yield scaled[known], known

    tick, here = ticks(report, "reading vectors", len(sentences)), LocalEngine()
    files = steps.make(VECTORS, made_of, rows, scale, tick, engine=here, prepare=prepare)
    return EncodedFiles(files)
