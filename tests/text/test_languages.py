"""Codes, names and scripts of languages."""

import pytest

from tests.toys.nineteen import NINETEEN
from xmine.text.identifier import identifier
from xmine.text.languages import LANGUAGES, language_name, scripts_of, short_code


@pytest.mark.parametrize(
    ("code", "short"),
    [
        ("zh-CN", "zh"),
        ("zho_Hans", "zh"),
        ("cmn", "zh"),
        ("eng_Latn", "en"),
        ("ces_Latn", "cs"),
        ("pt_BR", "pt"),
        ("sco_Latn", "sco"),
    ],
)
def test_a_code_is_shortened(code: str, short: str) -> None:
    assert short_code(code) == short


def test_a_language_is_named_or_left_as_its_code() -> None:
    assert language_name("de") == "German"
    assert language_name("zho_Hant") == "Chinese"
    assert language_name("sco") == "sco"
    assert LANGUAGES.keys() >= NINETEEN.keys()


def test_every_named_language_can_be_identified() -> None:
    assert set(LANGUAGES) <= set(identifier().labels)


def test_scripts_follow_from_the_code_or_from_the_text() -> None:
    assert scripts_of("ja", ()) == {"HIRAGANA", "KATAKANA", "CJK"}
    assert scripts_of("uk", ()) == scripts_of("sr_Cyrl", ()) == {"CYRILLIC"}
    assert scripts_of("sr", ["Идемо кући."]) == {"CYRILLIC"}
    assert scripts_of("sr", ["Idemo kući."]) == {"LATIN"}
