"""A sentence of a run -> its nearest sentences, and why each is or is not its match.

The run's search has found the neighbours. The scores are those that mining compared.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from xmine.browsing.opened import Opened
from xmine.browsing.outcomes import PairOutcome, PairOutcomes, compared_in
from xmine.errors import FileError
from xmine.knn.neighbours import found_in


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
        rival = None if self.outcome.rival is None else asdict(self.outcome.rival)
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
        self._outcomes = PairOutcomes(opened, self.compared)

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
        """Tell what became of any two rows as a pair."""
        return self._outcomes.of([(source, target)], self.opened.cut if cut is None else cut)[0]

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
        outcomes = self._outcomes.of(pairs, opened.cut if cut is None else cut)
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
                outcome,
            )
            for at, (other, pair, outcome) in enumerate(zip(near, pairs, outcomes, strict=True))
        ]
