"""The folder with the files of benchmarks, as they are distributed: found, or told what is missing.

Each benchmark has a folder of its own in it (docs/reference/benchmarks.md lists them); where the
folder given is itself that of one benchmark, it serves as well.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xmine.display import count
from xmine.errors import FileError
from xmine.files.reading import read_lines


class MissingData(FileError):
    """A data folder has nothing of what a benchmark reads; `expected` names the files."""

    def __init__(self, message: str, hint: str = "", expected: str = "") -> None:
        super().__init__(message, hint)
        self.expected = expected or message


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Where benchmark files are; `path` is None where the user named no folder."""

    path: Path | None

    def find(self, pattern: str, places: Sequence[str]) -> Path | None:
        """Find the folder that has files of a pattern, if there is one."""
        if self.path is None:
            return None
        roots = (self.path / "eval", self.path)
        folders = (*(root / place for root in roots for place in places), self.path)
        return next((folder for folder in folders if any(folder.glob(pattern))), None)

    def named(self, name: str) -> Path | None:
        """Find the folder of this name, if there is one: that of the user, or one in it."""
        if self.path is None:
            return None
        if self.path.resolve().name == name:
            return self.path
        roots = (self.path / "eval", self.path)
        return next((root / name for root in roots if (root / name).is_dir()), None)

    def holding(self, pattern: str, places: Sequence[str], what: str) -> Path:
        """Find the folder that has files of a pattern."""
        return self.holding_first({pattern: places}, what)[0]

    def holding_first(self, places: Mapping[str, Sequence[str]], what: str) -> tuple[Path, str]:
        """Find the first pattern that has files in its `places`: the folder and the pattern."""
        for pattern, folders in places.items():
            if folder := self.find(pattern, folders):
                return folder, pattern
        raise self.missing(f"{what}, in {folders[0]}")

    def missing(self, what: str) -> MissingData:
        """Make the error for a data folder that has nothing of a benchmark."""
        where = f"{self.path}: no files of this benchmark" if self.path else "no benchmark data"
        hint = "--data or XMINE_DATA names the folder, and --help the files that are read"
        return MissingData(f"{where}; expected {what}", hint, what)


def incomplete(folder: Path, names: Sequence[str], what: str) -> None:
    """Check that a folder has all files of a set."""
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise FileError(
            f"{folder}: incomplete: {', '.join(missing)} missing", f"{what} has {len(names)} files"
        )


def read_aligned(*paths: Path) -> list[list[str]]:
    """Read files whose lines belong together."""
    sides = [read_lines(path) for path in paths]
    for path, lines in zip(paths, sides, strict=True):
        if len(lines) != len(sides[0]):
            raise FileError(
                f"{paths[0]} has {count(len(sides[0]), 'line')} and {path} {len(lines):,}",
                "line N of one has to belong to line N of the other",
            )
    return sides


def read_tab_separated(path: Path, least: int) -> Iterator[tuple[str, list[str]]]:
    """Give `(file:line, columns)` of a tab-separated file without quotes."""
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) < least:
            there = count(len(columns), "column")
            raise FileError(f"{path}:{number}: {there}; expected {least} with tabs between")
        yield f"{path}:{number}", columns


def finite_number(text: str, where: str, what: str) -> float:
    """Read a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FileError(f"{where}: {text!r} is no {what}")
    return value
