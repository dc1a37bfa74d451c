"""xmine mine: two text files -> pairs."""

import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, HUBS, MODEL, PLOT, PLOT_FILE, about_run, load_encoder
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_console, with_options
from xmine.cli.mined import Outcome, explain, warnings_of
from xmine.cli.outputs import check_outputs, files_of
from xmine.errors import OptionError
from xmine.formats.losses import count
from xmine.options import EncodingOptions, MiningOptions, flag
from xmine.suffixes import PACKED, PAIR_SUFFIXES

if TYPE_CHECKING:
    from xmine.mining import Mined

_OF_ENCODER = ["src_prompt", "tgt_prompt", *(field.name for field in fields(EncodingOptions))]


@with_console
@with_options(MiningOptions)
def mine(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Text file, a sentence per line; a column of a file (zh.tsv:2, docs.jsonl:text, "
            "docs.parquet:text); - for stdin.",
        ),
    ],
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The same in the other language.")
    ],
    options: MiningOptions,
    console: Console,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help=f"File to write: {PAIR_SUFFIXES} ({PACKED} may follow), or out.en,out.zh.",
            show_default="stdout, TSV",
        ),
    ] = None,
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
    gold: Annotated[
        Path | None,
        typer.Option(
            help="File of all true pairs, LINE<TAB>LINE; print precision, recall and F1.",
            show_default="none",
        ),
    ] = None,
    seed_pairs: Annotated[
        Path | None,
        typer.Option(
            help="File of some known pairs, LINE<TAB>LINE, and perhaps a third column, 1 or 0; "
            "sharpens the estimate of precision.",
            show_default="none",
        ),
    ] = None,
    hubs: HUBS = None,
    plot: PLOT = False,
    plot_file: PLOT_FILE = None,
) -> None:
    """Find the parallel sentences of two text files.

    Prints score, source, target, source line, target line, cosine, probability and flags, best
    first.

    Example: xmine mine en.txt zh.txt --threshold auto > pairs.tsv
    """
    started = time.perf_counter()
    if source == target == "-":
        raise OptionError("only one side can be standard input")
    check_vectors(src_vectors, tgt_vectors, dim, model, options)
    known_files = {"gold": gold, "seed pairs": seed_pairs}
    read = files_of([source, target], pairs_first=False)
    read += [str(each) for each in known_files.values() if each]
    check_outputs(output, {"hubs": hubs, "picture": plot_file}, read, force=force)

    from xmine.known import check_known, read_known
    from xmine.mining import mine as mine_files
    from xmine.vectors import read_vectors

    known = {name: read_known(path) if path else [] for name, path in known_files.items()}
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
        mined = mine_files(
            source,
            target,
            encoder,
            options,
            report,
            vectors=vectors,
            seeds=known["seed pairs"],
            gold=known["gold"],
        )
    for name, path in known_files.items():
        check_known(known[name], mined.scored.source, mined.scored.target, str(path))
    explain(console, mined)
    warnings = warnings_of(mined, output)
    for warning in warnings:
        console.warn(warning)
    notes = _write(mined, output)
    if hubs:
        notes += _write_hubs(mined, options, hubs)
    if plot:
        from xmine.cli.plots import show_histogram

        show_histogram(console, *mined.curve())
    if plot_file:
        _draw(mined, plot_file, f"{source} - {target}")
    outcome = Outcome(
        mined,
        used,
        notes,
        warnings,
        known["gold"],
        known["seed pairs"],
        time.perf_counter() - started,
    )
    console.summary(
        (f"{output}: " if output else "") + outcome.summary(),
        outcome.facts(options, plot=plot),
        stdout_has_data=not output,
    )


def check_vectors(
    source: Path | None,
    target: Path | None,
    dim: int | None,
    model: str | None,
    options: MiningOptions,
) -> None:
    """Refuse what makes no sense with vectors of lines, or without them."""
    if (source is None) != (target is None):
        raise OptionError(
            "vectors of one side only", "give both --src-vectors and --tgt-vectors, or neither"
        )
    if source is None:
        if dim is not None:
            raise OptionError("--dim without vectors", "give --src-vectors and --tgt-vectors")
        return
    if options.segment:
        raise OptionError(
            "--segment and vectors: a vector is of a whole line",
            "leave out the vectors, or --segment",
        )
    usual = MiningOptions()
    given = [name for name in _OF_ENCODER if getattr(options, name) != getattr(usual, name)]
    if model is not None:
        given.insert(0, "model")
    if given:
        raise OptionError(
            f"{flag(given[0])} and vectors", "vectors take the place of an encoder: give one"
        )


def _write(mined: "Mined", output: str | None) -> list[str]:
    """Write the pairs to a file or as TSV to stdout; return what the format could not hold."""
    from xmine.formats.losses import Losses
    from xmine.pairs import tsv_rows, write_pairs

    if output:
        return write_pairs(mined.pairs.rows(), output, mined.languages).notes
    losses = Losses()
    write_rows(tsv_rows(mined.pairs.rows(), losses))
    return losses.notes()


def _write_hubs(mined: "Mined", options: MiningOptions, path: Path) -> list[str]:
    from xmine.hubs import find_hubs, write_hubs

    scored = mined.scored
    found = find_hubs(scored.neighbours.first(options.neighborhood), scored.source, scored.target)
    return [f"{path}: {count(len(found), 'hub')}", *write_hubs(found, path)]


def _draw(mined: "Mined", path: Path, title: str) -> None:
    from xmine.evaluation.score_picture import BINS, draw_histogram
    from xmine.histogram import bin_scores

    draw_histogram(bin_scores(*mined.curve(), BINS), path, title)
