"""One of each that a package may add to xmine: a format, a flag, an encoder."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmine import Pair
from xmine.encoders.encoder import EMBEDDED
from xmine.files.reading import read_lines


class Stanza:
    """Pairs as two lines, and a blank line behind; as a text, every line that is not blank.

    A format has `units`, where its files are texts; `read`, where they are pairs; `write`, where
    xmine can write them; and `languages`, where they name these. A module may have the functions.
    """

    @staticmethod
    def units(path: str) -> Iterator[tuple[str, str]]:
        """Give each text, and where it stands."""
        for number, line in enumerate(read_lines(path), start=1):
            if line.strip():
                yield line, f"line {number}"

    @staticmethod
    def read(path: str, chosen: object = None, losses: object = None) -> Iterator[Pair]:
        """Read pairs; `chosen` are two languages, `losses` counts what is left out."""
        lines = [line for line in read_lines(path) if line.strip()]
        for source, target in zip(lines[::2], lines[1::2], strict=True):
            yield Pair(source, target)

    @staticmethod
    def write(stream: BinaryIO, pairs: Iterable[Pair], languages: object, losses: Any) -> None:  # noqa: ANN401
        """Write pairs; `losses.left_out` would count what the format cannot hold."""
        for pair in pairs:
            stream.write(f"{pair.source}\n{pair.target}\n\n".encode())


class Shouting:
    """Raised where one side is in capitals, and the other is not."""

    @staticmethod
    def raised(
        sources: Sequence[str], targets: Sequence[str], languages: tuple[str, str]
    ) -> NDArray[np.bool_]:
        """Mark pairs, bool [pairs]."""
        return np.array(
            [one.isupper() != two.isupper() for one, two in zip(sources, targets, strict=True)]
        )

    @staticmethod
    def reason(source: str, target: str) -> str:
        """Explain the flag of a pair."""
        return f"the {'source' if source.isupper() else 'target'} alone is in capitals"


def encoder_folder() -> Path:
    """Find the folder of an encoder: of its own in a real package, here that of xmine."""
    return EMBEDDED
