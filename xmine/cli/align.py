"""xmine align: two versions of one document -> beads of lines that are translations."""

from dataclasses import replace
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

    The lines of both are in the same order, or texts have the same keys. A bead is some lines of
    one side and their translation: up to 8 lines, or a paragraph and its sentences. Prints
    probability, source, target, their lines (12, or 12-13) and flags, in the order of the document.

    Example: xmine align book.en book.de -o book.tmx

    Args:
        target: The same document in the other language.
    """
    output = on_stdout(console, output, format)
    from xmine.aligning.forms import by_keys
    from xmine.aligning.pipeline import align as align_files
    from xmine.text.inputs import text_input
    from xmine.text.keys import shared_keys

    codes = options.src_lang, options.tgt_lang
    run = check_output(output, [source, target], codes, force=force, or_run=True)
    inputs = text_input(source, join=options.join), text_input(target, join=options.join)
    encoder = load_encoders(model, options, console)
    is_plain = replace(options, src_lang="", tgt_lang="") == AligningOptions() and not run
    if is_plain and (keys := len(shared_keys(inputs))):
        with console.progress() as report:
            found = by_keys(inputs, encoder, options, report)
        said = f"{keys:,} keys are shared, by which texts are paired; --min-prob 0 aligns them"
        finish(console, found.report(), output, found.rows(), format=format, notes=[said])
        return
    with console.progress() as report:
        aligned = align_files(*inputs, encoder, options, report, run=run, force=force)
    rows = None if run else aligned.rows()
    finish(console, aligned.report(), output, rows, format=format)
