"""A text input -> its texts: lines of a file, a column of TSV, CSV or Parquet, a field of JSONL.

An input is a path or `path:column`: `zh.tsv:2` (columns count from 1), `zh.csv:text` (as its first
line names them) or `zh.csv:2`, `docs.jsonl:text` (`a.b` is field b inside field a),
`docs.parquet:text`. `hf://datasets/OWNER/NAME/zh.tsv:2` is a file of a hub. Subtitles, catalogues,
pages and books have units, see `xmine.text.formats`. The suffix under `.gz`, `.xz` or `.zst` tells
what a file is; archives are known by their first bytes. A path that exists as given has no column.
Several files are one text: those of a folder, of a pattern (`en/*.txt`), or of a list (`@list.txt`,
a path on each line). In Python a list of texts is an input too.
"""

import os
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from glob import glob, has_magic
from hashlib import blake2b
from itertools import accumulate, chain, repeat
from pathlib import Path
from typing import NamedTuple

from xmine.display import count
from xmine.errors import FileError
from xmine.files.digests import Identity, check_unchanged, identity
from xmine.files.hub_files import SCHEME, here
from xmine.files.reading import (
    STDIN,
    exists,
    in_command,
    name_of,
    raw_blocks,
    read_blocks,
    read_lines,
    readable,
    stream_lines,
)
from xmine.files.records import open_parquet
from xmine.files.suffixes import (
    BEGINS,
    MARKED,
    NO_SENTENCES,
    NO_TEXT,
    PROGRAMS,
    kind_of,
    plugged,
    suffix_of,
)
from xmine.text.checks import ListOfTexts, as_list, check_texts
from xmine.text.columns import (
    NoColumnError,
    csv_column,
    jsonl_field,
    jsonl_values,
    no_table,
    parquet_column,
    tsv_column,
    xlsx_rows,
)
from xmine.text.file_lines import FileLines
from xmine.text.formats import BILINGUAL, KEYED, has_units, read_units
from xmine.text.languages import is_code
from xmine.text.packed import PackedTexts, TextPacker
from xmine.text.wrapped import Wrapping

_DIGITS = re.compile("([0-9]+)")
# Kinds with columns, and what reads one.
_TABLES = {"jsonl": jsonl_field, "json": jsonl_field, "csv": csv_column, "parquet": parquet_column}
_TABLES |= {"xlsx": csv_column}
_NAMED = 5  # files of many


class Survey(NamedTuple):
    """A file read once: its lines, rows or units, a digest, and its bytes, unpacked."""

    lines: int
    digest: str
    bytes: int


@dataclass(frozen=True)
class TextInput:
    """A text input, as given and parsed: its path, or `-`, and its column or field, or no name.

    With `join`, lines of hard-wrapped plain text are put together, see `xmine.text.wrapped`.
    """

    given: str
    path: str
    column: str = ""
    join: bool = True

    @property
    def name(self) -> str:
        """Name the input in messages."""
        return name_of(self.given)

    @property
    def is_rereadable(self) -> bool:
        """Tell a file, which can be read again, from standard input and pipes."""
        there = exists(self.path) and not (Path(self.path).is_file() or Path(self.path).is_dir())
        return self.path != STDIN and not there

    @property
    def files(self) -> FileLines | None:
        """The files whose lines are counted as those of one, None for one file."""
        return None

    def other_column(self, column: str) -> Iterator[str]:
        """Every value of another column as a text, one for each line.

        Raises:
            NoColumnError: the file has none.
            FileError: the input cannot be read twice.
        """
        kind = self._kind
        if kind == "parquet":
            return parquet_column(self.path, column, only_text=False)
        if not self.column:
            raise NoColumnError(f"{self.name}: no table, so there is no column {column!r}")
        if not self.is_rereadable:
            raise FileError(f"{self.name}: a column beside the text is read in a second turn")
        if kind in ("jsonl", "json"):
            return jsonl_values(self.path, column)
        if kind == "xlsx" and "!" not in column:  # of the sheet of the text
            column = "".join(self.column.rpartition("!")[:2]) + column
        return TextInput(self.given, self.path, column).texts()

    @property
    def is_marked(self) -> bool:
        """Tell text with keys or tags, of a format that has no reader, by its suffix."""
        return not self._kind and suffix_of(self.path) in PROGRAMS | MARKED

    @property
    def warnings(self) -> list[str]:
        """What is read otherwise than one expects, or is not read."""
        marked = [f"{self.name}: read as plain text, with its keys and tags"] * self.is_marked
        return [*marked, *_told(self.name, self.left_out, self.joined)]

    @cached_property
    def _wrapping(self) -> Wrapping | None:
        """How plain text is wrapped, if it is; what is read only once is not looked at."""
        is_plain = self.join and not (self._kind or self.column or self.is_marked)
        return Wrapping.of_file(self.path) if is_plain and self.is_rereadable else None

    @property
    def joined(self) -> Counter[str]:
        """Count `lines` that are joined into `paragraphs`; read here if nobody has read them."""
        if self._wrapping and not self._wrapping.counts:
            deque(TextInput.texts(self), 0)
        return self._wrapping.counts if self._wrapping else Counter()

    @cached_property
    def left_out(self) -> Counter[str]:
        """Count what the reader of a file with units leaves out."""
        units = self._units
        return units[2] if units else Counter()

    @cached_property
    def _identity(self) -> Identity:
        """Tell which file is read first."""
        return identity(self.path)

    def check_unchanged(self) -> None:
        """Refuse a file that was replaced or written to since it was opened."""
        check_unchanged(self.path, self._identity)

    @cached_property
    def _kind(self) -> str:
        """Tell the kind of the file, by its first bytes too where other files have the suffix."""
        begins = BEGINS.get(suffix_of(self.path))
        if begins and self.is_rereadable and exists(self.path):
            start = next(filter(None, read_blocks(self.path)), b"")
            return kind_of(self.path) if not start or begins.match(start) else ""
        return kind_of(self.path)

    @property
    def has_units(self) -> bool:
        """Tell a file of units, such as subtitles, from one of lines or rows."""
        return has_units(self._kind) and not (self._kind == "json" and self.column)

    @cached_property
    def _units(self) -> tuple[PackedTexts, PackedTexts, Counter[str]] | None:
        """The texts and places of a file of units, parsed once, and counts of what is left out."""
        if not self.has_units:
            return None
        if self.column and self._kind != "xcstrings":
            raise FileError(f"{self.path}: no table, so no column {self.column!r}")
        if self._kind in ("docx", "epub", "odt"):  # whose readers expect an archive of that kind
            next(read_blocks(self.path, kind=self._kind))
        column = filter(None, [self.column])  # of .xcstrings the language
        _, texts, places, left_out = self._identity, TextPacker(), TextPacker(), Counter[str]()
        for unit in read_units(self.path, self._kind, left_out, *column):
            texts.append(unit.text)
            places.append(unit.place)
        return texts.packed(), places.packed(), left_out

    @cached_property
    def survey(self) -> Survey:
        """Count the lines, rows or units, and hash the bytes."""
        _ = self._identity
        state, lines, size, last = blake2b(digest_size=16), 0, 0, b""
        units, kind = self._units, self._kind
        blocks = raw_blocks if units is not None or kind in ("parquet", "xlsx") else read_blocks
        for block in blocks(self.path, state.update):
            lines += block.count(b"\n")
            size += len(block)
            last = block[-1:] or last
        lines += last not in (b"", b"\n")
        if units is not None:
            lines, size = len(units[0]), len(units[0].data) + len(units[0])
        elif kind == "xlsx":
            lines = sum(1 for _ in xlsx_rows(self.path, self.column.rpartition("!")[0]))
        elif kind == "parquet":
            with open_parquet(self.path) as file:
                lines = len(file)
        return Survey(lines, state.hexdigest(), size)

    def texts(self) -> Iterator[str]:
        r"""Every text, one for each line, unit, or row of a Parquet file, blank ones included.

        The file is never held, but for a Parquet file inside an archive. A text of a JSONL or
        Parquet file may hold any character, `\n` too; null is a blank text.
        """
        path, column, kind, _ = self.path, self.column, self._kind, self._identity
        if self._units is not None:
            return iter(self._units[0])
        if kind == "tmx" or plugged(kind):
            what, hint = NO_SENTENCES["tmx"]
            raise FileError(
                f"{path}: {what}, not plain sentences", hint.replace("FILE", in_command(path))
            )
        if column or kind in _TABLES:
            return _TABLES.get(kind, tsv_column)(path, column)
        if self._wrapping:
            return self._wrapping.paragraphs(stream_lines(path))
        return no_table(path, stream_lines(path)) if kind == "tsv" else stream_lines(path)

    def places(self) -> Iterator[str] | None:
        """Give the place of each text in a file with units; None for every other file."""
        return None if self._units is None else iter(self._units[1])


@dataclass(frozen=True)
class ListedTexts(TextInput):
    """Texts in memory in place of a file."""

    listed: Sequence[str] = ()

    @property
    def is_rereadable(self) -> bool:
        """A run compares the texts with those that it has, as it does with standard input."""
        return False

    def texts(self) -> Iterator[str]:
        """Every text, blank ones included."""
        return iter(self.listed)

    def places(self) -> Iterator[str] | None:
        """Texts in memory have none."""
        return None


@dataclass(frozen=True)
class Page(ListedTexts):
    """A page of an archive of the web, whose path is its address."""

    join: bool = False
    _units = None
    is_rereadable = True
    is_marked = False

    @cached_property
    def survey(self) -> Survey:
        """Count the texts, and hash them."""
        data = "\n".join(self.listed).encode("utf-8", "surrogatepass")
        digest = blake2b(data, digest_size=16).hexdigest()
        return Survey(len(self.listed), digest, len(data))

    def places(self) -> Iterator[str]:
        """The address, for each text."""
        return repeat(self.path, len(self.listed))

    def check_unchanged(self) -> None:
        """The archive was read at once."""


@dataclass(frozen=True)
class ManyFiles(TextInput):
    """Files that are read one after the other; `notes` tell those that are not, and why."""

    parts: tuple[TextInput, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_rereadable(self) -> bool:
        """Tell whether all files can be read again."""
        return all(part.is_rereadable for part in self.parts)

    @cached_property
    def files(self) -> FileLines:
        """The files, and the line after which each begins."""
        sizes = [part.survey.lines for part in self.parts]
        names = tuple(part.path for part in self.parts)
        return FileLines(names, tuple(accumulate(sizes[:-1], initial=0)))

    @property
    def warnings(self) -> list[str]:
        """Give the notes, and count what the readers of files leave out."""
        inside = sum((part.left_out for part in self.parts), Counter[str]())
        joined = sum((part.joined for part in self.parts), Counter[str]())
        return [*self.notes, *_told(self.given, inside, joined)]

    def check_unchanged(self) -> None:
        """Refuse a file that was replaced or written to since it was opened."""
        for part in self.parts:
            part.check_unchanged()

    @cached_property
    def survey(self) -> Survey:
        """Add up the lines and bytes of all files; the digest is of their digests."""
        surveys = [part.survey for part in self.parts]
        digests = "".join(each.digest for each in surveys).encode()
        lines, size = sum(each.lines for each in surveys), sum(each.bytes for each in surveys)
        return Survey(lines, blake2b(digests, digest_size=16).hexdigest(), size)

    def texts(self) -> Iterator[str]:
        """Every text of every file."""
        return chain.from_iterable(part.texts() for part in self.parts)

    def other_column(self, column: str) -> Iterator[str]:
        """Every value of another column; blank for the lines of files without that column."""
        missing = list[NoColumnError]()
        for part in self.parts:
            try:
                yield from part.other_column(column)
            except NoColumnError as error:
                missing.append(error)
                yield from repeat("", part.survey.lines)
        if len(missing) == len(self.parts):
            raise missing[0]

    def places(self) -> Iterator[str] | None:
        """Where each text stands, nothing in files of lines; None where all are such files."""
        found = [part.places() for part in self.parts]
        if not any(found):
            return None
        lines = (part.survey.lines for part in self.parts)
        return chain.from_iterable(
            repeat("", number) if each is None else each
            for each, number in zip(found, lines, strict=True)
        )


def _told(name: str, left_out: Counter[str], joined: Counter[str]) -> list[str]:
    listed = ", ".join(f"{what} ({number:,})" for what, number in left_out.most_common())
    paragraphs = count(joined["paragraphs"], "paragraph")
    how = f"{joined['lines']:,} wrapped lines are joined into {paragraphs}"
    said = [f"{name}: {how}; --no-join reads them as they are"] if joined else []
    return said + [f"{name}: left out: {listed}"] * bool(left_out)


# What may be given for a text input.
Texts = str | Path | TextInput | ListOfTexts


def text_input(given: Texts, side: str = "", *, join: bool = True) -> TextInput:
    """Parse `path:column`; a path that exists, or that nothing is known of, has no column.

    Args:
        given: a path, or texts: a list, an array, a column of a table.
        side: `source` or `target`, which names a list in messages.
        join: put the lines of hard-wrapped text together.

    Raises:
        TypeError: something else than a path or a list of texts is given.
        ValueError: a text of a list has half a character.
    """
    if isinstance(given, TextInput):
        return given
    if not isinstance(given, (str, bytes, Path)):
        given = as_list(given)
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        check_texts(given)
        name = f"a list of {count(len(given), f'{side} text'.strip())}"
        return ListedTexts(name, name, listed=given)
    if not isinstance(given, (str, Path)):
        raise TypeError(f"a {type(given).__name__} is given: give a path or a list of texts")
    whole = str(given)
    if not whole:
        raise FileError(
            "an empty name in place of a text file", "is a variable of the shell unset?"
        )
    path, column = _parsed(whole)
    if found := _paths_of(path):
        return _many(readable(whole), path, column, found, join=join)
    found_one = TextInput(readable(whole), path, column, join)
    pages = _pages(found_one)
    told = tuple(found_one.warnings) if pages else ()
    return ManyFiles(found_one.given, path, "", join, pages, told) if pages else found_one


def files_of(given: str) -> list[str]:
    """Name the files that a text input may read."""
    path, _ = _parsed(given)
    return _paths_of(path) or [path]


def _parsed(whole: str) -> tuple[str, str]:
    """Part a path and a column."""
    whole = here(whole)
    path, colon, column = whole.rpartition(":")
    is_there = exists(path) or (path.startswith("@") and exists(path[1:]))
    if not (path and column and colon) or exists(whole) or not (kind_of(path) or is_there):
        return whole, ""
    return path, column


def _paths_of(path: str) -> list[str]:
    """List the files that a folder, a pattern or a list names; none for one file."""
    if path.startswith("@") and not exists(path) and exists(path[1:]):
        _check_file(path[1:])
        beside = Path(path[1:]).parent
        named = [each for each in map(str.strip, read_lines(path[1:])) if each]
        return [each if exists(each) else str(beside / each) for each in named]
    folder, at, code = path.rpartition("@")
    if at and not exists(path) and exists(folder):  # as runs of many languages call their texts
        raise FileError(
            f"{path}: the texts of a folder in one language, as --languages finds them",
            f"name the files in {code}: a folder, or a pattern in quotes",
        )
    if exists(path) and Path(path).is_dir():
        inside = list[str]()
        for folder, inner, names in os.walk(path):
            inner[:] = [each for each in inner if not each.startswith(".")]
            # A run of xmine, or those of many languages: the texts are elsewhere.
            if "run.toml" in names or ("languages.json" in names and "parts" in inner):
                inner.clear()
                continue
            shown = [each for each in names if not each.startswith((".", "~$"))]  # of Word
            shown += [each for each in inner if Path(folder, each).is_symlink()]  # not entered
            inside += [os.path.join(folder, each) for each in shown]
        if not inside:
            raise FileError(f"{path}: a folder without texts", "give a text file")
        return sorted(inside, key=_naturally)
    if has_magic(path) and not exists(path):
        found = [each for each in glob(path, recursive=True) if not Path(each).is_dir()]
        if not found:
            raise FileError(f"{path}: no file has such a name", "put the pattern in quotes")
        return sorted(found, key=_naturally)
    return []


def _naturally(path: str) -> list[tuple[int, str]]:
    """Order `part2` before `part10`."""
    return [(int(each), "") if each.isdecimal() else (0, each) for each in _DIGITS.split(path)]


def _many(given: str, path: str, column: str, found: list[str], *, join: bool) -> ManyFiles:
    """Read several files as one; of a folder or pattern only those that hold text."""
    listed_by_hand, in_folder = path.startswith("@"), Path(path).is_dir()
    parts, left_out, told = list[TextInput](), list[FileError](), list[str]()
    kinds = {"tsv", "xcstrings", *_TABLES}
    for each in found:
        part = TextInput(readable(each), each, column if kind_of(each) in kinds else "", join)
        try:
            parts += (pages := _pages(part)) or [part] * _has_text(part, in_folder=in_folder)
            told += part.warnings if pages else []
        except FileError as error:
            if isinstance(error.__cause__, OSError):
                raise
            if listed_by_hand and not part.has_units:  # a page may be without text
                raise FileError(f"{path[1:]}: {error.message}", error.hint) from None
            left_out.append(error)
    left_out.sort(key=lambda error: error.hint in ("", NO_TEXT))
    if not parts:
        first = next(iter(left_out), FileError("all are empty"))
        hint = first.hint or "give text files"
        raise FileError(f"{given}: no file in it holds text: {first.message}", hint)
    marked = [part.path for part in parts if part.is_marked]
    files = [each.path for each in parts if in_folder and not isinstance(each, Page)]
    real = {each: Path(os.path.realpath(each)) for each in files}
    linked = [each for each in real if not real[each].is_relative_to(os.path.realpath(path))]
    notes = (
        _named(given, [error.message for error in left_out], "left out"),
        _named(given, marked, "read as plain text, with keys and tags"),
        *told,
        _named(given, linked, "read through a link that leads elsewhere"),
    )
    return ManyFiles(given, path, column, join, tuple(parts), tuple(filter(None, notes)))


def _pages(part: TextInput) -> tuple[TextInput, ...]:
    """Give the pages of an archive of the web, each like a file; nothing of other files."""
    if kind_of(part.path) != "warc" or not (units := part._units):
        return ()
    pages = dict[str, list[str]]()
    for text, address in zip(units[0], units[1], strict=True):
        pages.setdefault(address, []).append(text)
    return tuple(Page(address, address, listed=tuple(texts)) for address, texts in pages.items())


def _named(given: str, files: list[str], what: str) -> str:
    """Count some files, and name the first; nothing of none."""
    named = "; ".join(files[:_NAMED]) + "; …" * (len(files) > _NAMED)
    return f"{given}: {count(len(files), 'file')} {what}: {named}" if files else ""


def _check_file(path: str) -> None:
    """Refuse what is no file, or cannot be read twice."""
    if not exists(path) or Path(path).is_dir():
        raise FileError(f"{path}: {'a folder' if exists(path) else 'no such file'}", NO_TEXT)
    if not Path(path).is_file():
        hint = "write it to a file first"
        raise FileError(f"{path}: a pipe or a device, which is read only once", hint)


def _has_text(part: TextInput, *, in_folder: bool) -> bool:
    """Tell a file with text from an empty one.

    Raises:
        FileError: it holds something else, or can be read only once.
    """
    path = part.path
    _check_file(path)
    if in_folder and suffix_of(path) in PROGRAMS and not part._kind:
        raise FileError(f"{path}: a program or settings", NO_TEXT)
    if part._kind:  # a table is refused at its first row, if it has not the column
        return any(True for _ in part.texts())
    start = next(read_blocks(path))
    if b"\0" in start:
        raise FileError(f"{path}: a binary file", NO_TEXT)
    return start != b""


def keys_of(given: TextInput) -> list[str] | None:
    """Give the key of each text of a catalogue; None of another input.

    A root of all keys that names the language, `de.menu.open`, is left out.
    """
    if given._kind not in KEYED or not given.has_units:
        return None
    keys = list(given.places() or ())
    roots = {key.partition(".")[0] if "." in key else "" for key in keys}
    if given._kind in BILINGUAL or len(roots) != 1 or not is_code(*roots):
        return keys
    return [key.partition(".")[2] for key in keys]


def read_texts(given: Texts) -> list[str]:
    """Read every text of an input, see `TextInput.texts`."""
    return list(text_input(given).texts())


def is_file(given: str) -> bool:
    """Tell whether an input is standard input or is there, with or without a column."""
    if given.startswith(SCHEME):
        return True
    path, _ = _parsed(given)
    several = bool(glob(path)) if has_magic(path) else path[:1] == "@" and exists(path[1:])
    return path == STDIN or exists(path) or several


def input_of_run(given: str, run: Path, digest: str = "") -> str:
    """Name an input of a run as it is found from here: a relative one may lie beside the run.

    Of two files of that name, the one with the digest is taken, see `Survey`; else the one here.
    """
    if given.startswith(SCHEME):
        return here(given, downloads=False)
    beside = str(run.absolute().parent / given)
    if not is_file(beside) or os.path.realpath(beside) == os.path.realpath(given):
        return given
    found = [each for each in (given, beside) if is_file(each)]
    if len(found) > 1 and digest:
        found.sort(key=lambda each: text_input(each).survey.digest != digest)
    return found[0]
