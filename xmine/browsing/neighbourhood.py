"""A sentence of a run -> its nearest sentences, and why each is or is not its match.

The run's search has found the neighbours. The scores are those that mining compared.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from xmine.browsing.details import outcome_of
from xmine.browsing.opened import Float32s, Opened, Rows
from xmine.errors import FileError
from xmine.files.npy import open_matrix
from xmine.knn.neighbours import Neighbours, found_in
from xmine.mining.options import MiningOptions
from xmine.run.folder import SCORES_FILES
from xmine.run.run_file import DIGESTS
from xmine.scoring.margin import scores_near


class Rival(NamedTuple):
    """A pair that took the place of another one, by its 1-based lines."""

    source_line: int
    target_line: int
    score: float


class PairOutcome(NamedTuple):
    """What mining made of two sentences: a kind, the reason in words, and the better pair, if any.

    Kinds: `kept`; `below` the cut; `dropped` by an option; `taken`, others fit them better; `far`,
    neither is among the first k of the other.
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


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A sentence near one of the other language; `source` and `target` are the rows of both.

    `text`, `file`, the `line` there, and `offset` are those of the neighbour, `rank` is 1 for the
    nearest; `score` is None where mining has not compared the two, and `file` where all are of one.
    """

    source: int
    target: int
    rank: int
    cosine: float
    score: float | None
    text: str
    file: str | None
    line: int
    offset: int | None
    outcome: PairOutcome

    def facts(self) -> dict[str, Any]:
        """Give what the command prints of it."""
        rival = self.outcome.rival and self.outcome.rival._asdict()
        return {
            "rank": self.rank,
            "score": None if self.score is None else round(self.score, 4),
            "cosine": round(self.cosine, 4),
            **({"file": self.file} if self.file else {}),
            "line": self.line,
            "offset": self.offset,
            "text": self.text,
            "chosen": self.outcome.kept,
            "outcome": self.outcome.kind,
            "why": self.outcome.why,
            "better": rival,
        }


class Surroundings:
    """The neighbours of every sentence of a run.

    Attributes:
        compared: the scores that mining compared.
    """

    def __init__(self, opened: Opened) -> None:
        """Open what the run's search has found, without reading it."""
        if not opened.is_run:
            raise FileError(
                f"{opened.path}: {opened.kind}, which has no neighbours",
                "mine into a folder with xmine mine -o run/, and open that",
            )
        folder = opened.path / "neighbours"
        found = found_in(folder)
        if found is None:
            raise FileError(
                f"{folder}: no neighbours there",
                "give the command that made the run again, and it goes on",
            )
        sizes = len(found.targets), len(found.sources)
        if sizes != (len(opened.source.lines), len(opened.target.lines)):
            raise FileError(
                f"{folder}: neighbours of other sentences", "remove the run, and mine again"
            )
        self.opened = opened
        self.compared = compared_in(opened, found)

    @property
    def called(self) -> str:
        """Name the scores: margins in a run whose pairs have others that it does not keep."""
        kept_none = self.opened.margins is not None and self.compared.scores is None
        return "margin" if kept_none else "score"

    def partner(self, side: str, row: int) -> int:
        """Name the row that a sentence is best looked at with: its pair, or its nearest."""
        opened = self.opened
        own, others = opened.sources, opened.targets
        found = self.compared.neighbours.targets
        if side == "target":
            own, others, found = others, own, self.compared.neighbours.sources
        pairs = np.flatnonzero(own == row)
        return int(others[pairs[0]]) if len(pairs) else int(found[row, 0])

    def outcome(self, source: int, target: int, cut: float | None = None) -> PairOutcome:
        """Tell what became of any two rows as a pair, at a cut."""
        opened, cut = self.opened, self.opened.cut if cut is None else cut
        row = self.row(source, target)
        if row is None:
            return self._no_candidate(source, target)
        kind = outcome_of(opened, row, cut)
        if kind == "below":
            return PairOutcome(kind, f"below the cut {cut:.4f}")
        return PairOutcome(kind, opened.said("reason", row) or kind)

    def _no_candidate(self, source: int, target: int) -> PairOutcome:
        """Name the pairs that the two sentences are in: retrieval took these."""
        opened, found, k, said = self.opened, self.compared.neighbours, self.compared.k, []
        rivals = []
        for (name, _, own), row in zip(opened.sides, (source, target), strict=True):
            for at in np.flatnonzero(own == row)[:1].tolist():
                line, other = (int(side.lines[rows[at]]) for _, side, rows in opened.sides)
                score = 0.0 if opened.scores is None else float(opened.scores[at])
                rivals.append(Rival(line, other, score))
                there = f"target line {other:,}" if name == "source" else f"source line {line:,}"
                said.append(f"its {name} is with {there}, {score:.4f}")
        if target not in found.targets[source, :k] and source not in found.sources[target, :k]:
            why = f"neither is among the {k} nearest of the other, and only these are compared"
            return PairOutcome("far", why)
        best = max(rivals, key=lambda rival: rival.score, default=None)
        return PairOutcome("taken", "; ".join(said) or "in no pair: others fit both better", best)

    def row(self, source: int, target: int) -> int | None:
        """Find two rows among the pairs of the run; None if mining has not looked at them."""
        found = np.flatnonzero(self.opened.sources == source)
        found = found[self.opened.targets[found] == target]
        return int(found[0]) if len(found) else None

    def near(
        self, side: str, row: int, k: int | None = None, cut: float | None = None
    ) -> list[Neighbour]:
        """Give the nearest targets of a source, or sources of a target, nearest first."""
        opened, of_sources = self.opened, side == "source"
        compared = self.compared if of_sources else self.compared.swapped()
        found, scores = compared.neighbours, compared.near(np.array([row]))[0]
        near: list[int] = found.targets[row][:k].tolist()
        pairs = [(row, other) if of_sources else (other, row) for other in near]
        others = opened.target if of_sources else opened.source
        return [
            Neighbour(
                *pair,
                at + 1,
                float(found.target_cosines[row, at]),
                float(scores[at]) if np.isfinite(scores[at]) else None,
                others.texts[other],
                *others.written(other),
                others.place(other)[1],
                self.outcome(*pair, cut),
            )
            for at, (other, pair) in enumerate(zip(near, pairs, strict=True))
        ]
