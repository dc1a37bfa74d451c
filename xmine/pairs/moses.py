"""A Moses pair: two files, line by line translations of each other, named by language."""

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import BinaryIO

from xmine.display import count
from xmine.errors import FileError
from xmine.files.reading import name_of, stream_lines
from xmine.files.suffixes import own_suffix
from xmine.pairs.losses import BREAKS, NULS, SURROGATES, Losses, Rules
from xmine.pairs.pair import Languages, Pair
from xmine.pairs.tsv import encoded
from xmine.text.languages import names_language

_RULES = Rules(BREAKS, NULS, SURROGATES)


def languages(paths: tuple[str, str]) -> Languages | None:
    """Read the languages out of the suffixes; None where one does not look like a language."""
    source, target = (own_suffix(path)[1:] for path in paths)
    return (source, target) if names_language(source) and names_language(target) else None


def write(streams: tuple[BinaryIO, BinaryIO], pairs: Iterable[Pair], losses: Losses) -> None:
    """Write each sentence as a line; nothing but the sentences is kept."""
    pairs, start = iter(pairs), True
    while some := list(islice(pairs, 500)):
        for pair in some:
            losses.leave_out(pair.facts().keys() - {"source", "target"})
        for stream, side in zip(streams, ("source", "target"), strict=True):
            lines = (losses.fit(getattr(pair, side), _RULES) + "\n" for pair in some)
            stream.write(encoded("".join(lines), start=start))
        start = False


def read(paths: tuple[str, str]) -> Iterator[Pair]:
    """Read line by line; blank lines are pairs of empty sentences, so that rows stay aligned."""
    left, right = (stream_lines(path, may_be_empty=True) for path in paths)
    return aligned((left, right), (name_of(paths[0]), name_of(paths[1])))


def aligned(sides: tuple[Iterator[str], Iterator[str]], names: tuple[str, str]) -> Iterator[Pair]:
    """Pair the lines of two files; `names` are for messages."""
    for number, (source, target) in enumerate(zip_longest(*sides)):
        if source is None or target is None:
            more = number + 1 + sum(1 for _ in sides[source is None])
            lengths = (number, more) if source is None else (more, number)
            raise FileError(
                f"{names[0]} has {count(lengths[0], 'line')}, {names[1]} {lengths[1]:,}",
                "the same line of both files must be a translation; give the two as they belong",
            )
        yield Pair(source, target)
