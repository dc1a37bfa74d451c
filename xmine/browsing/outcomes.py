"""Two sentences of a run -> the reason why they are a kept pair, or why they are not.

A run whose scores are no margins keeps the scores that mining compared. Margins are computed with
the options of the run, and equal those of mining.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xmine.browsing.opened import Float32s, Opened, Rows
from xmine.errors import FileError
from xmine.files.npy import open_matrix
from xmine.flags.names import FLAGS
from xmine.knn.neighbours import Neighbours
from xmine.mining.options import MiningOptions
from xmine.run.folder import SCORES_FILES
from xmine.run.run_file import DIGESTS
from xmine.scoring.margin import scores_near
from xmine.scoring.retrieval import best_neighbours

Pair = tuple[int, int]


# The kinds of outcomes in words.
OUTCOMES = {
    "kept": "kept",
    "below": "below the cut",
    "dropped": "dropped",
    "taken": "in a better pair",
    "not best": "others fit better",
    "far": "not compared",
}


@dataclass(frozen=True, slots=True)
class Rival:
    """A pair that took the place of another one, by its 1-based lines."""

    source_line: int
    target_line: int
    score: float


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What mining made of two sentences: a kind, the reason in words, and the better pair, if any.

    Kinds: `kept`; `below` the cut; `dropped` by an option; `taken`, one of them is in a better
    pair; `not best` of the side that the retrieval mode asks; `far`, neither is among the first k
    of the other.
    """

    kind: str
    why: str
    rival: Rival | None = None

    @property
    def kept(self) -> bool:
        """Whether the pair is kept."""
        return self.kind == "kept"


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
        said = run.get("options", {})
        k, margin = said.get("neighborhood", usual.neighborhood), said.get("margin", usual.margin)
        return Compared(found, int(k), str(margin))
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


class PairOutcomes:
    """Tells the outcome of pairs of a run."""

    def __init__(self, opened: Opened, compared: Compared) -> None:
        """Take the run, and the scores that mining compared."""
        self._opened, self._compared = opened, compared
        self._options: dict[str, Any] = opened.run.get("options", {})
        self._retrieval = str(self._options.get("retrieval", "max"))

    def of(self, pairs: list[Pair], cut: float | None) -> list[PairOutcome]:
        """Tell the outcomes of pairs of rows at a cut; one row of a pair is near the other."""
        targets = _best(self._compared, {source for source, _ in pairs})
        sources = _best(self._compared.swapped(), {target for _, target in pairs})
        return [self._outcome(pair, cut, targets[pair[0]], sources[pair[1]]) for pair in pairs]

    def _outcome(
        self,
        pair: Pair,
        cut: float | None,
        best_target: tuple[int, float],
        best_source: tuple[int, float],
    ) -> PairOutcome:
        opened, (source, target) = self._opened, pair
        of_source = np.flatnonzero(opened.sources == source)
        row = of_source[opened.targets[of_source] == target]
        if len(row):
            return self._of_candidate(int(row[0]), cut)
        is_fwd, is_bwd = best_target[0] == target, best_source[0] == source
        better = {
            "target": self._rival(source, *best_target),
            "source": self._rival(best_source[0], target, best_source[1]),
        }
        asked = {"fwd": "target", "bwd": "source"}.get(self._retrieval, "")
        if self._retrieval == "intersect" and (is_fwd or is_bwd):
            asked = "source" if is_fwd else "target"
        found, k = self._compared.neighbours, self._compared.k
        far = target not in found.targets[source, :k] and source not in found.sources[target, :k]
        if far and (not asked or self._compared.scores is not None):
            why = f"neither is among the {k} nearest of the other, and only these are compared"
            return PairOutcome("far", why)
        if asked:
            rival, other = better[asked], "source" if asked == "target" else "target"
            line = rival.target_line if asked == "target" else rival.source_line
            why = f"the best of the {other}'s {k} nearest is line {line:,}, {rival.score:.4f}"
            return PairOutcome("not best", f"--retrieval {self._retrieval}: {why}", rival)
        if is_fwd or is_bwd:
            return self._taken(of_source, np.flatnonzero(opened.targets == target))
        one, two = better["target"], better["source"]
        return PairOutcome(
            "not best",
            f"best for neither: the source's best is target line {one.target_line:,}, "
            f"{one.score:.4f}; the target's best is source line {two.source_line:,}, "
            f"{two.score:.4f}",
            one if one.score >= two.score else two,
        )

    def _of_candidate(self, row: int, cut: float | None) -> PairOutcome:
        """Tell the outcome of a pair that may be kept, and what its flags made of its score."""
        outcome, score = self._standing(row, cut), self._score(row)
        if round(self._chosen_by(row) - score, 3) <= 0:
            return outcome
        return replace(outcome, why=f"{outcome.why}; its flags lower the score to {score:.4f}")

    def _standing(self, row: int, cut: float | None) -> PairOutcome:
        """Tell the outcome of a pair that may be kept."""
        opened, options = self._opened, self._options
        score, eligible = self._score(row), opened.eligible[row]
        if eligible and (cut is None or (opened.rank(row) or 0.0) >= cut):
            return PairOutcome("kept", "kept")
        if eligible:
            return PairOutcome("below", f"below the cut {cut:.4f}")
        raised = [] if opened.flags is None else opened.flags[row].split(",")
        drops = MiningOptions(drop=options.get("drop", [])).drop
        if dropping := [name for name in FLAGS if name in raised and name in drops]:
            return PairOutcome("dropped", f"dropped for its flag: {', '.join(dropping)}")
        if opened.allowed[row]:
            best = f"the best {options['top']:,}" if "top" in options else "the best"
            return PairOutcome("dropped", f"dropped: beyond {best} that --top asks for")
        is_copy = "copy" in raised or {"near-copy", "script"}.issubset(raised)
        if is_copy and not options.get("keep_copies"):
            why = "dropped: the same text on both sides, or nearly; --keep-copies keeps it"
            return PairOutcome("dropped", why)
        wanted = options.get("threshold")
        if isinstance(wanted, float) and score < wanted:
            return PairOutcome("below", f"below --threshold {wanted:g}")
        return PairOutcome("dropped", "dropped: known to be wrong")

    def _taken(self, of_source: Rows, of_target: Rows) -> PairOutcome:
        """Name the better pairs, rows of `opened`, that the two sentences are in."""
        opened, said, rivals = self._opened, [], []
        for name, other, rows in (("source", "target", of_source), ("target", "source", of_target)):
            for row in rows[:1].tolist():
                pair = int(opened.sources[row]), int(opened.targets[row])
                rival = self._rival(*pair, self._chosen_by(row))
                line = rival.target_line if name == "source" else rival.source_line
                said.append(f"its {name} is with {other} line {line:,}, {rival.score:.4f}")
                rivals.append(rival)
        best = max(rivals, key=lambda rival: rival.score, default=None)
        return PairOutcome("taken", "; ".join(said) or "in no pair", best)

    def _score(self, row: int) -> float:
        scores = self._opened.scores
        return 0.0 if scores is None else float(scores[row])

    def _chosen_by(self, row: int) -> float:
        """Give the score that a pair was chosen by, before its flags took something off."""
        rows = slice(row, row + 1)
        kept = self._compared.pairs(self._opened.sources[rows], self._opened.targets[rows])[0]
        return float(kept) if np.isfinite(kept) else self._score(row)

    def _rival(self, source: int, target: int, score: float) -> Rival:
        opened = self._opened
        return Rival(int(opened.source.lines[source]), int(opened.target.lines[target]), score)


def _best(compared: Compared, rows: set[int]) -> dict[int, tuple[int, float]]:
    """Give the best target of each source, and its score: the choice of fwd."""
    few, k, found = np.array(sorted(rows), dtype=np.int64), compared.k, compared.neighbours
    ids, cosines = found.targets[few][:, :k], found.target_cosines[few][:, :k]
    best = best_neighbours(np.asarray(ids), compared.near(few)[:, :k], cosines)
    chosen = zip(best.targets.tolist(), best.scores.tolist(), strict=True)
    return dict(zip(few.tolist(), chosen, strict=True))
