"""Times of the lines of two texts, as subtitles have them -> how well those of beads fit.

Times of one side become those of the other by a scale, since films run at 23.976, 24 or 25 pictures
a second, and a shift. Both are voted for by pairs of lines, then fitted to the lines that begin
together. Beads are scored by how far their begins and ends are apart: by the logarithm of how much
more probable that is of translations than of any lines. A line of what is heard, [door creaks], is
seldom a part of a bead with others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.aligning.band import Band, Kinds, Scores
from xmine.aligning.evidence import Halves
from xmine.text.formats.subtitles import HEARD

Floats = NDArray[np.float64]

_RATES = 23.976, 24.0, 25.0  # pictures a second
_TIMES = re.compile(r"(\d+):(\d\d):(\d\d),(\d{3}) --> (\d+):(\d\d):(\d\d),(\d{3})")
# Seconds: the greatest shift, bins of the votes, and what begins together.
_FARTHEST, _BIN, _TOGETHER = 900.0, 0.2, 0.5
_PEAK = np.pad([1, 2, 3, 2, 1], 48) - 9 / 101  # what bins vote for a shift, and against
_VOTERS, _CELLS = 1000, 4e6  # lines of the source; pairs whose cosines are taken
# Of a fit: lines of either side; share of them that begin together, surplus over other shifts.
_FEW, _LEAST, _NEARLY_ALL, _SURPLUS = 10, 0.4, 0.8, 0.2
_OTHERS = np.array([by for by in range(-40, 41) if abs(by) > 2]) * 0.91  # seconds
_FEWEST, _DRIFT = 20, 0.004  # lines that tell a scale, and how far theirs is from that voted for
_JITTER, _DOUBT = (0.08, 0.6), (0.02, 0.3)  # bounds of the mean distance, and of what fits nothing
_TRUST = 0.5  # begins and ends tell the same in part
_MIXED = 4.0  # log odds against a side of a bead where something is heard and said


class Timing(NamedTuple):
    """How times of the source become those of the target, in seconds: scale * time + shift.

    `share` of the lines of the side with fewer of them begin together; `usual` is the mean of that
    at other shifts, and `rival` the highest. `jitter` is the mean distance of lines that begin
    together, `gap` that from one line to the next.
    """

    scale: float
    shift: float
    share: float
    usual: float
    rival: float
    jitter: float
    gap: float

    @property
    def fits(self) -> bool:
        """Whether more lines begin together than by chance: than at any other shift, or most."""
        surplus = self.share - self.usual
        return surplus >= _SURPLUS and (self.is_unique or self.share >= _NEARLY_ALL)

    @property
    def is_unique(self) -> bool:
        """Whether no other shift fits nearly as well, as where all lines take equally long."""
        return self.share >= max(_LEAST, self.rival + _SURPLUS)

    def gains(self, apart: Floats) -> Floats:
        """Give the log odds of translations by the distances of their begins, or ends."""
        doubt = min(max(1 - self.share, _DOUBT[0]), _DOUBT[1])
        dense = (1 - doubt) * self.gap / (2 * self.jitter)
        return _TRUST * np.log(dense * np.exp(-np.abs(apart) / self.jitter) + doubt)


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """Lines that begin and end at some time.

    Attributes:
        spans: float64 [lines, 2], seconds; begins never fall.
        begins: float64 [times], the different begins, without those that lines share.
        heard: int64 [lines + 1], how many lines before each place are heard and not said.
    """

    spans: Floats
    begins: Floats
    heard: NDArray[np.int64]

    @classmethod
    def of(cls, places: Sequence[str] | None, texts: Sequence[str]) -> "Timed | None":
        """Read the times of lines; None where not all have some, or not in their order.

        Lines with the same times share them by their lengths.
        """
        found = [_TIMES.fullmatch(place) for place in places or ()]
        if not found or not all(found):
            return None
        parts = np.array([each.groups() for each in found if each], np.float64).reshape(-1, 2, 4)
        spans: Floats = parts @ np.array([3600, 60, 1, 0.001])
        if (np.diff(spans[:, 0]) < 0).any():
            return None
        begins, changes = np.unique(spans[:, 0]), (np.diff(spans, axis=0) != 0).any(axis=1)
        for start, stop in pairwise([0, *(np.flatnonzero(changes) + 1).tolist(), len(spans)]):
            ends = np.cumsum([0, *(len(text) for text in texts[start:stop])])
            cuts = spans[start, 0] + np.ptp(spans[start]) * ends / max(ends[-1], 1)
            spans[start:stop] = np.stack([cuts[:-1], cuts[1:]], axis=1)
        spans[:, 0] = np.maximum.accumulate(spans[:, 0])
        heard = np.cumsum([0, *(HEARD.match(text) is not None for text in texts)])
        return cls(spans, begins, heard)

    def mixed(self, ends: NDArray[np.int64], lines: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell whether some lines that end at places have heard ones and others."""
        number = self.heard[ends] - self.heard[(ends - lines).clip(0)]
        return np.asarray((number > 0) & (number < lines))


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Evidence of times, of both sides.

    Attributes:
        sides: the lines of source and target.
        timing: how their times go together.
    """

    sides: tuple[Timed, Timed]
    timing: Timing

    def added(self, scores: Scores, band: Band, kinds: Kinds, weight: float) -> Scores:
        """Add what times tell to the scores of beads, `weight` times."""
        source, target = self.sides
        (x_begins, x_ends), (y_begins, y_ends) = source.spans.T * self.timing.scale, target.spans.T
        shift, gains = self.timing.shift, self.timing.gains
        n, m = np.array(kinds).T[:, :, None]
        most, before = int(m.max()), np.arange(1, int(n.max()) + 1)[:, None]

        def timed(start: int, stop: int) -> list[NDArray[np.floating]]:
            found = scores(start, stop)
            for row, some in zip(range(start, stop), found, strict=True):
                ends = np.arange(band.starts[row], band.stops[row])
                told = -_MIXED * (source.mixed(np.array(row), n) + target.mixed(ends, m) * 1.0)
                if self.timing.fits:
                    columns = np.arange(ends[0] - most, ends[-1] + 1).clip(0, len(y_begins) - 1)
                    begin = x_begins[(row - before).clip(0)] + shift
                    told += gains(begin - y_begins[columns])[n - 1, ends - ends[0] + most - m]
                    told += gains(x_ends[max(row - 1, 0)] + shift - y_ends[(ends - 1).clip(0)])
                some += (weight * told).astype(some.dtype)
            return found

        return timed


def fitted(
    source: Timed | None, target: Timed | None, vectors: tuple[Halves, Halves]
) -> Times | None:
    """Fit scale and shift; `vectors` are centred unit vectors of the lines of both sides.

    Of sides without times, or with few lines, None.
    """
    if source is None or target is None or min(map(len, vectors)) < _FEW:
        return None
    sides = source, target
    x, y = (side.spans[:, 0] for side in sides)
    voters = min(len(x), _VOTERS, max(1, int(_CELLS / len(y))))
    some = np.linspace(0, len(x) - 1, voters).astype(np.int64)
    cosines = vectors[0][some].astype(np.float32) @ vectors[1].astype(np.float32).T
    lasts = [np.ptp(side.spans, axis=1) + 0.1 for side in sides]
    weights = 1 / 3 + 4 * cosines.clip(0)
    best = -np.inf, 1.0, 0.0
    for scale in dict.fromkeys(np.round([a / b for a, b in product(_RATES, _RATES)], 6).tolist()):
        shifts = y - scale * x[some, None]
        near = np.abs(shifts) < _FARTHEST
        alike = weights * np.exp(-np.abs(np.log(lasts[1] / (scale * lasts[0][some, None]))))
        bins = ((shifts[near] + _FARTHEST) / _BIN).astype(np.int64)
        counts = np.bincount(bins, alike[near], int(2 * _FARTHEST / _BIN))
        votes = np.convolve(counts, _PEAK, "same")
        at = int(votes.argmax())
        best = max(best, (float(votes[at]), scale, (at + 0.5) * _BIN - _FARTHEST))
    _, scale, shift = best
    for within in (3 * _TOGETHER, 2 * _TOGETHER, _TOGETHER, _TOGETHER):
        apart = _apart(scale * x + shift, y)
        near = np.abs(apart) < within
        is_told = len(np.unique(x[near])) >= _FEWEST
        drift = float(np.polyfit(x[near], apart[near], 1)[0]) if is_told else 0.0
        drift *= abs(drift) < _DRIFT
        scale += drift
        shift += float(np.median((apart - drift * x)[near])) if near.any() else 0.0
    few, many = sorted((scale * source.begins + shift, target.begins), key=len)
    apart = np.abs(_apart(few, many))
    near = apart < _TOGETHER
    others = [float((np.abs(_apart(few + by, many)) < _TOGETHER).mean()) for by in _OTHERS]
    jitter = float(np.clip(apart[near].mean(), *_JITTER)) if near.any() else _JITTER[1]
    gap = max(float(np.ptp(many)) / len(many), 4 * jitter)
    rivals = float(np.mean(others)), max(others)
    timing = Timing(float(scale), float(shift), float(near.mean()), *rivals, jitter, gap)
    return Times(sides, timing)


def _apart(times: Floats, others: Floats) -> Floats:
    """Give how much later the nearest of other times are, which rise."""
    after = np.searchsorted(others, times).clip(1, max(len(others) - 1, 1))
    pair = others[np.stack([after - 1, after.clip(max=len(others) - 1)])] - times
    return np.asarray(np.where(np.abs(pair[0]) <= np.abs(pair[1]), pair[0], pair[1]))
