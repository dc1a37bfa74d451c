"""Text that no person wrote so is told from text that only looks odd."""

import time

import pytest

from xmine.flags.faults import garbled, markup
from xmine.text.folding import fold

MARKUP = [
    "It&#39;s late",
    "f&uuml;r alle",
    "Press <b>OK</b>",
    '<a href="x.html">here</a>',
    "$('#menu').show();",
    "function open(menu) { menu.show(); }",
    ".menu { color: red; }",
]
GARBLED = [
    *("für alle Größen".encode().decode("cp1252"), "Привет, мир".encode().decode("latin-1")),
    *("你好，世界".encode().decode("latin-1"), "caf\ufffd au lait", "un caf?s, une cr?me"),
    *("???? ????? ???, ???", "x" * 200, "a\x02b"),
]
FINE = [
    "AT&T &unknown; R&D;",
    "if a < b and c > d, List<String> in <file>",
    "The set {a, b} has $5 and f(x) = 2;",
    "«À l’été», São Paulo, Ångström, Ç à Â»",
    "Das ist groß… und heiß…",
    "Er sagte „Spaß“ und „Gruß“.",
    "« la liberté\u00a0» et « la fraternité\u00a0»",
    "Why? Who?! http://x.org/a?b=c&d=e what?",
    "水" * 300,
    "ก" * 300,
]


@pytest.mark.parametrize("text", MARKUP)
def test_markup_is_found(text: str) -> None:
    assert markup(text) in text
    assert markup(text)
    assert not garbled(text)


@pytest.mark.parametrize("text", GARBLED)
def test_lost_letters_are_found(text: str) -> None:
    assert garbled(text) in text
    assert garbled(text)
    assert not markup(text)


@pytest.mark.parametrize(
    "part", ["house,", "?", "{a:", "{:;", "<!--", " ", "<a ", "a?b", "&", "1,"]
)
def test_long_lines_take_no_long_time(part: str) -> None:
    text = part * (100_000 // len(part)) + "x 一?"
    started = time.process_time()
    assert isinstance(markup(text) + garbled(text) + fold(text), str)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("text", FINE)
def test_text_that_people_write_is_neither(text: str) -> None:
    assert not markup(text)
    assert not garbled(text)
