"""One pair, and which of its fields the pairs of a file have."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from xmine.errors import FileError
from xmine.text.languages import UNKNOWN_LANGUAGE

if TYPE_CHECKING:
    import polars as pl

Languages = tuple[str, str]
UNKNOWN_LANGUAGES: Languages = (UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE)


class Pair(NamedTuple):
    """One pair; what a file does not have is None.

    Attributes:
        source, target: the sentences.
        score: the score that pairs are ranked by: with reranking a log-odds, else the margin.
        source_line, target_line: 1-based lines.
        cosine: of the two vectors.
        source_offset, target_offset: where the sentences start in their lines, in characters from
            0; only where lines were cut into sentences.
        origin: the name of the pair's source of data.
        prob: estimated probability that the pair is a translation, from 0 to 1.
        flags: what makes the pair suspicious: names of flags with commas between; empty
            if it was looked at and nothing was found.
        margin: of the two vectors, see `xmine.scoring.margin`; only with reranking.
        source_lines, target_lines: of a bead, the lines that were put together: 12, or 12-13.
        source_file, target_file: where a side is several files, the file of the line.
        source_place, target_place: where a text stands in a file that has no lines of text: the
            times of a subtitle, the key of a catalogue.
        repaired, note: what a person did to the texts (merge, split, move, trim, edit); and says.
        kind: what is wrong with a pair that a person has rejected.
        more: columns of the inputs that were kept, such as `source_url`; see `is_kept`.
    """

    source: str
    target: str
    score: float | None = None
    source_line: int | None = None
    target_line: int | None = None
    cosine: float | None = None
    source_offset: int | None = None
    target_offset: int | None = None
    origin: str | None = None
    prob: float | None = None
    flags: str | None = None
    margin: float | None = None
    source_lines: str | None = None
    target_lines: str | None = None
    source_file: str | None = None
    target_file: str | None = None
    source_place: str | None = None
    target_place: str | None = None
    repaired: str | None = None
    note: str | None = None
    kind: str | None = None
    more: Mapping[str, str] | None = None

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> "Pair":
        """Make a pair of what it has in each column, a field or one that was kept of an input."""
        fields = {name: each for name, each in columns.items() if name in COLUMNS}
        more = {name: each for name, each in columns.items() if name not in COLUMNS}
        return cls(**fields, more=more or None)

    def facts(self) -> dict[str, str | float]:
        """Give what it has, by the names of fields and kept columns."""
        fields = zip(self._fields[:-1], self[:-1], strict=True)
        return {name: value for name, value in fields if value is not None} | dict(self.more or {})

    def swapped(self) -> "Pair":
        """Make the target the source, each with its line and its offset."""
        facts = self.facts().items()
        return Pair.of({_OTHER.get(name[:6], name[:6]) + name[6:]: each for name, each in facts})


LARGEST = 10**18 - 1  # of lines and offsets: what fits 18 digits fits 64 bits
# In the order of columns and keys; later versions append and never insert.
COLUMNS: dict[str, type] = {
    "score": float,
    "source": str,
    "target": str,
    "source_line": int,
    "target_line": int,
    "cosine": float,
    "source_offset": int,
    "target_offset": int,
    "origin": str,
    "prob": float,
    "flags": str,
    "margin": float,
    "source_lines": str,
    "target_lines": str,
    "source_file": str,
    "target_file": str,
    "source_place": str,
    "target_place": str,
    "repaired": str,
    "note": str,
    "kind": str,
}
BEAD_LINES = ("source_lines", "target_lines")  # that pairs of single lines lack
# What pairs of two files of lines lack.
PLACED = tuple(list(COLUMNS)[list(COLUMNS).index("source_lines") :])
_OTHER = {"source": "target", "target": "source"}
_KINDS = tuple(COLUMNS.get(name, dict) for name in Pair._fields)
_WHOLE = [at for at, kind in enumerate(_KINDS) if kind is int]
_TEXTS = [at for at, kind in enumerate(_KINDS) if kind is str]
_SENTENCES = [Pair._fields.index(name) for name in ("source", "target")]
_PAIRS_OF_A_BLOCK = 20_000
_MOST_AHEAD = 1_000_000  # pairs
_PLAIN = {str, float, int, dict, type(None)}


def is_kept(name: str) -> bool:
    """Tell whether a column, such as `source_url`, is one that was kept of an input."""
    return name.startswith(("source_", "target_")) and name not in COLUMNS


def is_whole(value: object) -> bool:
    """Tell whether a value can be a line or an offset in every format."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def settled(pair: Pair, path: str, number: int) -> Pair:
    """Turn scalars of numpy into numbers of Python; `path` and `number` are for the message.

    Raises:
        FileError: a text is none, or a line or an offset is no whole number; or `pair` is no Pair.
    """
    if not isinstance(pair, Pair):
        raise FileError(f"{path}: pair {number}: {pair!r} is not a Pair", "Pair(source, target)")
    for at in _TEXTS:
        if not isinstance(pair[at], str) and (at in _SENTENCES or pair[at] is not None):
            raise FileError(
                f"{path}: pair {number}: {Pair._fields[at]!r} is {pair[at]}, not a text"
            )
    if not _PLAIN.issuperset(map(type, pair)):
        pair = Pair(*(_plain(value, kind) for value, kind in zip(pair, _KINDS, strict=True)))
    for name, each in (pair.more or {}).items():
        if not (is_kept(name) and isinstance(each, str)):
            raise FileError(f"{path}: pair {number}: {name!r} is no text of a side", "source_url")
    for at in _WHOLE:
        value = pair[at]
        if value is not None and not is_whole(value):
            raise FileError(
                f"{path}: pair {number}: {Pair._fields[at]!r} is {value}, "
                "not a whole number from 0 to 10^18"
            )
    return pair


def _plain(value: Any, kind: type) -> Any:  # noqa: ANN401 - whatever the field holds
    return None if value is None else index(value) if kind is int else kind(value)


def split_head(pairs: Iterable[Pair], size: int = 1000) -> tuple[set[str], Iterator[Pair]]:
    """Look ahead: the columns that some of the first pairs have; and all pairs.

    Where lines without figures come first, blank ones for instance, as far as one that has a score.
    """
    pairs = iter(pairs)
    head = more = list(islice(pairs, size))
    while (
        more
        and len(head) < _MOST_AHEAD
        and all(pair.score is None and pair.source_line is not None for pair in more)
    ):
        more = list(islice(pairs, size))
        head += more
    held = {name for name in COLUMNS if any(getattr(pair, name) is not None for pair in head)}
    return held.union(*(pair.more for pair in head if pair.more)), chain(head, pairs)


def in_order(names: Collection[str]) -> list[str]:
    """Put columns in the order of `COLUMNS`, those that were kept of inputs last."""
    return [*(name for name in COLUMNS if name in names), *sorted({*names} - {*COLUMNS})]


def pair_schema(names: Iterable[str] = COLUMNS) -> "dict[str, type[pl.DataType]]":
    """Give the type that each column has in a table of polars, and in a file of Parquet."""
    import polars as pl

    types = {float: pl.Float32, int: pl.Int64, str: pl.String}
    return {name: types[COLUMNS.get(name, str)] for name in names}


def pair_frame(pairs: Iterable[Pair]) -> "pl.DataFrame":
    """Make a table of pairs, a row for each; null for what a pair does not have."""
    import polars as pl

    pairs, fields = iter(pairs), Pair._fields[:-1]
    blocks = [pl.DataFrame(schema=pair_schema(fields))]
    while some := list(islice(pairs, _PAIRS_OF_A_BLOCK)):
        columns = dict(zip(Pair._fields, zip(*some, strict=True), strict=True))
        kept = sorted(set[str]().union(*filter(None, columns.pop("more"))))
        columns |= {name: tuple((pair.more or {}).get(name) for pair in some) for name in kept}
        # A column of nulls takes 16 bytes a pair, and most files lack most columns.
        columns = {name: each for name, each in columns.items() if any(x is not None for x in each)}
        blocks.append(pl.DataFrame(columns, pair_schema(columns)))
    return pl.concat(blocks, how="diagonal")
