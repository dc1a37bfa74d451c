"""What a benchmark gives: rows of figures, and everything they depend on.

A figure without its protocol is worth nothing in this field: the same name (BUCC, STS average)
stands for several, which differ by ten points. So a result carries both and prints both.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.progress import html_table


@dataclass(frozen=True, slots=True)
class Metric:
    """One column of figures."""

    name: str  # as in JSON
    title: str  # as at the head of a column
    meaning: str  # what it is, in words of someone who has not read the papers
    # figures are printed times this: 100 for shares and correlations, as papers do
    scale: int = 100
    digits: int = 1  # after the point when printed
    better: str = "higher"  # `higher`, `lower`, or nothing if neither is

    def shown(self, value: float | None) -> str:
        """Print a figure of this metric; `-` where there is none."""
        if value is None or math.isnan(value):
            return "-"
        return f"{value * self.scale:,.{self.digits}f}"


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of one language, data set or group."""

    name: str  # of the language, data set or group
    items: int  # how many were measured
    figures: Mapping[str, float]  # metric name -> figure, unscaled
    is_mean: bool = False  # whether they are averages of other rows
    # whether candidates were reranked, which no paper measures: no published figure stands beside
    is_reranked: bool = False
    # [items, ...]: what `Result.statistic` makes the headline's figure of, for intervals
    values: NDArray[Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Result:
    """What measuring an encoder on one benchmark gave."""

    benchmark: str
    protocol: str  # how it was measured, in a sentence
    split: str  # which files
    metrics: Sequence[Metric]  # the columns
    rows: Sequence[Row]  # the figures, averages last
    headline: tuple[str, str]  # row and metric of the figure that stands for all
    # the choices a figure depends on, for comparing with published figures
    settings: Mapping[str, object] = field(default_factory=dict)
    unit: str = "items"  # what the items of a row are
    notes: Sequence[str] = ()  # what a reader has to know besides
    failed: Sequence[str] = ()  # parts that a broken file kept from being measured; notes say why
    statistic: str = "mean"  # of `reports.bootstrap.STATISTICS`, for rows with values

    def figure(self, row: str, metric: str) -> float | None:
        """Look a figure up; None if there is no such row or metric."""
        found = [each.figures.get(metric) for each in self.rows if each.name == row]
        return found[0] if found else None

    def as_json(self, *, with_values: bool = False) -> dict[str, object]:
        """Give everything as JSON can hold it; figures unscaled, values as texts of numbers."""

        def of_row(row: Row) -> dict[str, object]:
            facts = {each.name: getattr(row, each.name) for each in fields(row)}
            facts["figures"] = _finite(row.figures)
            del facts["values"]
            if with_values and row.values is not None:
                columns = row.values.astype(np.float64).T
                facts["values"] = [" ".join(f"{x:.12g}" for x in column) for column in columns]
            return facts

        row, metric = self.headline
        value = _finite({"": self.figure(row, metric) or 0.0})[""]
        return {
            **{each.name: getattr(self, each.name) for each in fields(self)},
            "settings": dict(self.settings),
            "headline": {"row": row, "metric": metric, "value": value},
            "metrics": {
                each.name: {key: x for key, x in asdict(each).items() if key != "name"}
                for each in self.metrics
            },
            "rows": [of_row(row) for row in self.rows],
            "notes": list(self.notes),
            "failed": list(self.failed),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Result":
        """Read what `as_json` gave."""

        def of_row(row: dict[str, Any]) -> Row:
            columns = [[float(x) for x in column.split()] for column in row.pop("values", ())]
            figures = {name: x for name, x in row.pop("figures").items() if x is not None}
            return Row(**row, figures=figures, values=np.array(columns).T if columns else None)

        found = {"failed": (), "statistic": "mean", **found}  # which older files lack
        made = {each.name: found[each.name] for each in fields(cls)}
        made["settings"] = dict(found["settings"])
        made["metrics"] = [Metric(name, **about) for name, about in found["metrics"].items()]
        made["rows"] = [of_row(dict(row)) for row in found["rows"]]
        made["headline"] = found["headline"]["row"], found["headline"]["metric"]
        return cls(**made)

    def _repr_html_(self) -> str:
        """Show the figures in a notebook."""
        return html_table(self.cells(), f"{self.benchmark}: {self.protocol}")

    def cells(self) -> list[list[str]]:
        """Lay the rows out as a table of texts, its head first."""
        cells = [["", self.unit, *(metric.title for metric in self.metrics)]]
        for row in self.rows:
            shown = [metric.shown(row.figures.get(metric.name)) for metric in self.metrics]
            cells.append([row.name, f"{row.items:,}", *shown])
        return cells


def mean_row(name: str, rows: Sequence[Row]) -> Row:
    """Average rows, each counting the same; a figure that a row lacks is left out of its mean."""
    names = dict.fromkeys(metric for row in rows for metric in row.figures)
    figures = {
        metric: fmean(row.figures[metric] for row in rows if metric in row.figures)
        for metric in names
    }
    return Row(name, sum(row.items for row in rows), figures, is_mean=True)


def mean_of_all(name: str, rows: Sequence[Row]) -> list[Row]:
    """Average rows if there are two or more; their number goes into the name."""
    return [mean_row(name.format(len(rows)), rows)] if len(rows) > 1 else []


def paper_means(
    means: Mapping[str, Sequence[str]], rows: Sequence[Row]
) -> tuple[list[Row], list[str]]:
    """Average what papers average: name of the mean -> names of its rows.

    Also says which means lack rows, since these are left out.
    """
    known = {row.name: row for row in rows}
    averages, notes = [], []
    for name, members in means.items():
        if lacking := ", ".join(each for each in members if each not in known):
            notes.append(f"No {name}: {lacking} missing.")
        else:
            averages.append(mean_row(name, [known[each] for each in members]))
    return averages, notes


def _finite(figures: Mapping[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}
