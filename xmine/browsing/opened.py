"""A run or a file of pairs -> its pairs in memory, ready to be filtered, sorted and looked at."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.flagged import Flags
from xmine.formats.pair import UNKNOWN, Languages, Pair
from xmine.options import FLAGS, load_toml
from xmine.packed import PackedTexts, TextPacker
from xmine.pairs import languages_of, read_pairs
from xmine.records import open_parquet
from xmine.runs import PAIRS_FILE, RUN_FILE, SUMMARY_FILE
from xmine.tables import read_table

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Side:
    """The sentences of one language.

    Attributes:
        name: the file they come from.
        texts: each sentence.
        lines: int64 [sentences], the 1-based line of each.
        offsets: int64 [sentences], where each starts in its line; None where a line is a sentence.
    """

    name: str
    texts: PackedTexts
    lines: Rows
    offsets: Rows | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """Pairs to look at: all candidates of a run, best first, or those of a file in its order.

    Attributes:
        path: the run or the file.
        source, target: the sentences; of a run all that were searched.
        sources, targets: int64 [pairs], rows of `source` and `target`.
        scores, cosines, probs: float32 [pairs], NaN where a pair has none; None where none has one.
        flags: what makes each pair suspicious; None if nobody looked.
        eligible: bool [pairs], which may be kept whatever the cut is: no option drops them.
        cut: the lowest score that is kept; None in a file, where all pairs are.
        languages: codes of both sides, `und` where nobody named them.
        run: `run.toml` of a run, empty for a file.
        summary: `summary.json` of a run, empty where there is none.
    """

    path: Path
    source: Side
    target: Side
    sources: Rows
    targets: Rows
    scores: Floats | None
    cosines: Floats | None
    probs: Floats | None
    flags: Flags | None
    eligible: Bools
    cut: float | None
    languages: Languages
    run: dict[str, Any]
    summary: dict[str, Any]

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.sources)

    @property
    def is_run(self) -> bool:
        """Whether it is a run, which has vectors, neighbours and a cut."""
        return bool(self.run)

    def kept(self, cut: float | None = None) -> Bools:
        """Mark the pairs that a cut keeps, bool [pairs]; without one, all that are eligible."""
        if cut is None or self.scores is None:
            return self.eligible
        keeps: Bools = self.eligible & (self.scores.astype(np.float64) >= cut)
        return keeps

    def pair(self, row: int) -> Pair:
        """Give one pair with everything that is known of it."""
        source, target = int(self.sources[row]), int(self.targets[row])
        return Pair(
            source=self.source.texts[source],
            target=self.target.texts[target],
            score=_number(self.scores, row),
            source_line=int(self.source.lines[source]),
            target_line=int(self.target.lines[target]),
            cosine=_number(self.cosines, row),
            source_offset=_whole(self.source.offsets, source),
            target_offset=_whole(self.target.offsets, target),
            prob=_number(self.probs, row),
            flags=None if self.flags is None else self.flags[row],
        )

    def pairs(self, rows: Rows) -> Iterator[Pair]:
        """Give some pairs, in the order of `rows`, int64 [some]."""
        return map(self.pair, rows.tolist())


def _number(column: Floats | None, row: int) -> float | None:
    if column is None or np.isnan(column[row]):
        return None
    return float(column[row])


def _whole(column: Rows | None, row: int) -> int | None:
    return None if column is None else int(column[row])


def open_pairs(path: Path) -> Opened:
    """Open a mining run or a file of pairs.

    Raises:
        FileError: it is missing, broken or empty; or a run that is not finished.
    """
    return _open_run(path) if (path / RUN_FILE).is_file() else _open_file(path)


def _open_run(folder: Path) -> Opened:
    for name in ("candidates.parquet", PAIRS_FILE):
        if not (folder / name).is_file():
            raise FileError(
                f"{folder}: a run that is not finished: it has no {name}",
                "give the command that began it again, and it goes on",
            )
    run = load_toml(folder / RUN_FILE)
    sides = []
    for name in ("source", "target"):
        table = read_table(folder / f"{name}.parquet")
        sides.append(Side(table.name, table.packed, table.lines, table.offsets))
    with open_parquet(folder / "candidates.parquet") as file:
        table = file.read()
    sources, targets = (table.column(name).to_numpy() for name in ("source", "target"))
    scores, cosines = (table.column(name).to_numpy() for name in ("score", "cosine"))
    probs = table.column("prob")
    summary = _summary(folder)
    kept = _kept(folder / PAIRS_FILE, sides[0], sides[1], sources, targets)
    cut = summary.get("threshold")
    if cut is None:  # below all that is kept, or above everything
        lowest = scores[kept].min() if kept.any() else scores.max(initial=0) + 1e-4
        cut = float(np.floor(lowest * 1e4) / 1e4)
    flags = _flags(table.column("flags"))
    eligible = kept | (_allowed(scores, flags, run.get("pairs", {})) & (scores < cut))
    return Opened(
        folder,
        sides[0],
        sides[1],
        sources,
        targets,
        scores,
        cosines,
        None if probs.null_count == len(table) else probs.to_numpy(),
        flags,
        eligible,
        float(cut),
        tuple(summary.get("languages", UNKNOWN)),
        run,
        summary,
    )


def _summary(folder: Path) -> dict[str, Any]:
    """Read what the command said at the end of the run; the library writes no such file."""
    try:
        read = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FileError(
            f"{folder / SUMMARY_FILE}: cannot be read: {error}", "remove it, and open the run again"
        ) from error
    return read if isinstance(read, dict) else {}


def _kept(path: Path, source: Side, target: Side, sources: Rows, targets: Rows) -> Bools:
    """Mark the candidates that stand in the file of kept pairs, bool [candidates]."""
    with open_parquet(path) as file:
        there = set(file.schema_arrow.names)
        names = ("source_line", "target_line", "source_offset", "target_offset")
        columns = file.read(columns=[name for name in names if name in there])
    if not len(columns):  # then there are no columns of lines either
        return np.zeros(len(sources), dtype=bool)
    kept: Bools = np.zeros(len(sources), dtype=bool)
    if _are_first(columns, source, target, sources, targets):
        kept[: len(columns)] = True
        return kept
    found = []
    for side, name in ((source, "source"), (target, "target")):
        lines = columns.column(f"{name}_line").to_numpy()
        if side.offsets is None:
            found.append(np.searchsorted(side.lines, lines))
            continue
        offsets = columns.column(f"{name}_offset").to_numpy()
        room = int(side.offsets.max(initial=0)) + 1
        found.append(np.searchsorted(side.lines * room + side.offsets, lines * room + offsets))
    room = max(len(target.lines), 1)
    return np.isin(sources * room + targets, found[0] * room + found[1])


def _are_first(
    columns: Any,  # noqa: ANN401 - pyarrow has no types
    source: Side,
    target: Side,
    sources: Rows,
    targets: Rows,
) -> bool:
    """Tell whether the kept pairs are the first candidates, as they are if no option drops any."""
    for side, rows, name in ((source, sources, "source"), (target, targets, "target")):
        first = rows[: len(columns)]
        for what, known in (("line", side.lines), ("offset", side.offsets)):
            if known is None:
                continue
            if not np.array_equal(columns.column(f"{name}_{what}").to_numpy(), known[first]):
                return False
    return True


def _flags(column: Any) -> Flags:  # noqa: ANN401 - pyarrow has no types
    """Read a column of names with commas between."""
    words = column.combine_chunks().dictionary_encode()
    bits = [
        sum(1 << FLAGS.index(name) for name in (each or "").split(",") if name in FLAGS)
        for each in words.dictionary.to_pylist()
    ]
    codes = words.indices.fill_null(0).to_numpy()
    table = np.array(bits or [0], dtype=np.uint16)
    flags = table[codes] if len(codes) else np.zeros(0, dtype=np.uint16)
    flags[np.asarray(words.is_null())] = 0
    return Flags(flags)


def _allowed(scores: Floats, flags: Flags, options: dict[str, Any]) -> Bools:
    """Mark the candidates that the run's options do not drop, whatever the cut is."""
    allowed = np.ones(len(scores), dtype=bool)
    for name in {name.strip() for each in options.get("drop", []) for name in each.split(",")}:
        if name in FLAGS:
            allowed &= ~flags.raised(name)
    if "score_max" in options:
        allowed &= scores.astype(np.float64) <= options["score_max"]
    return allowed


class _Columns:
    """The columns of a file of pairs, while it is read."""

    def __init__(self) -> None:
        self.texts = (TextPacker(), TextPacker())
        self.lines: tuple[list[int], list[int]] = ([], [])
        self.numbers: dict[str, list[float]] = {"score": [], "cosine": [], "prob": []}
        self.flags: list[str | None] = []

    def add(self, pair: Pair) -> None:
        number = len(self.flags) + 1
        for side, text in enumerate((pair.source, pair.target)):
            self.texts[side].append(text)
        for side, line in enumerate((pair.source_line, pair.target_line)):
            self.lines[side].append(number if line is None else line)
        for name, column in self.numbers.items():
            value = getattr(pair, name)
            column.append(np.nan if value is None else value)
        self.flags.append(pair.flags)

    def side(self, at: int, name: str) -> Side:
        return Side(name, self.texts[at].packed(), np.array(self.lines[at], dtype=np.int64))

    def column(self, name: str) -> Floats | None:
        values = np.array(self.numbers[name], dtype=np.float32)
        return None if np.isnan(values).all() else values


def _open_file(path: Path) -> Opened:
    languages = languages_of(path) or UNKNOWN
    columns = _Columns()
    for pair in read_pairs(path):
        columns.add(pair)
    count = len(columns.flags)
    rows = np.arange(count)
    flags = None
    if any(each is not None for each in columns.flags):
        flags = Flags.of({name: _raised(columns.flags, name) for name in FLAGS})
    return Opened(
        path,
        columns.side(0, f"{path}: source"),
        columns.side(1, f"{path}: target"),
        rows,
        rows,
        columns.column("score"),
        columns.column("cosine"),
        columns.column("prob"),
        flags,
        np.ones(count, dtype=bool),
        None,
        languages,
        {},
        {},
    )


def _raised(flags: list[str | None], name: str) -> Bools:
    return np.array([name in (each or "").split(",") for each in flags], dtype=bool)
