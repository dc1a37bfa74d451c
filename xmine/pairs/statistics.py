"""Pairs -> what is in them: counts, repetitions, lengths, scores, flags; and a random sample.

Both walk through the pairs once and hold numbers, not texts (but for the sample itself).
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np

from xmine.pairs.pair import Pair
from xmine.text.sentences import folded


def survey(pairs: Iterable[Pair]) -> dict[str, Any]:
    """Look through pairs once, and give their figures in the order in which they are shown.

    `pairs`: their number. `copies`: pairs with the same text on both sides, compared without case
    and white space. `repeated_pairs`, `repeated_sources`, `repeated_targets`: those that stand in
    an earlier pair. `empty_sources`, `empty_targets`: sides without text.

    Spreads, each [lowest, first quartile, median, third quartile, highest], None where no pair has
    a value. `source_length`, `target_length`: of the characters of a side. `length_ratio`: of
    target length by source length, where both have text. `score`, `cosine`, `prob`, `margin`.

    `flags`: how many pairs have each flag, most first; None where no pair has flags.
    """
    count = copies = empty_sources = empty_targets = 0
    known: tuple[set[int], set[int], set[int]] = set(), set(), set()  # 64-bit hashes of texts
    lengths, ratios = (array("q"), array("q")), array("d")
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
    return {
        "pairs": count,
        "copies": copies,
        "repeated_pairs": count - len(known[0]),
        "repeated_sources": count - len(known[1]),
        "repeated_targets": count - len(known[2]),
        "empty_sources": empty_sources,
        "empty_targets": empty_targets,
        "source_length": _spread(lengths[0]),
        "target_length": _spread(lengths[1]),
        "length_ratio": _spread(ratios),
        **{name: _spread(values) for name, values in numbers.items()},
        "flags": dict(most_first) if looked_at else None,
    }


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
