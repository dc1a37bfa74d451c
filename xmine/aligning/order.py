"""Lines of two texts -> what their order gains over that of lines that are read backwards."""

from collections.abc import Sequence

import numpy as np

from xmine.aligning.band import Band, sums_of_paths
from xmine.aligning.evidence import Halves
from xmine.aligning.scores import FIRST, PAIRED, Lengths, first_scores

# Deviation of the gain of unrelated texts, for the root of the lines.
_DEVIATION = 0.32


def order_gain(
    lengths: tuple[Lengths, Lengths],
    vectors: tuple[Halves, Halves],
    backwards: Sequence[int] = (16, 8),
) -> float:
    """Compare the sum over the paths of a first pass with those of lines that are read backwards.

    Args:
        lengths, vectors: of both sides, see `first_scores`.
        backwards: how many lines are turned at once in each comparison, beside all of them.

    Returns:
        the gain in deviations of unrelated texts, 0 or more.
    """
    (x, of_x), (y, of_y) = sorted(zip(lengths, vectors, strict=True), key=lambda side: len(side[0]))
    band, every, random = Band.whole(len(x), len(y)), np.arange(len(x)), np.random.default_rng(0)
    sums = list[float]()
    for lines in (1, len(x), *backwards):
        starts = random.permutation(every[::lines]) if lines > 1 else every
        order = np.concatenate([every[at : at + lines][::-1] for at in starts])
        scores = first_scores(band, (x[order], y), (of_x[order], of_y), FIRST[1][1])
        given = [row for rows in band.blocks() for row in scores(rows.start, rows.stop)]
        *_, last = sums_of_paths(band, PAIRED, given.__getitem__, FIRST[1][0])
        sums.append(float(last[-1]))
    return max(0.0, sums[0] - float(np.mean(sums[1:]))) / (_DEVIATION * float(np.sqrt(len(x))))
