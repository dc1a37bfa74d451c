"""Text that is meant to break a screen: every cell shows what it should, and nothing is lost."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from tests.toys.app import HOSTILE, drive
from tests.toys.screens import screen_text, settled
from xmine.browsing.opened import rows_at
from xmine.browsing.opening import open_pairs
from xmine.display import visible
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.app import XmineApp
from xmine.tui.text import cut
from xmine.tui.widgets.pair_detail import PairDetail
from xmine.tui.widgets.pair_table import PairTable

# Each character of a text is another one, so that a lost one is seen.
HAN = ["".join(chr(0x4E00 + 97 * row + at) for at in range(45)) for row in range(30)]
SCREENS = dict(t="Threshold", enter="Neighbours", f="Neighbours", M="Mine", E="Train", o="Home")
HAN[20:] = [f"{'a' * (at % 3)}{HAN[at]}" for at in range(20, 30)]


@pytest.fixture
def han(tmp_path: Path) -> Path:
    """A file of Chinese pairs, with and without a letter before, which moves them by a cell."""
    path = tmp_path / "han.jsonl"
    write_pairs((Pair(text, text[::-1], 1.5, 1, 1, 0.5) for text in HAN), str(path))
    return path


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.jsonl"
    lines = [*HOSTILE, "机" * 100_000, "x" * 100_000, "e" + "\u0301" * 5_000]
    write_pairs((Pair(text, f"一{text}", 1.5, 1, 1, 0.5) for text in lines), str(path))
    return path


def expected_rows(table: PairTable) -> list[str]:
    """What the rows of a table should look like, character by character."""
    pairs = table.pairs
    rows = []
    for row in pairs.data.tolist():
        pair = pairs.opened.pair(row)
        known = {"source": pair.source, "target": pair.target}
        known |= {"score": "1.5000", "line s": "   1", "line t": "   1"}
        made = ""
        for name, width in zip(pairs.names, pairs.widths, strict=True):
            text = visible(known.get(name, "")[:400]).replace("\t", "␉")
            if cell_len(text) > width:
                text = cut(text, width).plain
            made += f" {text}{' ' * (width - cell_len(text))} "
        rows.append(made.rstrip())
    return rows


def han_runs(rows: Iterable[str]) -> list[str]:
    """The runs of Chinese on a screen."""
    return re.findall("[一-鿿]+", "\n".join(rows))


def opened(path: Path) -> XmineApp:
    return XmineApp(path)


@pytest.mark.parametrize(
    "widths",
    [(60, 61, 62, 63, 79, 90), pytest.param(range(60, 91), marks=pytest.mark.long)],
    ids=["some", "all"],
)
def test_wide_characters_stand_where_they_should(han: Path, widths: Iterable[int]) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        table, pane = (pilot.app.screen.query_one(kind) for kind in (PairTable, PairDetail))
        for width in widths:
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            rows = screen_text(pilot.app)
            expected = expected_rows(table)
            top = table.region.y + table.header_height
            seen = rows[top : pane.region.y]
            # The bar at the right edge has no cells in common with the columns.
            seen = [row[: len(each)] for row, each in zip(seen, expected, strict=False)]
            assert seen == expected[: len(seen)], f"at {width} columns"
            assert len(seen) >= 8
            whole = "".join(han_runs(rows[pane.region.y + 1 : pane.region.bottom]))
            assert whole == HAN[0] + HAN[0][::-1], f"at {width} columns"

    drive(opened(han), (80, 24), script)


def test_hostile_lines_are_text_in_the_table_and_in_the_pane(hostile: Path) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        screen = pilot.app.screen
        table, pane = screen.query_one(PairTable), screen.query_one(PairDetail)
        for row, text in enumerate(HOSTILE):
            table.move_cursor(row=row)
            await pilot.pause()
            rows = screen_text(pilot.app)
            assert obeyed(rows) == set()
            top = table.region.y + table.header_height
            expected = expected_rows(table)
            assert rows[top : top + 8] == expected[:8]
            shown = "".join(rows[pane.region.y + 1 : pane.region.bottom]).replace(" ", "")
            seen = visible(text) + visible(f"一{text}")
            assert seen.replace("\t", "␉").replace(" ", "") in shown
        for key in ("ctrl+p", "question_mark"):
            await pilot.press(key)
            await pilot.pause()
            assert obeyed(screen_text(pilot.app)) == set()
            await pilot.press("escape")
            await pilot.pause()

    drive(opened(hostile), (90, 40), script)


def obeyed(rows: Iterable[str]) -> set[str]:
    """Characters on a screen that a terminal would obey, or that say nothing of their width."""
    return {
        char
        for row in rows
        for char in row
        if unicodedata.category(char) in ("Cc", "Cs", "Cn", "Zl", "Zp", "Cf")
    }


def test_every_screen_shows_the_corpus_unharmed_and_leaves_the_table_as_it_was(
    mined_run: Path,
) -> None:
    """A lost character joins its neighbours to a run that no line has, or leaves two blanks."""
    run = open_pairs(mined_run)
    known = "\n".join(text for side in (run.source, run.target) for text in side.texts)

    async def script(pilot: Any) -> None:
        await settled(pilot)
        app = pilot.app
        app.screen.query_one(PairTable).go_to(
            int(rows_at(run, (7, None), (65, None))[0])
        )  # the bidi line
        await settled(pilot)
        before = screen_text(app)
        for key, name in SCREENS.items():
            await pilot.press(key)
            await settled(pilot)
            if key == "f":
                app.screen.query_one("#answer", Input).value = run.source.texts[0]
                await pilot.press("enter")
                await settled(pilot)
                assert len(han_runs(screen_text(app))) > 3  # what was found, not only what is asked
            assert app.screen.NAME == name
            rows = screen_text(app)
            assert rows != before, key
            assert obeyed(rows) == set(), key
            assert [each for each in han_runs(rows) if each not in known] == [], key
            app.show("pairs")
            await settled(pilot)
            assert screen_text(app) == before, key

    drive(opened(mined_run), (81, 24), script)
