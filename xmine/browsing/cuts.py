"""Pairs with scores -> for any cut the count and expected precision of its pairs."""

import math
from dataclasses import replace

import numpy as np

from xmine.browsing.opened import Opened, Rows
from xmine.errors import OptionError
from xmine.scoring.histogram import Histogram as Histogram
from xmine.scoring.histogram import bin_scores
from xmine.scoring.probability import Confidence, Floats
from xmine.scoring.threshold import Kept, expected_of, floored


def flag_of(opened: Opened, cut: float) -> str:
    """Name the option of `xmine mine` that makes a cut."""
    return f"--min-prob {cut!r}" if opened.by_probability else f"--threshold {cut!r}"


def check_cut(opened: Opened, cut: float) -> None:
    """Refuse a cut that no option makes."""
    if math.isnan(cut):
        raise OptionError(f"a cut at {cut}", "give a number")
    if opened.by_probability and not 0 <= cut <= 1:
        raise OptionError(
            f"a cut at {cut:g}, and pairs are cut by probability",
            f"give a number from 0 to 1; for a score, mine with --threshold {cut:g}",
        )


class Cuts:
    """Any cut through the pairs of a run, or of a file with scores.

    Pairs are sorted and summed once, so that a cut can follow a key that is held down. Equal pairs
    that `--top` left out at the cut of the run stay out, until the run is mined or cut again.

    Attributes:
        rows: int64 [pairs], rows of `opened`, the best first.
        ranks: float64 [pairs], falling; see `Opened.ranks`.
        probs: float64 [pairs]; None without an estimate.
    """

    def __init__(self, opened: Opened, rows: Rows | None = None) -> None:
        """Sort the pairs that may be kept: `rows` of `opened`, or those that the run may keep."""
        self.opened = opened
        if (ranks := opened.ranks) is None:
            raise OptionError(f"{opened.path} has no scores", "xmine score writes them")
        if rows is None:
            rows = np.flatnonzero(opened.eligible & opened.allowed)
        self._left_out = np.sort(ranks[opened.allowed & ~opened.eligible])
        self.rows: Rows = rows[np.argsort(-ranks[rows], kind="stable")]
        self.ranks: Floats = ranks[self.rows]
        self.probs: Floats | None = None
        # The summary has None where nobody can know how precise the pairs are.
        if opened.probs is not None and opened.summary.get("translations", 0) is not None:
            self.probs = np.nan_to_num(opened.probs[self.rows].astype(np.float64))
            # Sums over the first pairs, as many as the index says: float64 [pairs + 1].
            self._right = np.append(0, self.probs.cumsum())
            self._unsure = np.append(0, (self.probs * (1 - self.probs)).cumsum())
            self._translations = float(opened.summary.get("translations", self._right[-1]))
        self._rising = self.ranks[::-1]

    def __len__(self) -> int:
        """Count the pairs that may be kept."""
        return len(self.rows)

    @property
    def confidence(self) -> Confidence | None:
        """Give the estimate as mining had it, of the pairs of `rows`."""
        if self.probs is None:
            return None
        return Confidence(self.probs, self._translations, doubt=self.opened.doubt)

    def start(self) -> float:
        """Give the cut to begin with: that of the run, or below all pairs."""
        if self.opened.cut is not None:
            return self.opened.cut
        return floored(float(self.ranks[-1])) if len(self.ranks) else 0.0

    def within(self, cut: float) -> float:
        """Give the nearest cut between the one that keeps all pairs and the one that keeps none."""
        lowest, highest = floored(float(self.ranks[-1])), round(float(self.ranks[0]) + 1e-4, 4)
        if self.opened.by_probability:
            lowest, highest = 0.0, min(highest, 1.0)
        return min(max(cut, lowest), highest)

    def kept_by(self, cut: float) -> int:
        """Count the pairs at or above a cut."""
        return len(self.ranks) - int(np.searchsorted(self._rising, cut))

    def taken_back(self, cut: float) -> int:
        """Count the further pairs that mining with this cut keeps."""
        return len(self._left_out) - int(np.searchsorted(self._left_out, cut))

    def at(self, cut: float) -> Kept:
        """Count the pairs that a cut keeps, and expect their precision."""
        kept = self.kept_by(cut)
        if self.probs is None:
            return Kept(cut, kept)
        sums = self._right[kept], self._unsure[kept]
        return Kept(cut, kept, *expected_of(kept, *sums, self.opened.doubt))

    def recall(self, cut: float) -> float | None:
        """Expect which share of all translations a cut keeps; None where nothing is estimated.

        Of a run all are the translations that mining expects in the files, of a file those among
        its pairs.
        """
        if self.probs is None or not self._translations:
            return None
        return min(float(self._right[self.kept_by(cut)]) / self._translations, 1.0)

    def near(self, cut: float, count: int) -> tuple[Rows, Rows]:
        """Find the pairs just above and just below a cut, best first: int64 [some], rows."""
        kept = self.kept_by(cut)
        return self.rows[max(kept - count, 0) : kept], self.rows[kept : kept + count]

    def histogram(self, cut: float, most: int = 15) -> Histogram:
        """Count the pairs in bins that suit a cut; see `moved` for other cuts."""
        name = "prob" if self.opened.by_probability else "score"
        return bin_scores(self.ranks, self.probs, cut, most, name)

    def moved(self, histogram: Histogram, cut: float) -> Histogram:
        """Give the same bins with another cut: nothing is counted again."""
        kept = self.at(cut)
        return replace(histogram, cut=cut, kept=kept.pairs, kept_precision=kept.precision)

    def facts(self, cut: float) -> dict[str, object]:
        """List the figures of a cut for JSON, and the option that makes the cut."""
        kept = self.at(cut)
        return {
            "cut": cut,
            "pairs": kept.pairs,
            "eligible": len(self),
            "precision": kept.precision,
            "recall": self.recall(cut),
            "interval": None if kept.interval is None else list(kept.interval),
            "flag": flag_of(self.opened, cut),
            "taken_back": self.taken_back(cut),
        }


def step_of(histogram: Histogram) -> float:
    """Choose how far a key moves the cut: a tenth of a bin, in four decimals; or 0.01 of 1."""
    if histogram.name == "prob":
        return 0.01
    widths = np.diff(histogram.edges)
    closed = widths[np.isfinite(widths)]
    return max(round(float(closed.min()) / 10, 4), 1e-4) if len(closed) else 1e-4


def stepped(cut: float, step: float, steps: int) -> float:
    """Move a cut by so many steps, up or down, to a multiple of the step."""
    place = round(cut / step, 6)  # 1.2 / 0.1 is not quite 12
    start = math.floor(place) if steps > 0 else math.ceil(place)
    return round((start + steps) * step, 4) + 0.0  # no -0.0
