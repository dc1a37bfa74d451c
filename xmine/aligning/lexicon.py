"""A lexicon that two texts teach themselves: words that stand in the same beads.

The idea is that of hunalign (Varga et al., 2005, "Parallel corpora for medium density languages"):
align by lengths, learn which words occur together, and align again. Here a word of the source has a
random vector, and a word of the target the mean of its counterparts' vectors, so that lexical
evidence is a cosine, and the vectors of lines together are sums.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.aligning.band import Path
from xmine.text.folding import fold
from xmine.text.segmentation import UNSPACED

_DIM = 256
_LETTERS = 8  # of a word that count: endings change
# Words, or characters where there are no spaces between words.
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_]+")
_LINES = 256  # whose vectors are added up at once
_PAIRS = 16_384  # of words that are counted or added up at once
_BEADS = 8_000  # that words are counted in
_LEAST = 0.1  # Dice coefficient of words in the lexicon


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of a side.

    Attributes:
        ids: int64 [occurrences], each word of a line once.
        starts: int64 [lines + 1].
        size: how many different ones there are.
    """

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    size: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Words":
        """Take the words of texts apart."""
        known: dict[str, int] = {}
        rows = []
        for text in texts:
            found = {word[:_LETTERS] for word in _WORD.findall(fold(text).lower())}
            rows.append(sorted(known.setdefault(word, len(known)) for word in sorted(found)))
        sizes = np.cumsum([0, *map(len, rows)])
        return cls(np.array([word for row in rows for word in row], np.int64), sizes, len(known))

    def within(
        self, starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the words of some stretches of lines, int64 [words], and where each begins."""
        firsts, sizes = self.starts[starts], self.starts[stops] - self.starts[starts]
        begins = np.cumsum(sizes) - sizes
        return self.ids[np.arange(sizes.sum()) + np.repeat(firsts - begins, sizes)], begins

    def sums(
        self, vectors: NDArray[np.float32], lines: NDArray[np.int64] | None = None
    ) -> NDArray[np.float16]:
        """Add up the vectors of the words of some lines, or of all: float16 [lines, dim]."""
        lines = np.arange(len(self.starts) - 1) if lines is None else lines
        found = np.zeros((len(lines), vectors.shape[1]), np.float16)
        for at in range(0, len(lines), _LINES):
            some = lines[at : at + _LINES]
            full = np.flatnonzero(self.starts[some + 1] > self.starts[some])
            if len(full):
                words, begins = self.within(some[full], some[full] + 1)
                found[at + full] = np.add.reduceat(vectors[words], begins, axis=0)
        return found


def learn_lexicon(
    source: Words, target: Words, beads: Path
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Learn vectors of the words of both sides from beads: float32 [words, dim] each.

    Words without counterpart have zeros. Words count by their inverse frequency.
    """
    vectors = tuple(np.zeros((side.size, _DIM), np.float32) for side in (source, target))
    if not len(beads):
        return vectors[0], vectors[1]
    beads = beads[:: 1 + len(beads) // _BEADS]
    (of_x, x), (of_y, y) = (
        _words_of(side, *beads[:, 2 * at : 2 * at + 2].T)
        for at, side in enumerate((source, target))
    )
    alone = np.bincount(x, minlength=source.size), np.bincount(y, minlength=target.size)
    # Each word of a bead's source with each of its target.
    sizes = np.bincount(of_y, minlength=len(beads))
    firsts, times = (np.cumsum(sizes) - sizes)[of_x], sizes[of_x]
    together = []
    for at in range(0, len(x), _PAIRS):
        some = times[at : at + _PAIRS]
        before = np.cumsum(some) - some - firsts[at : at + _PAIRS]
        places = np.arange(some.sum()) - np.repeat(before, some)
        together.append(np.repeat(x[at : at + _PAIRS], some) * target.size + y[places])
    keys, counts = np.unique(np.concatenate(together or [x]), return_counts=True)
    keys, times = keys[counts > 1], counts[counts > 1]
    x, y = np.divmod(keys, max(target.size, 1))
    # One occurrence less: words that are rare stand together once by chance.
    dice = 2 * (times - 1) / (alone[0][x] + alone[1][y])
    kept = dice > _LEAST
    x, y, dice = x[kept], y[kept], dice[kept]
    weights = [np.log(len(beads) / lone.clip(1)) for lone in alone]
    for side, some in zip(weights, (x, y), strict=True):
        best = np.zeros(len(side))
        np.maximum.at(best, some, dice)
        side *= best
    random = np.random.default_rng(0).standard_normal((source.size, _DIM), np.float32)
    for at in range(0, len(x), _PAIRS):
        part = slice(at, at + _PAIRS)
        by = (dice[part] ** 2)[:, None].astype(np.float32)
        np.add.at(vectors[1], y[part], by * random[x[part]])
    total = np.zeros(target.size)
    np.add.at(total, y, dice**2)
    vectors[0][:] = random * weights[0][:, None] / np.sqrt(_DIM)
    vectors[1][:] *= (weights[1] / np.maximum(total, 1e-9))[:, None] / np.sqrt(_DIM)
    return vectors[0], vectors[1]


def _words_of(
    side: Words, starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the words of beads, each once: int64 [words] numbers of the beads, and words."""
    words, begins = side.within(starts, stops)
    beads = np.repeat(np.arange(len(starts)), np.diff([*begins, len(words)]))
    bead, word = np.divmod(np.unique(beads * side.size + words), max(side.size, 1))
    return bead, word
