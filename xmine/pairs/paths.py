"""A name of a file of pairs, as users write it -> its paths, its format, the chosen languages.

`pairs.tmx.gz` is one file, `corpus.en,corpus.zh` a Moses pair, `memory.tmx:en,zh` a file and the
two languages to read, `scored.tsv:2,3` a file and two of its columns, `-` is TSV on standard input,
`run/` the pairs of a mining run, `hf://datasets/OWNER/NAME/pairs.tsv` a file of a hub.
"""

import re
from dataclasses import dataclass
from glob import glob, has_magic
from os.path import realpath
from pathlib import Path
from types import ModuleType
from typing import Any

from xmine.errors import FileError, OptionError
from xmine.files.hub_files import SCHEME, here
from xmine.files.reading import exists
from xmine.files.suffixes import (
    BEGINS,
    PACKED,
    WRITTEN_SUFFIXES,
    kind_of,
    packing_of,
    plugged,
    suffix_of,
)
from xmine.pairs import catalogues, exports, jsonl, moses, moses_zip, parquet, tmx, tsv
from xmine.pairs.pair import Languages
from xmine.run.folder import PAIRS_FILE, RUN_FILE
from xmine.text.formats import BILINGUAL, KEYED
from xmine.text.languages import UNKNOWN_LANGUAGE, same_language

# Each has `read` and `write`, most have `languages`, see `xmine/pairs/jsonl.py`.
OWN: dict[str, ModuleType] = {"tsv": tsv, "jsonl": jsonl, "parquet": parquet, "tmx": tmx}
# Formats of others that are read, and those that are written.
FOREIGN = {**dict.fromkeys(BILINGUAL, catalogues), "zip": moses_zip}
WRITERS = {kind: module.write for kind, module in OWN.items()} | exports.WRITERS
FORMATS = OWN | FOREIGN
_LANGUAGES = {kind_of(f"a{suffix}") for suffix in BEGINS}  # .arb and .ts may be codes, too
NAMES_LANGUAGES = ("parquet", "tmx", "gettext")  # formats that say both languages, or the target
KNOWN = f"end it in {WRITTEN_SUFFIXES} ({PACKED} may follow), or give two files: out.en,out.zh"


@dataclass(frozen=True, slots=True)
class PairPaths:
    """One file of pairs, or two; and the languages or columns that are chosen."""

    paths: tuple[str, ...]
    chosen: Languages | None = None

    @property
    def moses(self) -> tuple[str, str] | None:
        """The two files of a Moses pair."""
        return None if self.keyed or len(self.paths) != 2 else (self.paths[0], self.paths[1])

    @property
    def keyed(self) -> tuple[str, str] | None:
        """Two catalogues of texts by their keys."""
        is_keyed = len(self.paths) == 2 and {*map(kind_of, self.paths)} <= KEYED
        return (self.paths[0], self.paths[1]) if is_keyed else None

    @property
    def format(self) -> Any:  # noqa: ANN401 - a module, or the like of another package
        """The format that the suffix names, under that of an archive; None for no such one."""
        if self.keyed or self.moses:
            return catalogues if self.keyed else None
        found = FORMATS.get(kind := kind_of(self.paths[0])) or plugged(kind)
        return found if getattr(found, "read", None) else None

    @property
    def write(self) -> Any:  # noqa: ANN401 - a function, or that of another package
        """What writes the format that the suffix names; None for no such one."""
        kind = kind_of(self.paths[0])
        return WRITERS.get(kind) or getattr(plugged(kind), "write", None)


def paths_to_read(spec: str | Path) -> PairPaths:
    """Find the files to read; a name that exists is a file, whatever the name looks like."""
    text = here(spec)
    if (Path(text) / RUN_FILE).is_file():
        pairs = Path(text) / PAIRS_FILE
        if not pairs.exists():
            raise FileError(f"{text}: a run that has no pairs yet", "mine into it again to go on")
        return PairPaths((str(pairs),))
    if Path(text).is_dir():
        runs = sorted(str(each.parent) for each in Path(text).glob(f"*/{RUN_FILE}"))
        hint = "give a folder that xmine mine -o FOLDER/ has made, or a file of pairs"
        if runs:
            hint = f"name one of the runs in it: {', '.join(runs[:3])}{', …' * (len(runs) > 3)}"
        raise FileError(f"{text}: is a folder, and no mining run", hint)
    if exists(text):
        if Path(text).is_fifo() and kind_of(text) not in ("tsv", ""):
            raise FileError(
                f"{text}: a pipe, and this format is read twice", "write a file first, or pipe TSV"
            )
        return PairPaths((text,))
    chosen = re.fullmatch(r"(.+):([A-Za-z][\w-]*),([A-Za-z][\w-]*)", text)
    columns = re.fullmatch(r"(.+):([1-9][0-9]{0,8}),([1-9][0-9]{0,8})", text)
    if columns and kind_of(columns[1]) in ("tsv", ""):
        chosen = columns
    if chosen:
        return PairPaths((chosen[1],), (chosen[2], chosen[3]))
    return _two(text) or PairPaths((text,))


def files_like(spec: str | Path) -> list[str]:
    """List the files of a pattern in their order, each to be read with what is chosen behind it.

    None where a file is named.
    """
    text = str(spec)
    path = re.sub(r":[\w-]+,[\w-]+\Z", "", text)
    if exists(text) or not has_magic(path):
        return []
    return [each + text[len(path) :] for each in sorted(glob(path, recursive=True))]


def paths_to_write(path: str, source: str | Path | None = None) -> PairPaths:
    """Find where to write."""
    if path.startswith(SCHEME):
        hint = "write a file or a run, and then: xmine pairs push pairs.parquet OWNER/NAME"
        raise OptionError(f"{path}: pairs are written here first", hint)
    if path.endswith("/") or not Path(path).name:
        raise OptionError(f"{path}: a folder, not a file of pairs", KNOWN)
    place = _two(path) or PairPaths((path,))
    kind = kind_of(path.partition(",")[0])
    if place.keyed or (place.format and not place.write):
        raise OptionError(f"{path}: this format is read, not written", KNOWN)
    if not place.moses and kind in FORMATS and "," in path:
        raise OptionError(f"{path}: two files of pairs", KNOWN)
    if kind in ("xlsx", "docx") and packing_of(path):
        raise OptionError(f"{path}: packed already", KNOWN)
    if not place.moses and not place.write:
        named = f"{Path(path).name.partition('.')[0].strip('-') or 'pairs'}.tsv"
        raise OptionError(f"{path}: unknown format", f"{KNOWN}; for example {named}")
    given = [] if source is None else files_like(source) or [str(source)]
    read = [realpath(path) for each in given for path in paths_to_read(each).paths]
    for each in place.paths:
        if realpath(each) in read:
            raise OptionError(f"{each}: input and output are the same file", "give another name")
    return place


def is_turned(path: str, languages: Languages) -> bool:
    """Tell whether the names of a Moses pair say the languages the other way round."""
    place = paths_to_write(path)
    named = moses.languages(place.moses) if place.moses else None
    if named is None or UNKNOWN_LANGUAGE in languages or same_language(*languages):
        return False
    return same_language(named[0], languages[1]) and same_language(named[1], languages[0])


def refuse_turned(path: str, languages: Languages) -> None:
    """Refuse a Moses pair whose names say the languages the other way round."""
    if is_turned(path, languages):
        raise OptionError(
            f"{path}: the source is {languages[0]}, the target {languages[1]}",
            f"name the source's file first: {','.join(reversed(paths_to_write(path).paths))}",
        )


def language_warnings(path: str, languages: Languages) -> list[str]:
    """Warn of languages that a file would tell wrongly, or not at all."""
    if kind_of(path) == "tmx" and UNKNOWN_LANGUAGE in languages:
        why = "language not known, written as und: name it with --src-lang, --tgt-lang"
        return [f"{path}: {why}"]
    if is_turned(path, languages):
        found = f"the source seems to be {languages[0]}, the target {languages[1]}"
        return [f"{path}: {found}: was the source's file to be named first?"]
    return []


def _two(text: str) -> PairPaths | None:
    """Two paths with a comma between, both with the suffix of a language, or of one catalogue."""
    paths = tuple(map(str.strip, text.split(",")))
    if len(paths) != 2 or not all(map(suffix_of, paths)):
        return None
    kinds = {kind_of(path) for path in paths}
    if not (kinds <= {"", *_LANGUAGES} or kinds <= KEYED):
        return None
    if realpath(paths[0]) == realpath(paths[1]):
        raise OptionError(f"{text}: the same file twice", "give two files: out.en,out.zh")
    return PairPaths(paths)
