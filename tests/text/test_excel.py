"""Excel tables: a column by its name or number, of the first sheet or of another."""

from pathlib import Path

import pytest

from tests.toys.trade import excel
from xmine.errors import FileError
from xmine.text.inputs import text_input

pytestmark = [
    pytest.mark.process,
    pytest.mark.filterwarnings("ignore:.*left out, since it names"),
]
ROW = '<row r="{0}"><c r="{1}{0}" t="inlineStr"><is><t>{2}</t></is></c></row>'
FIRST = "".join(map(ROW.format, (3, 4, 6), "BBB", ("German", "Eins &amp; zwei", "Drei")))
OTHER = '<row r="1"><c r="A1"><v>2.5</v></c><c r="B1"><v>7</v></c></row>'
SHEETS = {"First": FIRST, "Other": OTHER, "Far": OTHER + ROW.format(1048576, "XFD", "a")}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "a.xlsx").write_bytes(excel(**SHEETS))
    return tmp_path / "a.xlsx"


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        ("German", ["", "", "", "Eins & zwei", "", "Drei"]),
        ("1", ["", "", "German", "Eins & zwei", "", "Drei"]),
        ("First!German", ["", "", "", "Eins & zwei", "", "Drei"]),
        ("Other!2", ["7"]),
    ],
)
def test_a_row_keeps_its_number(table: Path, column: str, texts: list[str]) -> None:
    given = text_input(f"{table}:{column}")
    assert (list(given.texts()), given.survey.lines) == (texts, len(texts))


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("", "a.xlsx: a table with the column 'German'"),
        (":French", "a.xlsx: no column 'French', only the column 'German'"),
        (":No!1", "no sheet 'No', only 'First', 'Other', 'Far'"),
        (":Far!1", "a.xlsx: cannot be read as XLSX: memory allocation"),
    ],
)
def test_what_is_not_there_or_too_much_is_refused(table: Path, column: str, told: str) -> None:
    with pytest.raises(FileError, match=told):
        list(text_input(f"{table}{column}").texts())


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(excel(A="a" * (1 << 25)))
    with pytest.raises(FileError, match=r"a.xlsx: unpacks to 33,"):
        list(text_input(f"{tmp_path}/a.xlsx:1").texts())
