"""Chosen pairs -> how loose the loosest stretch of each side is, in files of a step."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.files import scratch
from xmine.files.digests import digest
from xmine.files.sealed_arrays import opened_sealed
from xmine.mining.matching import OpenTokens
from xmine.run.steps import Steps, joined
from xmine.run.task import Engine
from xmine.scoring.alignment import Looseness, loosest_stretches
from xmine.scoring.retrieval import ChosenPairs

PAIRS_OF_A_TASK = 16_384


def stretches_of_chosen(
    open_tokens: OpenTokens,
    chosen: ChosenPairs,
    steps: Steps,
    made_of: Sequence[str],
    tick: Callable[[int], None] = lambda rows: None,
    engine: Engine | None = None,
    prepare: Callable[[], object] = lambda: None,
) -> Looseness:
    """Find the loosest stretches of the chosen pairs, in any order.

    Args:
        open_tokens: gives the tokens of both sides, in a task.
        chosen: the pairs.
        steps: make the files, float32 [pairs, 4]: looseness and weight of source and target.
        made_of: names the tokens.
        tick: called with the number of pairs that are done.
        engine, prepare: see `Steps.make`.
    """
    order = np.lexsort((chosen.targets, chosen.sources))
    rows = scratch.empty((len(chosen), 2), np.int64)
    rows[:, 0], rows[:, 1] = chosen.sources[order], chosen.targets[order]
    made_of = [*made_of, digest(rows.data.cast("B") if rows.size else b"")]
    given = steps.put("likely", rows) if engine and engine.shared else rows
    maker, arrays = partial(_stretches, open_tokens, given), {"stretches": np.float32}
    starts = range(0, len(rows), PAIRS_OF_A_TASK)
    files = steps.make(arrays, made_of, starts, maker, tick, engine=engine, prepare=prepare)
    figures = scratch.empty((4, len(rows)), np.float32)
    if files:
        figures[:, order] = joined(files, 0, np.float32).T
    return Looseness(figures[:2], figures[2:])


def _stretches(
    open_tokens: OpenTokens, pairs: NDArray[np.int64] | Path, start: int, stop: int
) -> Iterator[tuple[NDArray[np.float32]]]:
    rows = opened_sealed(pairs, np.int64) if isinstance(pairs, Path) else pairs
    x, y = np.ascontiguousarray(rows[start:stop].T)
    loose = loosest_stretches(*open_tokens(), x, y).looseness
    yield (np.concatenate([loose.values, loose.weights]).T.astype(np.float32),)
