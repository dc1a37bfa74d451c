"""Times of the lines of two texts, as subtitles have them -> how well those of beads fit.

Times of one side become those of the other by a scale, since films run at 23.976, 24 or 25 pictures
a second, and a shift. Both are voted for by pairs of lines; lines that begin together refine the
shift. A bead gains by how much more probable the distances of its begins, and of its ends, are
of translations than of any lines. What is heard, [door creaks], is seldom merged with what is said.
"""

import re
from collections.abc import Sequence
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
_JITTER, _DOUBT = (0.08, 0.6), (0.02, 0.3)  # bounds of the mean distance, and of what fits nothing
_TRUST, _MIXED = 0.5, 4.0  # begins and ends tell the same in part; log odds against mixed sides


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
        enough = max(_LEAST, self.rival + _SURPLUS), max(_NEARLY_ALL, self.usual + _SURPLUS)
        return self.share >= min(enough)

    def gains(self, apart: Floats) -> Floats:
        """Give the log odds of translations by the distances of their begins, or ends."""
        doubt = min(max(1 - self.share, _DOUBT[0]), _DOUBT[1])
        dense = (1 - doubt) * self.gap / (2 * self.jitter)
        return _TRUST * np.log(dense * np.exp(-np.abs(apart) / self.jitter) + doubt)


class Timed(NamedTuple):
    """Lines with times.

    `spans` are their begins and ends, float64 [lines, 2], seconds; `begins` has each begin once;
    `heard` is how many lines before each place are heard, int64 [lines + 1].
    """

    spans: Floats
    begins: Floats
    heard: NDArray[np.int64]

    @classmethod
    def of(cls, places: Sequence[str] | None, texts: Sequence[str]) -> "Timed | None":
        """Read the times of lines, which share by lengths what is the same; None without order."""
        found = [each.groups() for each in map(_TIMES.fullmatch, places or ()) if each]
        spans: Floats = np.array(found, np.float64).reshape(-1, 2, 4) @ [3600, 60, 1, 0.001]
        if not 0 < len(spans) == len(texts) or (np.diff(spans[:, 0]) < 0).any():
            return None
        begins, changes = np.unique(spans[:, 0]), (np.diff(spans, axis=0) != 0).any(axis=1)
        for start, stop in pairwise([0, *(np.flatnonzero(changes) + 1).tolist(), len(spans)]):
            ends = np.cumsum([0, *(len(text) for text in texts[start:stop])])
            cuts = spans[start, 0] + np.ptp(spans[start]) * ends / max(ends[-1], 1)
            spans[start:stop] = np.stack([cuts[:-1], cuts[1:]], axis=1)
        return cls(
            spans, begins, np.cumsum([0, *(HEARD.match(each) is not None for each in texts)])
        )

    def mixed(self, ends: NDArray[np.int64], lines: NDArray[np.int64]) -> NDArray[np.float64]:
        """Tell which lines that end at places are heard in part: 1, others 0."""
        number = self.heard[ends] - self.heard[(ends - lines).clip(0)]
        return np.asarray((number > 0) & (number < lines), np.float64)


class Times(NamedTuple):
    """The times of both sides, and how they go together."""

    source: Timed
    target: Timed
    timing: Timing

    def added(self, scores: Scores, band: Band, kinds: Kinds, weight: float) -> Scores:
        """Add what times tell to the scores of beads, `weight` times."""
        source, target, timing = self
        x_begins, x_ends = source.spans.T * timing.scale + timing.shift
        y_begins, y_ends = target.spans.T
        n, m = np.array(kinds).T[:, :, None]
        most, before = int(m.max()), np.arange(1, int(n.max()) + 1)[:, None]

        def timed(start: int, stop: int) -> list[NDArray[np.floating]]:
            found = scores(start, stop)
            for row, some in zip(range(start, stop), found, strict=True):
                ends = np.arange(band.starts[row], band.stops[row])
                told = -_MIXED * (source.mixed(np.array(row), n) + target.mixed(ends, m))
                if timing.fits:
                    columns = np.arange(ends[0] - most, ends[-1] + 1).clip(0, len(y_begins) - 1)
                    apart = x_begins[(row - before).clip(0)] - y_begins[columns]
                    told += timing.gains(apart)[n - 1, ends - ends[0] + most - m]
                    told += timing.gains(x_ends[max(row - 1, 0)] - y_ends[(ends - 1).clip(0)])
                some += (weight * told).astype(some.dtype)
            return found

        return timed


def fitted(
    source: Timed | None, target: Timed | None, vectors: tuple[Halves, Halves]
) -> Times | None:
    """Find scale and shift; None without times, or with few lines.

    `vectors` are centred unit vectors of the lines of both sides.
    """
    if source is None or target is None or min(map(len, vectors)) < _FEW:
        return None
    x, y = source.spans[:, 0], target.spans[:, 0]
    voters = min(len(x), _VOTERS, max(1, int(_CELLS / len(y))))
    some = np.linspace(0, len(x) - 1, voters).astype(np.int64)
    weights = vectors[0][some].astype(np.float32) @ vectors[1].astype(np.float32).T
    weights = 1 / 3 + 4 * weights.clip(0)
    last, other = np.ptp(source.spans[some], axis=1)[:, None] + 0.1, np.ptp(target.spans, axis=1)
    best = -np.inf, 1.0, 0.0
    for scale in sorted({a / b for a, b in product(_RATES, _RATES)}):
        shifts = y - scale * x[some, None]
        near = np.abs(shifts) < _FARTHEST
        alike = weights * np.exp(-np.abs(np.log((other + 0.1) / (scale * last))))
        bins = ((shifts[near] + _FARTHEST) / _BIN).astype(np.int64)
        counts = np.bincount(bins, alike[near], int(2 * _FARTHEST / _BIN))
        votes = np.convolve(counts, _PEAK, "same")
        at = int(votes.argmax())
        best = max(best, (float(votes[at]), scale, (at + 0.5) * _BIN - _FARTHEST))
    _, scale, shift = best
    for within in (3 * _TOGETHER, 2 * _TOGETHER, _TOGETHER, _TOGETHER):
        apart = _apart(scale * x + shift, target.begins)
        near = np.abs(apart) < within
        shift += float(np.median(apart[near])) if near.any() else 0.0
    few, many = sorted((scale * source.begins + shift, target.begins), key=len)
    others = [float((np.abs(_apart(few + by, many)) < _TOGETHER).mean()) for by in _OTHERS]
    apart = np.abs(_apart(few, many))
    share, jitter = float((apart < _TOGETHER).mean()), float(apart[apart < _TOGETHER].sum())
    jitter = min(max(jitter / max(share * len(few), 1), _JITTER[0]), _JITTER[1])
    gap = max(float(np.ptp(many)) / len(many), 4 * jitter)
    timing = Timing(scale, shift, share, float(np.mean(others)), max(others), jitter, gap)
    return Times(source, target, timing)


def _apart(times: Floats, others: Floats) -> Floats:
    """Give how much later the nearest of other times are, which rise."""
    after = np.searchsorted(others, times).clip(0, len(others) - 1)
    pair = others[np.stack([(after - 1).clip(0), after])] - times
    return np.asarray(np.where(np.abs(pair[0]) <= np.abs(pair[1]), pair[0], pair[1]))
