"""A file of pairs in any format -> its pairs in memory."""

from pathlib import Path

import numpy as np

from xmine.browsing.opened import Bools, Floats, Opened, Side
from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS
from xmine.pairs.io import languages_of, read_pairs
from xmine.pairs.pair import UNKNOWN, Pair
from xmine.text.packed import TextPacker


class _Columns:
    """The columns of a file of pairs, while it is read."""

    def __init__(self) -> None:
        self.texts = (TextPacker(), TextPacker())
        self.lines: tuple[list[int], list[int]] = ([], [])
        self.numbers: dict[str, list[float]] = {"score": [], "cosine": [], "prob": []}
        self.flags: list[str | None] = []
        self.lined = True

    def add(self, pair: Pair) -> None:
        number = len(self.flags) + 1
        for side, text in enumerate((pair.source, pair.target)):
            self.texts[side].append(text)
        for side, line in enumerate((pair.source_line, pair.target_line)):
            self.lines[side].append(number if line is None else line)
            self.lined &= line is not None
        for name, column in self.numbers.items():
            value = getattr(pair, name)
            column.append(np.nan if value is None else value)
        self.flags.append(pair.flags)

    def side(self, at: int, name: str) -> Side:
        return Side(name, self.texts[at].packed(), np.array(self.lines[at], dtype=np.int64))

    def column(self, name: str) -> Floats | None:
        values = np.array(self.numbers[name], dtype=np.float32)
        return None if np.isnan(values).all() else values


def open_file(path: Path) -> Opened:
    """Read the pairs of a file, in its order.

    Raises:
        FileError: it is missing, broken or empty.
    """
    languages = languages_of(path) or UNKNOWN
    columns = _Columns()
    for pair in read_pairs(path):
        columns.add(pair)
    count = len(columns.flags)
    rows = np.arange(count)
    flags = None
    if any(each is not None for each in columns.flags):
        flags = Flags.of({name: _raised(columns.flags, name) for name in FLAGS})
    scores = columns.column("score")
    return Opened(
        path,
        columns.side(0, f"{path}: source"),
        columns.side(1, f"{path}: target"),
        rows,
        rows,
        scores,
        columns.column("cosine"),
        columns.column("prob"),
        flags,
        np.ones(count, dtype=bool),
        np.zeros(count, dtype=bool) if scores is None else ~np.isnan(scores),
        None,
        languages,
        {},
        {},
        columns.lined,
    )


def _raised(flags: list[str | None], name: str) -> Bools:
    return np.array([name in (each or "").split(",") for each in flags], dtype=bool)
