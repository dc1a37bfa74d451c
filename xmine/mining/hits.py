"""Texts and the nearest sentences of each -> the hits of a search, in their order.

The order is that of the cosines. Where an encoder compares tokens, a hit's score is its cosine plus
a tenth of the order of counterparts, less four times what the sentences miss of each other
(`xmine.scoring.late_interaction`). The text itself then comes first: the order of a text with
repeated words is below that of others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.scoring.late_interaction import FIGURES, match_pairs
from xmine.text.sentences import folded
from xmine.vectors.tokens import tokens_of

# Nearest sentences that are reranked, where fewer hits are asked for.
NEAREST = 10
# Of order and missing.
_WEIGHTS = 0.1, -4
# The tokens of their nearest sentences are in memory together.
_TEXTS_AT_ONCE = 1024

Rows = NDArray[np.int64]
Singles = NDArray[np.float32]


class Ranked(NamedTuple):
    """A row of the corpus, its cosine, and its score where hits are reranked."""

    row: int
    cosine: float
    score: float | None


@dataclass(frozen=True, slots=True)
class HitChoice:
    """Which of the nearest sentences are hits, and in which order.

    Attributes:
        k: hits per text.
        encoder: compares tokens; None for the order of the cosines.
        exclude_exact: leave out the text itself, as `xmine.text.sentences.folded` tells it.
    """

    k: int
    encoder: SentenceEncoder | None = None
    exclude_exact: bool = False

    @property
    def nearest(self) -> int:
        """Count the nearest sentences that are looked at, without those that are left out."""
        return max(self.k, NEAREST) if self.encoder else self.k

    def choose(
        self, texts: Sequence[str], corpus: Sequence[str], rows: Rows, cosines: Singles
    ) -> Iterator[list[Ranked]]:
        """Choose the hits of each text, best first; equal scores keep the order of the cosines.

        Args:
            texts: that are searched for.
            corpus: the sentences.
            rows: int64 [texts, nearest], rows of the corpus, nearest first; more where the text
                itself is left out, as many as the corpus has of it.
            cosines: float32 [texts, nearest].
        """
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = slice(start, start + _TEXTS_AT_ONCE)
            yield from self._choose_few(texts[some], corpus, rows[some], cosines[some])

    def _choose_few(
        self, texts: Sequence[str], corpus: Sequence[str], rows: Rows, cosines: Singles
    ) -> Iterator[list[Ranked]]:
        """Choose the hits of a few texts; each near sentence is read once."""
        distinct, places = np.unique(rows, return_inverse=True)
        near, places = [corpus[row] for row in distinct.tolist()], places.reshape(rows.shape)
        copies = left_out = np.zeros(rows.shape, dtype=bool)
        scores = np.zeros(rows.shape)  # equal: the order stays
        if self.encoder or self.exclude_exact:
            copies = _keys(near)[places] == _keys(texts)[:, None]
        if self.exclude_exact:
            left_out = copies | (np.cumsum(~copies, axis=1) > self.nearest)
        if self.encoder:
            scores = cosines + _score_tokens(self.encoder, texts, near, places)
        order = np.lexsort((-scores, ~copies, left_out))[:, : self.k]
        columns = (
            np.take_along_axis(each, order, axis=1).tolist()
            for each in (rows, cosines, scores, ~left_out)
        )
        for hits in zip(*columns, strict=True):
            yield [
                Ranked(row, cosine, score if self.encoder else None)
                for row, cosine, score, is_hit in zip(*hits, strict=True)
                if is_hit
            ]


def _keys(texts: Sequence[str]) -> NDArray[np.object_]:
    """Make the keys by which texts repeat each other."""
    return np.array([folded(text) for text in texts], dtype=object)


def _score_tokens(
    encoder: SentenceEncoder, texts: Sequence[str], near: Sequence[str], places: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Compare texts with the sentences at `places` [texts, nearest] of `near`, token by token."""
    x, y = np.broadcast_arrays(np.arange(len(texts))[:, None], places)
    tokens = tokens_of(encoder, texts), tokens_of(encoder, near)
    matches = match_pairs(*tokens, x.ravel(), y.ravel()).reshape(*places.shape, len(FIGURES))
    scores: NDArray[np.float64] = matches[..., 1:3] @ _WEIGHTS
    return scores
