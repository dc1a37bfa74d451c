"""Two toy languages of 120 words each, word for word translations of each other.

The words have enough letters to make a vocabulary.
"""

from pathlib import Path

import numpy as np

from xmine.files.reading import read_lines
from xmine.pairs.io import ParallelText
from xmine.pairs.known import read_known

CONCEPTS = 120
_SYLLABLES = ["ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "so", "tu"]


def english_word(concept: int) -> str:
    first, second = divmod(concept, len(_SYLLABLES))
    return f"{_SYLLABLES[first % 10]}{_SYLLABLES[second]}{'k' if first >= 10 else ''}"


def chinese_word(concept: int) -> str:
    return chr(0x4E00 + 7 * concept) + chr(0x5B00 + 11 * concept)


def toy_sentences(count: int, seed: int) -> tuple[list[str], list[str], list[list[int]]]:
    """Make sentences of 4 to 9 words and their word-for-word translations."""
    random = np.random.default_rng(seed)
    meanings = [
        random.choice(CONCEPTS, size=int(random.integers(4, 10)), replace=False).tolist()
        for _ in range(count)
    ]
    english = [" ".join(map(english_word, words)) for words in meanings]
    chinese = ["".join(map(chinese_word, words)) for words in meanings]
    return english, chinese, meanings


def example_pairs() -> ParallelText:
    """Read the example sentences of xmine: English, Chinese, and which lines are translations."""
    folder = Path(__file__).parents[2] / "examples"
    english, chinese = (read_lines(folder / f"{language}.txt") for language in ("en", "zh"))
    known = [pair for pair in read_known(folder / "gold.tsv").pairs if pair.right]
    sources = [english[pair.source - 1] for pair in known]
    targets = [chinese[pair.target - 1] for pair in known]
    return ParallelText(sources, targets, [""] * len(known))
