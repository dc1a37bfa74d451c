"""Pairs that lack a part -> the same with the line beside that completes them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.flags.beside import Beside
from xmine.mining.candidates import Candidates
from xmine.text.segmentation import join


def merge_beside(
    candidates: Candidates, rows: NDArray[np.intp], flags: Sequence[str], beside: Beside
) -> dict[int, dict[str, str]]:
    """Merge pairs that are `partial` with the line beside, where both fit better together.

    A line that belongs to another pair, or was merged before, stays alone.

    Args:
        candidates: all of them.
        rows: of the candidates that are kept, best first.
        flags: of each of `rows`.
        beside: of all candidates, see `fits_beside`.

    Returns:
        of each place in `rows` that is merged the fields of a pair that change.
    """
    sides = candidates.source, candidates.target
    pairs = candidates.chosen.sources[rows], candidates.chosen.targets[rows]
    used = [np.isin(np.arange(len(side)), some) for side, some in zip(sides, pairs, strict=True)]
    fits, which = beside
    merged = {}
    for at in np.flatnonzero(fits[rows] > 0).tolist():
        names = flags[at].split(",")
        side, is_behind = divmod(int(which[rows[at]]), 2)
        line, texts, lines = int(pairs[side][at]), sides[side].texts, sides[side].lines
        first = line if is_behind else line - 1
        other = first + is_behind
        if "partial" not in names or used[side][other] or lines[first + 1] - lines[first] != 1:
            continue
        both, files = lines[first : first + 2], sides[side].files
        if files is not None:
            (one, two), both = files.places(both)
            if one != two:
                continue
        used[side][other] = True
        name = ("source", "target")[side]
        merged[at] = {
            name: join((texts[first], texts[first + 1])),
            f"{name}_lines": f"{both[0]}-{both[1]}",
            "flags": ",".join(each for each in names if each != "partial"),
        }
    return merged
