"""The pane of a pair: what both sides share is marked, figures, reasons, verdicts."""

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.toys.app import drive
from tests.toys.screens import screen_cells, screen_text, settled
from xmine.browsing.opened import Opened, rows_at
from xmine.browsing.query import PairQuery
from xmine.browsing.word_alignment import Aligner, WordAlignment
from xmine.tui.app import XmineApp
from xmine.tui.widgets.pair_detail import PairDetail
from xmine.tui.widgets.pair_table import PairTable


def row_of(opened: Opened, source_line: int) -> int:
    (row,) = rows_at(opened, (source_line, None), (72 - source_line, None)).tolist()
    return int(row)


def marked(cells: list[list[tuple[str, str]]]) -> list[str]:
    """The parts of a screen that are underlined."""
    rows = ["".join(text if "underline" in style else " " for text, style in row) for row in cells]
    return " ".join(rows).split()


def test_a_pair_is_shown_with_all_that_is_known_of_it(run_copy: Path) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        app = pilot.app
        table, pane = app.screen.query_one(PairTable), app.screen.query_one(PairDetail)

        async def shown(line: int) -> str:
            table.go_to(row_of(app.view.opened, line))
            await settled(pilot)
            return "\n".join(screen_text(app)[pane.region.y :])

        text = await shown(1)
        assert text.startswith("─ kept ──") and "lines 1, 71" in text
        assert "Zhang Wei bought 21 books" in text
        assert "!" not in text
        parts = ["Zhang", "Wei", "21", "1998"], ["Zhang", "Wei", "一九九八年", "二十一"]
        assert marked(screen_cells(app)) == [*parts[0], *parts[1]]
        app.theme = "textual-light"
        await settled(pilot)
        assert marked(screen_cells(app)) == [*parts[0], *parts[1]]

        text = await shown(3)
        assert "! number: 1200 on the source side only, 12 on the target side only" in text
        app.screen.look_for(PairQuery())
        await settled(pilot)
        text = await shown(4)  # which is no translation
        assert (
            text.startswith("─ dropped ──")
            and "lines 4, 68" in text
            and "! copy: both sides are the same text" in text
        )
        await pilot.press("k")  # judged pairs are left for the next one
        judged = table.row
        await pilot.press("a", "k")
        await settled(pilot)
        assert table.row == judged
        assert ": ✓ accept ─" in screen_text(app)[pane.region.y]

    drive(XmineApp(run_copy), (100, 30), script)


def dim(cells: list[list[tuple[str, str]]]) -> list[str]:
    """The parts of a screen that are dim."""
    rows = ["".join(text if "dim" in style else " " for text, style in row) for row in cells]
    return " ".join(rows).split()


def test_words_without_a_counterpart_become_dim_and_the_texts_stand_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "The museum opens, and [b]farmers[/b] plant rice.\t博物馆开放。\nFarmers\t农民\n",
        encoding="utf-8",
    )
    waits = Event()
    align = Aligner.align

    def late(self: Aligner, source: str, target: str) -> WordAlignment:
        waits.wait(10)
        return align(self, source, target)

    monkeypatch.setattr(Aligner, "align", late)

    async def script(pilot: Any) -> None:
        await pilot.pause(0.3)
        assert "[b]farmers[/b] plant rice." in "\n".join(screen_text(pilot.app))
        assert dim(screen_cells(pilot.app)) == []
        waits.set()
        await settled(pilot)
        found = dim(screen_cells(pilot.app))
        assert {"and", "plant"} <= set(found) and "museum" not in found
        await pilot.press("down")
        await settled(pilot)
        assert dim(screen_cells(pilot.app)) == []

    drive(XmineApp(path), (100, 30), script)
