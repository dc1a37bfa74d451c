"""Chosen pairs -> how loose the loosest stretch of each side is; killed, it continues."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokens import TokenVectors
from xmine.engines.parts import Parts, wanted, write_rows
from xmine.engines.task import Engine
from xmine.files import scratch
from xmine.files.atomic import writing
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import open_matrix, opened, parts_folder, write_matrix
from xmine.mining.stage_inputs import hashed
from xmine.scoring.alignment import Looseness, loosest_stretches
from xmine.scoring.retrieval import ChosenPairs
from xmine.vectors.token_files import TokenFiles

# Pairs of a block, and of a task.
_PAIRS_AT_ONCE, _PAIRS_OF_A_TASK = 65_536, 16_384

Tokens = tuple[TokenVectors, TokenVectors]


def _in_task(
    tokens: TokenFiles, pairs: Path, start: int, stop: int
) -> Iterator[tuple[NDArray[np.int32]]]:
    return ((block,) for block in _figures(tokens.open(), opened(pairs, np.int64)[:stop], start))


def stretches_of_chosen(
    read: Callable[[], Tokens],
    chosen: ChosenPairs,
    path: Path,
    mark: str,
    tick: Callable[[int], None] = lambda rows: None,
    watch: Watch = NOBODY,
    elsewhere: tuple[Engine, TokenFiles] | None = None,
) -> Looseness:
    """Find the loosest stretches of the chosen pairs, or read them from a file.

    Args:
        read: gives the tokens of both sides; called if the file has not these pairs.
        chosen: the pairs, in any order.
        path: the .npy file, int32 [pairs, 6], by source and target: their rows, and the bits of
            looseness and weight of both sides.
        mark: names the tokens; work of other tokens or pairs is not continued.
        tick: called with the number of pairs that are done.
        watch: told of files.
        elsewhere: an engine that may run tasks, and the same tokens for these.
    """
    order = np.lexsort((chosen.targets, chosen.sources))
    rows = scratch.empty((len(chosen), 2), np.int64)
    rows[:, 0], rows[:, 1] = chosen.sources[order], chosen.targets[order]
    found = open_matrix(path, np.int32)
    if found is None or found.shape != (len(rows), 6) or not np.array_equal(found[:, :2], rows):
        tokens, name, parts = read(), hashed([mark.encode(), rows.tobytes()]), None
        folder = parts_folder(path, name)
        if elsewhere:
            pairs = folder / "pairs.npy"
            parts = Parts(elsewhere[0], partial(_in_task, elsewhere[1], pairs), _PAIRS_OF_A_TASK)
        if wanted(parts, folder):
            with writing(folder):
                folder.mkdir(exist_ok=True)
            write_matrix(pairs, rows)

        def make(start: int) -> Iterator[NDArray[np.int32]]:
            return _figures(tokens, rows, start)

        size, total = _PAIRS_AT_ONCE, len(rows)
        found = write_rows(path, 6, np.int32, total, size, make, name, tick, watch, parts)
    figures = scratch.empty((4, len(rows)), np.float32)
    figures[:, order] = np.ascontiguousarray(found[:, 2:]).view(np.float32).T
    return Looseness(figures[:2], figures[2:])


def _figures(tokens: Tokens, rows: NDArray[np.int64], start: int) -> Iterator[NDArray[np.int32]]:
    """Find the stretches of pairs of rows [pairs, 2] from one of them on: blocks [pairs, 6]."""
    for at in range(start, len(rows), _PAIRS_AT_ONCE):
        some = rows[at : at + _PAIRS_AT_ONCE]
        loose = loosest_stretches(*tokens, some[:, 0], some[:, 1]).looseness
        figures = np.concatenate([loose.values, loose.weights]).T
        bits = np.ascontiguousarray(figures).view(np.int32)
        yield np.concatenate([some, bits], axis=1, dtype=np.int32, casting="same_kind")
