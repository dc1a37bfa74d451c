"""What was measured -> a folder to read: report.md, report.json, pictures.

It is written for someone who has not read the papers: each benchmark opens with the question it
answers, and what its columns mean stands below the table.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xmine.errors import FileError
from xmine.evaluation.benchmarks import ABOUT
from xmine.evaluation.everything import EvaluationOutcome, headline
from xmine.evaluation.reports.compare import main_figures, published_beside
from xmine.evaluation.reports.record import record
from xmine.evaluation.reports.tables import as_markdown, described
from xmine.evaluation.result import Result

REPORT_FILE = "report.json"
# A table of more rows shows its averages, and all of it folded away.
_LONG = 25


def write_report(
    folder: Path,
    outcome: EvaluationOutcome,
    about: Mapping[str, object],
    pictures: Mapping[str, str],
) -> None:
    """Write `report.md` and `report.json` into a folder that exists."""
    facts = record(
        {
            "encoder": dict(about),
            "results": {name: each.as_json() for name, each in outcome.results.items()},
            "seconds": {name: round(each, 1) for name, each in outcome.seconds.items()},
            "missing": outcome.missing,
            "failed": outcome.failed,
        }
    )
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / REPORT_FILE).write_text(text + "\n", encoding="utf-8")
    lines = _markdown(outcome, facts, pictures)
    (folder / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_report(path: Path) -> tuple[str, dict[str, Result]]:
    """Read an encoder and its results, from a report or from one benchmark as `-o` writes it."""
    path = path / REPORT_FILE if path.is_dir() else path
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        rows = found["results"].values() if "results" in found else [found]
        results = [Result.from_json(row) for row in rows]
        for each in results:
            if each.benchmark not in ABOUT:
                raise KeyError(each.benchmark)
            each.cells()  # what cannot be printed is not ours
        model, prompt = (str(found["encoder"].get(name) or "") for name in ("model", "prompt"))
        name = f"{model}, prompt {prompt!r}" if prompt else model
        return name, {each.benchmark: each for each in results}
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FileError(f"{path}: no figures of xmine eval", "write them with -o") from None


def _markdown(
    outcome: EvaluationOutcome, facts: Mapping[str, Any], pictures: Mapping[str, str]
) -> list[str]:
    machine, encoder = facts["machine"], Path(facts["encoder"]["model"]).name
    commit = f" (commit {facts['commit']})" if facts["commit"] else ""  # a wheel has none
    stated = ", ".join(facts["encoder"]["languages"])
    words = f" It was made for {stated}; figures of other languages stand here all the same."
    made_for = words if stated else ""
    cells = [["benchmark", "figure", "better", "what it asks"]]
    for name, result in outcome.results.items():
        metric = result.headline_metric()
        cells.append([name, headline(result), metric.better, ABOUT[name][0]])
    lines = [
        f"# {encoder}",
        "",
        f"Measured on {facts['date']} with xmine {facts['version']}{commit}, "
        f"{machine['cores']} cores of {machine['processor']}.",
        "",
        f"Encoder: {described(facts['encoder'])}.{made_for}",
        "",
        "Shares and correlations are printed times 100, as papers do; `report.json` has them "
        "unscaled. A figure means something only together with its protocol, which stands below "
        "each heading: published figures may stand beside ours where it says so, and only there.",
        "",
        "## At a glance",
        "",
        *as_markdown(cells, right=False),
    ]
    for name, result in outcome.results.items():
        lines += ["", *_section(encoder, result, outcome.seconds.get(name))]
    if pictures:
        lines += ["", "## Pictures", ""]
        for file, words in pictures.items():
            stem = Path(file).stem
            lines += [f"![{stem}]({file})", "", f"{words} Data: `{stem}.csv`.", ""]
    for title, reasons in (("Failed", outcome.failed), ("Not measured", outcome.missing)):
        if reasons:
            lines += ["", f"## {title}", "", *(f"- {name}: {why}" for name, why in reasons.items())]
    return lines


def _section(encoder: str, result: Result, seconds: float | None) -> list[str]:
    lines = [
        f"## {result.benchmark}",
        "",
        "**{}** {}".format(*ABOUT[result.benchmark]),
        "",
        f"- protocol: {result.protocol}",
        f"- files: {result.split}",
        *([] if seconds is None else [f"- time: {seconds:.1f} s"]),
        "",
    ]
    cells = result.cells()
    if len(result.rows) > _LONG:
        main = {row for row, _ in main_figures(result)}
        short = [cells[0], *(row for row in cells[1:] if row[0] in main)]
        lines += [*as_markdown(short), "", "<details><summary>all rows</summary>", ""]
        lines += [*as_markdown(cells), "", "</details>"]
    else:
        lines += as_markdown(cells)
    lines.append("")
    for metric in result.metrics:
        better = f" ({metric.better} is better)" if metric.better else ""
        lines.append(f"- {metric.title}: {metric.meaning}{better}")
    lines += [f"- note: {note}" for note in result.notes]
    for each in published_beside({encoder: result}):
        verdict = f"not comparable: {each.obstacle}" if each.obstacle else "comparable"
        lines += ["", f"{each.source} ({verdict}):", "", *as_markdown(each.cells)]
    return lines
