"""One encoder on all benchmarks that a data folder can serve -> a folder with what was measured.

`report.md` is for reading; `report.json` has the same unscaled, and what figures are made of, for
`xmine eval report`.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from xmine.encoders.pair import Encoders
from xmine.errors import FileError, XmineError
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import EvaluationOptions
from xmine.evaluation.reports.record import record
from xmine.evaluation.reports.table import as_markdown, described, main_figures, published_beside
from xmine.evaluation.result import Result
from xmine.extras import needs
from xmine.progress import Progress, Report, silent

REPORT_FILE = "report.json"
# A table of more rows shows its averages, and all of it folded away.
_LONG = 25


@dataclass(frozen=True, slots=True)
class EvaluationOutcome:
    """What measuring an encoder on everything gave; benchmark names throughout."""

    results: dict[str, Result] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # the files that the data folder lacks
    failed: dict[str, str] = field(default_factory=dict)  # why, though there are files


def evaluate_all(
    encoder: Encoders,
    data: DataFolder,
    options: EvaluationOptions,
    report: Report = silent,
    say: Callable[[str, str], None] = lambda name, text: None,
    only: Sequence[str] = (),
) -> EvaluationOutcome:
    """Run every benchmark, or `only` some of them, with the default options of each."""
    chosen = [BENCHMARKS[name] for name in only or BENCHMARKS]
    if not only:
        needs("measuring everything", "scipy")
    given = {each.name: getattr(options, each.name) for each in fields(EvaluationOptions)}
    outcome = EvaluationOutcome()
    for done, benchmark in enumerate(chosen):
        name = benchmark.name
        report(Progress("benchmarks", done, len(chosen)))
        report(Progress(name, 0, 1))
        started = time.perf_counter()
        try:
            result = benchmark.load()(encoder, data, benchmark.options(**given), report)
        except MissingData as error:
            outcome.missing[name] = error.expected
        except XmineError as error:
            outcome.failed[name] = error.message
            say(name, error.message)
        else:
            outcome.results[name] = result
            outcome.seconds[name] = time.perf_counter() - started
            if result.failed:
                parts = ", ".join(result.failed)
                outcome.failed[name] = f"{parts}: not measured, its notes say why"
            say(name, headline(result))
        report(Progress(name, 1, 1))
    report(Progress("benchmarks", len(chosen), len(chosen)))
    if not outcome.results and not outcome.failed:
        raise MissingData(
            f"{data.path or 'no benchmark data'}: there is nothing for any benchmark",
            "xmine eval NAME --help says which files it reads; name the folder with --data",
        )
    return outcome


def headline(result: Result) -> str:
    """Say the figure that stands for a result: `95.0 mean (cmn)`."""
    row, name = result.headline
    metric = next(each for each in result.metrics if each.name == name)
    return f"{metric.shown(result.figure(row, name))} {metric.title} ({row})"


def write_report(folder: Path, outcome: EvaluationOutcome, about: Mapping[str, Any]) -> None:
    """Write `report.md` and `report.json` into a folder that exists."""
    found = {name: each.as_json(with_values=True) for name, each in outcome.results.items()}
    seconds = {name: round(each, 1) for name, each in outcome.seconds.items()}
    left = {"missing": outcome.missing, "failed": outcome.failed}
    facts = record({"encoder": dict(about), "results": found, "seconds": seconds, **left})
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / REPORT_FILE).write_text(text + "\n", encoding="utf-8")
    lines = _markdown(outcome, facts)
    (folder / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_report(path: Path) -> tuple[str, dict[str, Result]]:
    """Read an encoder and its results, from a report or from one benchmark as `-o` writes it."""
    path = path / REPORT_FILE if path.is_dir() else path
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        rows = found["results"].values() if "results" in found else [found]
        results = [Result.from_json(row) for row in rows]
        for each in results:
            if each.benchmark not in BENCHMARKS:
                raise KeyError(each.benchmark)
            each.cells()  # what cannot be printed is not ours
        model, prompt = (str(found["encoder"].get(name) or "") for name in ("model", "prompt"))
        name = f"{model}, prompt {prompt!r}" if prompt else model
        return name, {each.benchmark: each for each in results}
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FileError(f"{path}: no figures of xmine eval", "write them with -o") from None


def _markdown(outcome: EvaluationOutcome, facts: Mapping[str, Any]) -> list[str]:
    machine, encoder = facts["machine"], Path(facts["encoder"]["model"]).name
    commit = f" (commit {facts['commit']})" if facts["commit"] else ""  # a wheel has none
    cells = [["benchmark", "figure"]]
    cells += [[name, headline(result)] for name, result in outcome.results.items()]
    lines = [
        f"# {encoder}",
        "",
        f"Measured on {facts['date']} with xmine {facts['version']}{commit}, "
        f"{machine['cores']} cores of {machine['processor']}.",
        f"Encoder: {described(facts['encoder'])}. Shares and correlations times 100.",
        "",
        *as_markdown(cells),
    ]
    for name, result in outcome.results.items():
        lines += ["", f"## {name}", "", BENCHMARKS[name].asks, "", f"- protocol: {result.protocol}"]
        lines += [f"- files: {result.split}"]
        for metric in result.metrics:
            better = f" ({metric.better} is better)" if metric.better else ""
            lines.append(f"- {metric.title}: {metric.meaning}{better}")
        lines += [*(f"- note: {note}" for note in result.notes), ""]
        cells = result.cells()
        if len(result.rows) > _LONG:
            main = {row for row, _ in main_figures(result)}
            lines += as_markdown([cells[0], *(row for row in cells[1:] if row[0] in main)])
            lines += ["", "<details><summary>all rows</summary>", "", *as_markdown(cells)]
            lines += ["", "</details>"]
        else:
            lines += as_markdown(cells)
        for each in published_beside({encoder: result}):
            verdict = f"not comparable: {each.obstacle}" if each.obstacle else "comparable"
            lines += ["", f"{each.source} ({verdict}):", "", *as_markdown(each.cells)]
    for title, reasons in (("Failed", outcome.failed), ("Not measured", outcome.missing)):
        if reasons:
            lines += ["", f"## {title}", "", *(f"- {name}: {why}" for name, why in reasons.items())]
    return lines
