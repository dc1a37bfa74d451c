"""xmine mine: two text files -> pairs."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import (
    DIM,
    FORCE,
    HUBS,
    MODEL,
    PLOT,
    PLOT_FILE,
    SRC_VECTORS,
    TGT_VECTORS,
    check_vectors,
    load_vectors,
)
from xmine.cli.console import Console
from xmine.cli.from_options import with_console, with_options
from xmine.cli.mine_summary import Outcome, explain, ranked_by, warnings_of
from xmine.cli.option_groups import Mining
from xmine.cli.outputs import check_outputs, draw, files_of, keep_summary, write
from xmine.cli.pair_table import is_terminal, next_steps, show_pairs
from xmine.errors import OptionError
from xmine.files.suffixes import PACKED, PAIR_SUFFIXES
from xmine.mining.options import MiningOptions
from xmine.units import count

if TYPE_CHECKING:
    from xmine.mining.selection import Mined


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
            help=f"File to write: {PAIR_SUFFIXES} ({PACKED} may follow), or out.en,out.zh; or a "
            "folder, run/, which keeps everything and goes on where it was interrupted; - for TSV "
            "on stdout.",
            show_default="-, on a terminal the first pairs as a table",
        ),
    ] = None,
    force: FORCE = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it will take, and stop.")
    ] = False,
    model: MODEL = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="File of all true pairs, LINE<TAB>LINE, or a run that was judged; print "
            "precision, recall and F1.",
            show_default="none",
        ),
    ] = None,
    seed_pairs: Annotated[
        Path | None,
        typer.Option(
            help="File of some known pairs, LINE<TAB>LINE, and perhaps a third column, 1 or 0; or "
            "a run that was judged; sharpens the estimate; wrong ones go, right ones stay.",
            show_default="none",
        ),
    ] = None,
    hubs: HUBS = None,
    plot: PLOT = False,
    plot_file: PLOT_FILE = None,
    src_vectors: SRC_VECTORS = None,
    tgt_vectors: TGT_VECTORS = None,
    dim: DIM = None,
) -> None:
    """Find the parallel sentences of two text files.

    Prints score, source, target, source line, target line, cosine, probability and flags, the most
    probable first; on a terminal the first pairs as a table.

    Example: xmine mine en.txt zh.txt --threshold auto > pairs.tsv
    """
    started = time.perf_counter()
    is_shown = output is None and not console.as_json and is_terminal()
    output = None if output == "-" else output
    if source == target == "-":
        raise OptionError("only one side can be standard input")
    check_vectors(src_vectors, tgt_vectors, dim, model, options)
    from xmine.pairs.known import NOTHING_KNOWN, known_file, read_known

    gold, seed_pairs = (known_file(path) if path else None for path in (gold, seed_pairs))
    read = files_of([source, target], pairs_first=False)
    read += [str(path) for path in (gold, seed_pairs, src_vectors, tgt_vectors) if path]
    check_outputs(output, {"hubs": hubs, "picture": plot_file}, read, force=force, or_run=True)

    from xmine.mining.estimate import estimate_run
    from xmine.mining.pipeline import mine as mine_files
    from xmine.run.folder import bytes_there, is_run, working_folder

    seeds = read_known(seed_pairs) if seed_pairs else NOTHING_KNOWN
    truth = read_known(gold) if gold else NOTHING_KNOWN
    encoder, vectors, used = load_vectors(src_vectors, tgt_vectors, dim, model, options, console)
    made_by = vectors or encoder
    assert made_by is not None  # one of them is there
    estimate = estimate_run(source, target, made_by, options)
    said = (
        str(estimate)
        if estimate
        else "estimate: none, since what is piped in tells no size beforehand"
    )
    if dry_run:
        console.summary(said, estimate.facts() if estimate else {"lines": None})
        return
    console.say(said)
    run = Path(output) if output and is_run(output) else None
    if estimate:
        estimate.check(options.max_memory, working_folder(run), bytes_there(run))
    with console.progress() as report:
        mined = mine_files(
            source,
            target,
            encoder,
            options,
            report,
            vectors=vectors,
            seeds=seeds,
            gold=truth,
            run=run,
            force=force,
        )
    explain(console, mined)
    warnings = warnings_of(mined, options, None if run else output)
    for warning in warnings:
        console.warn(warning)
    notes = _write_hubs(mined, options, hubs) if hubs else []
    draw(console, mined.curve(), plot, plot_file, [source, target], ranked_by(mined))
    if is_shown:
        show_pairs(mined.pairs.rows(), len(mined.pairs))
    elif run is None:
        notes += write(mined.pairs.rows(), output, mined.languages)
    outcome = Outcome(mined, used, notes, warnings, time.perf_counter() - started)
    facts = outcome.facts(options, plot=plot)
    if run is not None:
        keep_summary(run, outcome.summary(), facts)
    console.summary(
        (f"{output}: " if output else "") + outcome.summary(), facts, stdout_has_data=not output
    )
    if is_shown and len(mined.pairs):
        console.say(next_steps(), whole=True)


def _write_hubs(mined: "Mined", options: MiningOptions, path: Path) -> list[str]:
    from xmine.flags.hubness import find_hubs, write_hubs

    scored = mined.scored
    found = find_hubs(scored.neighbours.first(options.neighborhood), scored.source, scored.target)
    return [f"{path}: {count(len(found), 'hub')}", *write_hubs(found, path)]


COMMAND = Mining
