"""Files of papers -> their tables; what the keys of a file mean, `moco.toml` says at its top."""

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from xmine.options import load_toml

PAPERS = ("moco", "msimcse", "transaug", "emma-x")
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Measure:
    """A benchmark with the options of a paper, and the figures of its result that are columns."""

    benchmark: str
    columns: Mapping[str, tuple[str, str]]  # title -> pattern of a row, metric
    options: Mapping[str, Any]  # of the benchmark
    settings: Mapping[str, Any]  # that a result must have to be compared
    differs: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: a model to train, an encoder of the hub, or a figure that is only cited."""

    name: str
    model: str = ""
    encoder: str = ""
    cited: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)  # of training
    encoding: Mapping[str, Any] = field(default_factory=dict)  # of evaluation
    paper: Sequence[float] = ()  # as printed, one for each column; -1: none
    differs: str = ""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper; `models` and `files` are those of its file."""

    name: str  # as in moco/1
    source: str
    title: str
    measures: Sequence[Measure]
    rows: Sequence[TableRow]
    differs: str
    is_ablation: bool  # of one method alone, which nobody else is compared with
    models: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, tuple[str, str]]  # name -> path in the data folder, what it is

    @property
    def columns(self) -> list[str]:
        """The titles of the columns."""
        return [title for measure in self.measures for title in measure.columns]

    def published(self) -> Iterator[dict[str, Any]]:
        """Give what was printed in the form of `published.toml`: by benchmark and protocol."""
        found: dict[str, dict[str, Any]] = {}
        titles = self.columns
        for measure in self.measures:
            for row in self.rows:
                differs = "; ".join(filter(None, (self.differs, measure.differs, row.differs)))
                about = {"benchmark": measure.benchmark, "settings": measure.settings}
                about |= {"source": self.source, "differs": differs}
                each = found.setdefault(str(about), {**about, "columns": {}, "systems": {}})
                each["columns"] |= measure.columns
                each["systems"][row.name] = row
        for each in found.values():
            columns, rows = each.pop("columns"), [x for x in each["systems"].values() if x.paper]
            places = {title: titles.index(title) for title in columns}
            kept = [x for x, at in places.items() if any(row.paper[at] != -1 for row in rows)]
            figures = {row.name: [row.paper[places[x]] for x in kept] for row in rows}
            each["systems"] = {who: x for who, x in figures.items() if {*x} != {-1}}
            each["rows"], each["metrics"] = ([columns[x][at] for x in kept] for at in (0, 1))
            if each["systems"] and kept:
                yield each


@cache
def all_tables() -> dict[str, PaperTable]:
    """Read the tables of all papers, by name."""
    return {table.name: table for paper in PAPERS for table in _tables(paper)}


def _tables(paper: str) -> Iterator[PaperTable]:
    found = load_toml(_HERE / f"{paper}.toml")
    measures = {name: _measure(about) for name, about in found["measures"].items()}
    for name, about in found["tables"].items():
        place = name if name.startswith("figure") else f"Table {name}"
        yield PaperTable(
            f"{paper}/{name}",
            f"{found['paper']}, {place}",
            about["title"],
            [measures[each] for each in about["measures"]],
            [TableRow(row, **how) for row, how in about["rows"].items()],
            about.get("differs", ""),
            about.get("ablation", False),
            found["models"],
            {file: (path, what) for file, (path, what) in found["files"].items()},
        )


def _measure(about: Mapping[str, Any]) -> Measure:
    columns = {}
    for column in about["columns"]:
        title, _, place = column.partition("=")
        pattern, _, metric = (place or about.get("row", "{}").format(title)).partition("@")
        columns[title] = pattern, metric or about["metric"]
    options, settings = (about.get(name, {}) for name in ("options", "settings"))
    return Measure(about["benchmark"], columns, options, settings, about.get("differs", ""))


def matching(names: Sequence[str], pattern: str) -> str | None:
    """Find the first name that the first alternative with any fits: `zh-en test|zh-en oracle`."""
    for each in pattern.split("|"):
        if there := fnmatch.filter(names, each):
            return there[0]
    return None
