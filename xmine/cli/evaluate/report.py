"""xmine eval all and xmine eval compare: one encoder on everything, encoders side by side."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import DATA, FORCE, MODEL, value
from xmine.cli.console import Console, write_rows
from xmine.cli.encoders import data_folder, evaluated_facts, load_encoders
from xmine.cli.from_options import with_console, with_options
from xmine.errors import FileError, XmineError
from xmine.evaluation.options import EvaluationOptions
from xmine.files.records import json_row

if TYPE_CHECKING:
    from xmine.evaluation.everything import EvaluationOutcome
    from xmine.evaluation.reports.compare import Comparison
    from xmine.evaluation.result import Result
    from xmine.progress import Report


@with_console
@with_options(EvaluationOptions)
def evaluate_everything(
    options: EvaluationOptions,
    console: Console,
    data: DATA = None,
    model: MODEL = None,
    output: Annotated[
        Path | None,
        value("Folder for the report: report.md, report.json, pictures.", "-o --output"),
    ] = None,
    force: FORCE = False,
) -> None:
    """Run every benchmark that the data folder has files for, and write one report.

    Example: xmine eval all --data eval/ --model encoder/ -o report/
    """
    from xmine.evaluation.everything import evaluate_all, headline
    from xmine.evaluation.reports.report import REPORT_FILE, write_report
    from xmine.evaluation.reports.tables import as_text
    from xmine.files.atomic import check_free, replacing_folder

    folder = data_folder(data)
    if output:
        check_free(output, force=force, folder=True)
        if output.exists() and any(output.iterdir()) and not (output / REPORT_FILE).is_file():
            raise FileError(
                f"{output}: exists and is not a report of xmine, so it is not replaced",
                "give another name",
            )
    encoder = load_encoders(model, options, console)
    about = evaluated_facts(encoder, options, model)
    with console.progress() as report:
        outcome = evaluate_all(
            encoder, folder, options, report, lambda name, text: console.detail(f"{name}: {text}")
        )
        if output:
            from xmine.evaluation.reports.illustrations import draw_pictures

            with replacing_folder(output) as partial:
                pictures: dict[str, str] = {}
                try:
                    pictures = draw_pictures(encoder, folder, options, partial, report)
                except XmineError as error:  # the figures are worth a report without them
                    outcome.failed["pictures"] = error.message
                write_report(partial, outcome, about, pictures)
    for name, reason in outcome.failed.items():
        console.warn(f"{name}: {reason}")
    if console.as_json:
        found = {name: each.as_json() for name, each in outcome.results.items()}
        left = {"missing": outcome.missing, "failed": outcome.failed}
        write_rows([json_row({"encoder": about, "results": found, **left})])
    else:
        cells = [[name, headline(result)] for name, result in outcome.results.items()]
        write_rows(line + "\n" for line in as_text([["benchmark", "figure"], *cells]))
        console.say(_summary(outcome, console.seconds, output))
    if outcome.failed:
        raise typer.Exit(1)


def _summary(outcome: "EvaluationOutcome", seconds: float, output: Path | None) -> str:
    parts = [f"{len(outcome.seconds)} benchmarks in {seconds:.0f} s"]
    if outcome.missing:
        parts.append(f"no files for {', '.join(outcome.missing)}")
    if outcome.failed:
        parts.append(f"failed: {', '.join(outcome.failed)}")
    return "; ".join([*parts, *([f"{output / 'report.md'}"] if output else [])])


@with_console
@with_options(EvaluationOptions)
def compare_encoders(
    encoders: Annotated[
        list[str],
        typer.Argument(
            metavar="ENCODER...",
            help="Reports or figures that xmine eval wrote with -o, folders of encoders, "
            "Hugging Face names, or embedded; an encoder is measured on everything first.",
        ),
    ],
    options: EvaluationOptions,
    console: Console,
    data: DATA = None,
) -> None:
    """Put encoders side by side, and the published figures that may stand beside them.

    Example: xmine eval compare report/ other-report/
    """
    from xmine.evaluation.reports.compare import compare, short_names

    results: dict[str, dict[str, Result]] = {}
    has_failed = False
    with console.progress() as report:
        for given in encoders:
            name, found, failed = _results(given, options, data, console, report)
            has_failed |= failed
            names = [name, *(f"{name} #{n}" for n in range(2, len(encoders) + 1))]
            results[next(each for each in names if each not in results)] = found
    labels = short_names(results)
    comparisons = compare({labels[name]: found for name, found in results.items()})
    if console.as_json:
        write_rows(json_row(_as_json(each)) for each in comparisons)
    else:
        write_rows(line for each in comparisons for line in _shown(each))
    if has_failed:
        raise typer.Exit(1)


def _results(
    given: str, options: EvaluationOptions, data: Path | None, console: Console, report: "Report"
) -> tuple[str, dict[str, "Result"], bool]:
    """Read the figures of a file or report, or measure an encoder; tell whether any failed."""
    from xmine.evaluation.everything import evaluate_all
    from xmine.evaluation.reports.report import REPORT_FILE, read_report

    path = Path(given)
    if path.suffix == ".json" and not path.exists():
        raise FileError(f"{given}: no such file")
    if path.is_file() or (path / REPORT_FILE).is_file():
        return *read_report(path), False
    encoder = load_encoders(given, options, console)
    outcome = evaluate_all(encoder, data_folder(data), options, report)
    for name, reason in outcome.failed.items():
        console.warn(f"{given}: {name}: {reason}")
    return given, outcome.results, bool(outcome.failed)


def _as_json(comparison: "Comparison") -> dict[str, object]:
    """Give figures as numbers: ours unscaled, published ones as printed."""
    published = [
        {
            "source": each.source,
            "not_comparable": each.obstacle,
            "columns": [{"row": row, "metric": metric} for row, metric in each.columns],
            "as_printed": each.systems,
        }
        for each in comparison.published
    ]
    return {
        "benchmark": comparison.benchmark,
        "figures": [
            {"row": row, "metric": metric, "encoders": figures}
            for (row, metric), figures in comparison.figures.items()
        ],
        "published": published,
        "notes": comparison.notes,
    }


def _shown(comparison: "Comparison") -> Iterator[str]:
    from xmine.evaluation.benchmarks import ABOUT
    from xmine.evaluation.reports.tables import as_text

    yield f"{comparison.benchmark}: {ABOUT[comparison.benchmark][0]}\n\n"
    yield from (f"  {line}\n" for line in as_text(comparison.cells))
    yield from (f"  note: {note}\n" for note in comparison.notes)
    for each in comparison.published:
        mark = f"\n  NOT COMPARABLE: {each.obstacle}" if each.obstacle else ""
        yield f"\n  {each.source}{mark}\n"
        yield from (f"    {line}\n" for line in as_text(each.cells))
    yield "\n"
