"""Labels on the pairs of a comparison: each goes into the files of both runs.

These name a pair by its lines and texts.
"""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np

from xmine.browsing.opened import Opened, Rows
from xmine.errors import FileError
from xmine.files.digests import identity
from xmine.judging.counts import Counts
from xmine.judging.judgements import Judgements, judge_name
from xmine.judging.keys import key_of, row_of
from xmine.pairs.judgements import file_beside, read_from


class SharedJudgements(Judgements):
    """The labels on pairs that several runs have: each is in the files of all of them."""

    def __init__(self, opened: Opened, files: Sequence[Path], by: str) -> None:
        """Begin without any; see `open_compared`."""
        self._files = files
        super().__init__(opened, files[-1], by)
        self._parts: list[tuple[Self, Rows]] = []  # of each run: labels, kept pairs

    @classmethod
    def open_compared(cls, opened: Opened, by: str = "") -> Self:
        """Read the labels of both runs of a comparison."""
        assert opened.compared is not None
        files, by = [file_beside(each.path) for each in opened.compared], by or judge_name()
        judgements = cls(opened, files, by)
        for each in opened.compared:
            judgements._parts.append((cls(each, files, by), np.flatnonzero(each.kept(each.cut))))
        judgements.refresh()
        return judgements

    @property
    def problem(self) -> str:
        """Say why a label could not be kept: pairs of files without lines are numbered in each."""
        if not self.opened.lined:
            return "pairs without lines are judged in their own file"
        return super().problem

    def in_run(self, row: int) -> tuple[Opened, Judgements, int]:
        """Find a pair in the run that it is of: the run, its labels, and the row there."""
        part, _ = self._parts[0 if self.opened.columns["change"][row] == "gone" else 1]
        found = row_of(part.opened, key_of(self.opened, row))
        if found is None:
            raise FileError("the pair has no lines, which tell where it stands")
        return part.opened, part, found

    def refresh(self) -> bool:
        """Read both files where one has changed; tell whether there was anything new."""
        for part, _ in self._parts:
            part.refresh()
        seen = tuple(map(identity, self._files))
        if not self.opened.lined or seen == self._seen:
            return False
        read = chain.from_iterable(read_from(path, 0)[0] for path in self._files)
        self._hear(sorted(read, key=lambda label: label.time), anew=True)
        self._seen = seen
        return True

    def speak_as(self, judge: str) -> None:
        """Label in another name, in both runs."""
        for part, _ in self._parts:
            part.speak_as(judge)
        super().speak_as(judge)

    def precision(self) -> str:
        """Give the share of right pairs among the judged ones that each run keeps.

        Those that a run was mined with count for the other one alone.
        """
        said = []
        for part, rows in self._parts:
            found, name = Counts.of(part.codes(given=False)[rows]).right, part.opened.name
            if found.share is not None:
                said.append(f"{name} {found.share:.2f} of {found.of:,}")
            elif part._mined:
                said.append(f"{name} none since it was mined")
        return f"right: {', '.join(said) or 'none judged'}"

    def _paths(self) -> Sequence[Path]:
        if not self.opened.lined:
            raise FileError(self.problem)
        return self._files
