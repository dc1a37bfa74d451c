"""Which pairs, in which order: a filter and a key over the columns of all pairs."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from xmine.browsing.opened import FIGURES, Opened, Rows
from xmine.browsing.where import MANY, VERDICTS, read_filter, wrong
from xmine.errors import OptionError
from xmine.extras import plugin_names
from xmine.flags.names import FLAGS
from xmine.pairs.changes import KINDS, came
from xmine.run.tables import OUTCOMES

if TYPE_CHECKING:
    import polars as pl

ORDERS = (
    *("rank", "score", "prob", "cosine", "margin", "source", "target", "length"),
    *("unsure", "flags", "verdict", "shuffled"),
)
# What people say of all pairs, by the name of the column: see `Judgements.said`.
Said = Callable[[str], tuple[list[list[str]], Rows]]


@dataclass(frozen=True, slots=True)
class PairQuery:
    """Which pairs, in which order.

    Attributes:
        where: a filter, see `xmine.browsing.where.read_filter`; empty for all pairs. A text is
            looked for among the kept pairs.
        order: `rank` is the order of the run or the file; `source` and `target` are by line,
            `length` by the bytes of both sides together, `unsure` by how far from 0.5 `prob` is.
        descending: turn the order round.
    """

    where: str = ""
    order: str = "rank"
    descending: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no order."""
        if self.order not in ORDERS:
            raise OptionError(f"--sort is {self.order!r}", f"one of {', '.join(ORDERS)}")


# Orders by a figure that pairs may lack, with the name of its column.
NEEDED = {name: f"{name}s" for name in FIGURES} | {"unsure": "probs"}
_PRIME = 2_654_435_761  # spreads numbers that follow each other
_START, _END = "\x02", "\x03"  # controls, which no text that is shown has


def usual(opened: Opened) -> str:
    """Give the filter with which one begins: the kept pairs of a run, or all of a file."""
    return "kept" if opened.is_run else ""


def select(
    opened: Opened, query: PairQuery, cut: float | None = None, said: Said | None = None
) -> Rows:
    """Find the pairs that a query asks for, int64 [found], in its order."""
    import polars as pl

    _check(opened, query.order)
    key = {
        "source": pl.col("source_line"),
        "target": pl.col("target_line"),
        "unsure": (pl.col("prob") - 0.5).abs(),
        "flags": pl.col("flags").replace("", None),
        "verdict": pl.col("verdict").list.first().replace(MANY["verdict"], None),
        "shuffled": pl.col("rank") * _PRIME % 2**32,
    }.get(query.order, pl.col(query.order))
    among = ["kept"] if read_filter(query.where).is_text else []
    wanted = meets(opened, query.where, *among, cut=cut, said=said)
    rows: Rows = np.logical_and.reduce([each.to_numpy() for each in wanted]).nonzero()[0]
    if query.order == "rank":
        return rows[::-1] if query.descending else rows
    keys = _frame(opened, [key], cut, said)[rows].with_columns(row=rows)
    # What has no key stands last both ways; what is equal stays as it was.
    found = keys.sort(key, descending=query.descending, nulls_last=True, maintain_order=True)
    return found["row"].to_numpy()


def meets(
    opened: Opened, *wheres: str, cut: float | None = None, said: Said | None = None
) -> "list[pl.Series]":
    """Mark the pairs that meet each of some filters, bool [pairs]."""
    import polars as pl

    asked = [read_filter(where) for where in wheres]
    for name in (name for each in asked for name in each.expression.meta.root_names()):
        _check(opened, name)
    frame = _frame(opened, [pl.col("rank"), *(each.expression for each in asked)], cut, said)
    others = frozenset[str]().union(*(each.flags for each in asked)) - {*FLAGS, MANY["flag"], ""}
    if others and (unknown := others.difference(plugin_names("flags"), frame["flag"].explode())):
        known = ", ".join((*FLAGS, *plugin_names("flags"), MANY["flag"]))
        raise OptionError(f"{min(unknown)!r} is no flag", f"one of {known}")
    found = []
    for where, each in zip(wheres, asked, strict=True):
        try:
            found.append(frame.with_columns(met=each.expression)["met"].fill_null(value=False))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise wrong(where, error) from None
    return found


def _check(opened: Opened, name: str) -> None:
    """Refuse a column or an order that these pairs lack."""
    if (figure := NEEDED.get(name)) and getattr(opened, figure) is None:
        raise OptionError(
            f"{opened.path} has no {figure.removesuffix('s')}", f"sort by {', '.join(ORDERS)}"
        )
    if name == "since" and not opened.is_run:
        raise OptionError(f"since: {opened.path} is no run, so its pairs have no dates")
    if name == "change" and name not in opened.columns:
        raise OptionError(f"change: {opened.path} is no comparison, which d makes in the app")


def _frame(
    opened: Opened, asked: "Iterable[pl.Expr]", cut: float | None, said: Said | None
) -> "pl.DataFrame":
    """Make the columns that some expressions name, of all pairs."""
    import polars as pl

    columns = _columns(opened, opened.cut if cut is None else cut, said)
    names = dict.fromkeys(name for each in asked for name in each.meta.root_names())
    return pl.DataFrame([columns[name]().alias(name) for name in names])


def _columns(
    opened: Opened, cut: float | None, said: Said | None
) -> "dict[str, Callable[[], pl.Series]]":
    """Name the columns of all pairs, with what makes each; null is what a pair does not have."""
    import polars as pl

    def column(values: Any, kind: type[pl.DataType], rows: Any = slice(None)) -> pl.Series:  # noqa: ANN401
        if values is None:
            return pl.repeat(None, len(opened), dtype=kind, eager=True)
        return pl.Series(values=values[rows], dtype=kind, nan_to_null=True)

    def of_people(name: str) -> pl.Series:
        values, places = said(name) if said else ([[MANY[name]]], np.zeros(len(opened), int))
        return pl.Series(values, dtype=pl.List(pl.String))[places]

    def figure(name: str) -> pl.Series:
        return column(opened.figures(name), pl.Float64)

    def flags() -> pl.Series:
        return column(opened.flags and list(opened.flags), pl.String)

    def outcome() -> pl.Series:
        kept, ranks = opened.kept(cut), opened.ranks
        below = opened.allowed & (ranks < cut if ranks is not None and cut is not None else False)
        return pl.Series(np.array(OUTCOMES)[np.where(kept, 0, np.where(below, 1, 2))])

    def since() -> pl.Series:
        pairs = pl.DataFrame({name: side.texts.column[rows] for name, side, rows in opened.sides})
        kept = pl.Series(opened.kept(opened.cut))
        return came(opened.path, pairs).zip_with(kept, column(None, pl.String))

    left, right = opened.source.texts.column, opened.target.texts.column
    columns: dict[str, Callable[[], pl.Series]] = {
        "rank": lambda: pl.int_range(len(opened), dtype=pl.Int64, eager=True),
        "flags": flags,
        "flag": lambda: flags().fill_null("").replace("", MANY["flag"]).str.split(","),
        "kept": lambda: column(opened.kept(cut), pl.Boolean),
        "outcome": outcome,
        "reason": lambda: opened.frame.get_column("reason", default=column(None, pl.String)),
        "verdict": lambda: of_people("verdict"),
        "judge": lambda: of_people("judge"),
        "since": since,
        "change": lambda: opened.columns["change"].column,
        "length": lambda: (
            left.str.len_bytes()[opened.sources] + right.str.len_bytes()[opened.targets]
        ),
        **{name: partial(figure, name) for name in FIGURES},
    }

    for name, side, rows in opened.sides:
        lasts = side.lines if side.lasts is None else side.lasts
        columns[name] = partial(side.texts.column.__getitem__, rows)
        for each, values in (("line", side.lines), ("last", lasts), ("offset", side.offsets)):
            columns[f"{name}_{each}"] = partial(column, values, pl.Int64, rows)
    return columns


def clauses_of(opened: Opened) -> list[list[str]]:
    """List conditions that one may choose from; of one list, but the last one, one is enough."""
    outcomes = [f"outcome = '{name}'" for name in OUTCOMES[1:] if opened.is_run]
    return [
        ["kept", "NOT kept", *outcomes] if opened.cut is not None else [],
        [f"change = '{name}'" for name in KINDS if "change" in opened.columns],
        [f"verdict = '{name}'" for name in VERDICTS],
        [f"flag = '{name}'" for name in (*FLAGS, MANY["flag"]) if opened.flags is not None],
    ]


def with_clause(opened: Opened, where: str, clause: str) -> tuple[str, str]:
    """Give the rest of a filter, and the rest with one of `clauses_of`, if it did not stand there.

    The rest is without that clause, and without what stands in its way; of a text nothing is left.
    """
    try:
        is_text = read_filter(where).is_text
    except OptionError:  # half typed
        is_text = True
    parts = [] if is_text else re.split(r"\s+and\s+", where.strip(), flags=re.IGNORECASE)
    if parts and re.search(r"\bor\b", where, re.IGNORECASE):
        parts = [f"({where})"]
    rivals = next((each for each in clauses_of(opened)[:-1] if clause in each), [clause])
    rest = [each for each in parts if each and each not in rivals]
    added = [] if clause in parts else [clause]
    return " AND ".join(rest), " AND ".join([*rest, *added])


def counted(
    opened: Opened, where: str, cut: float | None = None, said: Said | None = None
) -> list[tuple[str, int]]:
    """Count the pairs of each of `clauses_of` that meet the rest of a filter.

    What all these pairs meet, or none, is left out.
    """
    every = [clause for each in clauses_of(opened) for clause in each]
    rests = {clause: with_clause(opened, where, clause)[0] for clause in every}
    asked = [*dict.fromkeys([*every, *rests.values()])]
    met = dict(zip(asked, meets(opened, *asked, cut=cut, said=said), strict=True))
    counts = {clause: int((met[clause] & met[rests[clause]]).sum()) for clause in every}
    return [
        (clause, number)
        for clause, number in counts.items()
        if clause in where or 0 < number < met[rests[clause]].sum()
    ]


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
