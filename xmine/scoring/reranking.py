"""Candidates and how well their tokens match -> a new score: the log-odds of a translation.

A candidate is a cell of the neighbours, and its rivals are the other cells of its row and column.
Logistic regression, and trees, weigh seven figures of each: the log of the ratio margin; what the
sentences miss of each other, and how much is covered; the order of the counterparts
(`xmine.scoring.late_interaction`); how far the ratio of the lengths is from the usual one of the
files; and how far the match, and the margin, lead those of the best rival.
docs/explanation/reranking.md says what each is worth.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.trees import read_trees
from xmine.files import scratch
from xmine.knn.neighbours import Neighbours
from xmine.scoring.late_interaction import FIGURES, Floats, Rows, Singles
from xmine.scoring.margin import MarginScores, margin_scores
from xmine.scoring.probability import Kindred
from xmine.scoring.retrieval import ChosenPairs, choose_pairs

# Nearest sentences of each that are reranked. The third and the fourth double the time, for an F1
# that is .002 higher on BUCC (bench/rerank.py --nearest 4).
RERANKED = 2
# Rivals that are looked at together take 8 bytes each, several times.
_RIVALS_AT_ONCE = 2**20
_BEST = 0.95  # quantile of the margins of the nearest from which on most are translations
_LENGTH = FIGURES.index("length")
_LEAST_MARGIN = 1e-3  # whose log is taken


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """How well the tokens of each candidate match, in the shapes of `Neighbours`.

    Attributes:
        targets: float32 [sources, k, 5], the figures of `match_pairs` of each source's nearest
            targets.
        sources: float32 [targets, k, 5], the same of each target's nearest sources.
        source_lengths, target_lengths: float32 [sources] and [targets], numbers of tokens.
    """

    targets: Singles
    sources: Singles
    source_lengths: Singles
    target_lengths: Singles

    def first(self, k: int) -> "TokenMatches":
        """Keep those of the k nearest of each row."""
        return replace(self, targets=self.targets[:, :k], sources=self.sources[:, :k])


@dataclass(frozen=True)
class Reranker:
    """Scores pairs by their tokens, with the candidates as rivals.

    Attributes:
        neighbours: the candidates.
        matches: of their tokens.
        margins: their ratio margins.
        weights: of the figures.
        kin: tells which neighbours are no rivals; None where all are. Mining needs them as rivals,
            to choose the best of several near-copies.
        spare: as many neighbours as a margin averages and one more, and the matches of the
            candidates and one more, which decoys are chosen from.
        length: the `length` of most translations, if that is known.
    """

    neighbours: Neighbours
    matches: TokenMatches
    margins: MarginScores
    weights: RerankingWeights
    kin: Kindred | None = None
    spare: tuple[Neighbours, TokenMatches] | None = None
    length: float | None = None

    def candidates(self) -> MarginScores:
        """Score all candidates: log-odds in place of margins, float32."""
        near, matches, margins = self.neighbours, self.matches, self.margins
        x, y = (np.arange(len(each))[:, None] for each in (near.targets, near.sources))
        targets = self._rows(x, near.targets, matches.targets, margins.targets)
        sources = self._rows(near.sources, y, matches.sources, margins.sources)
        return MarginScores(targets, sources, margins.clamped)

    def pairs(self, x: Rows, y: Rows, matches: Singles, margins: Singles) -> Singles:
        """Score any pairs, candidates or not.

        Args:
            x, y: int64 [pairs], rows of both sides.
            matches: float32 [pairs, 5], of `match_pairs`.
            margins: float32 [pairs].
        """
        return self._rows(x[:, None], y[:, None], matches[:, None], margins[:, None])[:, 0]

    def _rows(self, x: Rows, y: Rows, matches: Singles, margins: Singles) -> Singles:
        """Score rows of cells, so many at a time that few rivals are looked at together."""
        k, back = self.neighbours.targets.shape[1], self.neighbours.sources.shape[1]
        scores = scratch.empty(margins.shape, np.float32)
        for some in scratch.slices(len(scores), max(1, _RIVALS_AT_ONCE // (k * (k + back)))):
            sources, targets = np.broadcast_arrays(x[some], y[some])
            scores[some] = self._cells(sources, targets, matches[some], margins[some])
        return scores

    def _cells(self, x: Rows, y: Rows, matches: Singles, margins: Singles) -> Floats:
        """Score cells [rows, k] of these sources and targets."""
        score, figures = np.full(x.shape, self.weights.bias), self.figures(x, y, matches, margins)
        for name, figure in figures.items():
            score += getattr(self.weights, name) * figure
        trees = self.weights.trees
        return score + read_trees(trees).add(figures) if trees else score

    def figures(self, x: Rows, y: Rows, matches: Singles, margins: Singles) -> dict[str, Floats]:
        """Measure cells.

        Args:
            x, y: int64 [rows, k], sources and targets.
            matches: float32 [rows, k, 5], of `match_pairs`.
            margins: float32 [rows, k].

        Returns:
            float64 [rows, k] by the name of the weight.
        """
        found = {"log_margin": np.log(np.maximum(margins.astype(np.float64), _LEAST_MARGIN))}
        for name in ("missing", "order", "covered", "length"):
            found[name] = matches[..., FIGURES.index(name)].astype(np.float64)
        found["length"] = np.abs(found["length"] - self.usual_length)
        leads = self._leads(x, y, matches[..., 0], margins)
        return found | dict(zip(("match_lead", "margin_lead"), leads, strict=True))

    def decoys(self, chosen: ChosenPairs) -> ChosenPairs:
        """Choose pairs, and score them, as if the cells of the chosen ones did not exist."""
        assert self.spare is not None
        (wide, matches), few = self.spare, RERANKED
        left, rows, columns = wide.without(chosen.sources, chosen.targets)
        found = replace(
            matches,
            targets=np.take_along_axis(matches.targets, rows[:, :few, None], axis=1),
            sources=np.take_along_axis(matches.sources, columns[:, :few, None], axis=1),
        )
        given = left.first(few), found, margin_scores(left).first(few), self.weights
        judge = Reranker(*given, length=self.usual_length)
        return choose_pairs(judge.neighbours, judge.candidates())

    @cached_property
    def usual_length(self) -> float:
        """Find the `length` of most translations: the median of the nearest with high margins."""
        if self.length is not None:
            return self.length
        margins = np.append(self.margins.targets[:, 0], self.margins.sources[:, 0])
        if not len(margins):
            return 0.0
        best = margins >= np.quantile(margins, _BEST)
        matches = self.matches
        lengths = np.append(matches.targets[:, 0, _LENGTH], matches.sources[:, 0, _LENGTH])
        return float(np.median(lengths[best]))

    def _leads(self, x: Rows, y: Rows, match: Singles, margins: Singles) -> tuple[Floats, Floats]:
        """Measure how far cells [rows, k] lead their best rivals; 0 where there is no rival."""
        near, matches, known = self.neighbours, self.matches, self.margins
        own, back = near.targets[x] == y[..., None], near.sources[y] == x[..., None]
        if self.kin:
            kin_of_y, kin_of_x = self.kin(x.ravel(), y.ravel(), near)
            own, back = own | kin_of_y.reshape(own.shape), back | kin_of_x.reshape(back.shape)
        leads = []
        for value, of_row, of_column in (
            (match, matches.targets[..., 0][x], matches.sources[..., 0][y]),
            (margins, known.targets[x], known.sources[y]),
        ):
            row = np.where(own, -np.inf, of_row).max(axis=-1)
            column = np.where(back, -np.inf, of_column).max(axis=-1)
            best = np.maximum(row, column)
            leads.append(np.where(np.isfinite(best), value.astype(np.float64) - best, 0))
        return leads[0], leads[1]
