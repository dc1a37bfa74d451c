"""xmine score: two files that are aligned already, or one of pairs -> the pairs with scores."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, HUBS, MODEL, PLOT, PLOT_FILE, about_run, load_encoder
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_console, with_options
from xmine.cli.mine import check_vectors
from xmine.cli.outputs import check_outputs, files_of
from xmine.cli.scored import Outcome, warnings_of
from xmine.errors import OptionError
from xmine.options import MiningOptions, ScoringOptions
from xmine.suffixes import PACKED, PAIR_SUFFIXES

if TYPE_CHECKING:
    from xmine.hubs import Hub
    from xmine.scoring import AlignedScores


@with_console
@with_options(ScoringOptions)
def score(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Text file, a sentence per line, or a column of a file (pairs.tsv:1); without "
            "TARGET a file of pairs: .tsv, .jsonl, .parquet, .tmx, or corpus.en,corpus.zh.",
        ),
    ],
    options: ScoringOptions,
    console: Console,
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="The translations, line by line."),
    ] = None,
    pool: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="<source> <target>",
            help="Two more text files to look for neighbours in, one of each language.",
            show_default="none",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help=f"File to write: {PAIR_SUFFIXES} ({PACKED} may follow), or out.en,out.zh.",
            show_default="stdout, TSV",
        ),
    ] = None,
    hubs: HUBS = None,
    force: FORCE = False,
    model: MODEL = None,
    src_vectors: Annotated[
        Path | None,
        typer.Option(
            help="Vectors of the source's lines in place of an encoder: .npy, or raw float32.",
            show_default="none",
        ),
    ] = None,
    tgt_vectors: Annotated[
        Path | None,
        typer.Option(help="The same of the target's lines.", show_default="none"),
    ] = None,
    dim: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="<int>", help="Width of raw float32 vectors.", show_default="of the .npy"
        ),
    ] = None,
    plot: PLOT = False,
    plot_file: PLOT_FILE = None,
) -> None:
    """Score the line pairs of files that are aligned already.

    Prints the columns of mine for every line, in the order of the lines.

    Example: xmine score corpus.en corpus.zh > scored.tsv
    """
    started = time.perf_counter()
    inputs = [each for each in (source, target, *(pool or ())) if each is not None]
    if inputs.count("-") > 1:
        raise OptionError("only one input can be standard input")
    check_vectors(src_vectors, tgt_vectors, dim, model, MiningOptions(**asdict(options)))
    if src_vectors and pool:
        raise OptionError(
            "--pool and vectors: the lines of a pool would have none", "leave out one of them"
        )
    read = files_of(inputs, pairs_first=target is None)
    check_outputs(output, {"hubs": hubs, "picture": plot_file}, read, force=force)

    from xmine.hubs import write_hubs
    from xmine.scoring import score_aligned
    from xmine.vectors import read_vectors

    encoder, vectors = None, None
    used: dict[str, object]
    if src_vectors and tgt_vectors:
        vectors = (read_vectors(src_vectors, dim), read_vectors(tgt_vectors, dim))
        used = {"source": str(src_vectors), "target": str(tgt_vectors)}
        console.detail(f"vectors of {src_vectors} and {tgt_vectors}, width {vectors[0].shape[1]}")
    else:
        encoder = load_encoder(model, options, console)
        used = about_run(encoder, model, options)
    with console.progress() as report:
        scored = score_aligned(source, target, encoder, options, report, pool=pool, vectors=vectors)
    warnings = warnings_of(scored, options, output)
    for warning in warnings:
        console.warn(warning)
    notes = _write(scored, output)
    found = _hubs_of(scored, options) if hubs else None
    if hubs and found is not None:
        notes += [f"{hubs}: {note}" for note in write_hubs(found, hubs)]
    if plot:
        from xmine.cli.plots import show_histogram

        show_histogram(console, scored.chosen.scores, scored.chances, None)
    if plot_file:
        _draw(scored, plot_file, " - ".join(inputs[:2]))
    outcome = Outcome(scored, pool, used, notes, warnings, found, time.perf_counter() - started)
    console.summary(
        (f"{output}: " if output else "") + outcome.summary(),
        outcome.facts(options),
        stdout_has_data=not output,
    )


def _write(scored: "AlignedScores", output: str | None) -> list[str]:
    """Write the pairs to a file or as TSV to stdout; return what the format could not hold."""
    from xmine.formats.losses import Losses
    from xmine.pairs import tsv_rows, write_pairs

    if output:
        return write_pairs(scored.rows(), output, scored.languages).notes
    losses = Losses()
    write_rows(tsv_rows(scored.rows(), losses))
    return losses.notes()


def _draw(scored: "AlignedScores", path: Path, title: str) -> None:
    from xmine.evaluation.score_picture import BINS, draw_histogram
    from xmine.histogram import bin_scores

    draw_histogram(bin_scores(scored.chosen.scores, scored.chances, None, BINS), path, title)


def _hubs_of(scored: "AlignedScores", options: ScoringOptions) -> "list[Hub]":
    from xmine.hubs import find_hubs

    nearest = scored.neighbours.first(options.neighborhood)
    lines = len(scored.given)
    return find_hubs(nearest, scored.source, scored.target, own_lines=(lines, lines))
