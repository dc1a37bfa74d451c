"""Scored pairs of toy sentences, a file of STS-B; what tests of STS and of XSTS share."""

import csv
from pathlib import Path

from xmine.pairs.io import ParallelText

Pairs = list[tuple[str, str, float]]


def write_stsb(path: Path, pairs: Pairs) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(pairs)


def easy(toy_pairs: ParallelText) -> Pairs:
    """English pairs that share none to all of their words; the score is how many they share."""
    pairs = []
    for row in range(120):
        words = toy_pairs.sources[row].split()[:4]
        others = toy_pairs.sources[200 + row].split()[:4]
        shared = row % 5
        pairs.append((" ".join(words), " ".join(words[:shared] + others[shared:]), shared * 1.25))
    return pairs
