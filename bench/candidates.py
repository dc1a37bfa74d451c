"""Texts with a known truth -> the candidates of mining, and figures of each that a score weighs."""

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import as_pair
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.token_files import compared, texts_read
from xmine.encoders.tokens import TokenVectors
from xmine.flags.numbers import differing, reader
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.mining.reranking import weights_of
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.margin import MarginScores, margin_scores
from xmine.scoring.reranking import RERANKED, Reranker, TokenMatches
from xmine.scoring.retrieval import choose_pairs

K = 4  # neighbours that the margin averages

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

_Number = TypeVar("_Number", np.int64, np.float64)


@dataclass(eq=False)
class CandidateSet:
    """Two files of lines, and the candidates between them."""

    kind: str  # for the table
    share: float  # for the table
    rows: tuple[Rows, Rows]  # of the English and of the Chinese lines in the pool
    gold: Rows  # int64 [English lines], the Chinese line of each, -1 if there is none
    neighbours: Neighbours  # the candidates
    # int64 [cells], the place of each candidate in the pool: first those of all English lines, then
    # those of all Chinese lines
    cells: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    figures: dict[str, Floats] = field(default_factory=dict)  # float64 [cells] each
    # of the neighbours; None where their means are over the neighbours alone
    margins: MarginScores | None = None

    def pairs(self) -> tuple[Rows, Rows]:
        """Give English and Chinese line of every cell, int64 [cells] each."""
        near = self.neighbours
        lines = (np.arange(len(each))[:, None] for each in (near.targets, near.sources))
        own = np.broadcast_arrays(next(lines), near.targets)
        turned = np.broadcast_arrays(near.sources, next(lines))
        x, y = (np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(own, turned, strict=True))
        return x, y

    def right(self) -> NDArray[np.bool_]:
        """Tell which cells are translations."""
        x, y = self.pairs()
        right: NDArray[np.bool_] = self.gold[x] == y
        return right

    def split(self, values: NDArray[_Number]) -> tuple[NDArray[_Number], NDArray[_Number]]:
        """Give values of cells the shapes of the neighbours."""
        shapes = self.neighbours.targets.shape, self.neighbours.sources.shape
        first = values[: shapes[0][0] * shapes[0][1]]
        return first.reshape(shapes[0]), values[len(first) :].reshape(shapes[1])

    def reranker(
        self,
        tokens: tuple[TokenVectors, TokenVectors],
        matches: Floats,
        weights: RerankingWeights,
    ) -> Reranker:
        """Make what scores the candidates.

        Args:
            tokens: of the lines of the pool.
            matches: float64 [cells, 5], of `match_pairs`.
            weights: of the scores.
        """
        sides = (self.split(each) for each in matches.T)
        targets, sources = (
            np.stack(each, axis=-1).astype(np.float32) for each in zip(*sides, strict=True)
        )
        lengths = (
            each.lengths[rows].astype(np.float32)
            for each, rows in zip(tokens, self.rows, strict=True)
        )
        known = TokenMatches(targets, sources, *lengths)
        margins = self.margins or margin_scores(self.neighbours, k=K)
        return Reranker(self.neighbours, known, margins, weights)

    def measure(self, reranker: Reranker) -> None:
        """Add the figures that xmine weighs, and the score."""
        (x, s), (y, t) = (self.split(each) for each in self.pairs())
        matches, margins = reranker.matches, reranker.margins
        backward = reranker.figures(s, t, matches.sources, margins.sources)
        for weight, figure in reranker.figures(x, y, matches.targets, margins.targets).items():
            self.figures[weight] = np.concatenate([figure.ravel(), backward[weight].ravel()])
        scores = reranker.candidates()
        self.figures["score"] = np.append(scores.targets, scores.sources).astype(np.float64)

    def oracle(self, scores: Floats, chosen_by: Floats | None = None) -> float:
        """Give the F1 of the best cut in hindsight through one-to-one pairs.

        Args:
            scores: float64 [cells], of the cut.
            chosen_by: float64 [cells], of the choice of pairs; None for `scores`.
        """
        choosing = scores if chosen_by is None else chosen_by
        targets, sources = (each.astype(np.float32) for each in self.split(choosing))
        found = choose_pairs(self.neighbours, MarginScores(targets, sources, 0))
        right = self.gold[found.sources] == found.targets
        if chosen_by is not None:
            x, y = self.pairs()
            width = len(self.rows[1])
            cells, first = np.unique(x * width + y, return_index=True)
            at = first[np.searchsorted(cells, found.sources * width + found.targets)]
            right = right[np.argsort(-scores[at], kind="stable")]
        kept = np.arange(1, len(right) + 1)
        return float((2 * right.cumsum() / (kept + (self.gold >= 0).sum())).max())

    def found(self, scores: Floats) -> tuple[float, float]:
        """Give the shares of lines whose best candidate is right, English first.

        Every line has a translation.
        """
        targets, sources = self.split(scores)
        near, turned = self.neighbours, np.empty_like(self.gold)
        turned[self.gold] = np.arange(len(self.gold))
        best = (
            near.targets[np.arange(len(targets)), targets.argmax(axis=1)],
            near.sources[np.arange(len(sources)), sources.argmax(axis=1)],
        )
        return float((best[0] == self.gold).mean()), float((best[1] == turned).mean())


class Pool:
    """English and Chinese lines that candidate sets are made of; tokens are compared once.

    Attributes:
        nearest: how many neighbours are candidates.
    """

    nearest = RERANKED

    def __init__(self, encoder: SentenceEncoder, english: list[str], chinese: list[str]) -> None:
        self.lines = english, chinese
        self.vectors = [encoder.encode_half(each) for each in self.lines]
        self.tokens = compared(
            encoder.body, texts_read(encoder, english), texts_read(encoder, chinese)
        )
        self.weights = weights_of(as_pair(encoder))
        self.sets: list[CandidateSet] = []

    def add(
        self,
        kind: str,
        share: float,
        rows: tuple[Rows, Rows],
        gold: Rows,
        neighbours: Neighbours | None = None,
        nearest: int = 0,
    ) -> None:
        """Add a set; so many neighbours are candidates, or as many as in `xmine mine`."""
        nearest = nearest or self.nearest
        if neighbours is None:
            source, target = self.vectors[0][rows[0]], self.vectors[1][rows[1]]
            neighbours = search_exact(source, target, max(nearest, K))
        added = CandidateSet(kind, share, rows, gold, neighbours.first(nearest))
        added.margins = margin_scores(neighbours, k=K).first(nearest)
        self.sets.append(added)

    def add_figures(self) -> None:
        """Add to all sets the figures that xmine weighs, and whether numbers differ."""
        keys = []
        for each in self.sets:
            x, y = each.pairs()
            keys.append(each.rows[0][x] * len(self.lines[1]) + each.rows[1][y])
        known, places = np.unique(np.concatenate(keys), return_inverse=True)
        ends = np.cumsum([len(each) for each in keys])[:-1]
        x, y = known // len(self.lines[1]), known % len(self.lines[1])
        matches = match_pairs(*self.tokens, x, y)
        left, right = reader("en"), reader("zh")
        texts = (
            (self.lines[0][i], self.lines[1][j])
            for i, j in zip(x.tolist(), y.tolist(), strict=True)
        )
        differ = np.array([differing(*each, left, right) is not None for each in texts])
        for each, cells in zip(self.sets, np.split(places, ends), strict=True):
            each.cells = cells
            each.measure(each.reranker(self.tokens, matches[cells], self.weights))
            each.figures["numbers"] = differ[cells].astype(np.float64)
