"""xmine eval: measure an encoder on a benchmark, on all, or put encoders side by side.

The figures are computed in `xmine.evaluation`; here they are asked for and printed.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import DATA, FORCE, MODEL, value
from xmine.cli.console import Console
from xmine.cli.encoders import data_folder, evaluated_facts, load_encoders
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.errors import FileError
from xmine.evaluation.benchmarks import BENCHMARKS, Benchmark
from xmine.evaluation.options import EvaluationOptions, ReportOptions
from xmine.options import check_choice

if TYPE_CHECKING:
    from xmine.evaluation.reports.table import Line, Published
    from xmine.evaluation.result import Result

evaluate = typer.Typer(
    help="Measure an encoder on a benchmark, with its protocol beside the figure.",
    short_help="Measure an encoder on benchmarks.",
    no_args_is_help=True,
)


def command_of(benchmark: Benchmark, program: str = "xmine eval") -> Callable[..., None]:
    """Make the command of a benchmark: its options as flags, its figures as a table or JSON."""

    def measure(
        options: EvaluationOptions,
        console: Console,
        data: DATA = None,
        model: MODEL = None,
        output: Annotated[
            Path | None, value("Also write the figures to a JSON file.", "-o --output")
        ] = None,
        force: FORCE = False,
    ) -> None:
        from xmine.evaluation.reports.record import record, write_record
        from xmine.evaluation.reports.table import as_text, described
        from xmine.files.atomic import check_free

        evaluated, folder = benchmark.load(), data_folder(data)
        if output:
            check_free(output, force=force)
        encoder = load_encoders(model, options, console)
        with console.progress() as report:
            result = evaluated(encoder, folder, options, report)
        about = evaluated_facts(encoder, options, model)
        if output:
            write_record(output, record({**result.as_json(with_values=True), "encoder": about}))
        rows = [f"protocol  {result.protocol}", f"split     {result.split}"]
        rows += [f"encoder   {described(about)}", "", *as_text(result.cells())]
        rows += [f"note: {note}" for note in result.notes]
        console.show((f"{row}\n" for row in rows), record({**result.as_json(), "encoder": about}))
        if result.failed:
            raise typer.Exit(1)

    measure.__doc__ = (
        f"{benchmark.asks}\n\nReads {benchmark.reads}\n\nExample: {program} {benchmark.name} "
        "--data eval/ --model encoder/"
    )
    return with_flags(measure, benchmark.options)


@evaluate.command("all", short_help="Run all that there are files for; write a report.")
@with_flags
def evaluate_everything(
    options: EvaluationOptions,
    console: Console,
    data: DATA = None,
    model: MODEL = None,
    output: Annotated[Path | None, value(names="-o --output")] = None,
    force: FORCE = False,
) -> None:
    """Run every benchmark that the data folder has files for, and write one report.

    Example: xmine eval all --data eval/ --model encoder/ -o report/

    Args:
        output: Folder for the report: report.md and report.json.
    """
    from xmine.evaluation.reports.report import REPORT_FILE, evaluate_all, headline, write_report
    from xmine.evaluation.reports.table import as_text
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
            with replacing_folder(output) as partial:
                write_report(partial, outcome, about)
    console.warn(*(f"{name}: {reason}" for name, reason in outcome.failed.items()))
    found = {name: each.as_json() for name, each in outcome.results.items()}
    left = {"missing": outcome.missing, "failed": outcome.failed}
    cells = [[name, headline(result)] for name, result in outcome.results.items()]
    shown = (line + "\n" for line in as_text([["benchmark", "figure"], *cells]))
    console.show(shown, {"encoder": about, "results": found, **left})
    said = [f"{len(outcome.seconds)} benchmarks in {console.seconds:.0f} s"]
    said += [f"failed: {', '.join(outcome.failed)}"] if outcome.failed else []
    said += [f"no files for {', '.join(outcome.missing)}"] if outcome.missing else []
    console.say("; ".join([*said, *([f"{output / 'report.md'}"] if output else [])]))
    if outcome.failed:
        raise typer.Exit(1)


@evaluate.command("fetch", short_help="Fetch files of benchmarks, or tell where they are.")
@with_flags
def fetch_files(
    console: Console,
    output: Annotated[Path, value(names="-o --output")],
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME...]")] = None,
) -> None:
    """Fetch files of benchmarks, compared with known sums; of others print where they are.

    Example: xmine eval fetch sts -o data/

    Args:
        output: The data folder, as --data names it.
        names: Benchmarks, such as sts, or sources, such as stsb; all, if none is named.
    """
    from xmine.evaluation.fetching import fetch, sources

    known, rows, facts = sources(), list[str](), {}
    of = {name: {name, *source.reads.split()} for name, source in known.items()}
    for name in names or ():
        check_choice("NAME", name, sorted(set().union(*of.values())))
    for name, source in known.items():
        if not names or of[name] & {*names}:
            new, place = len([*fetch(source, output)]), output / source.place
            there = len([*place.glob(source.pattern)])
            told = f"not fetched: take {source.pattern} from {source.page} to {place}"
            told = f"{count(there, 'file')} in {place}, {new} of them new" if there else told
            rows.append(f"{name}: {source.what}; {source.licence}\n  {told}\n")
            facts[name] = {"new": new, "files": there, "page": source.page}
    console.show(iter(rows), facts)


@evaluate.command("report", short_help="Put encoders in one table, with published figures.")
@with_flags
def compare_encoders(
    encoders: Annotated[list[str], typer.Argument(metavar="ENCODER...")],
    options: ReportOptions,
    console: Console,
    data: DATA = None,
) -> None:
    """Put encoders in one table: figures, intervals, gains over the first, published figures.

    Example: xmine eval report report/ other-report/

    Args:
        encoders: Reports or figures that xmine eval wrote with -o, folders of encoders, Hugging
            Face names, or embedded; an encoder is measured first.
    """
    from xmine.evaluation.reports import table

    for name in options.benchmark:
        check_choice("--benchmark", name, BENCHMARKS)
    results: dict[str, dict[str, Result]] = {}
    has_failed = False
    for given in encoders:
        name, found, failed = _results(given, options, data, console)
        has_failed |= failed
        # Records of one encoder, such as figures of several benchmarks, are one column.
        known = results.get(name, {})
        if known.keys() & found:
            name = next(x for n in range(2, 99) if (x := f"{name} #{n}") not in results)
            known = {}
        results[name] = known | found
    ends = {name: Path(name).name for name in results}
    labels = ends if len({*ends.values()}) == len(ends) else {name: name for name in ends}
    named = {labels[name]: found for name, found in results.items()}
    lines = table.compared(named, options.resamples, options.seed)
    of_each = table.by_benchmark(named).values()
    published = [paper for of in of_each for paper in table.published_beside(of)]
    notes = table.unlike_notes(named)
    console.show(_shown(lines, published, notes, list(named)), _as_json(lines, published, notes))
    if has_failed:
        raise typer.Exit(1)


def _results(
    given: str, options: ReportOptions, data: Path | None, console: Console
) -> tuple[str, dict[str, "Result"], bool]:
    """Read the figures of a file or report, or measure an encoder; tell whether any failed."""
    from xmine.evaluation.reports.report import REPORT_FILE, evaluate_all, read_report

    path, wanted = Path(given), options.benchmark
    if path.suffix == ".json" and not path.exists():
        raise FileError(f"{given}: no such file")
    if path.is_file() or (path / REPORT_FILE).is_file():
        name, found = read_report(path)
        return name, {x: y for x, y in found.items() if x in wanted or not wanted}, False
    encoder = load_encoders(given, options, console)
    with console.progress() as report:
        outcome = evaluate_all(encoder, data_folder(data), options, report, only=wanted)
    console.warn(*(f"{given}: {name}: {reason}" for name, reason in outcome.failed.items()))
    return given, outcome.results, bool(outcome.failed)


def _shown(
    lines: "list[Line]", published: "list[Published]", notes: list[str], encoders: list[str]
) -> Iterator[str]:
    from xmine.evaluation.reports.table import as_cells, as_text

    yield from (line + "\n" for line in as_text(as_cells(lines, encoders)))
    if any(each.interval for line in lines for each in line.figures.values()):
        yield "note: in brackets the 95 % interval of a bootstrap, paired for gains\n"
    yield from (f"note: {note}\n" for note in notes)
    for each in published:
        mark = f"\n  NOT COMPARABLE: {each.obstacle}" if each.obstacle else ""
        yield f"\n{each.benchmark}: {each.source}{mark}\n"
        yield from (f"  {line}\n" for line in as_text(each.cells))


def _as_json(
    lines: "list[Line]", published: "list[Published]", notes: list[str]
) -> dict[str, object]:
    """Give figures as numbers: ours unscaled, published ones as printed."""
    return {
        "figures": [
            {
                "benchmark": line.benchmark,
                "row": line.row,
                "metric": line.metric.name,
                "encoders": {
                    who: asdict(each) | ({"verdict": each.verdict} if each.gain_interval else {})
                    for who, each in line.figures.items()
                },
            }
            for line in lines
        ],
        "published": [
            {
                "benchmark": each.benchmark,
                "source": each.source,
                "not_comparable": each.obstacle,
                "columns": [{"row": row, "metric": metric} for row, metric in each.columns],
                "as_printed": each.systems,
            }
            for each in published
        ],
        "notes": notes,
    }


for _benchmark in BENCHMARKS.values():
    evaluate.command(_benchmark.name, short_help=_benchmark.asks)(command_of(_benchmark))
