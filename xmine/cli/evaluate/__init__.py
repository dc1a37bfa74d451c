"""xmine eval: measure an encoder on a benchmark, with its protocol beside the figure.

The figures are computed in `xmine.evaluation`; here they are asked for and printed.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import typer

from xmine.cli.arguments import DATA, FIGURES, FORCE, MODEL
from xmine.cli.console import Console
from xmine.cli.encoders import data_folder, evaluated_facts, load_encoders
from xmine.cli.evaluate.gain import measure_gain
from xmine.cli.evaluate.report import compare_encoders, evaluate_everything
from xmine.cli.from_options import with_console, with_options
from xmine.evaluation.benchmarks import BENCHMARKS, Benchmark
from xmine.evaluation.options import EvaluationOptions, TransferOptions
from xmine.extras import needs

if TYPE_CHECKING:
    from xmine.evaluation.result import Result

evaluate = typer.Typer(
    help="Measure an encoder on a benchmark, with its protocol beside the figure.",
    short_help="Measure an encoder on benchmarks.",
    no_args_is_help=True,
)


def _command(benchmark: Benchmark) -> Callable[..., None]:
    """Make the command of a benchmark: its options as flags, its figures as a table or JSON."""

    def measure(
        options: EvaluationOptions,
        console: Console,
        data: DATA = None,
        model: MODEL = None,
        output: FIGURES = None,
        force: FORCE = False,
    ) -> None:
        from xmine.evaluation.reports.record import record, write_record
        from xmine.files.atomic import check_free

        evaluated = benchmark.load()
        more = _more(options)
        folder = data_folder(data)
        if output:
            check_free(output, force=force)
        encoder = load_encoders(model, options, console)
        with console.progress() as report:
            result = evaluated(encoder, folder, options, report, **more)
        about = evaluated_facts(encoder, options, model)
        figures = record({**result.as_json(), "encoder": about})
        if output:
            write_record(output, figures)
        console.show(_shown(result, about), figures)
        if result.failed:
            raise typer.Exit(1)

    measure.__doc__ = (
        f"{benchmark.asks}\n\nReads {benchmark.reads}\n\nExample: xmine eval {benchmark.name} "
        "--data eval/ --model encoder/"
    )
    return with_console(with_options(benchmark.options)(measure))


def _more(options: EvaluationOptions) -> dict[str, object]:
    """Give a benchmark what it must not load itself: a learner, if the encoder is to be trained."""
    if not (isinstance(options, TransferOptions) and options.finetune):
        return {}
    needs("--finetune", "torch")
    from xmine.trainer.finetune import FinetunedLearner

    return {"learner": FinetunedLearner(options)}


def _shown(result: "Result", about: dict[str, object]) -> Iterator[str]:
    """Lay a result out for a terminal: what was measured and how, then the table."""
    from xmine.evaluation.reports.tables import as_text, described

    facts = {"protocol": result.protocol, "split": result.split, "encoder": described(about)}
    for name, text in facts.items():
        yield f"{name:<10}{text}\n"
    yield "\n"
    yield from (line + "\n" for line in as_text(result.cells()))
    for note in result.notes:
        yield f"note: {note}\n"


evaluate.command("all", short_help="Run all that there are files for; write a report.")(
    evaluate_everything
)
evaluate.command("compare", short_help="Put encoders, and published figures, side by side.")(
    compare_encoders
)
evaluate.command("gain", short_help="Is an encoder better than another, by more than chance?")(
    measure_gain
)
for _benchmark in BENCHMARKS.values():
    evaluate.command(_benchmark.name, short_help=_benchmark.asks)(_command(_benchmark))
