"""What to see of some pairs, and in which order: filters by text, flag, score; sorting."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xmine.browsing.judgements import CODES
from xmine.browsing.opened import Bools, Opened, Rows, TextColumn, TextSide
from xmine.browsing.where import condition, reason, wrong
from xmine.errors import OptionError
from xmine.flags.names import FLAGS
from xmine.pairs.changes import came_since
from xmine.pairs.judgements import LABELS
from xmine.plugins import plugin_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

ORDERS = (
    *("rank", "score", "prob", "cosine", "margin", "source", "target", "length"),
    *("unsure", "flags", "verdict", "shuffled"),
)
SIDES = ("either", "source", "target", "both")
KEPT = ("kept", "below", "all")
JUDGED = ("any", *LABELS, "judged", "unjudged", "repaired", "conflict")

Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairQuery:
    """Which pairs, in which order.

    Attributes:
        text: a side must hold it; empty for any.
        regex: whether `text` is a regular expression (of Rust); case counts in neither.
        side: where the text must stand: `either`, `source`, `target` or `both`.
        flags: names of flags, one of which a pair must have; `none` for pairs without any.
        kept: `kept` by the cut, `below` it or dropped, or `all`.
        verdict: `accept`, `reject`, `unsure`, `judged`, `unjudged`, or `any` for all pairs;
            `repaired`, or `conflict` where judges disagree.
        by: the judge whose verdicts count; empty for all judges, the latest of each pair.
        since: kept pairs that came to a run since a date, or `run`: with the last run that had new
            ones; see `xmine.pairs.changes.came_since`.
        where: a condition of SQL, see `xmine.browsing.where`; empty for none.
        order: `rank` is the order of the run or the file; `source` and `target` are by line,
            `length` by the bytes of both sides together, `unsure` by how far from 0.5 `prob` is.
        descending: turn the order round.
    """

    text: str = ""
    regex: bool = False
    side: str = "either"
    flags: tuple[str, ...] = ()
    kept: str = "all"
    verdict: str = "any"
    by: str = ""
    since: str = ""
    where: str = ""
    order: str = "rank"
    descending: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no side, flag, order."""
        for name, value, known in (
            ("--side", self.side, SIDES),
            ("--kept", self.kept, KEPT),
            ("--verdict", self.verdict, JUDGED),
            ("--sort", self.order, ORDERS),
            *(("--flag", each, (*FLAGS, "none")) for each in self.flags),
        ):
            if value not in known and not (name == "--flag" and value in plugin_names("flags")):
                raise OptionError(f"{name} is {value!r}", f"one of {', '.join(known)}")

    @property
    def by_verdict(self) -> bool:
        """Whether the verdicts on the pairs are asked for."""
        return self.verdict != "any" or bool(self.by) or "verdict" in self.where


# Orders by a figure that pairs may lack, with the name of its column.
NEEDED = {name: f"{name}s" for name in ("score", "prob", "cosine", "margin")} | {"unsure": "probs"}
_PRIME = 2_654_435_761  # spreads numbers that follow each other
_START, _END = "\x02", "\x03"  # controls, which no text that is shown has
USUAL = PairQuery(kept="kept")  # with which one begins


def usual(opened: Opened) -> PairQuery:
    """Give the query with which one begins: the kept pairs, or the whole of an alignment."""
    return PairQuery() if opened.has_beads and opened.cut is not None else USUAL


def select(
    opened: Opened, query: PairQuery, cut: float | None = None, codes: Codes | None = None
) -> Rows:
    """Find the pairs that a query asks for, int64 [found], in its order.

    `codes` are those of its verdict and its judge, see `Judgements.codes`.
    """
    import polars as pl

    figure = NEEDED.get(query.order)
    if figure is not None and getattr(opened, figure) is None:
        raise OptionError(
            f"{opened.path} has no {figure.removesuffix('s')}", f"sort by {', '.join(ORDERS)}"
        )
    wanted = _conditions(opened, query)
    where = condition(query.where) if query.where else pl.lit(True)
    if opened.scores is None and "score" in where.meta.root_names():
        raise OptionError(f"{opened.path} has no scores", "xmine score writes them")
    key = {
        "source": pl.col("source_line"),
        "target": pl.col("target_line"),
        "unsure": (pl.col("prob") - 0.5).abs(),
        "flags": pl.col("flags").replace("", None),
        "shuffled": pl.col("rank") * _PRIME % 2**32,
    }.get(query.order, pl.col(query.order))
    asked = [*(each for each in wanted if isinstance(each, pl.Expr)), where, key]
    names = dict.fromkeys(["rank", *(name for each in asked for name in each.meta.root_names())])
    columns = _columns(opened, opened.cut if cut is None else cut, codes)
    found = pl.DataFrame([columns[name]().alias(name) for name in names]).filter(*wanted)
    try:
        found = found.filter(where)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise wrong(query.where, error) from None
    if query.order != "rank" or query.descending:
        # What has no key stands last both ways; what is equal stays as it was.
        found = found.sort(key, descending=query.descending, nulls_last=True, maintain_order=True)
    rows: Rows = found["rank"].to_numpy()
    return rows


def _conditions(opened: Opened, query: PairQuery) -> "list[pl.Expr | pl.Series]":
    """List what a pair must meet, all but `where`."""
    import polars as pl

    wanted: list[pl.Expr | pl.Series] = []
    if query.kept != "all":
        wanted.append(pl.col("kept") == (query.kept == "kept"))
    if query.verdict in LABELS:
        wanted.append(pl.col("verdict") == query.verdict)
    elif query.verdict != "any" or query.by:
        wanted.append(pl.col("verdict").is_null() == (query.verdict == "unjudged"))
    if query.flags:
        wanted.append(pl.Series(flagged(opened, query.flags)))
    if query.since:
        wanted.append(_recent(opened, query.since))
    if query.text:
        wanted.append(found_in(opened, query))
    return wanted


def _recent(opened: Opened, since: str) -> "pl.Series":
    """Mark the kept pairs of a run that came since a date, bool [pairs]."""
    import polars as pl

    if not opened.is_run:
        raise OptionError(f"--since: {opened.path} is no run, so its pairs have no dates")
    sides = ("source", opened.sources), ("target", opened.targets)
    pairs = pl.DataFrame({name: opened.side(name).texts.column[rows] for name, rows in sides})
    return pl.Series(opened.kept()) & came_since(opened.path, since, pairs)


def _columns(
    opened: Opened, cut: float | None, codes: Codes | None
) -> "dict[str, Callable[[], pl.Series]]":
    """Name the columns of all pairs, with what makes each; null is what a pair does not have."""
    import polars as pl

    def column(values: Any, kind: type[pl.DataType]) -> pl.Series:  # noqa: ANN401
        if values is None:
            return pl.repeat(None, len(opened), dtype=kind, eager=True)
        return pl.Series(values=values, dtype=kind, nan_to_null=True)

    left, right = opened.source.texts.column, opened.target.texts.column
    given = np.zeros(len(opened), np.int8) if codes is None else codes
    columns: dict[str, Callable[[], pl.Series]] = {
        "rank": lambda: pl.int_range(len(opened), dtype=pl.Int64, eager=True),
        "score": lambda: column(opened.figures("score"), pl.Float64),
        "prob": lambda: column(opened.figures("prob"), pl.Float64),
        "cosine": lambda: column(opened.figures("cosine"), pl.Float64),
        "margin": lambda: column(opened.figures("margin"), pl.Float64),
        "flags": lambda: column(opened.flags and list(opened.flags), pl.String),
        "kept": lambda: column(opened.kept(cut), pl.Boolean),
        "verdict": lambda: pl.Series([name or None for name in CODES])[given],
        "change": lambda: column(opened.changes and opened.changes.column, pl.String),
        "length": lambda: (
            left.str.len_bytes()[opened.sources] + right.str.len_bytes()[opened.targets]
        ),
    }

    def of_side(side: TextSide, rows: Rows, name: str) -> None:
        offsets = side.offsets
        columns[name] = lambda: side.texts.column[rows]
        columns[f"{name}_line"] = lambda: column(side.lines[rows], pl.Int64)
        columns[f"{name}_offset"] = lambda: column(
            None if offsets is None else offsets[rows], pl.Int64
        )

    of_side(opened.source, opened.sources, "source")
    of_side(opened.target, opened.targets, "target")
    return columns


def found_in(opened: Opened, query: PairQuery) -> "pl.Series":
    """Mark the pairs whose texts match, bool [pairs]."""
    sides = {
        "source": (opened.source.texts, opened.sources),
        "target": (opened.target.texts, opened.targets),
    }
    if query.side in sides:
        del sides["target" if query.side == "source" else "source"]
    marked = [matches(texts, query.text, regex=query.regex)[rows] for texts, rows in sides.values()]
    if len(marked) == 1:
        return marked[0]
    return marked[0] & marked[1] if query.side == "both" else marked[0] | marked[1]


def matches(texts: TextColumn, text: str, *, regex: bool = False) -> "pl.Series":
    """Mark the texts that hold another one, whatever its case, bool [texts]."""
    import polars as pl

    pattern = text if regex else pl.escape_regex(text)
    try:
        return texts.column.str.contains(f"(?i){pattern}")
    except pl.exceptions.ComputeError as error:
        raise OptionError(f"{text!r} is no regular expression: {reason(error)}") from None


def spans_of(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Find what matches a regular expression of Rust, in upper or lower case; nothing for none.

    It is the engine that finds the pairs: the one of Python may take for ever.
    """
    if not pattern or _START in text or _END in text:
        return
    import polars as pl

    with suppress(pl.exceptions.ComputeError):
        marked = pl.Series([text]).str.replace_all(f"(?i)({pattern})", f"{_START}${{1}}{_END}")[0]
        at = 0
        for before, found in re.findall(f"([^{_START}]*){_START}([^{_END}]*){_END}", marked):
            start, at = at + len(before), at + len(before) + len(found)
            if found:
                yield start, at


def flagged(opened: Opened, names: "Iterable[str]") -> Bools:
    """Mark the pairs with one of some flags, or with `none`, bool [pairs]."""
    marked = np.zeros(len(opened), dtype=bool)
    if opened.flags is None:
        return marked | ("none" in names)
    for name in names:
        marked |= opened.flags.none() if name == "none" else opened.flags.raised(name)
    return marked
