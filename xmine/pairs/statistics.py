"""Pairs -> what is in them: counts, repetitions, lengths, scores, flags; and a random sample.

Both walk through the pairs once and hold numbers, not texts (but for the sample itself).
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

import numpy as np

from xmine.pairs.pair import Pair
from xmine.text.sentences import folded


@dataclass(frozen=True, slots=True)
class Survey:
    """Figures of pairs. A spread is lowest, first quartile, median, third quartile, highest.

    Attributes:
        pairs: the number of pairs.
        copies: pairs with the same text on both sides, compared without case and white space.
        repeated_pairs, repeated_sources, repeated_targets: those that stand in an earlier pair.
        empty_sources, empty_targets: sides without text.
        source_length, target_length: spread of the characters of a side.
        length_ratio: spread of target length by source length, where both have text.
        score, cosine, prob, margin: their spreads; None where no pair has one.
        flags: pairs with each flag, most first; None where no pair has flags.
    """

    pairs: int
    copies: int
    repeated_pairs: int
    repeated_sources: int
    repeated_targets: int
    empty_sources: int
    empty_targets: int
    source_length: list[float] | None
    target_length: list[float] | None
    length_ratio: list[float] | None
    score: list[float] | None
    cosine: list[float] | None
    prob: list[float] | None
    margin: list[float] | None
    flags: dict[str, int] | None


def survey(pairs: Iterable[Pair]) -> Survey:
    """Look through pairs once."""
    count = copies = empty_sources = empty_targets = 0
    known: tuple[set[int], set[int], set[int]] = set(), set(), set()  # 64-bit hashes of texts
    lengths = array("q"), array("q")
    ratios = array("d")
    numbers = {name: array("d") for name in ("score", "cosine", "prob", "margin")}
    looked_at, raised = 0, Counter[str]()
    for pair in pairs:
        count += 1
        source, target = pair.source, pair.target
        for seen, key in zip(known, (pair[:2], source, target), strict=True):
            seen.add(hash(key))
        lengths[0].append(len(source))
        lengths[1].append(len(target))
        empty_sources += not source.strip()
        empty_targets += not target.strip()
        if source.strip() and target.strip():
            ratios.append(len(target) / len(source))
            copies += folded(source) == folded(target)
        for name, values in numbers.items():
            value = getattr(pair, name)
            if value is not None and math.isfinite(value):
                values.append(value)
        if pair.flags is not None:
            looked_at += 1
            raised.update(filter(None, pair.flags.split(",")))
    most_first = sorted(raised.items(), key=lambda item: (-item[1], item[0]))
    return Survey(
        pairs=count,
        copies=copies,
        repeated_pairs=count - len(known[0]),
        repeated_sources=count - len(known[1]),
        repeated_targets=count - len(known[2]),
        empty_sources=empty_sources,
        empty_targets=empty_targets,
        source_length=_spread(lengths[0]),
        target_length=_spread(lengths[1]),
        length_ratio=_spread(ratios),
        flags=dict(most_first) if looked_at else None,
        **{name: _spread(values) for name, values in numbers.items()},
    )


def _spread(values: "array[int] | array[float]") -> list[float] | None:
    if not values:
        return None
    spread: list[float] = np.quantile(np.asarray(values), [0, 0.25, 0.5, 0.75, 1]).tolist()
    return spread


def sample(pairs: Iterable[Pair], size: int, seed: int) -> list[Pair]:
    """Draw `size` pairs, each as likely as any other, and keep their order."""
    random = Random(seed)
    drawn: list[tuple[int, Pair]] = []
    for number, pair in enumerate(pairs):
        if number < size:
            drawn.append((number, pair))
        elif (at := random.randrange(number + 1)) < size:
            drawn[at] = (number, pair)
    return [pair for _, pair in sorted(drawn)]
