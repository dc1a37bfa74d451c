"""examples/languages.tsv: one meaning a row, one language of the embedded encoder a column."""

import json
import re
from collections import Counter
from pathlib import Path

import py3langid
import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "examples" / "languages.tsv").read_bytes().decode("utf-8")
LANGUAGES, *ROWS = [line.split("\t") for line in TEXT.removesuffix("\n").split("\n")]


def test_a_hundred_rows_have_a_cell_in_each_language_of_the_encoder() -> None:
    card = json.loads((ROOT / "xmine" / "embedded" / "xmine.json").read_text(encoding="utf-8"))
    assert LANGUAGES[0] == "en" and sorted(LANGUAGES) == sorted(card["languages"])
    assert [len(row) for row in ROWS] == [len(LANGUAGES)] * 100
    assert all(cell and cell.strip() == cell for row in ROWS for cell in row)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_column_repeats_nothing_and_is_in_its_language(language: str) -> None:
    column = [row[LANGUAGES.index(language)] for row in ROWS]
    assert len({re.sub(r"\W", "", cell.casefold()) for cell in column}) == len(column)
    halves = column[::2], column[1::2]
    assert [py3langid.classify(" ".join(half))[0] for half in halves] == [language] * 2


def test_digits_of_the_english_stand_in_each_translation() -> None:
    """A month may be one digit more, as in 3月15日; the order of two numbers may change."""
    for row in ROWS:
        digits = [Counter(re.findall(r"\d", cell)) for cell in row]
        assert all(digits[0] <= found for found in digits), row[0]
        assert all((found - digits[0]).total() <= 1 for found in digits), row[0]
