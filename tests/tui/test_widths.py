"""The app asks its terminal for the cells of vowel signs, and draws by the answer."""

import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich import cells

from tests.toys.grids import mostly_long
from tests.tui.test_terminal import BROWSE, SOON, in_terminals, read_until
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.terminal import hear
from xmine.tui.text import cut

HINDI = "उसने मुझे बताया कहाँ जाना है।"
MARKS = sum(unicodedata.category(character) == "Mc" for character in HINDI)
# The gaps behind a header and behind a text in the row of the same frame.
FRAME = f"source( +)target(?:(?!source).)*?{re.escape(HINDI)}( +)TARGET"


@pytest.fixture
def widths() -> Iterator[None]:
    """Let a test change the widths of Rich."""
    table: Any = cells.load_cell_table().widths  # type: ignore[attr-defined]
    kept = [*table]
    yield
    table[:] = kept
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()


@pytest.mark.usefixtures("widths")
def test_an_answer_changes_the_width_of_spacing_marks_alone() -> None:
    every = [chr(code) for code in range(0x20, sys.maxunicode + 1, 1)]
    before = list(map(cells.get_character_cell_size.__wrapped__, every))
    length = cells.cell_len(HINDI)
    assert not hear(1) and cells.cell_len(HINDI) == length
    assert hear(2) and not hear(2)
    assert cells.cell_len(HINDI) == length + MARKS and MARKS > 4
    now = list(map(cells.get_character_cell_size.__wrapped__, every))
    others = [
        at
        for at, character in enumerate(every)
        if now[at] != (1 if unicodedata.category(character) == "Mc" else before[at])
    ]
    assert others == []


@pytest.mark.usefixtures("widths")
def test_a_letter_and_its_vowel_sign_are_not_parted() -> None:
    hear(2)
    assert [cut("कि" * 9, room).plain for room in (6, 5, 4)] == ["किकि…", "किकि…", "कि…"]


@pytest.mark.parametrize("answer", mostly_long([2, 3, None], [3]))
def test_the_terminal_is_asked_and_columns_stand_where_it_draws_them(
    tmp_path: Path, answer: int | None
) -> None:
    path = tmp_path / "pairs.jsonl"
    write_pairs([Pair(HINDI, "TARGET", 1.25)], str(path), ("hi", "en"))
    with in_terminals(path, BROWSE) as ((terminal, app),):
        if answer:
            os.write(terminal, f"\x1b[1;{answer}R".encode())
        os.write(terminal, b"t")
        read_until(terminal, b"Threshold")
        os.write(terminal, b"p")
        seen, until = b"", time.monotonic() + SOON
        found: list[tuple[str, str]] = []
        while not found:
            assert time.monotonic() < until, seen
            seen += os.read(terminal, 1 << 16)
            plain = re.sub("\x1b[^a-zA-Z]*[a-zA-Z]", "", seen.decode("utf-8", "replace"))
            found = re.findall(FRAME, plain, re.DOTALL)
        os.write(terminal, b"q")
        read_until(terminal, b"\x1b[?1049l")
        assert app.wait(30) == 0
    header, row = map(len, found[-1])
    marks = MARKS if answer == 3 else 0
    assert len("source") + header == cells.cell_len(HINDI) + marks + row, plain
