"""xmine align: two versions of one document -> beads of lines that are translations."""

from typing import Annotated

import typer

from xmine.aligning.options import AligningOptions
from xmine.cli.arguments import FORCE, FORMAT, MODEL, OUTPUT, SOURCE
from xmine.cli.console import Console
from xmine.cli.encoders import load_encoders
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import check_output, finish, on_stdout


@with_flags
def align(
    source: SOURCE,
    target: Annotated[str, typer.Argument(metavar="TARGET")],
    options: AligningOptions,
    console: Console,
    model: MODEL = None,
    output: OUTPUT = None,
    format: FORMAT = None,
    force: FORCE = False,
) -> None:
    """Pair the lines of two versions of one document.

    The lines of both are in the same order. A bead is some lines of one side and their translation:
    up to 8 lines, or a paragraph and its sentences. Prints probability, source, target, their
    lines (12, or 12-13) and flags, in the order of the document.

    Example: xmine align book.en book.de -o book.tmx

    Args:
        target: The same document in the other language.
    """
    output = on_stdout(console, output, format)
    from xmine.aligning.pipeline import align as align_files

    codes = options.src_lang, options.tgt_lang
    run = check_output(output, [source, target], codes, force=force, or_run=True)
    encoder = load_encoders(model, options, console)
    with console.progress() as report:
        aligned = align_files(source, target, encoder, options, report, run=run, force=force)
    rows = None if run else aligned.rows()
    finish(console, aligned.report(), output, rows, format=format)
