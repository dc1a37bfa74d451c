"""Figures of pairs of rows, in files of a step that a run keeps where its texts grow.

The base of a run are the lines that it began with, until they have doubled. What was made of two
lines of the base stays, whatever stands behind them: only other pairs are looked at.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from xmine.files import scratch
from xmine.files.digests import digest
from xmine.files.sealed_arrays import open_sealed, opened_sealed
from xmine.progress import silent
from xmine.run.local import LocalEngine
from xmine.run.steps import Base, Blocks, Steps, joined
from xmine.text.sentences import Sentences

Rows = NDArray[np.int64]
# Gives a figure, or some, of each pair; a function of a module where tasks run elsewhere.
Look = Callable[[Rows, Rows], NDArray[Any]]


def with_base(steps: Steps, left: Sentences, right: Sentences) -> Steps:
    """Find the base of a run, which a file has; without one that fits, all lines become it."""

    def named(*sizes: int) -> str:
        return digest(*(x.packed.digest(0, n) for x, n in zip((left, right), sizes, strict=True)))

    now, fits = (len(left), len(right)), list[tuple[int, int]]()
    for path in steps.folder.glob("base-*") if steps.kept else ():
        found = open_sealed(path, np.int64)
        n, m = (0, 0) if found is None else found.tolist()
        if n <= now[0] < 2 * n and m <= now[1] < 2 * m:
            ((own,),) = steps.files(["base"], [named(n, m)], range(1))
            fits += [(n, m)] * (own == path)
    sizes = max(fits, default=now)
    steps = replace(steps, base=Base(named(*sizes), sizes, named(*now)))
    rows, here = [(np.array(sizes, np.int64),)], LocalEngine()
    steps.make({"base": np.int64}, [steps.base.key], range(1), lambda *_: rows, engine=here)
    return steps


def look_at(
    pairs: tuple[Rows, Rows],
    look: Look,
    kind: DTypeLike,
    steps: Steps | None,
    name: str,
    made_of: Sequence[str],
    size: int,
    tick: Callable[[int], None] = silent,
    *,
    apart: bool = False,
    **how: Any,  # noqa: ANN401 - see `Steps.make`
) -> NDArray[Any]:
    """Look at each pair, unless the run has: figures [pairs] or [pairs, columns].

    Args:
        pairs: rows of both sides, int64 [pairs] twice.
        look: makes the figures, of type `kind`, of some pairs.
        steps, name, size: make files of this name, of so many pairs each; None for no files.
        made_of: names all that figures depend on besides the base of the run.
        tick: called with the number of pairs that are done.
        apart: whether tasks run in other processes.
        how: `engine`, `task` and `prepare` of `Steps.make`.
    """
    if steps is None or not len(pairs[0]):
        tick(len(pairs[0]))
        return look(*pairs)
    order, own = np.lexsort(pairs[::-1]), f"{name}-{digest(*made_of, steps.base.key)[:16]}"
    rows = scratch.empty((len(order), 2), np.int64)
    rows[:, 0], rows[:, 1] = pairs[0][order], pairs[1][order]
    arrays, base = {own: kind, f"rows-of-{own}": np.int64}, steps.base

    def given(some: Rows) -> tuple[list[str], range]:
        key = [digest(np.ascontiguousarray(some).data.cast("B")), base.whole]
        return key, range(0, len(some), size)

    files = {path for paths in steps.files(arrays, *given(rows)) for path in paths}
    are_there = all(path.exists() for path in files)
    earlier = set() if are_there else {*steps.folder.glob(f"rows-of-{own}-*")} - files
    known, values = _known(rows, sorted(earlier), base, kind)
    if not known.all():
        new = rows[~known] if known.any() else rows
        maker = partial(_look, look, steps.put("pairs", new) if apart else new)
        made = steps.make(arrays, *given(new), maker, tick, keep=new is rows, **how)
    if known.any():
        if not known.all():
            values[~known] = joined(made, 0, kind)

        def blocks(start: int, stop: int) -> Blocks:
            return [(values[start:stop], rows[start:stop])]

        made = steps.make(arrays, *given(rows), blocks, tick, engine=LocalEngine())
    figures = joined(made, 0, kind)
    found = scratch.empty(figures.shape, figures.dtype)
    found[order] = figures
    return found


def _look(look: Look, given: Rows | Path, start: int, stop: int) -> Iterator[tuple[Any, Rows]]:
    rows = (opened_sealed(given, np.int64) if isinstance(given, Path) else given)[start:stop]
    yield look(*np.ascontiguousarray(rows.T)), rows


def _known(
    rows: Rows, earlier: Sequence[Path], base: Base, kind: DTypeLike
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Tell which pairs of the base earlier files have, and give their figures."""
    codes, figures = [np.empty(0, np.int64)], []
    for path in earlier:
        some, of_some = open_sealed(path, np.int64), path.with_name(path.name[len("rows-of-") :])
        if some is not None and (values := open_sealed(of_some, kind)) is not None:
            old = (some < base.sizes).all(axis=1)
            codes.append(some[old, 0] << 32 | some[old, 1])
            figures.append(values[old])
    every, wanted = np.concatenate(codes), rows[:, 0] << 32 | rows[:, 1]
    if not len(every):
        return np.zeros(len(rows), np.bool_), every
    order = np.argsort(every, kind="stable")
    at = order[np.minimum(np.searchsorted(every, wanted, sorter=order), len(every) - 1)]
    return every[at] == wanted, np.concatenate(figures)[at]
