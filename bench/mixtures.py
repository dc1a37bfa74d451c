"""Held-out translations -> mining sets: two files of which a known share is parallel.

The text is that of `eval/`. In Chinese: newstest2019, the UN development set, FLORES-101 and the
BUCC 2018 sample, whose lines without a gold partner fill up what the others lack. In other
languages: the aligned files that `xmine eval bitext` reads. A text that stands twice is taken once,
so that two texts are those of a gold pair exactly when their numbers are equal.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.metadata import EncoderFacts
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import AlignedOptions
from xmine.evaluation.readers.bucc import find_bucc
from xmine.evaluation.retrieval.parallel import aligned_sets
from xmine.text.sentences import folded

# Set of `xmine eval bitext` -> the name of its mixtures.
_NAMES = {"newstest2019": "newstest", "UN devset": "un", "FLORES-101 dev": "flores"}

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Lines in English and another language, by default Chinese, as its fields are called.

    The first `pairs` of both are translations of each other.

    Attributes:
        english, chinese: texts, none of them twice.
        pairs: lines that are pairs.
        groups: for each source the numbers of its pairs.
        shares: of lines with a translation that are asked of it.
        language: the other one.
    """

    english: list[str]
    chinese: list[str]
    pairs: int
    groups: dict[str, Rows]
    shares: tuple[float, ...] = ()
    language: str = "zh"

    def chinese_rows(self, mixture: "Mixture") -> Rows:
        """Turn numbers of the Chinese side of a mixture into rows of `chinese`."""
        numbers = mixture.chinese
        return np.where(numbers < self.pairs, numbers, numbers - len(self.english))


class Mixture(NamedTuple):
    """One mining set: numbers of English and of Chinese texts, the same for those of a pair."""

    source: str
    size: int
    share: float
    draw: int
    english: Rows
    chinese: Rows


def read_corpus(data: Path) -> Corpus:
    """Read the aligned sets below a folder `eval/` in Chinese, and the BUCC sample."""
    groups: dict[str, list[tuple[str, str]]] = {}
    options = AlignedOptions(language=["zh"])
    for each in aligned_sets(DataFolder(data), options, EncoderFacts(), by_pair=True)[0]:
        sides = (each.texts[code] for code in each.pairs[0][::-1])
        groups.setdefault(_NAMES.get(each.name, each.name), []).extend(zip(*sides, strict=True))
    split = find_bucc(DataFolder(data)).read("zh-en", "sample")
    other, english = map(dict, split.sides)
    groups["bucc"] = [(english.pop(right), other.pop(left)) for left, right in sorted(split.gold)]
    seen: set[str] = set()
    left: list[str] = []
    right: list[str] = []
    numbers = {}
    for name, aligned in groups.items():
        start = len(left)
        for pair in aligned:
            keys = {folded(text) for text in pair}
            if seen.isdisjoint(keys) and "" not in keys:
                seen |= keys
                left.append(pair[0])
                right.append(pair[1])
        numbers[name] = np.arange(start, len(left))
    numbers["all"] = np.arange(len(left))
    pairs = len(left)
    for texts, more in ((left, english.values()), (right, other.values())):
        for text in more:
            if (key := folded(text)) not in seen:
                seen.add(key)
                texts.append(text)
    return Corpus(left, right, pairs, numbers)


def mixtures(
    corpus: Corpus, sizes: tuple[int, ...], draws: int, seed: int = 1
) -> Iterator[Mixture]:
    """Draw mining sets of every source, size and share, as far as there is text.

    A set's other lines are of its source first, then BUCC lines without a partner, then of the
    other sources. Where a source has fewer pairs than the share asks for, it has all of them;
    shares that would give the same set again are left out.
    """
    for source, pool in corpus.groups.items():
        for size in sizes:
            shares = reversed(corpus.shares)
            shared = {min(round(share * size), len(pool)): share for share in shares}
            for pairs, share in sorted(shared.items()):
                for draw in range(draws):
                    rng = np.random.default_rng([seed, size, pairs, draw, *source.encode()])
                    found = _drawn(corpus, pool, size, pairs, rng)
                    if found:
                        yield Mixture(source, size, share, draw, *found)


def _drawn(
    corpus: Corpus, pool: Rows, size: int, pairs: int, rng: np.random.Generator
) -> tuple[Rows, Rows] | None:
    own = rng.permutation(pool)
    shared, rest = own[:pairs], own[pairs:]
    others = rng.permutation(np.setdiff1d(np.arange(corpus.pairs), pool))
    half = len(rest) // 2, len(others) // 2
    fill = (
        [rest[: half[0]], np.arange(corpus.pairs, len(corpus.english)), others[: half[1]]],
        [rest[half[0] :], np.arange(corpus.pairs, len(corpus.chinese)), others[half[1] :]],
    )
    sides = []
    for number, (first, lonely, last) in enumerate(fill):
        # BUCC lines of the two languages have numbers of their own: the Chinese ones are shifted.
        lonely = rng.permutation(lonely) + number * len(corpus.english)
        rows = np.concatenate([shared, first, lonely, last])[:size]
        if len(rows) < size:
            return None
        sides.append(rng.permutation(rows))
    return sides[0], sides[1]
