"""Text that a widget may show: nothing in it is obeyed, hidden, torn or wider than its place."""

import pytest

from tests.toys.app import HOSTILE
from xmine.tui.text import cut, shown


@pytest.mark.parametrize("text", HOSTILE)
def test_a_place_in_the_text_is_the_same_place_in_what_is_shown(text: str) -> None:
    assert len(shown(text).plain) == len(text)


def test_markup_and_controls_are_text() -> None:
    assert shown("[red]a[/red]").plain == "[red]a[/red]"
    assert shown("\x1b[31m\ta\nb").plain == "␛[31m␉a␊b"


@pytest.mark.parametrize(
    ("text", "cells", "seen"),
    [
        *(("机器翻译", 8, "机器翻译"), ("机器翻译", 7, "机器翻…"), ("机器翻译", 6, "机器…")),
        *(("机器翻译", 1, "…"), ("机器翻译", 0, ""), ("e\u0301e\u0301e\u0301", 2, "e\u0301…")),
        *(("ab👨\u200d👩\u200d👧", 9, "ab…"), ("👍🏽👍🏽", 4, "👍▒…"), ("🇨🇳🇩🇪", 4, "🇨🇳🇩🇪")),
        ("🇨🇳🇩🇪", 3, "🇨🇳…"),
    ],
)
def test_a_cut_text_has_whole_characters_and_an_ellipsis(text: str, cells: int, seen: str) -> None:
    assert cut(text, cells).plain == seen
