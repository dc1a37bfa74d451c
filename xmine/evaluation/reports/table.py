"""Results of encoders -> one table: a row for each figure, a column for each encoder.

Figures have their interval, and encoders behind the first their gain over it, where the results
have what was measured of each item. Published figures stand below, with what keeps them from being
compared; nothing here measures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from xmine.evaluation.papers.tables import all_tables, matching
from xmine.evaluation.reports.bootstrap import STATISTICS, intervals
from xmine.evaluation.result import Metric, Result, Row
from xmine.extras import is_installed
from xmine.options import load_toml

_FEW_ROWS = 12
_MOST_ROWS = 60  # of which those with intervals are shown
_NOT_GIVEN = -1  # TOML has no null

Results = Mapping[str, Mapping[str, Result]]  # encoder -> benchmark -> result


@dataclass(frozen=True, slots=True)
class EncoderFigure:
    """A figure of one encoder, unscaled; None for what cannot be told."""

    value: float | None
    interval: tuple[float, float] | None = None
    gain: float | None = None  # over the first encoder that has the figure
    gain_interval: tuple[float, float] | None = None

    @property
    def verdict(self) -> str:
        """`higher` or `lower` where the interval of the gain leaves out 0, else `unclear`."""
        low, high = self.gain_interval or (0.0, 0.0)
        return "higher" if low > 0 else "lower" if high < 0 else "unclear"


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a benchmark, of every encoder."""

    benchmark: str
    row: str
    metric: Metric
    figures: dict[str, EncoderFigure]


def by_benchmark(results: Results) -> dict[str, dict[str, Result]]:
    """Give the results of each benchmark, by encoder."""
    names = dict.fromkeys(name for found in results.values() for name in found)
    return {x: {who: each[x] for who, each in results.items() if x in each} for x in names}


def compared(results: Results, resamples: int = 1000, seed: int = 1) -> list[Line]:
    """Put the main figures of all benchmarks side by side."""
    lines = []
    for benchmark, of in by_benchmark(results).items():
        metrics = {each.name: each for result in of.values() for each in result.metrics}
        for row, name in dict.fromkeys(x for result in of.values() for x in main_figures(result)):
            figures = {who: EncoderFigure(None) for who in results}
            figures |= {who: EncoderFigure(result.figure(row, name)) for who, result in of.items()}
            figures |= _with_intervals(of, row, name, resamples, seed)
            lines.append(Line(benchmark, row, metrics[name], figures))
    return lines


def _with_intervals(
    of: Mapping[str, Result], row: str, metric: str, resamples: int, seed: int
) -> dict[str, EncoderFigure]:
    """Compute what values of items allow; gains among encoders with the same items alone."""
    values, statistic = {}, next(iter(of.values())).statistic
    if statistic == "spearman" and not is_installed("scipy"):
        return {}
    for who, result in of.items():
        found = next((each for each in result.rows if each.name == row), None)
        if found is not None and found.values is not None and metric == result.headline[1]:
            values[who] = found.values
    if not values:
        return {}
    first = next(iter(values))
    values = {who: each for who, each in values.items() if len(each) == len(values[first])}
    drawn = intervals(list(values.values()), STATISTICS[statistic], resamples=resamples, seed=seed)
    figures, before = {}, of[first].figure(row, metric)
    for who, (own, gain) in zip(values, drawn, strict=True):
        value = of[who].figure(row, metric)
        figures[who] = EncoderFigure(value, own)
        if who != first and value is not None and before is not None:
            figures[who] = EncoderFigure(value, own, value - before, gain)
    return figures


def as_cells(lines: Sequence[Line], encoders: Sequence[str]) -> list[list[str]]:
    """Lay lines out as a table of texts, its head first; gains where there are some."""
    gains = {who for line in lines for who, each in line.figures.items() if each.gain is not None}
    head = [""]
    for who in encoders:
        head += [who, *(["gain"] if who in gains else [])]
    cells = [head]
    for line in lines:
        lower = " (lower is better)" if line.metric.better == "lower" else ""
        row = [f"{line.benchmark} {line.row}, {line.metric.title}{lower}"]
        for who in encoders:
            figure, shown = line.figures[who], line.metric.shown
            ends = figure.interval and f" ({shown(figure.interval[0])}–{shown(figure.interval[1])})"
            row.append(shown(figure.value) + (ends or ""))
            if who in gains:
                row.append(_gain(figure, line.metric))
        cells.append(row)
    return cells


def _gain(figure: EncoderFigure, metric: Metric) -> str:
    """Print a gain with its sign, none for what rounds to zero, and its interval."""
    if figure.gain is None or figure.gain_interval is None:
        return "-"

    def signed(value: float) -> str:
        rounded = round(value * metric.scale, metric.digits)
        return f"{rounded:+.{metric.digits}f}" if rounded else f"{0:.{metric.digits}f}"

    low, high = map(signed, figure.gain_interval)
    return f"{signed(figure.gain)} ({low} to {high}) {figure.verdict}"


def main_figures(result: Result) -> list[tuple[str, str]]:
    """Choose what is worth a line: all rows if they are few, else the averages; main metric.

    Of the row that stands for all, every metric that has a better and a worse.
    """
    metric = result.headline[1]
    rows: Sequence[Row] = result.rows
    if sum(not row.is_reranked for row in rows) > _FEW_ROWS:
        few = [row for row in rows if row.values is not None and not row.is_reranked]
        kept = few if len(rows) <= _MOST_ROWS else []
        rows = [x for x in rows if x.is_mean or x.name == result.headline[0] or x in kept]
    lines = [(row.name, metric) for row in rows if metric in row.figures]
    for each in result.metrics:
        if each.better and result.figure(result.headline[0], each.name) is not None:
            lines.append((result.headline[0], each.name))
    return list(dict.fromkeys(lines))


def unlike_notes(results: Results) -> list[str]:
    """Say where encoders were not measured alike: other files, settings or numbers of items."""
    notes = []
    for benchmark, of in by_benchmark(results).items():
        first, one = next(iter(of.items()))
        items = {row.name: row.items for row in one.rows}
        for who, other in of.items():
            ours, theirs = ({"split": x.split, **x.settings} for x in (one, other))
            unlike = [
                f"{name} {theirs.get(name)} and not {ours.get(name)}"
                for name in dict.fromkeys([*ours, *theirs])
                if ours.get(name) != theirs.get(name)
            ]
            sizes = [x.name for x in other.rows if items.get(x.name, x.items) != x.items]
            if sizes and one.unit != "kept":  # how many pairs an encoder keeps is a result
                unlike.append(f"other numbers of {one.unit} in {', '.join(sizes)}")
            if said := "; ".join(unlike):
                notes.append(f"{benchmark}: {who} was measured otherwise than {first}: {said}")
    return notes


@dataclass(frozen=True, slots=True)
class Published:
    """A table of a paper, of what was measured here too."""

    benchmark: str
    source: str  # paper and table
    obstacle: str  # what keeps it from being compared with ours; empty if nothing does
    columns: Sequence[tuple[str, str]]  # row and metric of each figure, as we have them
    systems: Mapping[str, Sequence[float | None]]  # as printed; None where there is none
    cells: list[list[str]]  # head first: our encoders, then the systems


@cache
def published_tables() -> list[dict[str, Any]]:
    """Read the tables that come with xmine, as `published.toml` has them; ablations left out."""
    found: list[dict[str, Any]] = load_toml(Path(__file__).with_name("published.toml"))["table"]
    tables = (table for table in all_tables().values() if not table.is_ablation)
    return [*found, *(each for table in tables for each in table.published())]


def published_beside(results: Mapping[str, Result]) -> list[Published]:
    """Lay out the tables of papers for a benchmark, of encoder -> result; comparable ones first."""
    first = next(iter(results.values()))
    metrics = {each.name: each for result in results.values() for each in result.metrics}
    rows = [row for result in results.values() for row in result.rows if not row.is_reranked]
    found = []
    for table in published_tables():
        columns: dict[int, tuple[str, str]] = {}
        wanted = zip(table["rows"], table["metrics"], strict=True)
        for at, (pattern, metric) in enumerate(wanted):
            names = [row.name for row in rows if metric in row.figures]
            if name := matching(names, pattern):
                columns[at] = name, metric
        if table["benchmark"] != first.benchmark or not columns:
            continue
        unlike = (
            f"{name.replace('_', ' ')} {value}, here {result.settings.get(name)}"
            for result in results.values()
            for name, value in table.get("settings", {}).items()
            if result.settings.get(name) != value
        )
        obstacle = "; ".join(filter(None, [table.get("differs", ""), *dict.fromkeys(unlike)]))
        systems = {
            system: [None if values[at] == _NOT_GIVEN else values[at] for at in columns]
            for system, values in table["systems"].items()
        }
        head = [f"{row} {metrics[metric].title}" for row, metric in columns.values()]
        ours = [
            [f"{who} (here)", *(metrics[x[1]].shown(result.figure(*x)) for x in columns.values())]
            for who, result in results.items()
        ]
        theirs = [
            [who, *("-" if x is None else str(x) for x in figures)]
            for who, figures in systems.items()
        ]
        cells = [["", *head], *ours, *theirs]
        beside = list(columns.values()), systems, cells
        found.append(Published(first.benchmark, table["source"], obstacle, *beside))
    return sorted(found, key=lambda each: bool(each.obstacle))


def as_text(cells: Sequence[Sequence[str]]) -> list[str]:
    """Set a table in columns: the first to the left, figures to the right."""
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        gaps = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        rest = [gap + cell for gap, cell in zip(gaps[1:], row[1:], strict=True)]
        lines.append("  ".join([row[0] + gaps[0], *rest]).rstrip())
    return lines


def as_markdown(cells: Sequence[Sequence[str]]) -> list[str]:
    """Set a table in Markdown, its figures to the right."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in cells]
    return [f"| {' | '.join(row)} |" for row in (head, ["---", *["---:"] * (len(head) - 1)], *body)]


def described(about: Mapping[str, Any]) -> str:
    """Tell in a line which encoder it was, or which two, and what the vectors depend on."""
    if "source" in about:
        return f"{described(about['source'])}; {described(about['target'])}"
    length, prompt = about["max_length"], about["prompt"]
    return (
        f"{about['model']}, {about['architecture']}, {about['pooling']} pooling, "
        + (f"cut after {length} tokens, " if length else "not cut, ")
        + (f"prompt {prompt!r}, " if prompt else "no prompt, ")
        + f"{about['device']} {about['dtype']}"
    )
