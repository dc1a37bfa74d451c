"""Sentences and neighbours -> how well the tokens of each candidate match; killed, it continues.

Each candidate is looked at once: it may be chosen, and it is the rival of others.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokens import TokenVectors
from xmine.errors import FileError
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import open_matrix, writing_matrix
from xmine.knn.neighbours import Neighbours
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.reranking import TokenMatches

_ROWS_AT_ONCE = 4096

Singles = NDArray[np.float32]
Rows = NDArray[np.int64]
Tokens = tuple[TokenVectors, TokenVectors]
# The cells [rows, k] of some rows: sources, targets, the matches [rows, k, 3] that are known from
# the other direction, and which cells are not.
_Cells = tuple[Rows, Rows, Singles, NDArray[np.bool_]]


def match_candidates(
    read: Callable[[], Tokens],
    neighbours: Neighbours,
    paths: tuple[Path, Path],
    mark: str = "",
    tick: Callable[[int], None] = lambda rows: None,
    watch: Watch = NOBODY,
) -> TokenMatches:
    """Compare all candidates token by token, each once, into two files that are opened.

    Args:
        read: gives the tokens of both sides; called if a file is not there.
        neighbours: the candidates.
        paths: the .npy files for the neighbours of sources and of targets, [rows, 3 k + 1]: A, B
            and order of each, and the number of tokens of the row.
        mark: names tokens and neighbours; files of other work are not continued.
        tick: called with the number of rows that are done, of both sides.
        watch: told of files.
    """
    near, done = neighbours, len(neighbours.targets)
    known = _opened(paths[0], near.targets), _opened(paths[1], near.sources)
    if known[0] and known[1]:
        return TokenMatches(known[0][0], known[1][0], known[0][1], known[1][1])
    tokens = read()

    def forward(rows: Rows) -> _Cells:
        x, y = np.broadcast_arrays(rows[:, None], near.targets[rows])
        return x, y, np.empty((*x.shape, 3), np.float32), np.ones(x.shape, dtype=bool)

    def backward(rows: Rows) -> _Cells:
        x, y = np.broadcast_arrays(near.sources[rows], rows[:, None])
        same = near.targets[x] == y[..., None]  # [rows, k, k of the sources]
        return x, y, targets[x, same.argmax(axis=-1)], ~same.any(axis=-1)

    def tick_behind(rows: int) -> None:
        tick(done + rows)

    compare = _comparing(tokens, tokens[0], forward)
    targets, lengths = known[0] or _fill(paths[0], near.targets, compare, mark, tick, watch)
    compare = _comparing(tokens, tokens[1], backward)
    sources, others = _fill(paths[1], near.sources, compare, mark, tick_behind, watch)
    return TokenMatches(targets, sources, lengths, others)


def _comparing(
    tokens: Tokens, own: TokenVectors, cells: Callable[[Rows], _Cells]
) -> Callable[[Rows], Singles]:
    """Compare the cells of some rows: [rows, 3 k + 1]."""

    def compare(rows: Rows) -> Singles:
        x, y, matches, missing = cells(rows)
        matches[missing] = match_pairs(*tokens, x[missing], y[missing])
        lengths = own.lengths[rows, None].astype(np.float32)
        return np.concatenate([matches.reshape(len(rows), -1), lengths], axis=1)

    return compare


def _fill(
    path: Path,
    ids: Rows,
    compare: Callable[[Rows], Singles],
    mark: str,
    tick: Callable[[int], None],
    watch: Watch,
) -> tuple[Singles, Singles]:
    """Write the rows of a file in fixed blocks, behind those that are there."""
    count, k = ids.shape
    with writing_matrix(path, 3 * k + 1, np.float32, mark, watch) as writer:
        writer.cut(writer.rows // _ROWS_AT_ONCE * _ROWS_AT_ONCE)
        for start in range(writer.rows, count, _ROWS_AT_ONCE):
            writer.write(compare(np.arange(start, min(start + _ROWS_AT_ONCE, count))))
            tick(writer.rows)
    if (found := _opened(path, ids)) is None:
        raise FileError(f"{path}: is gone, or was changed by somebody else", "run it again")
    return found


def _opened(path: Path, ids: Rows) -> tuple[Singles, Singles] | None:
    """Open matches [rows, k, 3] and numbers of tokens [rows]; None where they are not there."""
    rows, k = ids.shape
    found = open_matrix(path, np.float32)
    if found is None or found.shape != (rows, 3 * k + 1):
        return None
    return found[:, :-1].reshape(rows, k, 3), found[:, -1]
