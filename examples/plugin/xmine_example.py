"""One of each that a package may add to xmine: a format, a flag, an encoder, a command."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmine.plugin import EMBEDDED, Flag, Format, Languages, Losses, Pair, XmineError, read_lines


def _units(path: str) -> Iterator[tuple[str, str]]:
    """As a text, every line that is not blank."""
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield line, f"line {number}"


def _read(path: str, _chosen: Languages | None, _losses: Losses) -> Iterator[Pair]:
    """As pairs, two lines, and a blank line behind."""
    lines = [line for line in read_lines(path) if line.strip()]
    if len(lines) % 2:
        raise XmineError(f"{path}: the last pair has one line", "write the other below it")
    for source, target in zip(lines[::2], lines[1::2], strict=True):
        yield Pair(source, target)


def _write(stream: BinaryIO, pairs: Iterable[Pair], _: Languages, _losses: Losses) -> None:
    for pair in pairs:
        stream.write(f"{pair.source}\n{pair.target}\n\n".encode())


STANZA = Format(units=_units, read=_read, write=_write)


def _raised(sources: Sequence[str], targets: Sequence[str], _: Languages) -> NDArray[np.bool_]:
    return np.array(
        [one.isupper() != two.isupper() for one, two in zip(sources, targets, strict=True)]
    )


# One side is in capitals, and the other is not.
SHOUTING = Flag(
    _raised, lambda source, _: f"the {'source' if source.isupper() else 'target'} is in capitals"
)


def encoder_folder() -> Path:
    """Find the folder of an encoder: of its own in a real package, here that of xmine."""
    return EMBEDDED


def characters(text: str, most: int = 10) -> None:
    """Count the characters of a text, the most frequent first.

    Args:
        text: File with the text.
        most: How many to print.
    """
    found = Counter(sign for line in read_lines(text) for sign in line if not sign.isspace())
    for sign, number in found.most_common(most):
        print(f"{sign}\t{number}")
