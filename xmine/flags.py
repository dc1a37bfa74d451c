"""Chosen pairs -> what makes each of them suspicious, as names joined by commas.

docs/flags.md says what each flag means and how it was measured.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.boilerplate import boilerplate, variants
from xmine.copies import copied, letters_of
from xmine.languages import scripts_of, short_code
from xmine.margin import SMALLEST_MEAN
from xmine.neighbours import Neighbours
from xmine.numerals import numbers_differ, reader
from xmine.options import FLAGS
from xmine.pairing import ChosenPairs
from xmine.scripts import foreign_lines
from xmine.sentences import Sentences, folded

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


# A hub is among the neighbours of this many lines at least, of this many times as many as a line is
# on average, and of this many times as many as the tenth of lines that is neighbour most often.
_FEWEST_LISTS = 25
_TIMES_MEAN = 10.0
_TIMES_TENTH = 5.0
# Pairs that are right with this chance show what pairs of this run look like, if there are enough.
_CONFIDENT = 0.9
_FEWEST_CONFIDENT = 30
# Lengths differ by chance as if each side had this many more characters' worth of freedom: the
# spread of log ratios at this length is the square root of two times that of long lines.
_SHORT = 15.0
_FARTHEST_LENGTH = 3.7  # robust standard deviations
_LEAST_SPREAD = 0.13
_MOSTLY = 0.8  # a side with this share of ASCII is written in it
# English to Chinese: median and spread of log ratios of characters, of long lines.
_PRIOR = {("en", "zh"): (-1.3, 0.2)}
# A ratio passes for good at this quantile of the confident ones; a cosine does down to this many
# robust standard deviations below their median.
_GOOD_RATIO = 0.2
_FARTHEST_COSINE = 3.5
_TO_DEVIATION = (
    0.6745  # median of absolute deviations / standard deviation, of a normal distribution
)


def flag_pairs(
    chosen: ChosenPairs,
    chances: Floats,
    neighbours: Neighbours,
    source: Sentences,
    target: Sentences,
    languages: tuple[str, str],
) -> list[str]:
    """Name what makes each pair suspicious.

    Args:
        chosen: the pairs, mining's candidates for instance.
        chances: float64 [pairs], estimated probabilities that they are right.
        neighbours: of all rows of `source` and `target`.
        source, target: the sentences that were searched.
        languages: their codes, or `und`.

    Returns:
        a string for each pair: names out of FLAGS in that order, joined by commas; empty if none.
    """
    sources = [source.texts[row] for row in chosen.sources.tolist()]
    targets = [target.texts[row] for row in chosen.targets.tolist()]
    source_letters = [letters_of(text) for text in source.texts]
    target_letters = [letters_of(text) for text in target.texts]
    ours = [source_letters[row] for row in chosen.sources.tolist()]
    theirs = [target_letters[row] for row in chosen.targets.tolist()]
    left, right = reader(languages[0]), reader(languages[1])
    foreign = [
        foreign_lines(language, side.texts)
        for language, side in zip(languages, (source, target), strict=True)
    ]
    pairs = list(zip(sources, targets, ours, theirs, strict=True))
    scripts = [
        scripts_of(language, side.texts)
        for language, side in zip(languages, (source, target), strict=True)
    ]
    same_script = not scripts[0].isdisjoint(scripts[1])
    copies = [copied(*pair, same_script=same_script) for pair in pairs]
    found = {
        "hub": _is_hub(neighbours.sources, source, source_letters)[chosen.sources]
        | _is_hub(neighbours.targets, target, target_letters)[chosen.targets],
        "copy": _bools(copy == "copy" for copy in copies),
        "near-copy": _bools(copy == "near-copy" for copy in copies),
        "script": _bools(foreign[0](x, a) or foreign[1](y, b) for x, y, a, b in pairs),
        "number": _bools(numbers_differ(x, y, left, right) for x, y, _, _ in pairs),
        "duplicate": _repeated(chosen.scores, sources, ours)
        | _repeated(chosen.scores, targets, theirs),
    }
    same = found["copy"] | found["near-copy"]
    sure = (chances >= _CONFIDENT) & ~same & ~found["script"]
    found["length"] = odd_lengths(sources, targets, sure, languages) & ~same
    found["high"] = too_high(chosen, sure, neighbours)
    table = np.array([found[name] for name in FLAGS], dtype=bool).T  # [pairs, flags]
    names: list[list[str]] = [[] for _ in range(len(chosen))]
    for pair, flag in zip(*(each.tolist() for each in table.nonzero()), strict=True):
        names[pair].append(FLAGS[flag])
    return [",".join(each) for each in names]


def hubs(
    ids: NDArray[np.int64], size: int, groups: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find rows that are among the nearest of very many rows of the other matrix.

    At most a tenth of the rows can reach ten times the mean, so hubs, however many, do not move
    the mean (it depends on sizes alone) nor the ninth decile, which the limit is made of.

    Args:
        ids: int64 [rows, k], the nearest rows of the other matrix.
        size: rows of the other matrix.
        groups: int64 [size], equal numbers from 0 for rows that count as one line, such as the
            variants of a boilerplate line, which share out the lists they fill; None if each row
            is its own.

    Returns:
        int64 [hubs], rows of the other matrix, highest count first, then by row; and int64 [hubs],
        how many of the `rows` have the hub, or a row of its group, among their nearest.
    """
    alone = np.bincount(ids.ravel(), minlength=size)  # [size]
    limit = max(
        _FEWEST_LISTS, _TIMES_MEAN * float(alone.mean()), _TIMES_TENTH * np.quantile(alone, 0.9)
    )
    counts = alone if groups is None else _lists_of_groups(groups[ids], size)[groups]
    rows = np.flatnonzero(counts >= limit)
    rows = rows[np.argsort(-counts[rows], kind="stable")]
    return rows, counts[rows]


def _lists_of_groups(lists: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Count the lists that each group stands in; a list with several of its rows counts once."""
    lists = np.sort(lists, axis=1)  # [rows, k]
    first = np.ones(lists.shape, dtype=bool)
    first[:, 1:] = lists[:, 1:] != lists[:, :-1]
    return np.bincount(lists[first], minlength=size)


def _bools(values: Iterable[bool]) -> Bools:
    return np.fromiter(values, dtype=bool)


def _is_hub(ids: NDArray[np.int64], side: Sentences, letters: list[str]) -> Bools:
    """Mark the rows that are hubs, and boilerplate, which shares its lists with its like.

    Args:
        ids: int64 [rows of the other side, k], neighbours among the rows of this side.
        side: this side.
        letters: of each of its texts.
    """
    groups = variants(letters)
    marked = boilerplate(letters, groups, side.occurrences)
    marked[hubs(ids, len(letters), groups)[0]] = True
    return marked


def odd_lengths(
    sources: Sequence[str], targets: Sequence[str], sure: Bools, languages: tuple[str, str]
) -> Bools:
    """Mark pairs whose ratio of characters is far from that of the confident pairs.

    Deviations of log ratios count less the shorter the lines are (Gale & Church, 1993, "A program
    for aligning sentences in bilingual corpora": the variance of a length grows with the length).
    Where one side is mostly ASCII and the other is not, names and numbers stand in ASCII on both,
    and the ratio has to be odd with and without them. With too few confident pairs a prior is
    used; without one nothing is marked.
    """
    prior = _prior(*map(short_code, languages))
    if sure.sum() < _FEWEST_CONFIDENT:
        if prior is None:
            return np.zeros(len(sources), dtype=bool)
        sure = np.zeros(len(sources), dtype=bool)
    whole = [_counts(map(len, side)) for side in (sources, targets)]
    ascii_ = [
        _counts(len(text.encode("ascii", "ignore")) for text in x) for x in (sources, targets)
    ]
    mostly = [part > _MOSTLY * every for part, every in zip(ascii_, whole, strict=True)]
    shared = np.where(mostly[0] != mostly[1], np.minimum(*ascii_), 0)
    odd = np.ones(len(sources), dtype=bool)
    for left_out in (0, shared):
        ours, theirs = (np.maximum(every - left_out, 1) for every in whole)
        ratios = np.log(theirs / ours)
        weights = 1 / np.sqrt(1 + _SHORT / np.minimum(ours, theirs))
        middle, spread = prior or (0.0, 0.0)
        if sure.any():
            middle = float(np.median(ratios[sure]))
            spread = float(np.median(np.abs(ratios[sure] - middle) * weights[sure]))
            spread = max(spread / _TO_DEVIATION, _LEAST_SPREAD)
        odd &= np.abs(ratios - middle) * weights > _FARTHEST_LENGTH * spread
    return odd


def _counts(values: Iterable[int]) -> Floats:
    return np.fromiter(values, dtype=np.float64)


def _prior(source: str, target: str) -> tuple[float, float] | None:
    """Give median and spread of log ratios of two languages, in either order."""
    if (target, source) in _PRIOR:
        middle, spread = _PRIOR[target, source]
        return -middle, spread
    return _PRIOR.get((source, target))


def too_high(chosen: ChosenPairs, sure: Bools, neighbours: Neighbours) -> Bools:
    """Mark pairs whose ratio passes for good though their cosine is lower than good ones are.

    Their neighbours are further away still, and dividing by next to nothing makes the ratio high
    (https://github.com/facebookresearch/LASER/issues/129). Nothing is marked with few confident
    pairs, nor with one neighbour, which as a rule is the pair itself.
    """
    left = neighbours.target_cosines.mean(axis=1, dtype=np.float64)[chosen.sources]
    right = neighbours.source_cosines.mean(axis=1, dtype=np.float64)[chosen.targets]
    ratios = chosen.cosines / np.maximum((left + right) / 2, SMALLEST_MEAN)  # [pairs]
    if sure.sum() < _FEWEST_CONFIDENT or neighbours.targets.shape[1] < 2:
        return np.zeros(len(chosen), dtype=bool)
    middle = float(np.median(chosen.cosines[sure]))
    spread = float(np.median(np.abs(chosen.cosines[sure] - middle))) / _TO_DEVIATION
    good: Bools = ratios >= np.quantile(ratios[sure], _GOOD_RATIO)
    return good & (chosen.cosines < middle - _FARTHEST_COSINE * spread)


def _repeated(scores: NDArray[np.float32], texts: list[str], letters: list[str]) -> Bools:
    """Mark texts that are, but for case, punctuation, digits and space, that of a better pair."""
    seen: set[str] = set()
    repeated = np.zeros(len(texts), dtype=bool)
    for row in np.argsort(-scores, kind="stable").tolist():
        key = letters[row] or folded(texts[row])
        repeated[row] = key in seen
        seen.add(key)
    return repeated
