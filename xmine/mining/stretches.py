"""Chosen pairs -> how loose the loosest stretch of each side is; killed, it continues."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from xmine.encoders.tokens import TokenVectors
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import open_matrix, opened, writing_matrix
from xmine.scoring.alignment import Looseness, loosest_stretches
from xmine.scoring.retrieval import ChosenPairs

_PAIRS_AT_ONCE = 16_384


def stretches_of_chosen(
    read: Callable[[], tuple[TokenVectors, TokenVectors]],
    chosen: ChosenPairs,
    path: Path,
    mark: Callable[[bytes], str],
    tick: Callable[[int], None] = lambda rows: None,
    watch: Watch = NOBODY,
) -> Looseness:
    """Find the loosest stretches of the chosen pairs, or read them from a file.

    Args:
        read: gives the tokens of both sides; called if the file has not these pairs.
        chosen: the pairs, in any order.
        path: the .npy file, int32 [pairs, 6], by source and target: their rows, and the bits of
            looseness and weight of both sides.
        mark: names tokens and pairs, given the bytes of the pairs; other work is not continued.
        tick: called with the number of pairs that are done.
        watch: told of files.
    """
    order = np.lexsort((chosen.targets, chosen.sources))
    rows = np.stack([chosen.sources[order], chosen.targets[order]], axis=1)
    found = open_matrix(path, np.int32)
    if found is None or found.shape != (len(rows), 6) or not np.array_equal(found[:, :2], rows):
        tokens = read()
        with writing_matrix(path, 6, np.int32, mark(rows.tobytes()), watch) as writer:
            writer.cut(writer.rows // _PAIRS_AT_ONCE * _PAIRS_AT_ONCE)
            for start in range(writer.rows, len(rows), _PAIRS_AT_ONCE):
                some = rows[start : start + _PAIRS_AT_ONCE]
                loose = loosest_stretches(*tokens, some[:, 0], some[:, 1]).looseness
                figures = np.concatenate([loose.values, loose.weights]).T
                bits = np.ascontiguousarray(figures).view(np.int32)
                writer.write(np.concatenate([some, bits], axis=1))
                tick(writer.rows)
        found = opened(path, np.int32)
    figures = np.empty((4, len(rows)), dtype=np.float32)
    figures[:, order] = np.ascontiguousarray(found[:, 2:]).view(np.float32).T
    return Looseness(figures[:2], figures[2:])
