"""What one types wrong is told where it was typed, and nothing of what was there is lost."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled
from xmine.tui.app import XmineApp
from xmine.tui.screens.pairs import PairsScreen
from xmine.tui.widgets.prompt import Prompt


async def pressed(pilot: Any, *keys: str) -> str:
    await pilot.press(*keys)
    await settled(pilot)
    return "\n".join(screen_text(pilot.app))


def test_a_wrong_condition_stays_in_the_line(mined_run: Path) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        text = await pressed(pilot, "slash", *"prob>x", "enter")
        assert pilot.app.screen.query_one(Prompt).display and "! " in text
        await pressed(pilot, "backspace", "0", "enter")
        assert not pilot.app.screen.query_one(Prompt).display
        assert pilot.app.view.query.where == "prob>0"

    drive(XmineApp(mined_run), (80, 24), script)


def test_a_fault_of_a_worker_is_told_and_ends_no_app(
    mined_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise pl.exceptions.PanicException("out of range")

    async def script() -> None:
        async with XmineApp(mined_run).run_test(size=(120, 24)) as pilot:
            await pilot.pause()
            await settled(pilot)
            monkeypatch.setattr("xmine.browsing.view.View.find", broken)
            said = "internal error: PanicException: out of range"
            assert said in await pressed(pilot, "s")
            assert isinstance(pilot.app.screen, PairsScreen)

    asyncio.run(script())


def test_escape_in_the_line_keeps_the_search_before_and_takes_the_error_away(
    mined_run: Path,
) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        assert "hit 1 of" in await pressed(pilot, "slash", "a", "enter")
        screen = pilot.app.screen
        hits = screen._hits
        text = await pressed(pilot, "slash", *"score<abc", "enter")
        assert "is no column" in text
        text = await pressed(pilot, "escape")
        assert "is no column" not in text
        assert np.array_equal(screen._hits, hits)
        await pressed(pilot, "escape")
        assert screen._hits is None

    drive(XmineApp(mined_run), (80, 24), script)
