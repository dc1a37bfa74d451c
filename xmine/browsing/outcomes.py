"""Why two sentences of a run are a kept pair, or why they are not: the rules of mining, told."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from xmine.browsing.opened import Opened
from xmine.flags.names import FLAGS
from xmine.knn.neighbours import Neighbours
from xmine.scoring.margin import scores_near
from xmine.scoring.retrieval import best_neighbours

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rival:
    """A pair that took the place of another one, by its 1-based lines."""

    source_line: int
    target_line: int
    score: float


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What became of two sentences.

    Attributes:
        kind: `kept`; `below` the cut; `dropped` by an option; `taken`: one of them is in a better
            pair; `not best` of the side that the retrieval mode asks; `far`: neither is among the
            first k of the other.
        why: the same in words.
        rival: the pair that was better, if there is one.
    """

    kind: str
    why: str
    rival: Rival | None = None

    @property
    def kept(self) -> bool:
        """Whether the pair is kept."""
        return self.kind == "kept"


class PairOutcomes:
    """Tells the outcome of pairs of a run."""

    def __init__(self, opened: Opened, neighbours: Neighbours, margin: str, k: int) -> None:
        """Take the run, what its search has found, and how pairs were scored."""
        self._opened, self._neighbours = opened, neighbours
        self._margin, self._k = margin, k
        self._options: dict[str, Any] = opened.run.get("pairs", {})
        self._retrieval = str(self._options.get("retrieval", "max"))

    def of(self, pairs: list[Pair], cut: float | None) -> list[PairOutcome]:
        """Tell the outcomes of some pairs of rows, each the neighbour of the other, at a cut."""
        best_targets = self._best(sorted({source for source, _ in pairs}), of_sources=True)
        best_sources = self._best(sorted({target for _, target in pairs}), of_sources=False)
        return [
            self._outcome(pair, cut, best_targets[pair[0]], best_sources[pair[1]]) for pair in pairs
        ]

    def _best(self, rows: list[int], *, of_sources: bool) -> dict[int, tuple[int, float]]:
        """Give the best neighbour of each row, and its score: what fwd and bwd choose."""
        few, k = np.array(rows, dtype=np.int64), self._k
        found = self._neighbours
        ids, cosines = (
            (found.targets, found.target_cosines)
            if of_sources
            else (found.sources, found.source_cosines)
        )
        if not rows:
            return {}
        scores = scores_near(found, few, self._margin, k, of_sources=of_sources)[:, :k]
        best = best_neighbours(np.asarray(ids[few][:, :k]), scores, cosines[few][:, :k])
        chosen = zip(best.targets.tolist(), best.scores.tolist(), strict=True)
        return dict(zip(rows, chosen, strict=True))

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
        of_target = np.flatnonzero(opened.targets == target)
        is_fwd, is_bwd = best_target[0] == target, best_source[0] == source
        better_target = self._rival(source, *best_target)
        better_source = self._rival(best_source[0], target, best_source[1])
        if self._retrieval == "fwd":
            return self._not_best("target", "source", better_target)
        if self._retrieval == "bwd":
            return self._not_best("source", "target", better_source)
        if self._retrieval == "intersect" and is_fwd:
            return self._not_best("source", "target", better_source)
        if self._retrieval == "intersect" and is_bwd:
            return self._not_best("target", "source", better_target)
        if is_fwd or is_bwd:
            return self._taken(of_source, of_target)
        if not self._is_near(pair):
            return PairOutcome("far", f"neither is among the {self._k} nearest of the other")
        return PairOutcome(
            "not best",
            f"best for neither: the source's best is target line {better_target.target_line:,}, "
            f"{better_target.score:.4f}; the target's best is source line "
            f"{better_source.source_line:,}, {better_source.score:.4f}",
            better_target if better_target.score >= better_source.score else better_source,
        )

    def _of_candidate(self, row: int, cut: float | None) -> PairOutcome:
        """Tell the outcome of a pair that may be kept."""
        opened = self._opened
        score = 0.0 if opened.scores is None else float(opened.scores[row])
        rank = opened.rank(row) or 0.0
        if opened.eligible[row] and (cut is None or rank >= cut):
            return PairOutcome("kept", "kept")
        if opened.eligible[row]:
            return PairOutcome("below", f"below the cut {cut:.4f}")
        raised = [] if opened.flags is None else opened.flags[row].split(",")
        drops = {each.strip() for text in self._options.get("drop", []) for each in text.split(",")}
        dropping = [name for name in FLAGS if name in raised and name in drops]
        if dropping:
            return PairOutcome("dropped", f"dropped for its flag: {', '.join(dropping)}")
        most = self._options.get("score_max")
        if most is not None and score > most:
            return PairOutcome("dropped", f"dropped: above --score-max {most:g}")
        if opened.allowed[row]:
            best = f"the best {self._options['top']:,}" if "top" in self._options else "the best"
            return PairOutcome("dropped", f"dropped: beyond {best} that --top asks for")
        if "copy" in raised and not self._options.get("keep_copies"):
            return PairOutcome(
                "dropped", "dropped: the same text on both sides; --keep-copies keeps it"
            )
        wanted = self._options.get("threshold")
        if isinstance(wanted, float) and score < wanted:
            return PairOutcome("below", f"below --threshold {wanted:g}")
        return PairOutcome("dropped", "dropped: known to be wrong")

    def _taken(self, of_source: np.ndarray, of_target: np.ndarray) -> PairOutcome:
        """Tell which better pairs, by rows of `opened`, the two sentences are in."""
        opened = self._opened
        said, rivals = [], []
        for name, rows in (("source", of_source), ("target", of_target)):
            if len(rows):
                row = int(rows[0])
                score = 0.0 if opened.scores is None else float(opened.scores[row])
                rival = self._rival(int(opened.sources[row]), int(opened.targets[row]), score)
                other, line = (
                    ("target", rival.target_line)
                    if name == "source"
                    else ("source", rival.source_line)
                )
                said.append(f"its {name} is with {other} line {line:,}, {rival.score:.4f}")
                rivals.append(rival)
        if not rivals:
            return PairOutcome("taken", "in no pair")
        return PairOutcome("taken", "; ".join(said), max(rivals, key=lambda rival: rival.score))

    def _not_best(self, side: str, of: str, rival: Rival) -> PairOutcome:
        line = rival.target_line if side == "target" else rival.source_line
        return PairOutcome(
            "not best",
            f"--retrieval {self._retrieval}: the {of}'s best {side} is line {line:,}, "
            f"{rival.score:.4f}",
            rival,
        )

    def _is_near(self, pair: Pair) -> bool:
        """Tell whether one of two sentences is among the first k of the other."""
        source, target = pair
        found = self._neighbours
        near = target in found.targets[source, : self._k]
        return bool(near or source in found.sources[target, : self._k])

    def _rival(self, source: int, target: int, score: float) -> Rival:
        opened = self._opened
        return Rival(int(opened.source.lines[source]), int(opened.target.lines[target]), score)
