"""The normal form is that of Python, for every character, alone and before an accent."""

import unicodedata

from xmine.text.folding import nfkc


def test_every_character_has_its_normal_form() -> None:
    for start in range(0, 0x110000, 0x1000):
        for text in (chr(each) for each in range(start, start + 0x1000)):
            assert nfkc(text) == unicodedata.normalize("NFKC", text)
            accented = f"e{text}\u0301"
            assert nfkc(accented) == unicodedata.normalize("NFKC", accented)


def test_full_width_text_becomes_ascii() -> None:
    assert nfkc("Ｘｍｉｎｅ，２０２６！") == "Xmine,2026!"
