"""xmine mine: two text files -> pairs."""

import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, MODEL, about_run, load_encoder
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_console, with_options
from xmine.cli.mined import Outcome, explain, warnings_of
from xmine.errors import FileError, OptionError
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
            help="File of true pairs, LINE<TAB>LINE; print precision, recall and F1.",
            show_default="none",
        ),
    ] = None,
) -> None:
    """Find the parallel sentences of two text files.

    Prints score, source, target, source line, target line and cosine, best first.

    Example: xmine mine en.txt zh.txt --threshold auto > pairs.tsv
    """
    started = time.perf_counter()
    if source == target == "-":
        raise OptionError("only one side can be standard input")
    _check_vectors(src_vectors, tgt_vectors, dim, model, options)
    _check_output(output, force)

    from xmine.agreement import agreement
    from xmine.mining import mine as mine_files
    from xmine.vectors import read_vectors

    truth = _read_gold(gold) if gold else None
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
        mined = mine_files(source, target, encoder, options, report, vectors=vectors)
    if truth is not None:
        _check_gold(truth, mined, str(gold))
    explain(console, mined)
    warnings = warnings_of(mined, output)
    for warning in warnings:
        console.warn(warning)
    notes = _write(mined, output)
    found = None
    if truth is not None:
        lines = zip(mined.pairs.source_lines, mined.pairs.target_lines, strict=True)
        found = agreement({(int(left), int(right)) for left, right in lines}, truth)
    seconds = time.perf_counter() - started
    outcome = Outcome(mined, used, notes, warnings, found, seconds)
    console.summary(
        (f"{output}: " if output else "") + outcome.summary(),
        outcome.facts(options),
        stdout_has_data=not output,
    )


def _check_vectors(
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


def _check_output(output: str | None, force: bool) -> None:
    if output is None:
        return
    from xmine.pairs import check_pair_file

    check_pair_file(output, force=force)


def _write(mined: "Mined", output: str | None) -> list[str]:
    """Write the pairs to a file or as TSV to stdout; return what the format could not hold."""
    from xmine.formats.losses import Losses
    from xmine.pairs import tsv_rows, write_pairs

    if output:
        return write_pairs(mined.pairs.rows(), output, mined.languages).notes
    losses = Losses()
    write_rows(tsv_rows(mined.pairs.rows(), losses))
    return losses.notes()


def _read_gold(path: Path) -> list[tuple[int, int]]:
    from xmine.agreement import read_id_pairs

    rows = []
    for number, (source, target) in enumerate(read_id_pairs(path), start=1):
        if not (source.isdecimal() and target.isdecimal()):
            raise FileError(f"{path}:{number}: expected two line numbers with a tab between")
        rows.append((int(source), int(target)))
    return rows


def _check_gold(truth: list[tuple[int, int]], mined: "Mined", name: str) -> None:
    sides = (mined.scored.source, mined.scored.target)
    for number, lines in enumerate(truth, start=1):
        for line, side in zip(lines, sides, strict=True):
            if not 1 <= line <= side.total:
                raise FileError(
                    f"{name}:{number}: line {line} of {side.name}, which has {side.total:,}",
                    "the first column is a line of the first file, the second of the second",
                )
