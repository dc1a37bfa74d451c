"""Sentences and neighbours -> how well the tokens of each candidate match; killed, it continues.

Each candidate is looked at once: it may be chosen, and it is the rival of others.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokens import TokenVectors
from xmine.engines.parts import Parts, write_rows
from xmine.engines.task import Engine
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import open_matrix, opened
from xmine.knn.neighbours import Neighbours
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.reranking import TokenMatches
from xmine.vectors.token_files import TokenFiles

# Rows of a block: the more, the more alike are the lengths of the pairs of a batch.
_ROWS_AT_ONCE = 65_536
_ROWS_OF_A_TASK = 16_384

Singles = NDArray[np.float32]
Rows = NDArray[np.int64]
Tokens = tuple[TokenVectors, TokenVectors]
# The cells [rows, k] of some rows: sources, targets, the matches [rows, k, 3] that are known from
# the other direction, and which cells are not.
_Cells = tuple[Rows, Rows, Singles, NDArray[np.bool_]]


def _in_task(
    tokens: TokenFiles, folder: Path, nearest: int, before: Path | None, start: int, stop: int
) -> Iterator[tuple[Singles]]:
    """Compare the candidates of some rows of a side; `before` has the matches of the sources."""
    targets, sources = (
        opened(folder / f"{name}.npy", np.int64)[:, :nearest] for name in ("targets", "sources")
    )
    known = None if before is None else _split(opened(before, np.float32))[0]
    compare = _Comparison(tokens.open(), targets, sources, known)
    return ((block,) for block in compare.blocks(start, stop))


def match_candidates(
    read: Callable[[], Tokens],
    neighbours: Neighbours,
    paths: tuple[Path, Path],
    mark: str = "",
    tick: Callable[[int], None] = lambda rows: None,
    watch: Watch = NOBODY,
    elsewhere: tuple[Engine, TokenFiles, Path] | None = None,
) -> TokenMatches:
    """Compare all candidates token by token, each once, into two files that are opened.

    Args:
        read: gives the tokens of both sides; called if a file is not there.
        neighbours: the candidates.
        paths: the .npy files for the neighbours of sources and of targets, [rows, 3 k + 1]: the
            figures of `match_pairs` of each, and the number of tokens of the row.
        mark: names tokens and neighbours; files of other work are not continued.
        tick: called with the number of rows that are done, of both sides.
        watch: told of files.
        elsewhere: an engine that may run tasks, and for these the same tokens and the folder of
            the search.
    """
    near, done = neighbours, len(neighbours.targets)
    known = _found(paths[0], near.targets), _found(paths[1], near.sources)
    if known[0] and known[1]:
        return TokenMatches(known[0][0], known[1][0], known[0][1], known[1][1])
    compare = _Comparison(read(), near.targets, near.sources)

    def fill(compare: _Comparison, path: Path, ids: Rows, before: int) -> tuple[Singles, Singles]:
        parts, (rows, k) = None, ids.shape
        if elsewhere:
            engine, tokens, folder = elsewhere
            nearest = max(near.targets.shape[1], near.sources.shape[1])  # a side may have fewer
            maker = partial(_in_task, tokens, folder, nearest, paths[0] if before else None)
            parts = Parts(engine, maker, _ROWS_OF_A_TASK)
        matrix = write_rows(
            path,
            3 * k + 1,
            np.float32,
            rows,
            _ROWS_AT_ONCE,
            lambda start: compare.blocks(start, rows),
            mark,
            lambda row: tick(before + row),
            watch,
            parts,
        )
        return _split(matrix)

    targets, lengths = known[0] or fill(compare, paths[0], near.targets, 0)
    compare = replace(compare, known=targets)
    sources, others = fill(compare, paths[1], near.sources, done)
    return TokenMatches(targets, sources, lengths, others)


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """Compares the candidates of sources, or those of targets where the others are known.

    Attributes:
        tokens: of both sides.
        targets, sources: of the neighbours that are candidates.
        known: the matches of the sources.
    """

    tokens: Tokens
    targets: Rows
    sources: Rows
    known: Singles | None = None

    def blocks(self, start: int, stop: int) -> Iterator[Singles]:
        """Compare the cells of some rows: [rows, 3 k + 1]."""
        own = self.tokens[0 if self.known is None else 1]
        for first in range(start, stop, _ROWS_AT_ONCE):
            rows = np.arange(first, min(first + _ROWS_AT_ONCE, stop))
            x, y, matches, missing = self._cells(rows)
            matches[missing] = match_pairs(*self.tokens, x[missing], y[missing])
            lengths = own.lengths_of(rows)[:, None].astype(np.float32)
            yield np.concatenate([matches.reshape(len(rows), -1), lengths], axis=1)

    def _cells(self, rows: Rows) -> _Cells:
        if self.known is None:
            x, y = np.broadcast_arrays(rows[:, None], self.targets[rows])
            return x, y, np.empty((*x.shape, 3), np.float32), np.ones(x.shape, dtype=bool)
        x, y = np.broadcast_arrays(self.sources[rows], rows[:, None])
        same = self.targets[x] == y[..., None]  # [rows, k, k of the sources]
        return x, y, self.known[x, same.argmax(axis=-1)], ~same.any(axis=-1)


def _found(path: Path, ids: Rows) -> tuple[Singles, Singles] | None:
    """Open the matches of rows with these neighbours; None where they are not there."""
    rows, k = ids.shape
    matrix = open_matrix(path, np.float32)
    return None if matrix is None or matrix.shape != (rows, 3 * k + 1) else _split(matrix)


def _split(matrix: Singles) -> tuple[Singles, Singles]:
    """Give matches [rows, k, 3] and numbers of tokens [rows]."""
    return matrix[:, :-1].reshape(len(matrix), -1, 3), matrix[:, -1]
