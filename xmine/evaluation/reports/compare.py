"""Results of encoders side by side, and the published figures that may stand beside them."""

import fnmatch
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xmine.evaluation.result import Result, Row

_FEW_ROWS = 12
_FILE = Path(__file__).parent / "published.toml"
_NOT_GIVEN = -1  # TOML has no null


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """Figures as they were printed."""

    source: str  # paper and table
    benchmark: str  # whose results they stand beside
    # (row, metric) of such a result; of a row alternatives, the right one first and then what is
    # nearest to it, with `|` between and `*` for any text
    columns: Sequence[tuple[str, str]]
    # name -> its figures, as printed; None where the table has none
    systems: Mapping[str, Sequence[float | None]]
    settings: Mapping[str, object]  # the choices of our benchmark that they were measured with
    differs: str  # why they can never stand beside ours; empty if they may where the settings agree

    def obstacle(self, settings: Mapping[str, object]) -> str:
        """Tell what keeps them from standing beside figures measured with these settings."""
        unlike = [
            f"{name.replace('_', ' ')} {wanted}, here {settings.get(name)}"
            for name, wanted in self.settings.items()
            if settings.get(name) != wanted
        ]
        return "; ".join(filter(None, [self.differs, *unlike]))


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """Read the tables that come with xmine."""
    found = tomllib.loads(_FILE.read_text(encoding="utf-8"))["table"]
    return tuple(
        PublishedTable(
            table["source"],
            table["benchmark"],
            list(zip(table["rows"], table["metrics"], strict=True)),
            {
                system: [None if value == _NOT_GIVEN else value for value in values]
                for system, values in table["systems"].items()
            },
            table.get("settings", {}),
            table.get("differs", ""),
        )
        for table in found
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """A published table with ours above it."""

    source: str  # paper and table
    obstacle: str  # what keeps it from being compared with ours; empty if nothing does
    columns: list[tuple[str, str]]  # row and metric of each figure, as we have them
    # name -> its figures as printed, None where there is none
    systems: dict[str, list[float | None]]
    cells: list[list[str]]  # a table of texts, head first: our encoders, then the published systems


@dataclass(frozen=True, slots=True)
class Comparison:
    """One benchmark, measured for some encoders."""

    benchmark: str
    # row and metric of the figures worth a line -> encoder -> its figure, unscaled; None where it
    # was not measured on that
    figures: dict[tuple[str, str], dict[str, float | None]]
    cells: list[list[str]]  # the same as a table of texts, head first
    published: list[Beside]  # the published tables of what was measured
    notes: list[str]  # where the encoders' own figures were not measured alike


def compare(results: Mapping[str, Mapping[str, Result]]) -> list[Comparison]:
    """Put results side by side: encoder -> benchmark -> result."""
    benchmarks = dict.fromkeys(name for found in results.values() for name in found)
    return [
        _compare_one(name, {who: found[name] for who, found in results.items() if name in found})
        for name in benchmarks
    ]


def _compare_one(benchmark: str, results: Mapping[str, Result]) -> Comparison:
    name, first = next(iter(results.items()))
    metrics = {each.name: each for result in results.values() for each in result.metrics}
    chosen = dict.fromkeys(line for result in results.values() for line in main_figures(result))
    figures = {each: {who: of.figure(*each) for who, of in results.items()} for each in chosen}
    cells = [["", *results]]
    for (row, measured), values in figures.items():
        metric = metrics[measured]
        lower = " (lower is better)" if metric.better == "lower" else ""
        cells.append([f"{row}, {metric.title}{lower}", *map(metric.shown, values.values())])
    notes = [
        f"{who} was measured otherwise than {name}: {unlike}"
        for who, result in results.items()
        if (unlike := _unlike(first, result))
    ]
    return Comparison(benchmark, figures, cells, published_beside(results), notes)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Shorten paths of encoders to as many parts from their end as tell them apart."""
    parts = {name: Path(name).parts[::-1] for name in names}
    for length in range(1, max(map(len, parts.values()), default=1) + 1):
        short = {name: "/".join(each[:length][::-1]) for name, each in parts.items()}
        if len(set(short.values())) == len(short):
            return short
    return {name: name for name in parts}


def main_figures(result: Result) -> list[tuple[str, str]]:
    """Choose what is worth a line: all rows if they are few, else the averages; main metric.

    Of the row that stands for all, every metric that has a better and a worse.
    """
    metric = result.headline[1]
    rows: Sequence[Row] = result.rows
    if sum(not row.is_reranked for row in rows) > _FEW_ROWS:
        rows = [row for row in rows if row.is_mean or row.name == result.headline[0]]
    lines = [(row.name, metric) for row in rows if metric in row.figures]
    for each in result.metrics:
        if each.better and result.figure(result.headline[0], each.name) is not None:
            lines.append((result.headline[0], each.name))
    return list(dict.fromkeys(lines))


def published_beside(results: Mapping[str, Result]) -> list[Beside]:
    """Lay out the published tables of what was measured, those that may be compared first."""
    first = next(iter(results.values()))
    found = []
    for table in published_tables():
        if table.benchmark != first.benchmark:
            continue
        measured = [_measured(pattern, metric, results) for pattern, metric in table.columns]
        if columns := {at: column for at, column in enumerate(measured) if column}:
            obstacles = (table.obstacle(result.settings) for result in results.values())
            obstacle = next(filter(None, obstacles), "")
            systems = {
                system: [values[at] for at in columns] for system, values in table.systems.items()
            }
            cells = _beside(systems, list(columns.values()), results)
            found.append(Beside(table.source, obstacle, list(columns.values()), systems, cells))
    return sorted(found, key=lambda each: bool(each.obstacle))


def _measured(pattern: str, metric: str, results: Mapping[str, Result]) -> tuple[str, str] | None:
    """Find the row that a published figure stands beside: the first alternative there is."""
    rows = [
        row.name
        for result in results.values()
        for row in result.rows
        if metric in row.figures and not row.is_reranked
    ]
    for alternative in pattern.split("|"):
        matching = fnmatch.filter(rows, alternative)
        if matching:
            return matching[0], metric
    return None


def _beside(
    systems: Mapping[str, Sequence[float | None]],
    columns: Sequence[tuple[str, str]],
    results: Mapping[str, Result],
) -> list[list[str]]:
    metrics = {each.name: each for result in results.values() for each in result.metrics}
    one_metric = len({metric for _, metric in columns}) == 1
    head = [row if one_metric else f"{row} {metrics[metric].title}" for row, metric in columns]
    ours = [
        [f"{who} (here)", *(metrics[each[1]].shown(result.figure(*each)) for each in columns)]
        for who, result in results.items()
    ]
    digits = max(len(str(x).partition(".")[2]) for row in systems.values() for x in row)
    theirs = [
        [system, *("-" if figure is None else f"{figure:.{digits}f}" for figure in figures)]
        for system, figures in systems.items()
    ]
    return [[metrics[columns[0][1]].title if one_metric else "", *head], *ours, *theirs]


def _unlike(one: Result, other: Result) -> str:
    """Say in what two results of a benchmark were not measured alike; empty if they were."""
    names = dict.fromkeys([*one.settings, *other.settings])
    facts = {
        "split": (one.split, other.split),
        **{name: (one.settings.get(name), other.settings.get(name)) for name in names},
    }
    differing = {name: sides for name, sides in facts.items() if sides[0] != sides[1]}
    unlike = [f"{name} {theirs} and not {ours}" for name, (ours, theirs) in differing.items()]
    items = {row.name: row.items for row in one.rows}
    sizes = [row.name for row in other.rows if items.get(row.name, row.items) != row.items]
    if sizes and one.unit != "kept":  # how many pairs an encoder keeps is a result
        unlike.append(f"other numbers of {one.unit} in {', '.join(sizes)}")
    return "; ".join(unlike)
