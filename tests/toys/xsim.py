"""Loose translations, the best lines by a slow loop; what tests of xSIM and xSIM++ share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.toys.sentences import chinese_word, toy_sentences


def slow_lines(
    source: NDArray[np.float32], target: NDArray[np.float32], margin: str, k: int
) -> list[int]:
    """Choose the best of the k nearest targets of each source, as the definition reads."""
    cosines = (source @ target.T).astype(np.float64)
    left = [sorted(row)[-k:] for row in cosines.tolist()]
    right = [sorted(column)[-k:] for column in cosines.T.tolist()]
    chosen = []
    for i, row in enumerate(cosines.tolist()):
        scored = []
        for j in sorted(range(len(row)), key=row.__getitem__)[-k:]:
            mean = (sum(left[i]) / k + sum(right[j]) / k) / 2
            score = {"ratio": row[j] / mean, "distance": row[j] - mean, "absolute": row[j]}
            scored.append((score[margin], j))
        chosen.append(max(scored)[1])
    return chosen


CHOICES: list[dict[str, Any]] = [
    *({}, {"margin": "distance"}, {"margin": "absolute"}, {"neighborhood": 2}),
    *({"neighborhood": 30}, {"prompt": "bade gofi "}),
]


def loose(lines: int, seed: int) -> tuple[list[str], list[str]]:
    """Make English sentences, and Chinese translations of them with words left out or changed."""
    random = np.random.default_rng(seed)
    english, _, meanings = toy_sentences(lines, seed)
    chinese = []
    for words in meanings:
        kept = random.permutation(words)[: int(random.integers(1, 4))].tolist()
        chinese.append("".join(map(chinese_word, [*kept, int(random.integers(120))])))
    return english, chinese
