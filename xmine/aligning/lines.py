"""Lines of two texts in order -> beads and their probabilities: three passes.

The first pass walks over blocks of lines, where texts are long, then over lines, by lengths and
cosines. The next two learn a lexicon from the pass before, and score beads of several lines in a
band around it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.aligning.band import (
    Band,
    Corners,
    Path,
    are_matched,
    best_path,
    crossed,
    probabilities,
)
from xmine.aligning.evidence import Halves, Windows, together, weighed, windows_of_sums
from xmine.aligning.lexicon import Words
from xmine.aligning.order import order_gain
from xmine.aligning.scores import (
    BEADS,
    BLOCK_SKIPS,
    FIRST,
    PAIRED,
    SINGLE,
    SKIPS,
    TEMPERATURE,
    Lengths,
    bead_scores,
    block_scores,
    first_scores,
    lengths_by_nearest,
    lengths_of,
    merging_of,
    usual_lengths,
)
from xmine.aligning.times import Timed, Times, Timing, fitted
from xmine.encoders.encoder import normalised
from xmine.progress import Progress, Report

_CELLS = 5e7  # of a first pass over all of them
_BLOCKS = 2500  # of a longer text
_AT_ONCE = 4096  # lines
_RADII = (12, 6)  # lines, of the passes around a path
_NEAR, _CROSSING = 1, 0.2  # lines from given corners, and what beads pay that cross one

# Of the null: shorter sides tell nothing; beads and lines that are looked at; share of the beads
# that may stand anywhere, at either end; odds against a common order where nothing is gained. Texts
# of 40 lines gain 3.5 deviations or more, unrelated ones up to 1.8.
_FEW, _STRETCH, _WIDE, _TAIL, _ODDS = 25, 256, 4096, 0.1, 8.0


@dataclass(frozen=True, slots=True, eq=False)
class OrderedLines:
    """What is known of the lines of a side.

    Attributes:
        texts: the lines, none of them blank.
        vectors: unit vectors of the lines, float16 [lines, dim]; zeros for unknown ones.
        windows: the vectors of lines together.
        times: of the lines; None where not all have some.
    """

    texts: Sequence[str]
    vectors: Halves
    windows: Windows
    times: Timed | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Two texts in order, aligned.

    Attributes:
        beads: int64 [beads, 4], the source lines from one to before another, then the target
            lines, from 0; all lines are in one of them.
        probs: float64 [beads], the probability that each is exactly right, in four decimals, so
            that a cut keeps the same beads when they are read again.
        weights: of the encoder's cosines, and of the lexicon's.
        timing: of both sides, where both have times.
    """

    beads: Path
    probs: NDArray[np.float64]
    weights: tuple[float, float]
    timing: Timing | None = None


def align_lines(
    source: OrderedLines, target: OrderedLines, report: Report, corners: Corners | None = None
) -> Alignment:
    """Align lines that are in the same order, near `corners`, which beads pay for crossing."""
    told = len(_RADII) + 2
    lengths = lengths_of(source.texts, target.texts)
    report(Progress("aligning", 0, told))
    words = Words.of(source.texts), Words.of(target.texts)
    vectors = source.vectors, target.vectors
    both = centred(source.vectors), centred(target.vectors)
    times = fitted(source.times, target.times, both)
    if corners is None:
        corners = np.array([(0, 0), (len(source.texts), len(target.texts))])
    inside = Band.around(corners, _NEAR)
    paths = _first_paths(both, lengths, inside, times)
    first = [(weighed(vectors, words, each), each) for each in paths]
    (weights, _, lexicon), path = max(first, key=lambda each: each[0][1])
    for done, radius in enumerate(_RADII, start=1):
        report(Progress("aligning", done, told))
        if done > 1:
            weights, _, lexicon = weighed(vectors, words, path)
        sums = [side.sums(each) for side, each in zip(words, lexicon.vectors(), strict=True)]
        left, right = (
            together((side.windows, windows_of_sums(learnt)), weights)
            for side, learnt in zip((source, target), sums, strict=True)
        )
        band = Band.around(corners_of(path), radius).within(inside)
        usual, variance = usual_lengths(lengths, path)
        scores = bead_scores(band, usual, (left, right), variance, merging_of(path))
        if times:
            scores = times.added(scores, band, BEADS, TEMPERATURE)
        if done < len(_RADII):
            path = best_path(band, BEADS, crossed(scores, band, BEADS, corners, _CROSSING), SKIPS)
    given = [row for rows in band.blocks() for row in scores(rows.start, rows.stop)]
    again = crossed(lambda start, stop: given[start:stop], band, BEADS, corners, _CROSSING)
    path = best_path(band, BEADS, again, SKIPS)
    report(Progress("aligning", told - 1, told))
    probs = probabilities(band, BEADS, given, SKIPS, path, TEMPERATURE)
    probs[are_matched(path)] *= _common_order(path, probs, lengths, both)
    report(Progress("aligning", told, told))
    return Alignment(path, probs.round(4), weights, times.timing if times else None)


def corners_of(path: Path, scale: int = 1) -> Corners:
    """Name the cells where the beads of a path begin and end: int64 [beads + 1, 2]."""
    return np.vstack([path[:1, [0, 2]], path[:, [1, 3]]]) * scale


def _first_paths(
    vectors: tuple[Halves, Halves],
    lengths: tuple[Lengths, Lengths],
    band: Band,
    times: Times | None,
) -> list[Path]:
    """Walk over blocks of lines, where a band is large, and then over lines near that path."""
    size = np.array([len(each) for each in vectors])
    if (band.stops - band.starts).sum() > _CELLS:
        scale = -(-int(size.max()) // _BLOCKS)
        sums = [
            np.add.reduceat(each, np.arange(0, len(each), scale), dtype=np.float32)
            for each in vectors
        ]
        blocks = normalised(sums[0]), normalised(sums[1])
        whole = Band.whole(len(blocks[0]), len(blocks[1]))
        path = best_path(whole, SINGLE, block_scores(blocks), BLOCK_SKIPS)
        band = Band.around(np.minimum(corners_of(path, scale), size), 2 * scale)
    scaled = lengths, lengths_by_nearest(lengths, vectors)
    scores = [first_scores(band, x, vectors, y) for x, (_, y) in zip(scaled, FIRST, strict=True)]
    if times:
        scores = [times.added(each, band, PAIRED, 1.0) for each in scores]
    return [
        best_path(band, PAIRED, each, skips) for each, (skips, _) in zip(scores, FIRST, strict=True)
    ]


def _common_order(
    path: Path,
    probs: NDArray[np.float64],
    lengths: tuple[Lengths, Lengths],
    vectors: tuple[Halves, Halves],
) -> float:
    """Give the probability that two texts stand in a common order, against a null made of them.

    The sum over the paths of a first pass, where the probable beads are, is compared with those of
    lines read backwards: a short text finds some place that fits, whose band knows of no other.
    """
    beads, mass = path[are_matched(path)], np.cumsum(probs[are_matched(path)])
    size = min(_STRETCH, *map(len, vectors))
    if size <= _FEW or not len(beads):
        return 1.0
    start, middle, stop = np.searchsorted(mass, mass[-1] * np.array((_TAIL, 0.5, 1 - _TAIL)))
    ends = beads[[max(start, middle - size // 2), min(stop, middle + size // 2)]]
    usual, _ = usual_lengths(lengths, beads)
    longer = max(1.0, usual[0][0] / lengths[0][0])  # than the characters that are there
    cells = (slice(ends[0, at], min(ends[1, at + 1], ends[0, at] + _WIDE)) for at in (0, 2))
    sides = [(x[at] / longer, of_x[at]) for at, x, of_x in zip(cells, usual, vectors, strict=True)]
    (x, of_x), (y, of_y) = sides
    gain = order_gain((x, y), (of_x, of_y))
    return 1 / (1 + _ODDS * float(np.exp(-(gain**2) / 2)))


def centred(vectors: Halves) -> Halves:
    """Take the mean out of unit vectors, of which long texts have many."""
    mean = vectors.mean(axis=0, dtype=np.float32)
    found = np.empty_like(vectors)
    for at in range(0, len(vectors), _AT_ONCE):
        found[at : at + _AT_ONCE] = normalised(vectors[at : at + _AT_ONCE] - mean)
    return found
