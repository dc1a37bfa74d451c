"""xmine encode: a text file -> a matrix of sentence vectors."""

import os
from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.arguments import FORCE, MODEL, PROMPT, value
from xmine.cli.console import Console
from xmine.cli.encoders import load_encoder, warn_without_effect
from xmine.cli.from_options import with_console, with_options
from xmine.errors import OptionError
from xmine.options import EncodingOptions
from xmine.units import count

_LOOKED_AT = 65_536  # lines by which the language is told


@with_console
@with_options(EncodingOptions)
def encode(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Text file, a sentence per line, or a column of one; - for stdin."
        ),
    ],
    output: Annotated[str, value("The .npy file to write.", "-o --output", shown=True)],
    options: EncodingOptions,
    console: Console,
    force: FORCE = False,
    model: MODEL = None,
    prompt: PROMPT = "",
) -> None:
    """Turn a text file into a matrix of sentence vectors.

    The matrix is float32 [lines, dim], a row of length one per line; a blank line is zeros.

    Example: xmine encode en.txt -o en.npy
    """
    path = Path(output)
    if path.suffix != ".npy":
        raise OptionError(f"-o {output}: unknown format", "end it in .npy")

    import itertools

    import numpy as np

    from xmine.encoders.pair import encoder_facts
    from xmine.files.atomic import check_free, replacing
    from xmine.files.npy import MatrixWriter
    from xmine.progress import Progress, silent
    from xmine.text.identification import check_language
    from xmine.text.inputs import text_input
    from xmine.vectors.encoding import encode_blocks

    check_free(path, force=force)
    if os.path.realpath(path) == os.path.realpath(file):
        raise OptionError(f"-o {output}: input and output are the same file", "give another name")
    source = text_input(file)
    lines = source.texts()
    first = list(itertools.islice(lines, _LOOKED_AT))  # an input that is none is refused here
    encoder = load_encoder(model, options, console)
    warn_without_effect([encoder], options, console)
    if warning := check_language(source.name, first, encoder.facts.languages):
        console.warn(warning)
    size, zeros = encoder.texts_at_once, 0
    lines = itertools.chain(first, lines)
    blocks = iter(lambda: list(itertools.islice(lines, size)), [])
    with (
        replacing(path) as partial,
        partial.open("r+b", buffering=0) as stream,
        console.progress() as report,
    ):
        total = 0
        if report is not silent and source.is_rereadable:
            total = source.survey.lines
        writer = MatrixWriter(stream, path, encoder.dim, np.float32)

        def within(progress: Progress) -> None:
            done = writer.rows + progress.done
            report(Progress("encoding", done, max(total, done)))

        for block in encode_blocks(encoder, blocks, encoder.encode, within, prompt):
            writer.write(block)
            zeros += int((~block.any(axis=1)).sum())
            within(Progress("encoding", 0, total))
        writer.finish()
    console.summary(
        f"{count(writer.rows, 'line')} -> {path} float32 {[writer.rows, encoder.dim]}, "
        f"{count(zeros, 'row')} of zeros, {encoder.device} {encoder.dtype}, "
        f"{console.seconds:.1f} s",
        {
            "lines": writer.rows,
            "dim": encoder.dim,
            "zeros": zeros,
            "output": output,
            **encoder_facts(encoder),
            "seconds": round(console.seconds, 3),
        },
    )
