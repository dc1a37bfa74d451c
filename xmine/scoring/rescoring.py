"""The figure of a second model for some candidates -> what the figure adds to their log-odds.

Without gold, the probabilities so far stand for the truth, and linear regression of the figure on
score and probability says what the figure knows beyond the score: among pairs of one score,
translations have a figure that is higher by d, with a variance v around the line. If the figure is
normal around both lines, the log-odds of a pair rise by d / v for each unit that its figure stands
above the middle of the lines (linear discriminant analysis with the score for a covariate: Cochran
& Bliss, 1948, "Discriminant functions with covariance"). Of two figures, v is a matrix, and no
weight is below 0. A ridge holds d towards 0. So a figure that repeats the score, or that is noise,
adds next to nothing. Logistic regression of the probabilities on score and figure would ask what
foretells them, which the score does as well as can be: even a figure that is the truth itself gets
no weight from it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.knn.neighbours import Neighbours
from xmine.scoring.margin import MarginScores
from xmine.scoring.probability import Floats
from xmine.scoring.reranking_fit import fit_curve
from xmine.scoring.retrieval import ChosenPairs

Rows = NDArray[np.int64]

# So many cells of each row and column are judged.
_BEST = 2
# How many translations the lead of 0 is believed in that no score foretells; and the smallest share
# of a figure's variance that is taken for noise.
_BELIEF, _LEAST_NOISE = 10.0, 0.01


@dataclass(frozen=True, slots=True)
class Cells:
    """Candidates that a second model judges, each once, in the order of their rows.

    Attributes:
        sources, targets: int64 [cells], rows of both sides.
        scores: float64 [cells], their scores so far.
        width: the number of targets.
    """

    sources: Rows
    targets: Rows
    scores: Floats
    width: int

    def places(self, sources: Rows, targets: Rows) -> Rows:
        """Find pairs of rows among the cells; -1 for those that are not there."""
        keys, wanted = self.sources * self.width + self.targets, sources * self.width + targets
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found: Rows = np.where(keys[places] == wanted, places, -1)
        return found


def best_cells(neighbours: Neighbours, scores: MarginScores, pairs: ChosenPairs) -> Cells:
    """Take the two best cells of each row and of each column, and some pairs.

    Retrieval takes the best cell of a row or column. A third one would have to pass two others in
    its row and in its column: a second model could lift such a cell, and is not asked.
    """
    parts = [(pairs.sources, pairs.targets, pairs.scores)]
    for ids, found in ((neighbours.targets, scores.targets), (neighbours.sources, scores.sources)):
        best = np.lexsort((ids, -found))[:, :_BEST]  # of equal ones the lower number, as retrieval
        rows = np.repeat(np.arange(len(ids)), best.shape[1])
        others = np.take_along_axis(ids, best, axis=1).ravel()
        values = np.take_along_axis(found, best, axis=1).ravel()
        parts.append((rows, others, values) if len(parts) == 1 else (others, rows, values))
    x, y, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    width = len(neighbours.sources)
    _, first = np.unique(x * width + y, return_index=True)
    return Cells(x[first], y[first], values[first].astype(np.float64), width)


def with_leads(cells: Cells, figures: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put beside each figure its lead over the best other one of its row and of its column, halved.

    `python bench/embedded.py --peers use` measures the gain over the first model alone. Where a
    cell is alone in its row or column, the other one is the median of all.

    Returns:
        float32 [cells, 2].
    """
    leads = np.zeros(len(figures))
    for lines in (cells.sources, cells.targets):
        leads += (figures - best_other(figures, lines, np.median(figures))) / 2
    return np.stack([figures, leads], axis=1).astype(np.float32)


def best_other(
    values: NDArray[np.floating], groups: Rows, alone: float | np.floating = 0.0
) -> NDArray[np.floating]:
    """Find the greatest of the other values of the same group, [values]; `alone` without others."""
    order = np.lexsort((-values, groups))
    ranked, found = values[order], np.empty_like(values)
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    others = np.repeat(ranked[starts], lengths)
    others[starts], several = alone, starts[lengths > 1]
    others[several] = ranked[several + 1]
    found[order] = others
    return found


def weigh(
    cells: Cells, figures: NDArray[np.float32], rows: Rows, present: Floats
) -> tuple[Floats, Floats]:
    """Turn scores and figures of cells into log-odds.

    Args:
        cells: what is judged.
        figures: float32 [cells, figures], of a second model.
        rows: int64 [pairs], which cells the weights are learnt from.
        present: float64 [pairs], their probabilities so far.

    Returns:
        float64 [cells] twice: the log-odds, and the part of them that the figures add.
    """
    scores, known = cells.scores[rows], figures[rows].astype(np.float64)
    slope, height = fit_curve(scores, present)
    by_score = np.stack([np.ones(len(rows)), scores], axis=1)
    wanted = np.column_stack([known, present])
    line = np.linalg.lstsq(by_score, wanted, rcond=None)[0]
    beyond = wanted - by_score @ line
    bent = beyond[:, -1]
    lead = np.maximum(bent @ beyond[:, :-1] / (float(bent @ bent) + _BELIEF), 0)
    rest = beyond[:, :-1] - np.outer(bent, lead)
    noise = np.atleast_2d(np.cov(rest, rowvar=False, bias=True))
    noise += np.diag(_LEAST_NOISE * known.var(axis=0) + 1e-12)
    worth = np.linalg.solve(noise, lead)
    if (worth < 0).any():  # the other figure alone says more
        alone = lead / np.diag(noise)
        worth = np.where(np.arange(len(lead)) == np.argmax(alone * lead), alone, 0)
    start, along = line[:, :-1] - np.outer(line[:, -1], lead)
    middle = start + np.outer(cells.scores, along) + lead / 2
    added = (figures.astype(np.float64) - middle) @ worth
    return slope * cells.scores + height + added, added


def spread(cells: Cells, scores: Floats, neighbours: Neighbours, clamped: int) -> MarginScores:
    """Write the scores of cells into the shapes of `Neighbours`; other cells are never chosen."""
    x, y = np.arange(len(neighbours.targets)), np.arange(len(neighbours.sources))
    sides = (x[:, None], neighbours.targets), (neighbours.sources, y[:, None])
    places = (cells.places(*side) for side in sides)
    left, right = (np.where(each < 0, -np.inf, scores[each]).astype(np.float32) for each in places)
    return MarginScores(left, right, clamped)
