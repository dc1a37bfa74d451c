"""xmine mine: two text files -> pairs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from xmine.cli.arguments import (
    DIM,
    DRY_RUN,
    FORCE,
    HUBS,
    MODEL,
    NO_HEADER,
    PLOT,
    PLOT_FILE,
    SRC_VECTORS,
    TGT_VECTORS,
    value,
)
from xmine.cli.console import Console
from xmine.cli.encoders import check_vectors, load_second, load_vectors
from xmine.cli.engines import opened_engine
from xmine.cli.from_options import Grouped, with_console, with_options
from xmine.cli.outputs import check_outputs, draw, input_files, summary, write
from xmine.cli.pair_table import is_terminal, next_steps, show_pairs
from xmine.errors import OptionError
from xmine.files.suffixes import PACKED, PAIR_SUFFIXES
from xmine.mining.options import MiningOptions
from xmine.units import count

if TYPE_CHECKING:
    from xmine.mining.mined import Mined


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
        str, typer.Argument(metavar="TARGET", help="Text file in the other language.")
    ],
    options: MiningOptions,
    console: Console,
    output: Annotated[
        str | None,
        value(
            f"File to write: {PAIR_SUFFIXES} ({PACKED} may follow), or out.en,out.zh; or a "
            "folder, run/, which keeps everything and resumes after an interruption; - for TSV "
            "on stdout.",
            "-o --output",
            group="Most used",
            shown="-, on a terminal the first pairs as a table",
        ),
    ] = None,
    model: MODEL = None,
    rescore: Annotated[
        str | None,
        value(
            "Second model that judges the candidates: an encoder, or a cross-encoder with one "
            "label.",
            group="Quality",
            metavar="<model>",
        ),
    ] = None,
    dry_run: DRY_RUN = False,
    no_header: NO_HEADER = False,
    force: FORCE = False,
    gold: Annotated[
        Path | None,
        value(
            "File of all true pairs, LINE<TAB>LINE, or a judged run; print precision, "
            "recall and F1.",
            group="Quality",
        ),
    ] = None,
    seed_pairs: Annotated[
        Path | None,
        value(
            "File of some known pairs, LINE<TAB>LINE, with an optional third column, 1 for "
            "right or 0 for wrong; or a judged run. They improve the probabilities; wrong pairs "
            "go, right pairs stay.",
            group="Quality",
        ),
    ] = None,
    hubs: HUBS = None,
    plot: PLOT = False,
    plot_file: PLOT_FILE = None,
    src_vectors: SRC_VECTORS = None,
    tgt_vectors: TGT_VECTORS = None,
    dim: DIM = None,
    engine: Annotated[
        Literal["local", "ray"],
        value(
            "Mine on this machine, or on a Ray cluster whose nodes all see the -o RUN/.",
            group="Speed and memory",
            shown=True,
        ),
    ] = "local",
    address: Annotated[
        str | None,
        value(
            "Address of the cluster.",
            group="Speed and memory",
            shown="RAY_ADDRESS, or the cluster on this machine",
            metavar="<host:port>",
        ),
    ] = None,
) -> None:
    """Find the parallel sentences of two text files.

    Prints score, source, target, source line, target line, cosine, probability, flags and margin,
    the best first; on a terminal the first pairs as a table.

    Example: xmine mine en.txt zh.txt --threshold auto > pairs.tsv
    """
    is_shown = output is None and not console.as_json and is_terminal()
    output = None if output == "-" else output
    if source == target == "-":
        raise OptionError("only one side can be standard input")
    check_vectors(src_vectors, tgt_vectors, model, options)
    if options.threshold == "gold" and gold is None:
        raise OptionError("--threshold gold without gold pairs", "give them with --gold FILE")
    from xmine.pairs.known import NOTHING_KNOWN, known_file, read_known

    gold, seed_pairs = (known_file(path) if path else None for path in (gold, seed_pairs))
    read = input_files([source, target], pairs_first=False)
    read += [str(path) for path in (gold, seed_pairs, src_vectors, tgt_vectors) if path]
    others, codes = {"hubs": hubs, "picture": plot_file}, (options.src_lang, options.tgt_lang)
    check_outputs(output, others, read, codes, force=force, or_run=True)

    from xmine.mining.estimate import estimate_run
    from xmine.mining.pipeline import mine as mine_files
    from xmine.pairs.paths import language_warnings
    from xmine.run.folder import bytes_there, makes_run, working_folder
    from xmine.text.inputs import text_input

    run = Path(output) if output and makes_run(output) else None
    inputs = text_input(source), text_input(target)
    seeds = read_known(seed_pairs) if seed_pairs else NOTHING_KNOWN
    truth = read_known(gold) if gold else NOTHING_KNOWN
    with opened_engine(engine, address, run, inputs, dry_run, console) as where:
        encoder, vectors = load_vectors(
            src_vectors, tgt_vectors, dim, model, options, console, second=rescore is not None
        )
        vectorizer = vectors or encoder
        assert vectorizer is not None  # one of them is there
        rescorer = load_second(rescore, options, console)
        estimate = estimate_run(*inputs, vectorizer, options, rescorer)
        said = str(estimate) if estimate else "estimate: none, standard input has no known size"
        if dry_run:
            console.summary(said, estimate.facts() if estimate else {"lines": None})
            return
        console.say(said)
        if estimate:
            estimate.check(options.max_memory, working_folder(run), bytes_there(run))
        with console.progress() as report:
            mined = mine_files(
                *inputs,
                encoder,
                options,
                report,
                vectors=vectors,
                seeds=seeds,
                gold=truth,
                rescorer=rescorer,
                run=run,
                force=force,
                engine=where,
            )
    _explain(console, mined)
    result = mined.report()
    warnings = result.warnings
    if output and run is None:
        warnings += language_warnings(output, mined.languages)
    for warning in warnings:
        console.warn(warning)
    notes = _write_hubs(mined, options, hubs) if hubs else []
    draw(console, mined.curve(), plot, plot_file, [source, target], mined.ranked_by)
    if is_shown:
        show_pairs(mined.pairs.rows(), len(mined.pairs))
    elif run is None:
        notes += write(mined.pairs.rows(), output, mined.languages, header=not no_header)
    said, facts = summary(result, notes, warnings, console, plot=plot)
    console.summary((f"{output}: " if output else "") + said, facts, stdout_has_data=not output)
    if is_terminal() and (run is not None or (is_shown and len(mined.pairs))):
        console.say(next_steps(output), one_line=True)


def _explain(console: Console, mined: "Mined") -> None:
    """Tell what was left out, and why."""
    candidates = mined.candidates
    for side in (candidates.source, candidates.target):
        sentences = len(side) + side.repeated + side.unknown
        cut = "" if side.offsets is None else f", {sentences:,} sentences"
        console.detail(
            f"{side.name}: {side.total:,} lines, {side.blank:,} blank{cut}, "
            f"{side.repeated:,} repeated"
        )
    console.detail(f"languages: {mined.languages[0]} and {mined.languages[1]}")
    console.detail(f"{len(candidates.chosen):,} candidate pairs before the cut")


def _write_hubs(mined: "Mined", options: MiningOptions, path: Path) -> list[str]:
    from xmine.flags.hubness import find_hubs, write_hubs

    candidates = mined.candidates
    nearest = candidates.neighbours.first(options.neighborhood)
    found = find_hubs(nearest, candidates.source, candidates.target)
    return [f"{path}: {count(len(found), 'hub')}", *write_hubs(found, path)]


COMMAND = Grouped
