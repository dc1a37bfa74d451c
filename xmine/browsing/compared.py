"""Two runs or files -> the pairs that differ, which are filtered, judged and written as others are.

The pairs are those of `xmine pairs diff`. A verdict on one of them goes into the files of both
runs: these name a pair by its lines and texts.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np

from xmine.browsing.judgements import Judgements, judge_name
from xmine.browsing.keys import key_of, row_of
from xmine.browsing.opened import Opened, Rows, TextSide
from xmine.browsing.opening import opened_of
from xmine.browsing.samples import share_of
from xmine.errors import FileError
from xmine.files.digests import identity
from xmine.pairs.changes import compare, read_table
from xmine.pairs.judgements import file_beside, read_from


def compare_opened(old: Opened, new: Opened) -> Opened:
    """Find the pairs that two runs or files keep and that differ: new, gone, then changed ones.

    `change` tells which is which, `compared` is `(old, new)`; `old_prob` and so on is what changed
    pairs had, in words. Pairs that are gone have the figures of `old`.
    """
    import polars as pl

    found = compare(read_table(old.path), read_table(new.path))
    found = found.with_columns(pl.col("old_prob", "old_score").round(4).cast(pl.String))
    opened = opened_of(found, new.path, new.languages)

    def placed(name: str) -> TextSide:
        """Count the lines of several files as the runs do, and tell where sentences start."""
        side, files, offsets = opened.side(name), new.side(name).files, found[f"{name}_offset"]
        lines = side.lines
        if files is not None and "file" in side.columns:
            places = zip(side.columns["file"], lines.tolist(), strict=True)
            lines = np.array([files.line(*place) for place in places], dtype=np.int64)
        starts = None if offsets.null_count() == len(found) else offsets.fill_null(0).to_numpy()
        return replace(side, lines=lines, offsets=starts, files=files)

    sides = placed("source"), placed("target")
    return replace(opened, source=sides[0], target=sides[1], compared=(old, new))


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
        if not self._opened.lined:
            return "pairs without lines are judged in their own file"
        return super().problem

    def in_run(self, row: int) -> tuple[Opened, Judgements, int]:
        """Find a pair in the run that it is of: the run, its labels, and the row there."""
        part, _ = self._parts[0 if self._opened.columns["change"][row] == "gone" else 1]
        found = row_of(part._opened, key_of(self._opened, row))
        if found is None:
            raise FileError("the pair has no lines, which tell where it stands")
        return part._opened, part, found

    def refresh(self) -> bool:
        """Read both files where one has changed; tell whether there was anything new."""
        for part, _ in self._parts:
            part.refresh()
        seen = tuple(map(identity, self._files))
        if not self._opened.lined or seen == self._seen:
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
            found, name = share_of(part.own(given=False), rows), part._opened.name
            if found.share is not None:
                said.append(f"{name} {found.share:.2f} of {found.of:,}")
            elif part._mined:
                said.append(f"{name} no verdicts since it was mined")
        return f"right: {', '.join(said) or 'none judged'}"

    def _paths(self) -> Sequence[Path]:
        if not self._opened.lined:
            raise FileError(self.problem)
        return self._files
