"""Excel tables: a column by its name or number, of the first sheet or of another."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.toys.trade import excel
from xmine.errors import FileError
from xmine.text.formats import apart
from xmine.text.inputs import text_input

pytestmark = [pytest.mark.process, pytest.mark.filterwarnings("ignore:.*left out, since it names")]
ROW = '<row r="{0}"><c r="{1}{0}" t="inlineStr"><is><t>{2}</t></is></c></row>'
FIRST = "".join(map(ROW.format, (3, 4, 6), "BBB", ("German", "Eins &amp; zwei", "Drei")))
OTHER = '<row r="1"><c r="A1"><v>2.5</v></c><c r="B1"><v>7</v></c></row>'
SHEETS = {"First": FIRST, "Other": OTHER, "Far": OTHER + ROW.format(1048576, "XFD", "a")}
TEXTS = {  # a row keeps its number
    ":German": ["", "", "", "Eins & zwei", "", "Drei"],
    ":1": ["", "", "German", "Eins & zwei", "", "Drei"],
    ":Other!2": ["7"],
}
REFUSED = {
    "": "a table with the column 'German'",
    ":French": "no column 'French', only the column 'German'",
    ":No!1": "cannot be read as XLSX: no sheet 'No', only 'First', 'Other', 'Far'",
    ":Far!1": "cannot be read as XLSX: memory allocation",
    ":Bomb!1": "unpacks to 33,",
}


@pytest.mark.parametrize("column", [*TEXTS, *REFUSED])
def test_a_column_is_read_or_refused(tmp_path: Path, column: str) -> None:
    more = {"Bomb": " " * (1 << 25)} if "Bomb" in column else {}
    (tmp_path / "a.xlsx").write_bytes(excel(**SHEETS, **more))
    given = text_input(f"{tmp_path}/a.xlsx{column}")
    if column in TEXTS:
        assert (list(given.texts()), given.survey.lines) == (TEXTS[column], len(TEXTS[column]))
    else:
        with pytest.raises(FileError, match=f"a.xlsx: {REFUSED[column]}"):
            list(given.texts())


def test_columns_of_a_sheet_come_from_one_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, parsed = tmp_path / "a.xlsx", Mock(wraps=apart.made_of)
    monkeypatch.setattr(apart, "made_of", parsed)
    for number, more in enumerate(("", OTHER.replace("1", "2")), start=1):  # written again
        path.write_bytes(excel(First=FIRST, Other=OTHER + more))
        given = text_input(f"{path}:Other!2")
        assert (list(given.texts()), given.survey.lines) == (["7"] * number, number)
        assert list(given.other_column("1")) == ["2.5"] * number
        assert parsed.call_count == number
