"""Rows of PAWS-X and XNLI made of toy words; what tests of evaluation share."""

import numpy as np

from tests.toys.sentences import chinese_word, english_word

HEAD = "id\tsentence1\tsentence2\tlabel"


def words(seed: int, language: str, kind: int) -> tuple[str, str]:
    """Make two texts: kind 0 of the same words, kind 1 of half of them, kind 2 of others."""
    concepts = np.random.default_rng(seed).permutation(120)[:12].tolist()
    second = [concepts[:6][::-1], concepts[3:9], concepts[6:]][kind]
    if language == "zh":
        return "".join(map(chinese_word, concepts[:6])), "".join(map(chinese_word, second))
    return " ".join(map(english_word, concepts[:6])), " ".join(map(english_word, second))


def pawsx_rows(language: str, count: int, seed: int = 0) -> list[str]:
    rows = [(words(seed + at, language, 0 if at % 2 else 2), at % 2) for at in range(count)]
    return [f"{first}\t{second}\t{label}" for (first, second), label in rows]


def xnli_rows(language: str, count: int) -> list[str]:
    labels = ("entailment", "neutral", "contradiction")
    rows = [(words(at, language, at % 3), labels[at % 3]) for at in range(count)]
    return [f"{first}\t{second}\t{label}" for (first, second), label in rows]


def with_ids(rows: list[str], start: int = 100) -> list[str]:
    return [HEAD, *(f"{start + at}\t{row}" for at, row in enumerate(rows))]
