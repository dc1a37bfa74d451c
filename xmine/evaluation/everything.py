"""One encoder -> all benchmarks that a data folder can serve."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from xmine.encoders.pair import Encoders
from xmine.errors import XmineError
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import EvaluationOptions
from xmine.evaluation.result import Result
from xmine.evaluation.transfer.xrete.average import xrete_result
from xmine.extras import EXTRAS, needs
from xmine.progress import Progress, Report, silent


@dataclass(frozen=True, slots=True)
class EvaluationOutcome:
    """What measuring an encoder on everything gave; benchmark names throughout."""

    results: dict[str, Result] = field(default_factory=dict)  # XRETE as a summary among them
    seconds: dict[str, float] = field(default_factory=dict)  # none for the summary
    missing: dict[str, str] = field(default_factory=dict)  # the files that the data folder lacks
    failed: dict[str, str] = field(default_factory=dict)  # why, though there are files


def evaluate_all(
    encoder: Encoders,
    data: DataFolder,
    options: EvaluationOptions,
    report: Report = silent,
    say: Callable[[str, str], None] = lambda name, text: None,
) -> EvaluationOutcome:
    """Run every benchmark with its default options."""
    needs("measuring everything", *EXTRAS["eval"])
    outcome = EvaluationOutcome()
    for done, (name, benchmark) in enumerate(BENCHMARKS.items()):
        report(Progress("benchmarks", done, len(BENCHMARKS)))
        report(Progress(name, 0, 1))
        started = time.perf_counter()
        try:
            result = benchmark.load()(encoder, data, benchmark.options(**asdict(options)), report)
        except MissingData as error:
            outcome.missing[name] = error.expected
        except XmineError as error:
            outcome.failed[name] = error.message
            say(name, error.message)
        else:
            outcome.results[name] = result
            outcome.seconds[name] = time.perf_counter() - started
            if result.failed:
                outcome.failed[name] = (
                    f"{', '.join(result.failed)}: not measured, its notes say why"
                )
            say(name, headline(result))
        report(Progress(name, 1, 1))
    report(Progress("benchmarks", len(BENCHMARKS), len(BENCHMARKS)))
    if xrete := xrete_result(outcome.results):
        outcome.results["xrete"] = xrete
    if not outcome.results and not outcome.failed:
        raise MissingData(
            f"{data.path or 'no benchmark data'}: there is nothing for any benchmark",
            "xmine eval NAME --help says which files it reads; name the folder with --data",
        )
    return outcome


def headline(result: Result) -> str:
    """Say the figure that stands for a result: `95.0 mean (cmn)`."""
    row, metric = result.headline[0], result.headline_metric()
    return f"{metric.shown(result.figure(row, metric.name))} {metric.title} ({row})"
