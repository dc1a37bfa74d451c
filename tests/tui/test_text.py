"""Text that a widget may show: nothing in it is obeyed, hidden, torn or wider than its place."""

import time

import pytest
from rich.cells import cell_len

from tests.toys.app import HOSTILE
from xmine.tui.text import cut, highlighted, shown


@pytest.mark.parametrize("text", HOSTILE)
def test_a_place_in_the_text_is_the_same_place_in_what_is_shown(text: str) -> None:
    assert len(shown(text).plain) == len(text)


def test_markup_and_controls_are_text() -> None:
    assert shown("[red]a[/red]").plain == "[red]a[/red]"
    assert shown("\x1b[31m\ta\nb").plain == "␛[31m␉a␊b"


@pytest.mark.parametrize(
    ("text", "cells", "seen"),
    [
        ("机器翻译", 8, "机器翻译"),
        ("机器翻译", 7, "机器翻…"),
        ("机器翻译", 6, "机器…"),
        ("机器翻译", 1, "…"),
        ("机器翻译", 0, ""),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("ab👨\u200d👩\u200d👧", 9, "ab…"),
        ("👍🏽👍🏽", 4, "👍▒…"),
        ("🇨🇳🇩🇪", 4, "🇨🇳🇩🇪"),
        ("🇨🇳🇩🇪", 3, "🇨🇳…"),
    ],
)
def test_a_cut_text_has_whole_characters_and_an_ellipsis(text: str, cells: int, seen: str) -> None:
    assert cut(text, cells).plain == seen


@pytest.mark.parametrize("text", [*HOSTILE, "机" * 40, "a机" * 30, "\u0301" * 90, "👨\u200d" * 60])
def test_a_cut_text_is_never_wider_than_its_place(text: str) -> None:
    widths = [cell_len(cut(text, cells).plain) for cells in range(40)]
    assert all(width <= cells for cells, width in enumerate(widths))


@pytest.mark.parametrize("unit", ["x", "机", "\u0301", "👨\u200d", "\x1b", "\u202e"])
def test_the_length_of_a_line_does_not_matter_to_what_is_cut(unit: str) -> None:
    line = unit * (100_000 // len(unit))
    assert cut(line, 40).plain == cut(line[:2000], 40).plain
    fastest = min(_seconds(line) for _ in range(5))
    assert fastest < 0.001


def _seconds(line: str) -> float:
    before = time.process_time()
    cut(line, 40)
    return time.process_time() - before


def test_marked_parts_keep_their_place_behind_symbols() -> None:
    text = highlighted("\u202e机 21", [(3, 5)], "bold")
    assert [(text.plain[span.start : span.end], span.style) for span in text.spans] == [
        ("21", "bold")
    ]
