"""PDF -> its paragraphs in the order of reading: lines by their places on the page, put together.

Heads and numbers of pages are left out. Columns are read one after the other. A paragraph ends
before a gap, a line set in, another size, or where its last line had room for the next word.
"""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from itertools import chain, pairwise
from statistics import median
from typing import NamedTuple

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.text.formats.apart import rows_of
from xmine.text.formats.units import LeftOut, Passage
from xmine.text.segmentation import join

_LEAST, _ROW = 4, 0.7  # lines of a column; of the height of letters, between lines of one row
_NARROW = 0.3  # of the other column: no column, but numbers of a list
_LONGEST = 500  # lines of a paragraph
_EDGE = 3  # lines at the head and at the foot of a page that may stand on others
_APART, _SET_IN, _SIZE = 1.25, 0.8, 0.2  # of the distance of lines; of the height of letters
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_ITEM = re.compile(r"[•▪◦‣·*–—-]\s|\(?(?:\d{1,3}|[A-Za-z])[.)]\s")
_ENDS = re.compile(r"[.!?…。！？؟।:][\])）】\"'”’»」』]*$")


class _Line(NamedTuple):
    """A line: points from the left and from below; of its column the right and left ends."""

    left: float
    right: float
    base: float
    height: float
    text: str
    place: str = ""
    column: int = 0
    edge: float = 0.0
    margin: float = 0.0


def read(path: str) -> Iterator[Passage | LeftOut]:
    """Read the paragraphs; the place is the page where one begins."""
    pages = [[_Line(*line) for line in page] for page in rows_of(path, "pdf")]
    if not any(pages):
        told = f"{name_of(path)}: a PDF file of pictures, without text"
        raise FileError(told, "read the text off them first (OCR): ocrmypdf FILE text.pdf")
    yield LeftOut("pages without text", sum(not page for page in pages))
    heads, columns = _heads(pages), list[list[_Line]]()
    cut = None
    for number, page in enumerate(pages):
        body = [line for line in page if (number, line) not in heads]
        if (found := _gutter(body)) or any(line.left < (cut or 0) < line.right for line in body):
            cut = found  # else that of the page before: the last page may have few lines
        for lines in _columns(body, cut):
            ends, margin = sorted(line.right for line in lines), min(line.left for line in lines)
            facts = f"page {number + 1}", len(columns), ends[len(ends) * 9 // 10], margin
            columns.append([_Line(*line[:5], *facts) for line in lines])
    pairs = (pair for lines in columns for pair in pairwise(lines))
    steps = sorted(step for above, line in pairs if (step := above.base - line.base) > 0)
    step = steps[len(steps) // 10] if steps else 0.0
    paragraphs = list[list[_Line]]()
    for line in chain.from_iterable(columns):
        if paragraphs and _goes_on(paragraphs[-1], line, step):
            paragraphs[-1].append(line)
        else:
            paragraphs.append([line])
    for lines in paragraphs:
        yield Passage(reduce(together, (line.text for line in lines)), lines[0].place)
    yield LeftOut("heads and numbers of pages", len(heads))


def together(text: str, line: str) -> str:
    """Put the next line behind a text; a hyphen goes where the end of a line cuts a word."""
    is_cut = re.search(r"[^\W\d_]-$", text[-2:]) and line[:1].islower()
    return text[:-1] + line if is_cut else join([text, line])


def _goes_on(paragraph: list[_Line], line: _Line, step: float) -> bool:
    """Tell whether a line goes on with the paragraph before it."""
    first, above = paragraph[0], paragraph[-1]
    # Letters that there was room for; where no sentence ends, of words wider than most.
    word = len(line.text.split()[0]) + (1 if _ENDS.search(above.text) else 4)
    has_room = above.right + word * (line.right - line.left) / len(line.text) <= above.edge
    is_alike = abs(line.height - above.height) <= _SIZE * above.height
    if has_room or not is_alike or len(paragraph) == _LONGEST or _ITEM.match(line.text):
        return False
    if line.column != above.column:
        widths = line.edge - line.margin, above.edge - above.margin
        is_alike = abs(widths[0] - widths[1]) < 3 * above.height or line.text[:1].islower()
        return is_alike and not _ENDS.search(above.text)
    if not 0 < above.base - line.base <= _APART * max(step, line.height):
        return False
    far, ends = _SET_IN * line.height, _ENDS.search(above.text)
    if abs(line.left - above.left) < far:  # or two paragraphs of a line, each set in
        return not (above is first and line.left - line.margin > far and ends)
    is_back = line.left < above.left and not ends
    return above is first and (is_back or _ITEM.match(first.text) is not None)


def _heads(pages: list[list[_Line]]) -> set[tuple[int, _Line]]:
    """Find lines at the edges of pages: some have them there, or half have any, at a distance."""
    keys = dict[tuple[int, _Line], tuple[tuple[int, str], tuple[int, str]]]()
    for number, page in enumerate(pages):
        lines = sorted(page, key=lambda line: line.base)
        for line in lines[:_EDGE] + lines[-_EDGE:]:
            place, far = round(line.base / 2), 2.5 * line.height
            alone = not any(1 < abs(line.base - other.base) < far for other in page)
            same = place, _NUMBER.sub("#", line.text)
            keys[number, line] = same, (place, "") if alone else same
    seen = Counter(key for some in keys.values() for key in {*some})
    few, half = min(3, max(2, len(pages) - 1)), max(3, len(pages) / 2)
    return {edge for edge, (same, any_) in keys.items() if seen[same] >= few or seen[any_] >= half}


def _columns(lines: list[_Line], cut: float | None) -> Iterator[list[_Line]]:
    """Give the columns of a page one after the other; lines over several of them part these."""
    lines = sorted(lines, key=lambda line: (-round(line.base), line.left))
    if cut is None:
        yield from [lines] * bool(lines)
        return
    bands = [list[list[_Line]]()]
    for line in lines:
        side = 0 if line.left < cut < line.right else 1 + (line.left >= cut)
        if not bands[-1] or (side == 0 and any(bands[-1][1:])):
            bands.append([[], [], []])
        bands[-1][side].append(line)
    for band in filter(None, bands):
        yield from [band[0]] * bool(band[0])
        yield from chain(*(_columns(side, _gutter(side)) for side in band[1:]))


def _gutter(lines: list[_Line]) -> float | None:
    """Find where two columns are parted: most lines stand beside, and some in one row."""
    found, over, before = list[tuple[int, float]](), 0, 0
    ends = sorted([(line.left, 1) for line in lines] + [(line.right, -1) for line in lines])
    for (x, step), (after, _) in pairwise(ends):
        over, before = over + step, before + (step < 0)
        found.append((min(before, len(lines) - over - before), (x + after) / 2))
    beside, cut = max(found, default=(0, 0.0))
    if beside < _LEAST:
        return None
    left = sorted((line for line in lines if line.right <= cut), key=lambda line: line.base)
    right, bases = [line for line in lines if line.left >= cut], [line.base for line in left]
    rows = sum(
        bisect(bases, line.base - _ROW * line.height)
        < bisect(bases, line.base + _ROW * line.height)
        for line in right
    )
    widths = sorted(median(line.right - line.left for line in side) for side in (left, right))
    return cut if rows >= _LEAST and widths[0] > _NARROW * widths[1] else None
