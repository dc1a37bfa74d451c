"""Estimate and cut against a twin: docs/explanation/sure.md, with loops, a pair at a time.

Nothing of xmine.scoring.probability or xmine.scoring.threshold is used for the twin, only `nearest`
for the cosines.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tests.toys.mined import Vectors, mined, sides, unit
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.scoring import probability as confidence
from xmine.scoring.probability import Confidence, estimate
from xmine.scoring.retrieval import ChosenPairs
from xmine.scoring.threshold import choose_threshold


@dataclass
class Pair:
    """One pair that is its row's and column's best."""

    gap: float
    spacing: float
    height: float  # of the best rival
    right: bool = False  # known to be


@dataclass
class Mixture:
    """What the fit finds."""

    share: float
    sigma: float
    mu: float
    slope: float
    tau: float
    variance: float  # of the heights
    gain: float = -math.inf

    def mean(self, pair: Pair) -> float:
        return self.mu - self.slope * pair.height

    def seen(self, pair: Pair) -> float:
        return max(phi(self.mean(pair) / self.tau), 0.1)

    def log_right(self, pair: Pair) -> float:
        """Log density of gap and height, without the cut at zero, relative to wrong heights."""
        normal = -(((pair.gap - self.mean(pair)) / self.tau) ** 2) / 2
        normal -= math.log(self.tau * math.sqrt(2 * math.pi))
        wrong, right = -self.share * self.sigma, (1 - self.share) * self.sigma  # mean heights
        variance = max(self.variance, self.sigma**2)
        return normal + self.sigma * (pair.height - (wrong + right) / 2) / variance


def phi(value: float) -> float:
    return math.erfc(-value / math.sqrt(2)) / 2


def log_exponential(value: float, mean: float) -> float:
    return -value / mean - math.log(mean)


def walked_gaps(
    pairs: ChosenPairs, near: Neighbours, used: int = 4
) -> list[tuple[float, float] | None]:
    """Gap and spacing of each pair by a walk over its row and column; None without two rivals."""
    rows = [dict(zip(i[:used], c[:used], strict=True)) for i, c in tolists(near, "target")]
    columns = [dict(zip(i[:used], c[:used], strict=True)) for i, c in tolists(near, "source")]

    def half(cosines: dict[int, float]) -> float:
        others = sorted(cosines.values(), reverse=True)[1:]
        return sum(others) / len(others) / 2 if others else 0.0

    found: list[tuple[float, float] | None] = []
    for x, y, cosine in zip(
        pairs.sources.tolist(), pairs.targets.tolist(), pairs.cosines.tolist(), strict=True
    ):
        row = [c - (half(rows[x]) + half(columns[j])) for j, c in rows[x].items() if j != y]
        column = [c - (half(rows[i]) + half(columns[y])) for i, c in columns[y].items() if i != x]
        rivals = sorted(row + column, reverse=True)
        own = cosine - (half(rows[x]) + half(columns[y]))
        found.append(None if len(rivals) < 2 else (own - rivals[0], rivals[0] - rivals[1]))
    return found


def tolists(near: Neighbours, side: str) -> list[tuple[list[int], list[float]]]:
    ids, cosines = (
        (near.targets, near.target_cosines)
        if side == "target"
        else (near.sources, near.source_cosines)
    )
    return list(zip(ids.tolist(), cosines.tolist(), strict=True))


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def fit(pairs: list[Pair], likely: float, enough: int) -> Mixture:
    """The best of four first guesses; of very many pairs found on some of them."""
    if len(pairs) >= 2 * enough:
        some = fit(pairs[:: len(pairs) // enough], likely, enough)
        return climb(pairs, likely, [log_odds(some, each) > 0 for each in pairs])
    typical = max(2 * statistics.median(each.spacing for each in pairs), 1e-4)
    highest = quantile([each.gap + each.height for each in pairs], 0.9)
    guesses = [[each.gap > times * typical for each in pairs] for times in (1, 2, 4)]
    guesses.append([each.gap > typical / 2 and each.gap + each.height > highest for each in pairs])
    best: Mixture | None = None
    for guess in guesses:
        end = climb(pairs, likely, guess)
        if best is None or end.gain > best.gain:
            best = end
    assert best is not None
    return best


def log_odds(found: Mixture, pair: Pair) -> float:
    return (
        math.log(found.share / (1 - found.share))
        + found.log_right(pair)
        - log_exponential(pair.gap, found.sigma)
    )


def climb(pairs: list[Pair], likely: float, guess: list[bool]) -> Mixture:
    """Expectation maximisation."""
    count, known = len(pairs), sum(each.right for each in pairs)
    heights = [each.height for each in pairs]
    middle = sum(heights) / count
    variance = max(sum((each - middle) ** 2 for each in heights) / count, 1e-8)
    sigma = max(sum(each.gap + 2 * each.spacing for each in pairs) / (2 * count), 1e-4)
    alone = sum(
        log_exponential(each.gap, sigma) + log_exponential(each.spacing, sigma / 2)
        for each in pairs
    )
    mu = min(max(likely, 5 * sigma), 8 * sigma)
    now = Mixture(0.5, sigma, mu, 0.5, mu / 3, variance)
    belief = [0.95 if each else 0.05 for each in guess]
    last = -math.inf
    for _ in range(300):
        belief = [1.0 if each.right else b for each, b in zip(pairs, belief, strict=True)]
        found = sum(belief)
        now.share = min(max((found - known) / max(count - known, 1), 1e-6), 1 - 1e-6)
        wrong = sum((1 - b) * each.gap for each, b in zip(pairs, belief, strict=True))
        wrong += sum(2 * (1 - b) * each.spacing for each, b in zip(pairs, belief, strict=True))
        right = sum(b * each.spacing for each, b in zip(pairs, belief, strict=True))
        now.sigma = max((wrong + right) / (2 * (count - found) + found), 1e-4)
        now = improved(now, pairs, belief, likely)
        cut = found / sum(b / now.seen(each) for each, b in zip(pairs, belief, strict=True))
        total = 0.0
        for place, each in enumerate(pairs):
            as_right = math.log(now.share) + now.log_right(each) - math.log(cut)
            as_right += log_exponential(each.spacing, now.sigma)
            as_wrong = math.log(1 - now.share) + log_exponential(each.gap, now.sigma)
            as_wrong += log_exponential(each.spacing, now.sigma / 2)
            both = max(as_right, as_wrong) + math.log1p(math.exp(-abs(as_right - as_wrong)))
            belief[place] = max(math.exp(as_right - both), 1e-12)
            total += both
        change, last = abs(total - last), total
        if change < min(1e-6 * count, 0.01):
            break
    now.gain = last - alone
    return now


def improved(now: Mixture, pairs: list[Pair], belief: list[float], likely: float) -> Mixture:
    """Slope, mean and spread of the translations, beaten ones included."""
    beaten: list[tuple[float, float, float]] = []  # how many, mean gap, variance
    for each, b in zip(pairs, belief, strict=True):
        mean, seen = now.mean(each), now.seen(each)
        many = b * min(1 / seen - 1, 1)
        ratio = mean / now.tau
        hazard = math.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi) / max(1 - seen, 1e-12)
        within = now.tau**2 * min(max(1 + ratio * hazard - hazard**2, 0), 1)
        beaten.append((many, mean - now.tau * hazard, within))
    both = list(zip(pairs, belief, beaten, strict=True))
    total = sum(b + n for _, b, (n, _, _) in both)
    height = sum((b + n) * each.height for each, b, (n, _, _) in both) / total
    gap = sum(b * each.gap + n * mean for each, b, (n, mean, _) in both) / total
    across = sum(
        (each.height - height) * (b * (each.gap - gap) + n * (mean - gap))
        for each, b, (n, mean, _) in both
    )
    along = sum((b + n) * (each.height - height) ** 2 for each, b, (n, _, _) in both)
    weight = 20 * now.variance
    slope = min(max((weight / 2 - across) / (weight + along), 0), 1)
    believed = min(max(likely, 5 * now.sigma), 8 * now.sigma) - slope * height
    mu = max((total * gap + 5 * believed) / (total + 5), 2 * now.sigma)  # where height is
    squares = 30 * (mu / 3) ** 2
    for each, b, (n, mean, within) in both:
        expected = mu - slope * (each.height - height)
        squares += b * (each.gap - expected) ** 2 + n * ((mean - expected) ** 2 + within)
    tau = min(max(math.sqrt(squares / (total + 30)), mu / 10), mu)
    return Mixture(now.share, now.sigma, mu + slope * height, slope, tau, now.variance)


def mutual_pairs(
    pairs: ChosenPairs, near: Neighbours, known: list[int]
) -> tuple[list[Pair], list[int]]:
    """The pairs that are each other's best, and what is known of them."""
    judged, labels = [], []
    rows = zip(walked_gaps(pairs, near), pairs.cosines.tolist(), known, strict=True)
    for each, cosine, label in rows:
        if each is not None and each[0] >= 0:
            judged.append(Pair(*each, cosine - each[0]))
            labels.append(label)
    return judged, labels


@dataclass
class Verdict:
    """The twin's estimate: of each pair the probability and the share that is seen."""

    probs: list[float]
    seen: list[float]
    any_at_all: float
    apart: float


def verdict(pairs: list[Pair], known: list[int], enough: int = 50_000) -> Verdict:
    """Judge pairs that are each other's best; `known` is 1, 0 or -1."""
    nothing = Verdict([0.0] * len(pairs), [1.0] * len(pairs), 0.0, 0.0)
    used = [place for place, label in enumerate(known) if label != 0]
    if not used:
        return nothing
    middle = sum(pairs[place].height for place in used) / len(used)
    moved = [
        Pair(each.gap, each.spacing, each.height - middle, label == 1)
        for each, label in zip(pairs, known, strict=True)
    ]
    found = fit([moved[place] for place in used], 0.8 - middle, enough)
    if 1 in known:
        any_at_all = 1.0
    elif found.gain <= 0:
        return nothing
    else:
        any_at_all = 1 / (1 + math.exp(min(3 - found.gain, 700)))
    probs = []
    for each, label in zip(moved, known, strict=True):
        widest = max(found.mean(each), 0) + found.tau**2 / found.sigma
        odds = math.exp(log_odds(found, Pair(min(each.gap, widest), each.spacing, each.height)))
        probs.append(any_at_all * odds / (1 + odds) if label == -1 else float(label))
    return Verdict(probs, [found.seen(each) for each in moved], any_at_all, found.mu / found.sigma)


def whole_estimate(
    pairs: ChosenPairs, near: Neighbours, known: list[int]
) -> tuple[list[float], float, Verdict]:
    """Probability of each pair, number of translations in the files, and the verdict."""
    gaps = walked_gaps(pairs, near)
    mutual = [place for place, each in enumerate(gaps) if each is not None and each[0] >= 0]
    found = verdict(*mutual_pairs(pairs, near, known))
    probs = [0.0] * len(pairs)
    translations = 0.0
    for place, chance, seen in zip(mutual, found.probs, found.seen, strict=True):
        probs[place] = chance
        translations += chance * (1 / seen - 1)
    probs = [1.0 if label == 1 else c for c, label in zip(probs, known, strict=True)]
    return probs, translations + sum(probs), found


def slow_size(probs: list[float], translations: float, precision: float | None) -> int:
    """How many of the most probable pairs a cut keeps: best expected F1, or a wanted precision."""
    best, size = 0.0, 0
    for count in range(1, len(probs) + 1):
        if count < len(probs) and probs[count] == probs[count - 1]:
            continue  # no cut parts equal ones
        right = sum(probs[:count])
        f1 = 2 * right / (count + translations)
        likely = probs[count - 1] >= 0.5 * (1 - translations / (0.08 * len(probs)))
        if precision is None and f1 > best and likely:
            best, size = f1, count
        doubt = 0.9 * sum(each * (1 - each) for each in probs[:count])
        precise = precision is not None and (right - 0.9 * doubt) / count >= precision
        if precise and probs[count - 1] >= 0.5:
            size = count
    return size


def slow_expectation(probs: list[float]) -> tuple[float, float, float]:
    """Expected precision of the kept pairs, and the interval for it."""
    count, right = len(probs), sum(probs)
    variance = sum(each * (1 - each) for each in probs)
    doubt = 1.645 * math.sqrt(variance + (0.9 * max(variance, 0.5)) ** 2)
    low, high = (right - doubt) / count, (right + doubt) / count
    return right / count, max(low, 0), min(high, 1)


# Sets of pairs: vectors that are mined, and labels.

Case = tuple[ChosenPairs, Neighbours, list[int]]


def of_sides(sources: int, targets: int, shared: int, k: int = 4, used: int = 4) -> Case:
    source, target = sides(sources, targets, shared, sources + shared)
    pairs, _ = mined(source, target, k=k, retrieval="fwd" if k == 2 else "max")
    return pairs, search_exact(source, target, used), [-1] * len(pairs)


def near_twins() -> tuple[Vectors, Vectors]:
    """Short lines: families of three lines that hardly differ; one line in three is translated."""
    rng = np.random.default_rng(12)
    stems = rng.normal(size=(70, 1, 48)) + rng.normal(size=48)
    source, target = (
        (stems + 0.45 * rng.normal(size=(70, 3, 48))).reshape(210, 48) for _ in range(2)
    )
    rows = np.arange(0, 210, 3)
    target[rows] = source[rows] + 0.35 * rng.normal(size=(len(rows), 48))
    return unit(source), unit(target)


def of_near_twins() -> Case:
    pairs, near = mined(*near_twins())
    return pairs, near, [-1] * len(pairs)


def weak() -> Case:
    """An encoder so weak that many translations have a better rival."""
    rng = np.random.default_rng(5)
    source, target = rng.normal(size=(220, 48)), rng.normal(size=(200, 48))
    target[:120] = source[:120] + 1.7 * target[:120]
    pairs, near = mined(unit(source), unit(target))
    return pairs, near, [-1] * len(pairs)


def weak_and_known() -> Case:
    """Pairs that are known to be right though they have a better rival."""
    pairs, near, known = weak()
    source, target = pairs.sources, pairs.targets
    fwd = (near.targets[source, 0] == target) & (near.sources[target, 0] == source)
    beaten = np.flatnonzero((source == target) & ~fwd)
    assert len(beaten) > 3
    for place in beaten[:3].tolist():
        known[place] = 1
    return pairs, near, known


def repeated() -> Case:
    """Lines that come twice: a pair with one of them has a gap of zero."""
    source, target = sides(40, 40, 20, 9)
    target[20:28] = target[:8]
    pairs, near = mined(source, target)
    return pairs, near, [-1] * len(pairs)


def given() -> Case:
    """Any pairs, with one neighbour: those that are neighbours have no rival, others two."""
    source, target = sides(30, 30, 12, 2)
    rows = np.arange(30)
    cosines = (source @ target.T)[np.tile(rows, 2), np.append(rows, rows[::-1])]
    pairs = ChosenPairs(np.tile(rows, 2), np.append(rows, rows[::-1]), cosines, cosines)
    return pairs, search_exact(source, target, 1), [-1] * 60


def with_known(case: Case, right: int, wrong: int) -> Case:
    pairs, near, known = case
    for place in np.random.default_rng(1).permutation(len(pairs))[: right + wrong].tolist():
        is_right = right and pairs.sources[place] == pairs.targets[place]
        known[place] = 1 if is_right else 0
    return pairs, near, known


CASES: dict[str, Callable[[], Case]] = {
    "six lines": lambda: of_sides(6, 5, 4),
    "few lines": lambda: of_sides(25, 30, 9),
    "many lines, 2 % parallel": lambda: of_sides(500, 500, 10),
    "60 % parallel": lambda: of_sides(250, 280, 150),
    "all parallel": lambda: of_sides(90, 90, 90),
    "none parallel": lambda: of_sides(60, 60, 0),
    "a margin of one neighbour": lambda: of_sides(120, 130, 50, k=1),
    "two neighbours are known": lambda: of_sides(120, 110, 50, k=2, used=2),
    "more neighbours than are read": lambda: of_sides(80, 70, 30, used=9),
    "judged, right and wrong": lambda: with_known(of_sides(200, 200, 60), 40, 20),
    "judged, wrong alone": lambda: with_known(of_sides(200, 200, 60), 0, 30),
    "short lines": of_near_twins,
    "short lines, judged": lambda: with_known(of_near_twins(), 30, 30),
    "a weak encoder": weak,
    "a weak encoder, judged": weak_and_known,
    "repeated lines": repeated,
    "given pairs and one neighbour": given,
}


def drawn(
    rows: int, share: float, mu: float, slope: float, tau: float, seed: int
) -> tuple[list[Pair], list[int]]:
    """Draw pairs as the estimate assumes them, σ being 0.05; a sixth of them may be known."""
    rng = np.random.default_rng(seed)
    right = np.arange(rows) < share * rows
    heights = rng.normal(np.where(right, 0.55, 0.5), 0.12)
    gaps = mu - slope * (heights - 0.5) + rng.normal(0, tau, rows)
    gaps = np.where(right, gaps, rng.exponential(0.05, rows))
    spacings = rng.exponential(np.where(right, 0.05, 0.025))
    columns = (gaps.tolist(), spacings.tolist(), heights.tolist())
    pairs = [Pair(*each) for each in zip(*columns, strict=True)]
    known = np.where(rng.random(rows) < 1 / 6, right, -1) if seed >= 10 else np.full(rows, -1)
    labels = zip(pairs, known.tolist(), strict=True)
    kept = [(each, label) for each, label in labels if each.gap > 0]
    return [each for each, _ in kept], [label for _, label in kept]


# Each brings the fit to another end, or to one of its limits.
DRAWN = {
    "gaps fall steeply": (600, 0.3, 0.25, 0.9, 0.05, 0),
    "hardly a translation is seen where rivals are close": (600, 0.3, 0.12, 0.9, 0.05, 1),
    "gaps do not fall": (600, 0.3, 0.3, 0.0, 0.15, 0),
    "gaps fall by more than rivals gain": (600, 0.3, 0.3, 1.5, 0.1, 0),
    "gaps rise": (600, 0.3, 0.3, -0.5, 0.1, 2),
    "gaps of one width": (900, 0.5, 0.3, 0.5, 0.002, 0),
    "gaps of any width": (600, 0.6, 0.1, 0.5, 0.5, 2),
    "near, of which two guesses end at nothing": (600, 0.5, 0.08, 0.5, 0.03, 1),
    "as near as may be": (600, 0.5, 0.08, 0.5, 0.03, 2),
    "few and far": (300, 0.01, 1.2, 0.5, 0.1, 2),
    "far and scattered": (300, 0.02, 0.9, 0.5, 0.3, 0),
    "the second guess": (300, 0.02, 0.9, 0.5, 0.3, 2),
    "nearly all": (150, 0.9, 0.3, 0.5, 0.1, 0),
    "all": (100, 0.98, 0.2, 0.9, 0.06, 3),
    "perhaps none": (60, 0.3, 0.18, 0.5, 0.08, 2),
    "perhaps some": (30, 0.1, 0.2, 0.5, 0.08, 2),
    "nothing but noise": (60, 0.3, 0.18, 0.5, 0.08, 0),
    "some are known": (600, 0.3, 0.2, 0.7, 0.05, 10),
    "few, some are known": (60, 0.3, 0.18, 0.5, 0.08, 11),
    "near, some are known": (400, 0.4, 0.1, 0.5, 0.04, 12),
}


@pytest.fixture
def exact_normal_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look the normal distribution up in finer steps; the last test holds those that ship."""
    points = np.linspace(-8, 8, 80_001)
    monkeypatch.setattr(confidence, "_POINTS", points)
    monkeypatch.setattr(confidence, "_BELOW", np.array([phi(each) for each in points.tolist()]))


def same_verdict(pairs: list[Pair], known: list[int], enough: int = 50_000) -> None:
    ours = confidence._judged(
        np.array([each.gap for each in pairs]),
        np.array([each.spacing for each in pairs]),
        np.array([each.height for each in pairs]),
        np.array(known, dtype=np.int8),
    )
    twins = verdict(pairs, known, enough)
    np.testing.assert_allclose(ours.probs, twins.probs, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.seen, twins.seen, rtol=0, atol=1e-6)
    assert ours.any_at_all == pytest.approx(twins.any_at_all, abs=1e-6)
    assert ours.apart == pytest.approx(twins.apart, rel=1e-6)


@pytest.mark.usefixtures("exact_normal_distribution")
@pytest.mark.parametrize("name", CASES)
def test_each_probability_of_mined_pairs_is_the_twins(name: str) -> None:
    pairs, near, known = CASES[name]()
    judged, labels = mutual_pairs(pairs, near, known)
    same_verdict(judged, labels)


@pytest.mark.usefixtures("exact_normal_distribution")
@pytest.mark.parametrize("name", DRAWN)
def test_each_probability_of_drawn_pairs_is_the_twins(name: str) -> None:
    same_verdict(*drawn(*DRAWN[name]))


@pytest.mark.usefixtures("exact_normal_distribution")
@pytest.mark.parametrize("rows", [99, 100, 149, 150, 400])
def test_of_many_pairs_some_give_the_first_guess(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(confidence, "_ENOUGH", 50)
    for share, seed in ((0.1, 3), (0.4, 14)):
        pairs, known = drawn(rows + 60, share, 0.25, 0.6, 0.06, seed)
        same_verdict(pairs[:rows], known[:rows], enough=50)


def test_equal_gaps_and_heights_are_no_matter() -> None:
    """Nothing varies: the limits of σ and of the heights' variance hold."""
    same_verdict([Pair(0.0, 0.0, 0.5) for _ in range(8)], [-1] * 8)
    same_verdict([Pair(0.2, 0.01, 0.5) for _ in range(8)], [-1] * 8)
    same_verdict([Pair(0.2, 0.01, 0.5) for _ in range(8)], [0] * 8)
    same_verdict([Pair(0.2, 0.01, 0.5) for _ in range(8)], [1] * 8)


@pytest.mark.usefixtures("exact_normal_distribution")
@pytest.mark.usefixtures("exact_normal_distribution")
def test_the_limits_of_scale_and_variance_hold_where_cosines_hardly_differ() -> None:
    for seed, known in ((1, 0), (11, 1)):
        for smaller in (1e-2, 1e-3, 1e-4):
            pairs, labels = drawn(200, 0.3, 0.3, 0.5, 0.1, seed)
            scaled = [
                Pair(each.gap * smaller, each.spacing * smaller, 0.7 + each.height * smaller)
                for each in pairs
            ]
            same_verdict(scaled, labels)
            assert (1 in labels) == known


@pytest.mark.usefixtures("exact_normal_distribution")
@pytest.mark.parametrize("name", CASES)
def test_estimate_and_cuts_are_the_twins(name: str) -> None:
    pairs, near, known = CASES[name]()
    ours = estimate(pairs, near, np.array(known, dtype=np.int8))
    assert ours is not None
    probs, translations, found = whole_estimate(pairs, near, known)
    # The estimate has four decimals.
    np.testing.assert_allclose(ours.probs, probs, rtol=0, atol=5.1e-5)
    assert ours.translations == pytest.approx(translations, abs=5.1e-5)
    assert ours.apart == pytest.approx(found.apart, abs=1e-6)
    order = np.lexsort((-pairs.scores, -ours.probs))
    rounded = sorted((float(f"{each:.4f}") for each in probs), reverse=True)
    for precision in (None, 0.5, 0.9, 0.99):
        cut = choose_threshold(pairs.scores[order], ours.of(order), precision=precision)
        size = slow_size(rounded, round(translations, 4), precision)
        assert cut.kept.pairs == size
        if size:
            assert cut.value == rounded[size - 1]
            expectation = (cut.kept.precision, *(cut.kept.interval or ()))
            assert expectation == pytest.approx(slow_expectation(rounded[:size]), abs=1e-6)


def test_pairs_that_are_taken_for_right_count_as_such() -> None:
    found = Confidence(np.array([0.9, 0.25, 0.5, 0.0]), 3.0, 4.0)
    after = found.where_known(np.array([1.0, np.nan, np.nan, 1.0]))
    assert after.probs.tolist() == [1.0, 0.25, 0.5, 1.0]
    assert (after.translations, after.apart) == (3.0 + 0.1 + 1.0, 4.0)
    assert found.of(np.array([2, 0])).probs.tolist() == [0.5, 0.9]


def test_the_normal_distribution_is_looked_up_closely() -> None:
    found = np.interp(np.linspace(-7, 7, 9_999), confidence._POINTS, confidence._BELOW)
    exact = [phi(each) for each in np.linspace(-7, 7, 9_999).tolist()]
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6)
