"""The pairs of a run or of a file in memory, ready to be filtered, sorted and shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from xmine.errors import OptionError
from xmine.flags.flag_set import Bools as Bools
from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS
from xmine.pairs.pair import COLUMNS, Languages, Pair
from xmine.scoring.probability import DOUBT
from xmine.text.file_lines import FileLines
from xmine.text.packed import LazyTexts

if TYPE_CHECKING:
    import polars as pl

Float32s = NDArray[np.float32]
FIGURES = "score", "prob", "cosine", "margin"

# What a comparison tells of each pair beside the pair.
CHANGES = "change", "old_target", "old_prob", "old_score", "old_flags"

Rows = NDArray[np.int64]


class TextColumn(LazyTexts):
    """The texts of a column of polars without nulls."""

    def __init__(self, column: "pl.Series") -> None:
        """Take the column as it is."""
        self.column = column

    def __len__(self) -> int:
        """Count the texts."""
        return len(self.column)

    def _one(self, row: int) -> str:
        return str(self.column[row])

    def _some(self, rows: slice) -> list[str]:
        return self.column[rows].to_list()

    def take(self, rows: Rows) -> "TextColumn":
        """Keep some texts, in the order of `rows`; their characters are not held twice."""
        return TextColumn(self.column[rows])


@dataclass(frozen=True, slots=True, eq=False)
class TextSide:
    """The sentences of one language.

    Attributes:
        name: the file they come from.
        texts: each sentence.
        lines: int64 [sentences], the 1-based line of each.
        offsets: int64 [sentences], where each starts in its line; None where a line is a sentence.
        lasts: int64 [sentences], of beads the last of the lines that are put together; where a bead
            has none, `lines` has the line before the bead, and `lasts` one less. None for pairs.
        files: those whose lines are counted as those of one file; None for one file.
        columns: what else is known of each sentence, perhaps empty, by the names that columns of
            pairs have behind `source_` or `target_`: `file`, `place`, `url`.
    """

    name: str
    texts: TextColumn
    lines: Rows
    offsets: Rows | None = None
    lasts: Rows | None = None
    files: FileLines | None = None
    columns: Mapping[str, TextColumn] = field(default_factory=dict)

    def at(self, line: int) -> Bools:
        """Mark the sentences of a line, bool [sentences]."""
        found: Bools = self.lines <= line
        return found & (line <= (self.lines if self.lasts is None else self.lasts))

    def numbers(self, row: int) -> str:
        """Write the line of a sentence or the lines of a bead: 12, 12-13, or empty for none."""
        first = int(self.lines[row])
        last = first if self.lasts is None else int(self.lasts[row])
        return "" if last < first else f"{first}" if last == first else f"{first}-{last}"

    def written(self, row: int) -> tuple[str | None, int]:
        """Give the file of a sentence, None where all are of one file, and the line there."""
        if self.files is None:
            named = self.columns.get("file")
            return (named and named[row]) or None, int(self.lines[row])
        (name,), line = self.files.places(self.lines[row : row + 1])
        return name, int(line[0])

    def place(self, row: int) -> tuple[int, int | None]:
        """Give the line of a sentence and, where lines were cut, its offset in the line."""
        return int(self.lines[row]), None if self.offsets is None else int(self.offsets[row])


def _column(name: str) -> Any:  # noqa: ANN401 - a property of the type that is annotated
    """Make a property of the array of a column; of a figure that no pair has it is None."""

    def read(opened: "Opened") -> Any:  # noqa: ANN401
        column = opened.frame[name]
        return None if column.null_count() == len(column) and name in FIGURES else column.to_numpy()

    return cached_property(read)


@dataclass(frozen=True)
class Opened:
    """All candidates of a run, best first; the beads of an alignment, or a file, in their order.

    Attributes:
        path: the run or the file.
        source, target: the sentences; of a run all that were searched.
        frame: a row for each pair, of a run `candidates.parquet`: `source` and `target`, rows of
            the sides; `score`, `cosine`, `prob`, `margin`, `flags`, null where a pair has none;
            `eligible`, kept if the pair is above the cut; `allowed`, no option drops the pair: one
            above the cut that is not eligible was left out by `--top`. Of a run also `reason`,
            `rival` and `evidence`, of a file `origin`, and of a comparison `change`, which is
            `new`, `gone` or `changed`.
        cut: the lowest rank that is kept, see `ranks`; None in a file, where all pairs are.
        languages: codes of both sides, `und` where nobody named them.
        run: `run.toml` of a run, empty for an alignment or a file.
        summary: `summary.json` of a run, empty where there is none.
        numbered: bool [pairs] for each side: the pairs of a file without the line that they come
            from, for which their number stands; empty where all have lines.
        compared: of a comparison what was compared, the older one first.
    """

    path: Path
    source: TextSide
    target: TextSide
    frame: "pl.DataFrame"
    cut: float | None
    languages: Languages
    run: dict[str, Any]
    summary: dict[str, Any]
    numbered: Mapping[str, Bools] = field(default_factory=dict)
    compared: "tuple[Opened, Opened] | None" = None

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.frame)

    def with_columns(self, **columns: Any) -> "Opened":  # noqa: ANN401 - arrays, texts
        """Give the same pairs with other columns, or with more."""
        return replace(self, frame=self.frame.with_columns(**columns))

    # Rows of the sides, int64 [pairs].
    sources: ClassVar[cached_property[Rows]] = _column("source")
    targets: ClassVar[cached_property[Rows]] = _column("target")
    # Pairs kept if they are above the cut, and those that no option drops: bool [pairs].
    eligible: ClassVar[cached_property[Bools]] = _column("eligible")
    allowed: ClassVar[cached_property[Bools]] = _column("allowed")
    # float32 [pairs], NaN where a pair has none; None where no pair has one.
    scores: ClassVar[cached_property[Float32s | None]] = _column("score")
    cosines: ClassVar[cached_property[Float32s | None]] = _column("cosine")
    probs: ClassVar[cached_property[Float32s | None]] = _column("prob")
    margins: ClassVar[cached_property[Float32s | None]] = _column("margin")

    @cached_property
    def flags(self) -> Flags | None:
        """The flags of each pair; None if no pair has any."""
        names = self.frame["flags"]
        return None if names.null_count() == len(names) else flags_of(names)

    @cached_property
    def columns(self) -> Mapping[str, TextColumn]:
        """What else is known of each pair, perhaps empty, by the names that pairs have for it."""
        names = set(self.frame.columns) & {"origin", *CHANGES}
        return {name: TextColumn(self.frame[name].fill_null("")) for name in sorted(names)}

    @property
    def doubt(self) -> float:
        """How far the log-odds of all pairs may be wrong together; see `Confidence`."""
        return float(self.summary.get("doubt") or DOUBT)

    @cached_property
    def by_probability(self) -> bool:
        """Whether the pairs are ordered and cut by their probability: all have one."""
        return self.probs is not None and (self.cut is not None or not np.isnan(self.probs).any())

    def said(self, name: str, row: int) -> str | None:
        """Give the `reason` or the `evidence` of a pair of a run; None where there is none."""
        found: str | None = self.frame[name][row] if name in self.frame.columns else None
        return found

    def side(self, name: str) -> TextSide:
        """Give the side `source` or `target`."""
        return self.source if name == "source" else self.target

    @property
    def sides(self) -> tuple[tuple[str, TextSide, Rows], tuple[str, TextSide, Rows]]:
        """Give the name of each side, its sentences, and the rows of these that the pairs are."""
        left, right = self.source, self.target
        return ("source", left, self.sources), ("target", right, self.targets)

    @cached_property
    def ranks(self) -> NDArray[np.float64] | None:
        """Probabilities, if all pairs have one, or else scores: pairs are ordered and cut by them.

        float64 [pairs], NaN where a pair has no score; None where no pair has one.
        """
        if self.by_probability or not self.is_run:
            return self.figures("prob" if self.by_probability else "score")
        return None if self.scores is None else self.scores.astype(np.float64)

    def figures(self, name: str) -> NDArray[np.float64] | None:
        """Give the `score`, `cosine`, `prob` or `margin` of all pairs, to be compared with a limit.

        As they are printed, with four decimals; scores, cosines and margins of a file as the file
        has them, which float32 does not.

        Returns:
            float64 [pairs], NaN where a pair has none; None where no pair has one.
        """
        column: Float32s | None = getattr(self, f"{name}s")
        if column is None:
            return None
        if self.is_run or name == "prob":
            return column.astype(np.float64).round(4)
        import polars as pl

        return pl.Series(column).cast(pl.String).cast(pl.Float64).to_numpy()  # 2.3746 is that again

    def rank(self, row: int) -> float | None:
        """Give the rank of one pair, see `ranks`; None where it has no score."""
        return _number(self.ranks, row)

    @property
    def lined(self) -> bool:
        """Whether every pair has the lines that it comes from."""
        return not self.numbered

    @property
    def has_beads(self) -> bool:
        """Whether the pairs are beads, in the order of two texts."""
        return self.source.lasts is not None

    @property
    def name(self) -> str:
        """Name it in a few words; of a comparison both runs."""
        if self.compared:
            return " → ".join(each.name for each in self.compared)
        return self.path.name or "xmine"

    @property
    def kind(self) -> str:
        """Say what was opened."""
        if self.compared:
            return "a comparison"
        return "a run" if self.is_run else "an alignment" if self.has_beads else "a file of pairs"

    @property
    def is_run(self) -> bool:
        """Whether it is a run, which has vectors, neighbours and a cut."""
        return bool(self.run)

    def kept(self, cut: float | None = None) -> Bools:
        """Mark the pairs that a cut keeps, bool [pairs]; without one, all that are eligible."""
        if cut is None or (ranks := self.ranks) is None:
            return self.eligible
        keeps: Bools = self.eligible & (ranks >= cut)
        if "repaired" in self.frame.columns:  # by hand: the cut does not count
            keeps |= self.eligible & self.frame["repaired"].to_numpy()
        return keeps

    def pair(self, row: int) -> Pair:
        """Give one pair with all its figures."""
        fields: dict[str, Any] = {name: _number(getattr(self, f"{name}s"), row) for name in FIGURES}
        fields["flags"] = self.flags and self.flags[row]
        texts = {name: column[row] for name, column in self.columns.items()}
        for name, side, rows in self.sides:
            at = int(rows[row])
            fields[name], fields[f"{name}_offset"] = side.texts[at], side.place(at)[1]
            fields[f"{name}_file"], fields[f"{name}_line"] = side.written(at)
            if self.has_beads:
                fields |= {f"{name}_line": None, f"{name}_lines": side.numbers(at)}
            texts |= {f"{name}_{each}": column[at] for each, column in side.columns.items()}
        fields |= {
            name: (each or None) if name in COLUMNS else each for name, each in texts.items()
        }
        return Pair.of(fields)

    def pairs(self, rows: Rows) -> Iterator[Pair]:
        """Give some pairs, in the order of `rows`, int64 [some]."""
        return map(self.pair, rows.tolist())

    def written_pairs(self, rows: Rows) -> Iterator[Pair]:
        """Give some pairs as their file has them: a number that stands for lines is none."""
        for row in rows.tolist():
            stand = [name for name, is_number in self.numbered.items() if is_number[row]]
            lines: dict[str, Any] = {f"{name}_line": None for name in stand}
            yield self.pair(row)._replace(**lines)


def _number(column: Float32s | NDArray[np.float64] | None, row: int) -> float | None:
    if column is None or np.isnan(column[row]):
        return None
    return float(column[row])


def flags_of(names: "pl.Series") -> Flags:
    """Read a column, not empty, of names of flags with commas between; null is none."""
    import polars as pl

    said = names.fill_null("")
    kinds = said.unique().to_list()
    lists = [each.split(",") for each in kinds]
    bits = [sum(1 << at for at, name in enumerate(FLAGS) if name in each) for each in lists]
    raised = said.replace_strict(kinds, bits, return_dtype=pl.UInt16).to_numpy()
    is_ours = {"", *FLAGS}.issuperset(chain(*lists))
    return Flags(raised, None if is_ours else TextColumn(said))


# A line from 1, and where a sentence starts in it; None for any sentence of the line.
Place = tuple[int, int | None]


def rows_at(opened: Opened, source: Place, target: Place) -> Rows:
    """Find the pairs of two places, int64 [found]: several where lines were cut into sentences."""
    found = np.ones(len(opened), dtype=bool)
    for (_, side, rows), (line, offset) in zip(opened.sides, (source, target), strict=True):
        found &= side.at(line)[rows]
        if offset is not None:
            found &= offset == (0 if side.offsets is None else side.offsets[rows])
    return np.flatnonzero(found)


def row_at(opened: Opened, source: Place, target: Place) -> int:
    """Find the pair of two places."""
    rows = rows_at(opened, source, target)
    if len(rows) == 1:
        return int(rows[0])
    many, hint = "no pair", f"xmine browse {opened.path} shows which there are"
    if len(rows):
        many = f"{len(rows)} pairs"
        one = [side.place(int(of[rows[0]])) for _, side, of in opened.sides]
        if one[0][1] is not None:
            hint = f"give the place of a sentence: {' '.join(f'{at}:{start}' for at, start in one)}"
    raise OptionError(f"{opened.path}: {many} of line {source[0]:,} and line {target[0]:,}", hint)
