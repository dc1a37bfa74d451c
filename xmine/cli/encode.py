"""xmine encode: a text file -> a matrix of sentence vectors."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, JOIN, MODEL, PROMPT, value
from xmine.cli.console import Console
from xmine.cli.encoders import load_encoder, warn_without_effect
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.errors import OptionError
from xmine.options import EncodingOptions
from xmine.progress import Progress, Report, silent
from xmine.text.folding import MOST_CHARACTERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from xmine.encoders.encoder import SentenceEncoder

_LOOKED_AT = 65_536  # lines by which the language is told
_NAMED = 5  # lines that are named


@with_flags
def encode(
    file: Annotated[str, typer.Argument(metavar="FILE")],
    output: Annotated[str, value("The .npy file to write.", "-o --output", shown=True)],
    options: EncodingOptions,
    console: Console,
    force: FORCE = False,
    model: MODEL = None,
    prompt: PROMPT = "",
    join: JOIN = True,
    language: Annotated[str, value(group="Input", shown="as the text says")] = "",
) -> None:
    """Turn a text file into a matrix of sentence vectors.

    The matrix is float32 [lines, dim], a row of length one per line; a blank line is zeros.

    Example: xmine encode en.txt -o en.npy

    Args:
        file: Text file, a sentence per line, or a column of one; - for stdin.
        language: Language of the file, such as el; where the encoder has a pack of it, lines are
            read with that.
    """
    path = Path(output)
    if path.suffix != ".npy":
        raise OptionError(f"-o {output}: unknown format", "end it in .npy")

    import numpy as np

    from xmine.encoders.pair import encoder_facts
    from xmine.files.atomic import check_free
    from xmine.files.npy import write_matrix
    from xmine.text.identification import check_language, guess_language
    from xmine.text.inputs import text_input

    check_free(path, force=force)
    if os.path.realpath(path) == os.path.realpath(file):
        raise OptionError(f"-o {output}: input and output are the same file", "give another name")
    source = text_input(file, join=join)
    lines = source.texts()
    first = list(islice(lines, _LOOKED_AT))  # an input that is none is refused here
    encoder = load_encoder(model, options, console)
    encoder = encoder.reading(language or guess_language(first, encoder.facts.languages))
    warn_without_effect([encoder], options, console)
    console.warn(*source.warnings, check_language(source.name, first, encoder.facts.languages))
    size, zeros = encoder.texts_at_once, 0
    long = list[int]()

    def noted() -> Iterator[str]:
        for number, line in enumerate(chain(first, lines), start=1):
            if len(line) > MOST_CHARACTERS:
                long.append(number)
            yield line

    every = noted()
    blocks = iter(lambda: list(islice(every, size)), [])
    with console.progress() as report:
        total, rows = 0, 0
        if report is not silent and source.is_rereadable:
            total = source.survey.lines

        def within(progress: Progress) -> None:
            done = rows + progress.done
            report(Progress("encoding", done, max(total, done)))

        def encoded() -> "Iterator[NDArray[np.float32]]":
            nonlocal rows, zeros
            yield np.empty((0, encoder.dim), np.float32)
            for block in _encode(encoder, blocks, within, prompt):
                yield block
                rows += len(block)
                zeros += int((~block.any(axis=1)).sum())
                within(Progress("encoding", 0, total))

        write_matrix(path, encoded())
    cut = f"{source.name}: only {MOST_CHARACTERS:,} characters are read of line"
    console.warn(*(f"{cut} {line}" for line in long[:_NAMED]))
    console.summary(
        f"{count(rows, 'line')} -> {path} float32 {[rows, encoder.dim]}, "
        f"{''.join(f'{code} read with a pack, ' for code in encoder.reads[1])}"
        f"{count(zeros, 'row')} of zeros, {encoder.device} {encoder.dtype}, "
        f"{console.seconds:.1f} s",
        {
            "lines": rows,
            "dim": encoder.dim,
            "zeros": zeros,
            "output": output,
            **encoder_facts(encoder),
            "packs": encoder.reads[1],
            "seconds": round(console.seconds, 3),
        },
    )


def _encode(
    encoder: "SentenceEncoder", blocks: Iterable[list[str]], report: Report, prompt: str
) -> "Iterator[NDArray[np.float32]]":
    """Encode blocks of texts as they come, those of static encoders in threads, in their order."""
    from xmine.encoders.fingerprint import unchanged
    from xmine.hardware import allowed_threads

    if not encoder.encodes_pieces:  # torch has threads of its own
        for block in blocks:
            yield unchanged(encoder.source, encoder.encode(block, report, prompt))
        return
    waiting: deque[Future[NDArray[np.float32]]] = deque()
    with ThreadPoolExecutor(allowed_threads()) as pool:
        for block in blocks:
            waiting.append(pool.submit(encoder.encode, block, silent, prompt))
            if len(waiting) > allowed_threads():
                yield unchanged(encoder.source, waiting.popleft().result())
        while waiting:
            yield unchanged(encoder.source, waiting.popleft().result())
