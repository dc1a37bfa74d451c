"""The pane of a pair: what both sides share is marked, figures, reasons, verdicts."""

from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.widgets import Input

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
        app.screen.look_for(PairQuery(kept="all"))
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


def test_a_file_without_figures_shows_its_texts_and_is_written_under_names_that_are_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pairs.tsv"
    path.write_text("one 1\t一 1\ntwo\t二\n", encoding="utf-8")

    async def script(pilot: Any) -> list[str]:
        await settled(pilot)
        rows = screen_text(pilot.app)
        for name in ("pairs-2.tsv", "pairs-3.tsv"):
            await pilot.press("e", "enter")
            await settled(pilot)
            assert f"{name}: 2 pairs" in "\n".join(screen_text(pilot.app))
            assert (tmp_path / name).is_file()
        await pilot.press("e")
        pilot.app.screen.query_one("#answer", Input).value = "pairs-2.tsv"
        await pilot.press("enter")
        await settled(pilot)
        said = "! pairs-2.tsv: exists already; give another name"
        assert said in [row.strip() for row in screen_text(pilot.app)]
        return rows

    rows = drive(XmineApp(path), (80, 24), script)
    assert " lines 1, 1" in rows
    assert [" one 1", " 一 1"] == [row for row in rows if row in (" one 1", " 一 1")]
