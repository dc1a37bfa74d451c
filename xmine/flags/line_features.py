"""Lines of a side -> features of each line, a few numbers that the rules of flags read.

The features of a line take about 30 bytes, 80 while they are computed, and 46 on disk: a run that
was killed, or is asked for another threshold, finds them there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.engines.task import Engine, Task
from xmine.files import scratch
from xmine.files.atomic import writing
from xmine.files.digests import Watch
from xmine.files.records import read_texts
from xmine.files.sealed_arrays import drop_changed, open_sealed, write_sealed
from xmine.flags.boilerplate import boilerplate, ends_of, variants
from xmine.flags.flag_set import Bools
from xmine.flags.near_copies import beyond_latin, latin_characters, letters_of
from xmine.flags.scripts import foreign_to
from xmine.text.hashing import hashes_of
from xmine.text.languages import scripts_of
from xmine.text.nfkc import nfkc
from xmine.text.sentences import Sentences, folded

_LINES_AT_ONCE = 4_096
# Lines of a task, and of a file: less than a second of work, which a kill loses at most.
LINES_OF_A_TASK = 2**15
# The features of a line that need no other line.
_LINE = np.dtype(
    [
        ("key", "<i8"),
        ("ends", "<i8", 3),
        ("letters", "<i4"),
        ("characters", "<i4"),
        ("latin", "<i4"),
        ("beyond_latin", "?"),
        ("foreign", "?"),
    ]
)


@dataclass(frozen=True, slots=True)
class LineFeatures:
    """Features of each line of a side.

    Attributes:
        keys: int64 [lines], a hash of its letters, see `near_copies.letters_of`, or of the folded
            text if it has none.
        letters: int32 [lines], how many letters it has.
        beyond_latin: bool [lines], whether some of them are of another script than Latin.
        characters, latin: int32 [lines], its length, and how many characters of it are ASCII or
            Latin letters.
        foreign: bool [lines], whether it is in another language than its side.
        groups: int64 [lines], the first line with the same letters, see
            `xmine.flags.boilerplate.variants`.
        boilerplate: bool [lines], whether it is.
    """

    keys: NDArray[np.int64]
    letters: NDArray[np.int32]
    beyond_latin: Bools
    characters: NDArray[np.int32]
    latin: NDArray[np.int32]
    foreign: Bools
    groups: NDArray[np.int64]
    boilerplate: Bools


@dataclass(frozen=True, slots=True)
class FeatureFiles:
    """Where the features of the lines of a run are kept.

    Attributes:
        folder: of the files; the tables of the sides stand beside it.
        watch: told the digests of the files.
        engine: runs the tasks that make the files.
    """

    folder: Path
    watch: Watch
    engine: Engine

    @property
    def parts(self) -> Path:
        """The folder for what tasks make, of which the watch knows nothing yet."""
        return self.folder.with_name(f".{self.folder.name}.part")

    def of(self, side: Sentences, name: str, language: str) -> Callable[[int], tuple[Path, Path]]:
        """Name the files for lines from one on: the kept one, and what a task makes of it."""
        digest = side.digest()[:16]

        def paths(start: int) -> tuple[Path, Path]:
            file = f"{name}-{language}-{start}"
            return self.folder / f"{file}.npy", self.parts / f"{file}-{digest}.npy"

        return paths


def read_line_features(
    side: Sentences,
    language: str,
    seen: Callable[[int], None],
    files: FeatureFiles | None = None,
    name: str = "",
) -> LineFeatures:
    """Compute the features of every line of a side, or read them where they are kept."""
    scripts = scripts_of(language, side.texts)
    is_foreign = foreign_to(language, scripts)
    lines = scratch.empty(len(side), _LINE)
    paths = files.of(side, name, language) if files else None
    for start in range(0, len(side), LINES_OF_A_TASK):
        part = lines[start : start + LINES_OF_A_TASK]
        kept, made = paths(start) if paths else (None, None)
        if _found(kept, part, seen):
            continue
        if not _found(made, part, seen):
            _look(lines, range(start, start + len(part)), side.texts, is_foreign, seen)
        if files and kept:
            with writing(files.folder):
                files.folder.mkdir(exist_ok=True)
            write_sealed(kept, part)
            files.watch.sealed(kept)
    names = ("letters", "beyond_latin", "characters", "latin", "foreign")
    columns = {name: _column(lines, name) for name in names}
    keys = _column(lines, "key")
    groups = scratch.stored(variants(keys, columns["letters"]))
    marked = boilerplate(lines["ends"], groups, side.occurrences)
    return LineFeatures(keys=keys, groups=groups, boilerplate=marked, **columns)


def _column(lines: NDArray[Any], name: str) -> NDArray[Any]:
    """Copy a feature; a view would keep the whole table."""
    column = scratch.empty(len(lines), lines.dtype[name])
    column[:] = lines[name]
    return column


def feature_tasks(files: FeatureFiles, name: str, side: Sentences, language: str) -> Iterator[Task]:
    """Give the tasks that make the files of a side that are not there."""
    table, scripts = files.folder.with_name(f"{name}.parquet"), scripts_of(language, side.texts)
    paths = files.of(side, name, language)
    for start in range(0, len(side), LINES_OF_A_TASK):
        stop, (kept, made) = min(start + LINES_OF_A_TASK, len(side)), paths(start)
        if not kept.exists():
            drop_changed(made, _LINE)
            given = table, len(side), language, scripts, start, stop, made
            yield Task(write_features, given, (made,), float(stop - start), in_python=True)


def write_features(
    table: Path, total: int, language: str, scripts: set[str], start: int, stop: int, path: Path
) -> None:
    """Compute the features of some lines of a table, in a task."""
    lines = np.empty(stop - start, dtype=_LINE)
    texts = read_texts(table, "text", total, start, stop)
    _look(lines, range(len(lines)), texts, foreign_to(language, scripts), _nothing)
    write_sealed(path, lines)


def _nothing(lines: int) -> None:
    """Hear nothing of lines."""


def _look(
    lines: NDArray[Any],
    some_lines: range,
    texts: Sequence[str],
    is_foreign: Callable[[str, str], bool],
    seen: Callable[[int], None],
) -> None:
    """Fill in the features of some lines."""
    for rows, some, spelt in _by_chunks(texts, some_lines):
        lines["key"][rows] = _keys(some, spelt)
        lines["ends"][rows] = ends_of(spelt)
        lines["letters"][rows] = list(map(len, spelt))
        lines["characters"][rows] = list(map(len, some))
        lines["latin"][rows] = list(map(latin_characters, some))
        lines["beyond_latin"][rows] = list(map(beyond_latin, spelt))
        lines["foreign"][rows] = list(map(is_foreign, some, spelt))
        seen(len(some))


def _found(path: Path | None, lines: NDArray[Any], seen: Callable[[int], None]) -> bool:
    """Fill in the features that a file has of some lines; tell whether the file fits."""
    found = open_sealed(path, _LINE) if path else None
    if found is None or found.shape != lines.shape:
        return False
    lines[:] = found
    seen(len(lines))
    return True


def known_keys(folder: Path, name: str, count: int) -> NDArray[np.int64] | None:
    """Read the `keys` that `read_line_features` has kept of a side; None if some are missing."""
    keys = np.empty(count, dtype=np.int64)
    for start in range(0, count, LINES_OF_A_TASK):
        part = np.empty(min(LINES_OF_A_TASK, count - start), dtype=_LINE)
        paths = sorted(folder.glob(f"{name}-*-{start}.npy"))
        if not any(_found(path, part, _nothing) for path in paths):
            return None
        keys[start : start + len(part)] = part["key"]
    return keys


def keys_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """Find the `keys` of `LineFeatures`, and nothing else."""
    keys = np.empty(len(texts), dtype=np.int64)
    for rows, some, spelt in _by_chunks(texts, range(len(texts))):
        keys[rows] = _keys(some, spelt)
    return keys


def groups_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """Find the `groups` of `LineFeatures`, and nothing else."""
    keys = np.empty(len(texts), dtype=np.int64)
    letters = np.empty(len(texts), dtype=np.int32)
    for rows, some, spelt in _by_chunks(texts, range(len(texts))):
        keys[rows], letters[rows] = _keys(some, spelt), list(map(len, spelt))
    return variants(keys, letters)


def _by_chunks(
    texts: Sequence[str], lines: range
) -> Iterator[tuple[slice, Sequence[str], list[str]]]:
    """Give some thousand lines at a time: their rows, their texts in NFKC, their letters."""
    for start in lines[::_LINES_AT_ONCE]:
        rows = slice(start, min(start + _LINES_AT_ONCE, lines.stop))
        some = list(map(nfkc, texts[rows]))
        yield rows, some, list(map(letters_of, some))


def _keys(texts: Sequence[str], letters: list[str]) -> NDArray[np.int64]:
    pairs = zip(texts, letters, strict=True)
    return hashes_of(spelt or folded(text) for text, spelt in pairs)
