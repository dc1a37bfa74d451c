"""Pairs: as mining makes them, as training takes them, and the files that hold them.

Each format has a file of its own beside this one.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.errors import FileError, XmineWarning
from xmine.files.atomic import check_free, packing, replacing_all
from xmine.files.reading import in_command, name_of
from xmine.files.suffixes import TABLES, kind_of, packing_of
from xmine.pairs import moses, tsv
from xmine.pairs.judgements import refuse_labels
from xmine.pairs.language_pairs import LanguagePairs, named_languages, settle_languages
from xmine.pairs.losses import Losses
from xmine.pairs.pair import (
    BEAD_LINES,
    COLUMNS,
    PLACED,
    UNKNOWN_LANGUAGES,
    Languages,
    Pair,
    in_order,
    pair_frame,
    settled,
)
from xmine.pairs.paths import files_like, paths_to_read, paths_to_write
from xmine.pairs.rows import PairRows
from xmine.run.folder import PAIRS_FILE, RUN_FILE
from xmine.run.run_file import check_written
from xmine.text.formats import BILINGUAL, KEYED
from xmine.text.formats.units import within_budget
from xmine.text.identification import looks_foreign
from xmine.text.inputs import text_input
from xmine.text.languages import UNKNOWN_LANGUAGE, names_language, short_code
from xmine.text.packed import PackedTexts, TextPacker, picked

if TYPE_CHECKING:
    import polars as pl

_PAIRS_AT_ONCE = 4_096
_PARSED = {"tmx", *BILINGUAL}  # kinds where one byte may give much text
_TURNED = "turned, whose files have the other direction"
_OTHERS = "in other languages than those of most files"
_LOOKED_AT = 1_000  # pairs of a file, to tell whether it is in its languages


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs(PairRows):
    """Mined pairs, best score first.

    Each column is also an attribute, by its plural: `scores`, `source_lines`, `flags`; None for a
    column that no pair has.

    Attributes:
        columns: the values of all pairs, by the names of the fields of `Pair` and of the columns
            of the inputs that were kept: arrays [pairs], or texts, which may be looked up only
            when they are asked for.
        merged: of pairs by their places the fields that merging has changed, such as
            `source_lines`: only `rows` has these. None where nothing was to be merged.
    """

    columns: Mapping[str, Any]
    merged: Mapping[int, Mapping[str, str]] | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an array, texts or None
        """Give a column by its plural."""
        field = name if name == "flags" else name.removesuffix("s")
        if field not in COLUMNS:
            raise AttributeError(f"no column of pairs: {name}")
        return self.columns.get(field)

    def __repr__(self) -> str:
        """Count the pairs, which would fill the screen."""
        return f"<Pairs: {len(self):,}>"

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.columns["source"])

    def rows(self) -> Iterator[Pair]:
        """Walk through the pairs."""
        return self.between(0, len(self))

    def between(self, first: int, last: int) -> Iterator[Pair]:
        """Walk through some pairs; the others are not read."""
        kept = [name for name in self.columns if name not in COLUMNS]
        for start in range(first, last, _PAIRS_AT_ONCE):
            some = slice(start, min(start + _PAIRS_AT_ONCE, last))
            given = {name: column[some] for name, column in self.columns.items()}
            values: dict[str, Iterable[Any]] = {
                name: each.tolist() if isinstance(each, np.ndarray) else each
                for name, each in given.items()
            }
            if kept:
                rows = zip(*(values[name] for name in kept), strict=True)
                values["more"] = (dict(zip(kept, row, strict=True)) for row in rows)
            pairs = map(Pair, *(values.get(name, repeat(None)) for name in Pair._fields))
            for at, pair in enumerate(pairs, start):
                if self.merged is None:
                    yield pair
                else:
                    lines = map(str, (pair.source_line, pair.target_line))
                    fields: dict[str, Any] = dict(zip(BEAD_LINES, lines, strict=True))
                    yield pair._replace(**{**fields, **self.merged.get(at, {})})

    def to_polars(self) -> "pl.DataFrame":
        """Make a table: the columns of an output file, a row a pair; null for what is missing."""
        names = {*COLUMNS}.difference(PLACED).union(self.columns)
        if self.merged is not None:
            names.update(BEAD_LINES)
        return pair_frame(self.rows()).select(in_order(names))


@dataclass(frozen=True, slots=True)
class Written:
    """The number of pairs that were written, and notes on what the format could not hold."""

    count: int
    notes: list[str]


def check_pair_file(path: str, *, force: bool, source: str | Path | None = None) -> None:
    """Refuse a name that pairs cannot be written to; called before the work."""
    for each in paths_to_write(path, source).paths:
        refuse_labels(each)
        check_free(Path(each), force=force)


def write_pairs(
    pairs: Iterable[Pair],
    path: str | Path,
    languages: Languages = UNKNOWN_LANGUAGES,
    losses: Losses | None = None,
) -> Written:
    """Write pairs in the format that the name says; files appear whole or not at all.

    Args:
        pairs: read one by one, never held all together.
        path: see `check_pair_file`; an older file is replaced.
        languages: codes of the source and the target language, for the formats that say them; a
            Moses pair has them in its names.
        losses: counts what is lost, perhaps together with what `read_pairs` passes over.

    Raises:
        OptionError: no format has that suffix.
        FileError: it cannot be written.
    """
    path, number = str(path), 0
    place = paths_to_write(path)
    losses = Losses() if losses is None else losses

    def counted() -> Iterator[Pair]:
        nonlocal number
        for pair in pairs:
            number += 1
            yield settled(pair, path, number)

    with ExitStack() as stack:
        partials = stack.enter_context(replacing_all([Path(each) for each in place.paths]))
        streams = [  # all are closed before the first one gets its name
            stack.enter_context(packing(stack.enter_context(partial.open("wb")), packing_of(each)))
            for partial, each in zip(partials, place.paths, strict=True)
        ]
        if place.write:
            place.write(streams[0], counted(), languages, losses)
        else:
            moses.write((streams[0], streams[1]), counted(), losses)
    return Written(number, losses.notes())


def read_pairs(spec: str | Path, losses: Losses | None = None) -> Iterator[Pair]:
    """Read pairs one by one, in the format that the suffix says; TSV where it says none.

    Args:
        spec: a file, perhaps in an archive; `corpus.en,corpus.zh` for a Moses pair;
            `memory.tmx:en,zh` to choose two languages; `-` is TSV on standard input;
            `**/de/*.po` for all such files, which are the origins of their pairs: those whose
            languages are the other way round than in most have their sides turned.
        losses: counts what is passed over; without it an XmineWarning tells at the end.

    Raises:
        FileError: a file is missing, or is not what it should be; the message names the line. The
            pairs of a run are not what it has written.
    """
    if several := files_like(spec):
        if losses is None:
            return _told(spec, partial(_of_several, several))
        return _of_several(several, losses)
    place = paths_to_read(spec)
    if (Path(spec) / RUN_FILE).is_file():
        check_written(Path(spec), PAIRS_FILE)
    if place.moses:
        for each in place.moses:
            for said in text_input(each, join=False).warnings:
                warnings.warn(said, XmineWarning, stacklevel=2)
        return moses.read(place.moses)
    kind, given = kind_of(place.paths[0]), place.keyed or place.paths[0]
    if not place.format and kind:
        known = TABLES["no_pairs"]
        what, hint = known.get(kind, known["keyed" if kind in KEYED else "text"])
        hint = hint.replace("FILE", in_command(place.paths[0]))
        raise FileError(f"{spec}: {what}, not a format of pairs", hint)

    def read(passed: Losses) -> Iterator[Pair]:
        found: Iterator[Pair] = (place.format or tsv).read(given, place.chosen, passed)
        return within_budget(place.paths[0], found) if kind in _PARSED else found

    return _told(spec, read) if losses is None else read(losses)


def _of_several(files: list[str], losses: Losses) -> Iterator[Pair]:
    for file, remark in zip(files, _direction(files)[1], strict=True):
        for pair in read_pairs(file, losses):
            losses.remarks[remark] += 1
            pair = pair.swapped() if remark == _TURNED else pair
            yield pair._replace(origin=pair.origin or paths_to_read(file).paths[0])


def _direction(files: list[str]) -> tuple[Languages | None, list[str]]:
    """Tell the languages of most files, and which files have others, or these turned round."""
    said = [languages_of(each) or UNKNOWN_LANGUAGES for each in files]
    plain = [(short_code(one), short_code(other)) for one, other in said]
    known = Counter(each for each in plain if UNKNOWN_LANGUAGE not in each and each[0] != each[1])
    most = max(plain, key=lambda each: (known[each], each != UNKNOWN_LANGUAGES))
    remarks = {most: "", most[::-1]: _TURNED} if known else {}
    found = [remarks.get(each, _OTHERS * (each in known)) for each in plain]
    return (None if most == UNKNOWN_LANGUAGES else said[plain.index(most)]), found


def _told(spec: str | Path, read: Callable[[Losses], Iterator[Pair]]) -> Iterator[Pair]:
    """Warn of what was passed over, where the caller does not count."""
    losses = Losses()
    yield from read(losses)
    if notes := losses.notes():
        warnings.warn(f"{name_of(spec)}: {', '.join(notes)}", XmineWarning, stacklevel=2)


def languages_of(spec: str | Path) -> Languages | None:
    """Tell the source and the target language, where the spec or the file says them.

    Raises:
        FileError: see `read_pairs`.
    """
    if several := files_like(spec):
        return _direction(several)[0]
    place = paths_to_read(spec)
    if place.moses:
        return moses.languages(place.moses)
    if place.chosen:
        return place.chosen if all(map(names_language, place.chosen)) else None
    if not place.format:
        return None
    told: Callable[..., Languages | None] = getattr(place.format, "languages", lambda _: None)
    found = told(place.keyed or place.paths[0])
    return None if found == UNKNOWN_LANGUAGES else found


@dataclass(frozen=True, slots=True)
class ParallelText:
    """Pairs to train with: row i of `sources` is a translation of row i of `targets`.

    `origins` names the source of data of each pair; it is empty where the file has none. Pairs of
    several files are in several `languages`; `said` are those that a single file or its name says.
    """

    sources: Sequence[str]
    targets: Sequence[str]
    origins: Sequence[str]
    languages: LanguagePairs | None = field(default=None, kw_only=True)
    said: Languages | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.sources)

    def take(self, rows: NDArray[np.intp]) -> "ParallelText":
        """Keep some pairs, in the order of `rows`."""
        columns = self.sources, self.targets, self.origins
        languages = self.languages and self.languages.take(rows)
        picks = (picked(column, rows) for column in columns)
        return ParallelText(*picks, languages=languages, said=self.said)


def read_parallel(
    *paths: str | Path,
    read: Callable[[str | Path], Iterator[Pair]] = read_pairs,
) -> ParallelText:
    """Read pairs to train with, of any format that `read_pairs` knows, with that, or with `read`.

    Pairs with a blank side are left out, and an XmineWarning counts them. The texts are packed: a
    machine with eight GPUs holds them eight times. Of several files, each has its languages, see
    `settle_languages`.

    Raises:
        FileError: see `read_pairs`; a file has no pairs, or of several files one has no languages
            or text in others.
    """
    files = [str(path) for path in paths]
    settled = settle_languages(files, list(map(languages_of, files))) if len(files) > 1 else []
    sources, targets, origins = TextPacker(), TextPacker(), list[str]()
    ends = [0]
    for at, path in enumerate(paths):
        sides = (sources, targets) if not settled or not settled[at][1] else (targets, sources)
        blank = 0
        for pair in read(path):
            if pair.source.strip() and pair.target.strip():
                sides[0].append(pair.source)
                sides[1].append(pair.target)
                origins.append(sys.intern(pair.origin or ""))  # few, of very many pairs
            else:
                blank += 1
        if len(origins) == ends[-1]:
            raise FileError(f"{name_of(path)}: no pairs in it")
        if blank:
            told = f"{name_of(path)}: {count(blank, 'pair')} with a blank side left out"
            warnings.warn(told, XmineWarning, stacklevel=2)
        ends.append(len(origins))
    texts = sources.packed(), targets.packed()
    if not settled:
        said = languages_of(files[0]) or named_languages(files[0])
        return ParallelText(*texts, origins, said=said)
    for at, (codes, is_turned) in enumerate(settled):
        rows = np.arange(ends[at], ends[at + 1])
        of_codes = dict(zip(codes, texts, strict=True))
        _check_languages(files[at], of_codes, rows, codes[::-1] if is_turned else codes)
    of_rows = np.repeat(np.arange(len(files)), np.diff(ends))
    languages = LanguagePairs(tuple(codes for codes, _ in settled), of_rows)
    return ParallelText(*texts, origins, languages=languages)


def _check_languages(
    file: str, texts: Mapping[str, PackedTexts], rows: NDArray[np.int64], languages: Languages
) -> None:
    """Refuse a file whose text is surely not in its languages, which are in its own order."""
    some = rows[:: max(1, len(rows) // _LOOKED_AT)]
    for code in languages:
        if looks_foreign(texts[code].take(some), code):
            raise FileError(
                f"{file}: its languages are {' and '.join(languages)}, and the text is not {code}",
                "name the file after the languages of its columns, in their order",
            )
