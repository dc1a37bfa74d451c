"""Lines of a side -> features of each line, a few numbers that the rules of flags read.

The features of a line take 25 bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.files import scratch
from xmine.flags.faults import garbled, markup
from xmine.flags.flag_set import Bools
from xmine.flags.near_copies import beyond_latin, latin_characters, letters_of
from xmine.flags.scripts import foreign_lines
from xmine.progress import silent
from xmine.run.local import LocalEngine
from xmine.run.steps import Files, Steps, joined, python_task
from xmine.run.task import Task
from xmine.run.texts import TextFiles
from xmine.text.folding import nfkc, without_markup
from xmine.text.hashing import hashes_of
from xmine.text.languages import scripts_of
from xmine.text.sentences import Sentences, folded

_LINES_AT_ONCE = 4_096
# Lines of a task, and of a file: a quarter of a second, which a kill or a new line costs at most.
LINES_OF_A_TASK = 2**13
_MARKS = {**dict.fromkeys(".!…。！．।॥۔։።។", 1), **dict.fromkeys("?？؟", 2)}
_CLOSING = " \t\"'”’»“«」』)）]"
# The features of a line that need no other line.
_NAMES = "key letters beyond_latin characters latin foreign mark markup garbled".split()
_TYPES = "<i8 <i4 ? <i4 <i4 ? u1 ? ?".split()
_LINE = np.dtype(list(zip(_NAMES, _TYPES, strict=True)))


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
        mark: uint8 [lines], how it ends: 1 with the mark of a sentence, 2 of a question, else 0.
        markup, garbled: bool [lines], see `xmine.flags.faults`.
    """

    keys: NDArray[np.int64]
    letters: NDArray[np.int32]
    beyond_latin: Bools
    characters: NDArray[np.int32]
    latin: NDArray[np.int32]
    foreign: Bools
    mark: NDArray[np.uint8]
    markup: Bools
    garbled: Bools


def read_line_features(
    side: Sentences,
    language: str,
    tick: Callable[[int], None] = silent,
    steps: Steps | None = None,
    name: str = "",
) -> LineFeatures:
    """Compute the features of every line of a side, or read them where they are kept.

    `language` is its code, or `und`; `tick` is told the number of lines that are done; `steps` make
    the files of features, in whose names the side has a `name`.
    """
    if steps:
        files, tasks = plan_features(steps, name, side, language, side.texts)
        steps.engine.run(tasks, lambda share: tick(int(share * len(side))))
        lines = joined(files, 0, _LINE)
    else:
        lines = scratch.empty(len(side), _LINE)
        are_foreign = foreign_lines(language, scripts_of(language, side.texts))
        for start in range(0, len(side), LINES_OF_A_TASK):
            stop = min(start + LINES_OF_A_TASK, len(side))
            _look(lines, range(start, stop), side.texts, are_foreign)
            tick(stop)
    return LineFeatures(*(_column(lines, name) for name in _NAMES))


def plan_features(
    steps: Steps, name: str, side: Sentences, language: str, texts: TextFiles | Sequence[str]
) -> tuple[Files, list[Task]]:
    """Name the files of the features of a side, and the tasks for those that are missing."""
    scripts = scripts_of(language, side.texts)
    maker = partial(_of_lines, texts, language, scripts)
    starts, packed = range(0, len(side), LINES_OF_A_TASK), side.packed

    def made_of(start: int, stop: int) -> list[str]:
        return [packed.digest(start, stop), language, *sorted(scripts)]

    task = python_task(1.0, apart=isinstance(texts, TextFiles))
    return steps.plan({f"lines-{name}": _LINE}, made_of, starts, maker, task)


def _of_lines(
    given: TextFiles | Sequence[str], language: str, scripts: set[str], start: int, stop: int
) -> Iterator[tuple[NDArray[Any]]]:
    """Compute the features of some lines in a task."""
    lines = np.empty(stop - start, dtype=_LINE)
    texts = (given.open() if isinstance(given, TextFiles) else given)[start:stop]
    _look(lines, range(len(lines)), texts, foreign_lines(language, scripts))
    yield (lines,)


def _column(lines: NDArray[Any], name: str) -> NDArray[Any]:
    """Copy a feature; a view would keep the whole table."""
    column = scratch.empty(len(lines), lines.dtype[name])
    column[:] = lines[name]
    return column


def _look(
    lines: NDArray[Any],
    some_lines: range,
    texts: Sequence[str],
    are_foreign: Callable[[Sequence[str], Sequence[str]], list[bool]],
) -> None:
    """Fill in the features of some lines."""
    for rows, some, spelt in _by_chunks(texts, some_lines):
        lines["key"][rows] = _keys(some, spelt)
        lines["letters"][rows] = list(map(len, spelt))
        lines["characters"][rows] = list(map(len, some))
        lines["latin"][rows] = list(map(latin_characters, some))
        lines["beyond_latin"][rows] = list(map(beyond_latin, spelt))
        lines["foreign"][rows] = are_foreign(some, spelt)
        lines["mark"][rows] = list(map(last_mark, some))
        lines["markup"][rows] = [bool(markup(text)) for text in texts[rows]]
        lines["garbled"][rows] = [bool(garbled(text)) for text in texts[rows]]


def last_mark(text: str) -> int:
    """Tell how a text ends, but for quotes and brackets, see `LineFeatures`."""
    return _MARKS.get(text.rstrip(_CLOSING)[-1:], 0)


def keys_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """Find the `keys` of `LineFeatures`, and nothing else."""
    keys = np.empty(len(texts), dtype=np.int64)
    for rows, some, spelt in _by_chunks(texts, range(len(texts))):
        keys[rows] = _keys(some, spelt)
    return keys


def kept_keys(side: Sentences, steps: Steps, name: str) -> NDArray[np.int64]:
    """Find the `keys` of a side in files of a step: only new lines are read."""
    texts, packed = side.texts, side.packed
    files = steps.make(
        {f"keys-{name}": np.int64},
        lambda start, stop: [packed.digest(start, stop)],
        range(0, len(side), LINES_OF_A_TASK),
        lambda start, stop: iter([(keys_of(texts[start:stop]),)]),
        engine=LocalEngine(),
    )
    return joined(files, 0, np.int64)


def _by_chunks(
    texts: Sequence[str], lines: range
) -> Iterator[tuple[slice, Sequence[str], list[str]]]:
    """Give some thousand lines at a time: their rows, texts in NFKC without markup, letters."""
    for start in lines[::_LINES_AT_ONCE]:
        rows = slice(start, min(start + _LINES_AT_ONCE, lines.stop))
        some = [nfkc(without_markup(text)) for text in texts[rows]]
        yield rows, some, list(map(letters_of, some))


def _keys(texts: Sequence[str], letters: list[str]) -> NDArray[np.int64]:
    pairs = zip(texts, letters, strict=True)
    return hashes_of(spelt or folded(text) for text, spelt in pairs)
