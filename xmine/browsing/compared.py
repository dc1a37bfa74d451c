"""The neighbours of a run -> the scores that mining compared, of a few rows.

A run whose scores are no margins keeps these scores. Margins are computed with the options of the
run, and equal those of mining.
"""

from dataclasses import dataclass, replace

import numpy as np

from xmine.browsing.opened import Float32s, Opened, Rows
from xmine.errors import FileError
from xmine.files.npy import open_matrix
from xmine.knn.neighbours import Neighbours
from xmine.mining.options import MiningOptions
from xmine.run.folder import SCORES_FILES
from xmine.run.run_file import DIGESTS
from xmine.scoring.margin import scores_near


@dataclass(frozen=True, slots=True)
class Compared:
    """Neighbours, and the scores that pairs were chosen by.

    Attributes:
        neighbours: all that the search has found.
        k: mining compared the first k of each row.
        margin: of the scores, where the run keeps none.
        scores: float32 [sources, k] and [targets, k], of each row's first neighbours; -inf where a
            second model was not asked. They are memory-mapped. None where scores are margins.
    """

    neighbours: Neighbours
    k: int
    margin: str = "ratio"
    scores: tuple[Float32s, Float32s] | None = None

    def swapped(self) -> "Compared":
        """Make the targets the sources."""
        scores = None if self.scores is None else (self.scores[1], self.scores[0])
        return replace(self, neighbours=self.neighbours.swapped(), scores=scores)

    def near(self, sources: Rows) -> Float32s:
        """Score the known neighbours of some sources: float32 [sources, known].

        Margins are those of all neighbours; other scores are -inf where mining compared none.
        """
        found = self.neighbours
        if self.scores is None:
            return scores_near(found, sources, self.margin, self.k)
        return self.pairs(*np.broadcast_arrays(sources[:, None], found.targets[sources]))

    def pairs(self, sources: Rows, targets: Rows) -> Float32s:
        """Look up the scores of any pairs, in their shape; -inf where the run keeps none."""
        scores = np.full(sources.shape, -np.inf, dtype=np.float32)
        if self.scores is not None:
            near, back = self.neighbours.targets, self.neighbours.sources
            for ids, rows, others, kept in (
                (near, sources, targets, self.scores[0]),
                (back, targets, sources, self.scores[1]),
            ):
                same = ids[rows][..., : kept.shape[1]] == others[..., None]
                scores = np.maximum(scores, np.where(same, kept[rows], -np.inf).max(axis=-1))
        return scores


def compared_in(opened: Opened, found: Neighbours) -> Compared:
    """Open the scores of a run, without reading them.

    Raises:
        FileError: a file of scores is gone, or has those of other sentences.
    """
    usual, run = MiningOptions(), opened.run
    if SCORES_FILES[0] not in run.get(DIGESTS, {}):
        k = run.get("neighbours", {}).get("neighborhood", usual.neighborhood)
        return Compared(found, int(k), str(run.get("pairs", {}).get("margin", usual.margin)))
    scores = []
    for name, ids in zip(SCORES_FILES, (found.targets, found.sources), strict=True):
        rows = open_matrix(opened.path / name, np.float32)
        if rows is None or len(rows) != len(ids) or not 0 < rows.shape[1] <= ids.shape[1]:
            raise FileError(
                f"{opened.path / name}: not the scores of this run",
                "give the command that made the run again, and it makes this file again",
            )
        scores.append(rows)
    left, right = scores
    return Compared(found, max(left.shape[1], right.shape[1]), scores=(left, right))
