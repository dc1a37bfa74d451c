"""Chosen pairs -> what makes each of them suspicious.

docs/explanation/flags.md says what each flag means and how it was measured.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.files.scratch import slices, stored, taken
from xmine.flags.beside import Vectors, completed_beside
from xmine.flags.flag_set import (
    CONFIDENT,
    FEWEST_CONFIDENT,
    TO_DEVIATION,
    Bools,
    Flags,
    middle_and_spread,
)
from xmine.flags.hubness import hub_reason, is_hub
from xmine.flags.partial import is_partial
from xmine.flags.reading import COMPARED, ReadLines
from xmine.knn.neighbours import Neighbours
from xmine.scoring.alignment import Looseness
from xmine.scoring.margin import SMALLEST_MEAN
from xmine.scoring.probability import Floats
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.languages import short_code
from xmine.text.sentences import Sentences

Rows = NDArray[np.int64]

# Lengths differ by chance as if each side had this many more characters' worth of freedom: the
# spread of log ratios at this length is the square root of two times that of long lines.
_SHORT = 15.0
_FARTHEST_LENGTH = 3.7  # robust standard deviations
_LEAST_SPREAD = 0.13
_MOSTLY = 0.8  # a side with this share of ASCII and Latin letters is written in these
# English to Chinese: median and spread of log ratios of characters, of long lines.
_PRIORS = {("en", "zh"): (-1.3, 0.2), ("zh", "en"): (1.3, 0.2)}
# A ratio passes for good at this quantile of the confident ones; a cosine does down to this many
# robust standard deviations below their median.
_GOOD_RATIO = 0.2
_FARTHEST_COSINE = 3.5


def flag_pairs(
    chosen: ChosenPairs,
    probs: Floats,
    neighbours: Neighbours | None,
    source: Sentences,
    target: Sentences,
    read: ReadLines,
    loose: Looseness | None = None,
    vectors: Vectors | None = None,
) -> Flags:
    """Name the flags of each pair.

    Args:
        chosen: the pairs.
        probs: float64 [pairs], estimated probabilities that they are right.
        neighbours: of all rows of `source` and `target`; without them no pair is `hub` or `high`.
        source, target: the sentences that were searched.
        read: of the lines of both sides, and of the pairs.
        loose: the loosest stretches of the pairs; without them no pair is `partial`.
        vectors: of both sides, if the vectors of lines put together are sums of these, and lines
            stand in the order of a text.
    """
    x, y, left, right = chosen.sources, chosen.targets, read.source, read.target
    languages = read.languages
    copy, near_copy, foreign = read.untranslated
    none = np.zeros(len(chosen), dtype=bool)
    best_first = stored(np.lexsort((-chosen.scores, -probs)))
    better = (
        best_of_equal(best_first, taken(left.keys, x)),
        best_of_equal(best_first, taken(right.keys, y)),
    )
    own = np.arange(len(chosen))
    found = {
        "hub": none
        if neighbours is None
        else is_hub(neighbours.sources, len(source))[x]
        | is_hub(neighbours.targets, len(target))[y],
        "copy": copy,
        "near-copy": near_copy,
        "language": foreign,
        "duplicate": (better[0] != own) | (better[1] != own),
    }
    sure = (probs >= CONFIDENT) & ~copy & ~near_copy & ~foreign
    lengths = taken(left.characters, x), taken(right.characters, y)
    latin = taken(left.latin, x), taken(right.latin, y)
    found["length"] = odd_lengths(lengths, latin, sure, languages) & ~copy & ~near_copy
    completed, cut_otherwise = none, False
    if vectors is not None:
        of_lines = left.characters, right.characters
        completed, cut_otherwise = completed_beside(chosen, probs, vectors, of_lines)
    found["partial"] = completed
    if loose is not None:
        found["partial"] = completed | is_partial(loose, sure, cut_otherwise=cut_otherwise)
    found["high"] = none if neighbours is None else too_high(chosen, sure, neighbours)
    found["markup"] = left.markup[x] | right.markup[y]
    found["garbled"] = left.garbled[x] | right.garbled[y]

    found |= {name: read.pairs[name] for name in COMPARED}

    @cache
    def usual_length() -> float | None:
        ours, theirs = (np.maximum(each[sure], 1).astype(np.float64) for each in lengths)
        usual = usual_ratio(ours, theirs, languages)
        return None if usual is None else float(np.exp(usual[0]))

    def length_reason(pair: int) -> str:
        ours, theirs = len(source.texts[int(x[pair])]), len(target.texts[int(y[pair])])
        said, ratio = f"{count(theirs, 'character')} for {ours:,}", usual_length()
        return said + (f", expected about {max(round(ours * ratio), 1):,}" if ratio else "")

    lines = source.lines[x], target.lines[y]
    why: dict[str, Callable[[int], str]] = {
        "length": length_reason,
        "duplicate": partial(_duplicate_reason, better, lines, probs),
    }
    if neighbours is not None:
        why["hub"] = hub_reason(
            [("source", neighbours.sources, x), ("target", neighbours.targets, y)]
        )
        why["high"] = _high_reason(chosen.cosines, sure)
    rivals = np.where(better[0] != own, better[0], np.where(better[1] != own, better[1], -1))
    return Flags.of(found, why=why, rivals=rivals)


def _duplicate_reason(
    better: tuple[Rows, Rows], lines: tuple[Rows, Rows], probs: Floats, pair: int
) -> str:
    said = []
    for name, of, line in zip(("source", "target"), better, lines, strict=True):
        if (row := int(of[pair])) != pair:
            by = f"line {line[row]}, prob {probs[row]:.4f}"
            said.append(f"the {name} is that of a better pair ({by})")
    return "; ".join(said)


def _high_reason(cosines: NDArray[np.float32], sure: Bools) -> Callable[[int], str]:
    @cache
    def limits() -> tuple[float, float]:
        return lowest_good_cosine(cosines[sure]), float(np.median(cosines[sure]))

    def told(pair: int) -> str:
        (limit, middle), cosine = limits(), float(cosines[pair])
        digits = 4 if limit - cosine > 1e-4 else 7
        return (
            f"the cosine, {cosine:.{digits}f}, is below {limit:.{digits}f}, where pairs of "
            f"this score end (half have {middle:.{digits}f}): all its neighbours are far away"
        )

    return told


def odd_lengths(
    characters: tuple[NDArray[np.int32], NDArray[np.int32]],
    latin: tuple[NDArray[np.int32], NDArray[np.int32]],
    sure: Bools,
    languages: tuple[str, str],
) -> Bools:
    """Mark pairs whose ratio of characters is far from that of the confident pairs.

    Deviations of log ratios count less the shorter the lines are (Gale & Church, 1993, "A program
    for aligning sentences in bilingual corpora": the variance of a length grows with the length).
    Where one side is mostly Latin and the other is not, names and numbers stand in it on both
    sides, and the ratio has to be odd with and without them. With too few confident pairs a prior
    is used; without a prior nothing is marked.

    Args:
        characters, latin: int32 [pairs] of the sources and of the targets.
        sure: bool [pairs], the confident pairs.
        languages: codes of both sides.
    """

    def lengths(rows: Bools | slice, *, without_shared: bool) -> tuple[Floats, Floats]:
        whole, few = ([each[rows] for each in both] for both in (characters, latin))
        mostly = [part > _MOSTLY * every for part, every in zip(few, whole, strict=True)]
        shared = np.where(mostly[0] != mostly[1], np.minimum(*few), 0) if without_shared else 0
        ours, theirs = (np.maximum(every - shared, 1).astype(np.float64) for every in whole)
        return ours, theirs

    odd = np.ones(len(sure), dtype=bool)
    for without_shared in (False, True):
        usual = usual_ratio(*lengths(sure, without_shared=without_shared), languages)
        if usual is None:
            return np.zeros(len(sure), dtype=bool)
        for some in slices(len(sure)):
            ratios, weights = _log_ratios(*lengths(some, without_shared=without_shared))
            odd[some] &= np.abs(ratios - usual[0]) * weights > _FARTHEST_LENGTH * usual[1]
    return odd


def usual_ratio(
    ours: Floats, theirs: Floats, languages: tuple[str, str]
) -> tuple[float, float] | None:
    """Give median and spread of the log ratios of characters, target by source.

    `ours` and `theirs` are characters of the confident pairs, float64 [pairs]. With too few of them
    a prior of the languages is given, or None.
    """
    if len(ours) < FEWEST_CONFIDENT:
        return _PRIORS.get((short_code(languages[0]), short_code(languages[1])))
    ratios, weights = _log_ratios(ours, theirs)
    middle = float(np.median(ratios))
    spread = float(np.median(np.abs(ratios - middle) * weights))
    return middle, max(spread / TO_DEVIATION, _LEAST_SPREAD)


def _log_ratios(ours: Floats, theirs: Floats) -> tuple[Floats, Floats]:
    """Give the log ratios of lengths, and how much a deviation of each counts."""
    return np.log(theirs / ours), 1 / np.sqrt(1 + _SHORT / np.minimum(ours, theirs))


def too_high(chosen: ChosenPairs, sure: Bools, neighbours: Neighbours) -> Bools:
    """Mark pairs whose ratio passes for good though their cosine is lower than good ones are.

    Their neighbours are further away still, and dividing by next to nothing makes the ratio high
    (https://github.com/facebookresearch/LASER/issues/129). Nothing is marked with few confident
    pairs, nor with one neighbour, which as a rule is the pair itself.
    """
    left = neighbours.target_cosines.mean(axis=1, dtype=np.float64)[chosen.sources]
    right = neighbours.source_cosines.mean(axis=1, dtype=np.float64)[chosen.targets]
    ratios = chosen.cosines / np.maximum((left + right) / 2, SMALLEST_MEAN)  # [pairs]
    if sure.sum() < FEWEST_CONFIDENT or neighbours.targets.shape[1] < 2:
        return np.zeros(len(chosen), dtype=bool)
    good: Bools = ratios >= np.quantile(ratios[sure], _GOOD_RATIO)
    return good & (chosen.cosines < lowest_good_cosine(chosen.cosines[sure]))


def lowest_good_cosine(cosines: NDArray[np.float32]) -> float:
    """Tell below which cosine a pair is none of those that confident pairs, float32 [sure], are."""
    middle, spread = middle_and_spread(cosines)
    return middle - _FARTHEST_COSINE * spread


def best_of_equal(order: NDArray[np.intp], keys: NDArray[np.int64]) -> Rows:
    """Give the best pair with the text of each, but for case, punctuation, digits and space.

    Args:
        order: the pairs, the best first.
        keys: int64 [pairs], equal ones of texts that are the same so.

    Returns:
        int64 [pairs]; the pair itself where no pair with the text is better.
    """
    _, first, of = np.unique(taken(keys, order), return_index=True, return_inverse=True)
    best = np.empty(len(keys), np.int64)
    best[order] = order[first][of]
    return best
