"""Codes of languages in the names of benchmark files, and which of them are measured."""

import pytest

from xmine.encoders.metadata import EncoderFacts
from xmine.errors import FileError
from xmine.evaluation.data import MissingData
from xmine.evaluation.languages import ALL, chosen_languages, left_out_note, named_by, short_code

ANY, GERMAN = EncoderFacts(), EncoderFacts(("en", "de"))


@pytest.mark.parametrize(
    ("code", "short"),
    [
        *(("zho_simpl", "zh"), ("arb_Arab", "ar"), ("zh-CN", "zh"), ("xyz", "xyz")),
        *(("cmn-eng", "zh-en"), ("de-fr", "de-fr")),
    ],
)
def test_a_language_has_one_code(code: str, short: str) -> None:
    assert short_code(code) == short


def test_a_code_names_itself_or_its_language() -> None:
    flores = ["eng_Latn", "zho_Hans", "zho_Hant"]
    assert named_by("zho_Hant", flores) == ["zho_Hant"]
    assert named_by("zh", flores) == ["zho_Hans", "zho_Hant"]
    assert named_by("zho-eng", ["zh-en", "zh-fr"]) == ["zh-en"]
    assert not named_by("de", flores) and not named_by("zh", ["zh-en"])


@pytest.mark.parametrize(
    ("wanted", "found", "facts", "chosen"),
    [
        ([], ["deu", "fra"], ANY, ["deu", "fra"]),
        ([], ["deu", "fra"], GERMAN, ["deu"]),
        ([ALL], ["deu", "fra"], GERMAN, ["deu", "fra"]),
        (["fr", "fra", "deu"], ["deu", "fra"], GERMAN, ["fra", "deu"]),
        (["fr-en"], ["de-en", "fr-en"], GERMAN, ["fr-en"]),
        ([], ["de-en", "fr-en", "de-fr"], GERMAN, ["de-en"]),
    ],
)
def test_what_is_measured(
    wanted: list[str], found: list[str], facts: EncoderFacts, chosen: list[str]
) -> None:
    assert chosen_languages(wanted, found, facts, "no {}") == chosen


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(FileError, match="no file of ko") as caught:
        chosen_languages(["ko"], ["deu", "fra"], ANY, "no file of {}")
    assert caught.value.hint == "there are deu, fra"
    with pytest.raises(FileError, match="no file of fr-de"):
        chosen_languages(["fr-de"], ["fr-en"], ANY, "no file of {}")
    with pytest.raises(MissingData, match="no files in languages of the encoder: en, de"):
        chosen_languages([], ["fra"], GERMAN, "no file of {}")


def test_what_nobody_chose_to_leave_out_is_told() -> None:
    (note,) = left_out_note(["deu"], ["deu", "fra", "kor"], [])
    assert note.startswith("2 that the encoder was not made for") and "--language all" in note
    assert left_out_note(["deu"], ["deu", "fra"], ["de"]) == left_out_note(["a"], ["a"], []) == []
