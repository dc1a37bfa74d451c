"""Pairs -> what is in them: counts, repetitions, lengths, scores, flags; and a random sample.

The survey holds a table of the pairs, the sample itself alone.
"""

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from xmine.pairs.pair import Pair, pair_frame
from xmine.text.sentences import folded

if TYPE_CHECKING:
    import polars as pl


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
    table = pair_frame(pairs)
    source, target = table["source"], table["target"]
    lengths = [side.str.len_chars() for side in (source, target)]
    empty = [side.str.strip_chars() == "" for side in (source, target)]
    whole = ~(empty[0] | empty[1])
    both = zip(source.filter(whole), target.filter(whole), strict=True)
    flags = table["flags"].drop_nulls()
    raised = Counter(name for each in flags for name in filter(None, each.split(",")))
    return {
        "pairs": len(table),
        "copies": sum(folded(text) == folded(other) for text, other in both),
        "repeated_pairs": len(table) - table.select("source", "target").n_unique(),
        "repeated_sources": len(table) - source.n_unique(),
        "repeated_targets": len(table) - target.n_unique(),
        "empty_sources": int(empty[0].sum()),
        "empty_targets": int(empty[1].sum()),
        "source_length": _spread(lengths[0]),
        "target_length": _spread(lengths[1]),
        "length_ratio": _spread((lengths[1] / lengths[0]).filter(whole)),
        **{name: _spread(table[name]) for name in ("score", "cosine", "prob", "margin")},
        "flags": dict(sorted(raised.items(), key=lambda x: (-x[1], x[0]))) if len(flags) else None,
    }


def _spread(values: "pl.Series") -> list[float] | None:
    numbers = values.drop_nulls().to_numpy()
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return None
    spread: list[float] = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1]).round(6).tolist()
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
