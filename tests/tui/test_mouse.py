"""A double click opens, a bar of the histogram moves the cut, text that is dragged is copied."""

from pathlib import Path
from typing import Any

from tests.toys.app import drive
from tests.toys.screens import settled, until
from xmine.tui.app import XmineApp
from xmine.tui.widgets.pair_table import PairTable


def test_a_double_click_opens_the_pair_and_what_is_dragged_is_copied(mined_run: Path) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        await pilot.mouse_down("#whole-target", offset=(1, 0))
        await pilot.hover("#whole-target", offset=(4, 0))
        await pilot.mouse_up("#whole-target", offset=(4, 0))
        await settled(pilot)
        target = app.view.opened.pair(app.view.rows[0]).target
        assert app.clipboard and app.clipboard in target and app.screen.NAME == "Pairs"
        await pilot.click(PairTable, offset=(40, 3), times=2)
        await settled(pilot)
        assert app.screen.NAME == "Neighbours"
        row, opened = app.view.rows[2], app.view.opened
        assert app.screen._pair == (opened.sources[row], opened.targets[row])

    drive(XmineApp(mined_run), (120, 40), script)


def test_a_bar_of_the_histogram_moves_the_cut_to_its_edge(mined_run: Path) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        await pilot.press("t")
        await settled(pilot)
        at = next(n for n, line in enumerate(app.screen._lines) if line.strip().startswith("0.6 "))
        await pilot.click("#bars", offset=(3, at))
        await until(pilot, lambda: app.view.cut == 0.6)

    drive(XmineApp(mined_run), (120, 40), script)
