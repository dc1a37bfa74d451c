"""xmine eval gain: whether encoders are better than the one that they began as."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import DATA, FIGURES, FORCE
from xmine.cli.console import Console
from xmine.cli.encoders import data_folder, evaluated_facts, load_encoders
from xmine.cli.from_options import with_console, with_options
from xmine.evaluation.options import GainOptions
from xmine.extras import needs

if TYPE_CHECKING:
    from xmine.evaluation.reports.gain import Gain, Gains, Items

_WHAT = "a folder (one with source/ and target/ too), a Hugging Face name, or embedded"


@with_console
@with_options(GainOptions)
def measure_gain(
    baseline: Annotated[
        str, typer.Argument(metavar="BEFORE", help=f"The encoder to compare with: {_WHAT}.")
    ],
    others: Annotated[
        list[str], typer.Argument(metavar="AFTER...", help="Encoders to compare with BEFORE.")
    ],
    options: GainOptions,
    console: Console,
    data: DATA = None,
    output: FIGURES = None,
    force: FORCE = False,
) -> None:
    """Tell whether encoders are better than another by more than chance.

    On Tatoeba, BUCC and the English test set of STS-B, by a paired bootstrap.

    Example: xmine eval gain embedded encoder/ --data eval/
    """
    needs("xmine eval gain", "scipy")
    from xmine.evaluation.reports.gain import measure_gains
    from xmine.evaluation.reports.record import record, write_record
    from xmine.files.atomic import check_free

    folder = data_folder(data)
    if output:
        check_free(output, force=force)
    given = [baseline, *others]
    encoders = [load_encoders(each, options, console) for each in given]
    with console.progress() as report:
        gains = measure_gains(encoders, folder, options, report)
    about = [
        evaluated_facts(pair, options, model) for pair, model in zip(encoders, given, strict=True)
    ]
    figures = record(_as_json(gains, about, options))
    if output:
        write_record(output, figures)
    for reason in gains.failed:
        console.warn(reason)
    console.show(_shown(gains, about, options), figures)
    if gains.failed:
        raise typer.Exit(1)


def _as_json(
    gains: "Gains", about: Sequence[dict[str, object]], options: GainOptions
) -> dict[str, object]:
    """Give everything as JSON can hold it; figures unscaled."""
    from xmine.evaluation.reports.gain import CONFIDENCE

    return {
        "before": about[0],
        "comparisons": [
            {"after": encoder, "gains": [_row(items, gain) for items, gain in rows]}
            for encoder, rows in zip(about[1:], gains.found, strict=True)
        ],
        "skipped": dict(gains.skipped),
        "failed": list(gains.failed),
        "settings": {
            "resamples": options.resamples,
            "seed": options.seed,
            "confidence": CONFIDENCE,
        },
    }


def _row(items: "Items", gain: "Gain") -> dict[str, object]:
    return {
        "benchmark": items.name,
        "metric": items.metric,
        "protocol": items.protocol,
        "unit": items.unit,
        "items": gain.items,
        "before": gain.before,
        "after": gain.after,
        "gain": gain.gain,
        "interval": [gain.low, gain.high],
        "p": gain.p,
        "verdict": gain.verdict,
    }


def _shown(
    gains: "Gains", about: Sequence[dict[str, object]], options: GainOptions
) -> Iterator[str]:
    """Lay the gains out for a terminal of 80 columns: a table for each encoder but the first."""
    from xmine.evaluation.reports.tables import as_text, described

    for encoder, rows in zip(about[1:], gains.found, strict=True):
        yield f"before    {described(about[0])}\n"
        yield f"after     {described(encoder)}\n"
        head = ["", "before", "after", "gain", "95 % interval", "p", ""]
        cells = [_cells(items, gain) for items, gain in rows]
        yield "\n"
        yield from (line + "\n" for line in as_text([head, *cells]))
        yield "\n"
    drawn = f"{options.resamples:,} resamples, seed {options.seed}"
    yield f"note: paired bootstrap: {drawn}; figures times 100\n"
    yield f"note: p: share in which AFTER is no higher, (count + 1) / {options.resamples + 1:,}\n"
    yield "note: better, worse: 0 is outside the interval\n"
    if any(items.metric == "F1" for rows in gains.found for items, _ in rows):
        yield "note: F1: the threshold of each encoder is chosen once, not in each resample\n"
    for task, expected in gains.skipped.items():
        yield f"note: no {task}: expected {expected}\n"


def _cells(items: "Items", gain: "Gain") -> list[str]:
    return [
        f"{items.name}, {items.metric}",
        f"{100 * gain.before:.1f}",
        f"{100 * gain.after:.1f}",
        _signed(gain.gain),
        f"{_signed(gain.low)} to {_signed(gain.high)}",
        f"{gain.p:.4f}",
        gain.verdict,
    ]


def _signed(share: float) -> str:
    """Print a difference times 100 with its sign, none for what rounds to zero."""
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}" if rounded else "0.0"
