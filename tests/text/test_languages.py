"""Codes, names and scripts of languages."""

import pytest

from tests.toys.nineteen import NINETEEN
from xmine.text.identifier import identifier
from xmine.text.languages import LANGUAGES, language_name, scripts_of, short_code

SAME = """zh chi zho cmn zh-CN zho_Hans, en eng_Latn, cs cze ces_Latn, pt pt_BR, sco sco_Latn, \
no nb nn nob nno nor nb_NO, tl fil tgl, sw swa swh, he iw heb, fa per fas pes, my bur mya, km khm, \
ms may msa zsm, ro rum ron, sk slo slk, el gre ell, et est ekk, ne nep npi, kn kan, pa pan"""


@pytest.mark.parametrize("codes", SAME.split(", "))
def test_codes_of_a_language_are_those_of_the_first(codes: str) -> None:
    assert {*map(short_code, codes.split())} == {codes.split()[0]}


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
