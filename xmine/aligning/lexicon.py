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
from xmine.encoders.table import added
from xmine.text.folding import fold
from xmine.text.segmentation import UNSPACED

_DIM = 256
_LETTERS = 8  # of a word that count: endings change
# Words, or characters where there are no spaces between words.
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_]+")
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

    def within(self, start: int, stop: int) -> NDArray[np.int64]:
        """Give the words of the lines from one to before another, each once."""
        words = self.ids[self.starts[start] : self.starts[stop]]
        return words if stop - start == 1 else np.fromiter(set(words.tolist()), np.int64)

    def sums(
        self, vectors: NDArray[np.float32], lines: NDArray[np.int64] | None = None
    ) -> NDArray[np.float16]:
        """Add up the vectors of the words of some lines, or of all: float16 [lines, dim]."""
        lines = np.arange(len(self.starts) - 1) if lines is None else lines
        starts, sizes = self.starts[lines], self.starts[lines + 1] - self.starts[lines]
        return added(vectors, self.ids, starts, sizes).astype(np.float16)


class Lexicon:
    """What the words of beads teach: counted once, for two parts of the beads and for all."""

    def __init__(self, source: Words, target: Words, beads: Path, parts: NDArray[np.int64]) -> None:
        """Count words, and pairs of words that stand together; `parts` has 0 or 1 for each bead."""
        some, sides = slice(None, None, 1 + len(beads) // _BEADS), (source, target)
        rows = beads[some].reshape(-1, 2, 2).tolist()
        words = [[each.within(*at) for each, at in zip(sides, row, strict=True)] for row in rows]
        none = np.zeros(0, np.int64)
        number = np.int32 if 2 * source.size * target.size < 2**31 else np.int64
        counts, pairs = [], []
        for part in (0, 1):
            here = [each for each, at in zip(words, parts[some], strict=True) if at == part]
            # Each word of a bead's source with each of its target; the last bit is the part.
            found = [none, *(np.add.outer(target.size * x, y).ravel() for x, y in here)]
            pairs.append(2 * np.concatenate(found, dtype=number, casting="unsafe") + part)
            alone = [np.concatenate([none, *(each[at] for each in here)]) for at in (0, 1)]
            sizes = zip(alone, sides, strict=True)
            counts.append([len(here), *(np.bincount(w, minlength=s.size) for w, s in sizes)])
        keys = np.concatenate(pairs)
        keys.sort()
        known, again = keys >> 1, np.zeros(len(keys) + 1, np.bool_)
        again[1:-1] = known[1:] == known[:-1]
        begins, lasts = np.flatnonzero(again[:-1] != again[1:]).reshape(-1, 2).T
        self._pairs = np.divmod(known[begins], max(target.size, 1))
        second = np.cumsum(keys & 1)
        second = second[lasts] - second[begins] + (keys[begins] & 1)
        # Of each part, and of all: the beads, those of each word, and those of each pair of words.
        for count, times in zip(counts, (lasts + 1 - begins - second, second), strict=True):
            count.append(times)
        self._counts = [*counts, [sum(each) for each in zip(*counts, strict=True)]]
        self._random = np.random.default_rng(0).standard_normal((source.size, _DIM), np.float32)

    def vectors(self, part: int = -1) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Give vectors of the words of both sides as a part or all teach: float32 [words, dim].

        Words without counterpart have zeros. Words count by their inverse frequency.
        """
        beads, *alone, times = self._counts[part]
        x, y = self._pairs
        # One occurrence less: words that are rare stand together once by chance.
        dice = 2 * (times - 1) / np.maximum(alone[0][x] + alone[1][y], 1)
        kept = dice > _LEAST
        x, y, dice = x[kept], y[kept], dice[kept]
        weights = [np.log(max(beads, 1) / lone.clip(1)) / np.sqrt(_DIM) for lone in alone]
        for side, some in zip(weights, (x, y), strict=True):
            best = np.zeros(len(side))
            np.maximum.at(best, some, dice)
            side *= best
        order, sizes = np.argsort(y, kind="stable"), np.bincount(y, minlength=len(alone[1]))
        by = (dice[order] ** 2).astype(np.float32)
        sums = added(self._random, x[order], np.cumsum(sizes) - sizes, sizes, by)
        total = np.bincount(y, dice**2, len(alone[1]))
        sums *= (weights[1] / np.maximum(total, 1e-9))[:, None]
        return (self._random * weights[0][:, None]).astype(np.float32), sums
