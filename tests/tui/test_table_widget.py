"""The table of pairs by itself: mouse, wheel, a million rows, no colour, keys that it leaves."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textual.app import App, ComposeResult

from tests.toys.app import drive
from tests.toys.screens import screen_cells, screen_text
from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.judging.judgements import Judgements
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.text import readable
from xmine.tui.widgets.pair_cells import PairCells
from xmine.tui.widgets.pair_table import PairTable

SIZE = (80, 24)
ROWS = 1_000_000


@pytest.fixture
def three(tmp_path: Path) -> Path:
    path = tmp_path / "three.jsonl"
    pairs = (Pair(f"text {at}", f"文{at}", 1.5, at, at, 0.5) for at in (1, 2, 3))
    write_pairs(pairs, str(path))
    return path


class Asked(Judgements):
    """Judgements that count how often they are asked; the second pair is accepted."""

    asked = 0

    def of(self, row: int) -> str:
        self.asked += 1
        return self.words(row).get(self.by, "")

    def words(self, row: int) -> dict[str, str]:
        return {self.by: "accept"} if row == 1 else {}


class Table(App[None]):
    """A table of a million rows, the three pairs of a file over and over, and what it posts."""

    CSS_PATH = Path(__file__).parents[2] / "tui" / "app.tcss"

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self.opened = opened
        self.judgements = Asked(opened, Path(), "")
        self.posted: list[Any] = []

    def get_css_variables(self) -> dict[str, str]:
        return readable(super().get_css_variables())

    def compose(self) -> ComposeResult:
        yield PairTable(self.opened, np.arange(ROWS) % 3, self.judgements, id="table")

    def on_pair_table_moved(self, event: PairTable.Moved) -> None:
        self.posted.append(event.row)

    def on_pair_table_header_clicked(self, event: PairTable.HeaderClicked) -> None:
        self.posted.append(event.column)


def look(path: Path, script: Callable[[Any, PairTable], Awaitable[None]]) -> None:
    async def driven(pilot: Any) -> None:
        table = pilot.app.query_one(PairTable)
        table.focus()
        await pilot.pause()
        pilot.app.posted.clear()
        await script(pilot, table)

    drive(Table(open_pairs(path)), SIZE, driven)


def test_only_the_rows_that_are_seen_are_read(three: Path) -> None:
    async def script(pilot: Any, table: PairTable) -> None:
        await pilot.press("end")
        await pilot.pause()
        assert table.cursor_row == table.row_count - 1 == ROWS - 1
        assert table.scroll_offset.y == ROWS - (SIZE[1] - 1)
        assert f"text {(ROWS - 1) % 3 + 1} " in screen_text(pilot.app)[-1]
        await pilot.press("home")
        await pilot.pause()
        assert "text 1 " in screen_text(pilot.app)[1]
        assert pilot.app.judgements.asked < 10 * SIZE[1]

    look(three, script)


def test_the_mouse_moves_the_cursor_and_names_the_column(three: Path) -> None:
    async def script(pilot: Any, table: PairTable) -> None:
        await pilot.click(PairTable, offset=(20, 3))
        await pilot.pause()
        assert table.cursor_row == 2
        header = screen_text(pilot.app)[0]
        names = ["score", "source", "target"]
        for name in names:
            await pilot.click(PairTable, offset=(header.index(name), 0))
        await pilot.pause()
        assert table.cursor_row == 2
        assert pilot.app.posted == [2, *names]

    look(three, script)


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (99, "score prob source target"),
        (109, "score prob source target src tgt"),
        (110, "score prob margin source target src tgt"),
    ],
)
def test_margins_have_a_column_where_there_is_room(tmp_path: Path, width: int, names: str) -> None:
    scores = (-10.5, 2.25, 12.75)
    pairs = [Pair("text", "文", each, 1, 1, prob=0.5, margin=each / 10) for each in scores]
    write_pairs(pairs, str(tmp_path / "p.jsonl"))
    opened = open_pairs(tmp_path / "p.jsonl")
    cells = PairCells(opened, np.arange(3), Judgements(opened, tmp_path, ""))
    cells.lay_out(width)
    assert cells.header().split() == names.split()
    rows = [cells.line(at).split() for at in range(3)]
    assert [row[0] for row in rows] == ["-10.5000", "2.2500", "12.7500"]  # none is cut off
    shown = ["-1.0500", "0.2250", "1.2750"] if "margin" in names else ["text"] * 3
    assert [row[2] for row in rows] == shown


def test_the_cursor_and_a_sign_are_seen_without_colour(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(pilot: Any, table: PairTable) -> None:
        cells = screen_cells(pilot.app)
        assert "reverse" in cells[1][5][1]
        assert "reverse" not in cells[2][5][1]
        assert cells[2][1][0] == "✓"

    look(three, script)
