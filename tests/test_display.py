"""Nothing that is shown is obeyed, hidden or of a width that terminals disagree about."""

import unicodedata

import pytest
from rich.cells import cell_len

from xmine.display import visible


@pytest.mark.parametrize(
    "text",
    [
        *("plain\ttext\n", "机器翻译，全角ＡＢＣ　空格", "e\u0301 a\u0302\u0323 é ñ"),
        *("می\u200cخواهم", "🇨🇳 ☺ 👍 ❤", "[b]markup[/b] \\n", "葛\U000e0100城", ""),
    ],
)
def test_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x00\x1b[31m\r\x7f", "␀␛[31m␍␡"),
        ("a\x85b\x9bc", "a�b�c"),
        ("user\u202egnp.exe\u2066x\u2069\u200e\u061c", "user⇄gnp.exe⇄x⇄⇄⇄"),
        ("a\u2028b\u2029c", "a␤b␤c"),
        ("a\u200bb\u00adc\ufeffd\u2060\u180e", "a␢b␢c␢d␢␢"),
        ("latin\u200cletters \u200c", "latin␢letters ␢"),
        ("🏴\U000e0067\U000e007f", "🏴␢␢"),
        ("\u3164\uffa0\u115f\u034f", "␢␢␢␢"),
        ("👨\u200d👩\u200d👧", "👨⁀👩⁀👧"),
        ("👍🏽", "👍▒"),
        ("❤\ufe0f", "❤\ufe0e"),
        ("👍\ufe0e", "👍\ufe0f"),
        ("a\ufe0f\ufe0f\U000e0100", "a\ufe0e␢␢"),
        ("\ufe0fa", "␢a"),
        ("\u0301a", "◌a"),
        ("a" + "\u0301" * 9, "a" + "\u0301" * 6 + "◌◌◌"),
        ("\ud800\udfff", "��"),
        ("\U000e0fff\uffff", "��"),
    ],
)
def test_what_is_obeyed_hidden_or_misplaced_becomes_a_symbol(text: str, seen: str) -> None:
    assert visible(text) == seen
    assert len(seen) == len(text)
    assert visible(seen) == seen


def test_of_all_characters_none_is_obeyed_hidden_or_without_a_width() -> None:
    ends = (0, 0x3400), (0xD7A4, 0x12000), (0x1D000, 0x1FB00), (0xE0000, 0xE0200)
    blocks = [range(*each) for each in ends]
    wrong = []
    for code in (code for block in blocks for code in block):
        seen = visible(chr(code))
        category = unicodedata.category(seen)
        if seen in "\t\n" or category in ("Co", "Mc"):  # private use; letters' second halves
            continue
        if len(seen) != 1 or category[0] == "C" or category in ("Zl", "Zp") or not cell_len(seen):
            wrong.append(f"{code:04x} {category}")
    assert wrong == []


def test_words_of_two_characters_have_the_width_of_both() -> None:
    """Rich takes the character behind a joiner for a part of the one before it."""
    for code in (0x200B, 0x200C, 0x200D, 0xFE0F, 0x1F3FD, 0x202E):
        assert cell_len(visible(f"a{chr(code)}b")) in (2, 3)
        assert visible(f"a{chr(code)}b")[2] == "b"
