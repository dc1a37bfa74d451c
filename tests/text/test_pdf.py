"""PDF files: the paragraphs come out as they were laid on the pages, in the order of reading."""

import random
from itertools import product
from pathlib import Path

import pytest

from tests.toys.trade import pdf
from xmine.errors import FileError
from xmine.text.inputs import text_input

SIZE, STEP, LINES = 10, 12, 30
STYLES = ("set in", "apart", "list", "plain")
LAID = [*product((1, 2), STYLES, ("columns", "rows"), range(3))]
pytestmark = pytest.mark.process
Line = tuple[float, float, float, str]


def wrapped(draw: random.Random, words: list[str], width: int, first: int, hangs: int) -> list[str]:
    """Fill lines with words, letters of many widths; one that does not fit may be cut."""
    lines, room = [""], width - first
    for word in words:
        apart = bool(lines[-1])
        if len(lines[-1]) + apart + len(word) > room:
            at = room - len(lines[-1]) - apart - 1
            if at > 2 and len(word) - at > 3 and word.islower():
                lines[-1] += " " * apart + word[:at] + "-"
                word = word[at:]
            lines, room, apart = [*lines, ""], width - hangs - draw.randint(0, 2), False
        lines[-1] += " " * apart + word
    return lines


def laid(columns: int, style: str, order: str, seed: int) -> tuple[bytes, list[str]]:
    """Lay paragraphs on pages with heads and numbers, the columns of a page line by line or not."""
    draw, width = random.Random(seed), 76 // columns - 2
    texts, flow = list[str](), list[tuple[int, str]]()  # letters set in; nothing of a blank line
    while len(texts) < 60 + seed:
        words = ["".join(draw.choices("abcdenorstu", k=draw.randint(2, 11))) for _ in range(40)]
        words = [word.title() if draw.random() < 0.2 else word for word in words]
        mark = ["1."] * (style == "list")
        words = [*mark, words[0].title(), *words[1 : draw.randint(4, 30)]]
        first, hangs = 2 * (style == "set in"), 3 * (style == "list")
        lines = wrapped(draw, [*words[:-1], words[-1] + "."], width, first, hangs)
        if style != "plain" or len(lines[-1]) < width - 16:  # its end is told by room alone
            texts.append(" ".join(words) + ".")
            flow += [(hangs if at else first, line) for at, line in enumerate(lines)]
            flow += [(0, "")] * (style == "apart")
    pages = list[list[Line]]()
    for begin in range(0, len(flow), LINES * columns):
        number, rows = len(pages) + 1, list[tuple[tuple[int, int], Line]]()
        for at, (more, line) in enumerate(flow[begin : begin + LINES * columns]):
            column, row = divmod(at, LINES)
            place = 60 + column * 240 + more * SIZE * 0.6, 700 - row * STEP
            key = (column, row) if order == "columns" else (row, column)
            rows += [(key, (*place, SIZE, line))] * bool(line)
        head: list[Line] = [(60, 750, 8, draw.choice(texts)[:9]), (290, 335, 8, f"Page {number}")]
        pages.append([*head[:1], *(line for _, line in sorted(rows)), *head[1:]])
    return pdf(*pages), texts


@pytest.mark.parametrize(("columns", "style", "order", "seed"), LAID)
def test_paragraphs_come_out_as_they_were_laid(
    tmp_path: Path, columns: int, style: str, order: str, seed: int
) -> None:
    data, texts = laid(columns, style, order, seed)
    (tmp_path / "a.pdf").write_bytes(data)
    given, heads = text_input(tmp_path / "a.pdf"), 2 * data.count(b"/MediaBox")
    assert list(given.texts()) == texts
    told = f"left out: heads and numbers of pages ({heads})"
    assert given.warnings == [f"{tmp_path}/a.pdf: {told}"]
    places = [int(place.removeprefix("page ")) for place in given.places() or ()]
    assert (places[0], places) == (1, sorted(places))


def test_numbers_and_verses_set_in_are_no_columns(tmp_path: Path) -> None:
    listed, verses = list[Line](), list[Line]()
    for row in range(8):
        y = 700 - STEP * row
        listed += [(60, y, SIZE, f"{row}"), (100, y, SIZE, f"The text of the row {row}.")]
        verses.append((60 + 200 * (row % 2), y, SIZE, f"A verse, {row}."))
    for page in (listed, verses):
        (tmp_path / "a.pdf").write_bytes(pdf(page))
        assert list(text_input(tmp_path / "a.pdf").texts()) == [text for *_, text in page]


def test_a_title_stands_before_its_columns_and_pictures_are_told(tmp_path: Path) -> None:
    page: list[Line] = [(60, 740, 16, "The ferry and the bees of the island in the north")]
    for x, side in ((60, "left"), (320, "right")):
        page += [
            (x, 700 - STEP * row, SIZE, f"{side} words that go on, up {row}") for row in range(8)
        ]
    page.append((60, 580, SIZE, "A last line over both columns. " * 2))
    (tmp_path / "a.pdf").write_bytes(pdf(page, []))
    given = text_input(tmp_path / "a.pdf")
    title, both, last = given.texts()
    assert (title, both.split().index("right"), last[:11]) == (page[0][3], 56, "A last line")
    assert given.warnings == [f"{tmp_path}/a.pdf: left out: pages without text (1)"]
    (tmp_path / "a.pdf").write_bytes(pdf([], []))
    with pytest.raises(FileError, match=r"a.pdf: a PDF file of pictures, without text") as refused:
        list(text_input(tmp_path / "a.pdf").texts())
    assert "OCR" in refused.value.hint
