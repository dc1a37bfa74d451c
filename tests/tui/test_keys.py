"""Keys in one burst: each has its effect, on the screen that the ones before it opened."""

import threading
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled, until
from xmine.browsing.cuts import Cuts
from xmine.browsing.opening import open_pairs
from xmine.tui import background
from xmine.tui.app import XmineApp
from xmine.tui.screens.base import OpeningScreen
from xmine.tui.screens.pairs import PairsScreen
from xmine.tui.screens.sample import SampleScreen
from xmine.tui.screens.threshold import ThresholdScreen
from xmine.tui.widgets.pair_table import PairTable

ENTER, ESCAPE = "\r", "\x1b"
NAMES = {
    ENTER: "enter",
    ESCAPE: "escape",
    "]": "right_square_bracket",
    "/": "slash",
    "?": "question_mark",
}


async def burst(pilot: Any, keys: str) -> Any:
    """Send keys at once, as a terminal does that was not read meanwhile; give the screen."""
    for key in keys:
        pilot.app.post_message(events.Key(NAMES.get(key, key), key))
    await settled(pilot)
    return pilot.app.screen


def test_keys_wait_for_the_figures_of_the_threshold(mined_run: Path) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        screen = await burst(pilot, "t]]]")
        assert isinstance(screen, ThresholdScreen)
        together = screen._cut
        start = Cuts(screen.view.opened).start()
        assert start is not None and together > start
        await burst(pilot, "0")
        assert screen._cut == pytest.approx(start)
        for _ in range(3):
            await burst(pilot, "]")
        assert screen._cut == together

    drive(XmineApp(mined_run), (80, 24), script)


def test_what_is_typed_goes_into_the_form_and_the_line_that_open(mined_run: Path) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        screen = await burst(pilot, "/经济aq")
        assert screen.query_one("#answer", Input).value == "经济aq"
        # Back, into the line, and to the first pair that is below the cut.
        screen = await burst(pilot, f"{ESCAPE}/NOT kept{ENTER}")
        assert isinstance(screen, PairsScreen) and "NOT kept" in screen_text(app)[0]
        screen = await burst(pilot, "waxq")
        assert screen.query_one("#answer", Input).value.endswith("axq")
        await burst(pilot, f"{ESCAPE}M/tmp/axq")
        assert app.screen.query_one("#field-source", Input).value == "/tmp/axq"
        assert app.judgements.counts().judged == 0

    drive(XmineApp(mined_run), (80, 24), script)


def test_verdicts_wait_for_the_sample_and_none_goes_to_the_table(run_copy: Path) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        screen = await burst(pilot, f"v{ENTER}axu")
        assert isinstance(screen, SampleScreen)
        drawn = screen._sample
        assert drawn is not None
        said = [app.judgements.of(row) for row in drawn.rows.tolist()[:4]]
        assert said == ["accept", "reject", "unsure", ""]
        assert app.judgements.counts().judged == 3
        screen = await burst(pilot, "qjj")  # of the table again
        assert isinstance(screen, PairsScreen)
        there = screen.query_one(PairTable).cursor_row
        await burst(pilot, f"jjj{ENTER}")
        assert app.screen.NAME == "Neighbours"
        screen = await burst(pilot, f"{ESCAPE}?qk")
        assert screen.query_one(PairTable).cursor_row == there + 2

    drive(XmineApp(run_copy), (80, 24), script)


def test_keys_wait_for_the_run_that_is_read(
    mined_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = threading.Event()
    monkeypatch.setattr(
        background, "open_pairs", lambda path: read.wait(20) and open_pairs(mined_run)
    )

    async def script(pilot: Any) -> None:
        app = pilot.app
        for key in "jjt]":
            app.post_message(events.Key(NAMES.get(key, key), key))
        await pilot.pause(0.1)
        assert isinstance(app.screen, OpeningScreen)
        read.set()
        await settled(pilot)
        assert isinstance(app.screen, ThresholdScreen)
        assert app.get_screen("pairs").query_one(PairTable).cursor_row == 2
        await until(pilot, lambda: app.view.cut > app.view.opened.cut)  # a moment after the key

    drive(XmineApp(mined_run), (80, 24), script)


def test_a_screen_that_never_stands_takes_no_keys_for_ever(
    mined_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.tui.keys._LONGEST", 0.1)
    monkeypatch.setattr(ThresholdScreen, "stands", False)

    async def script(pilot: Any) -> None:
        await settled(pilot)
        assert isinstance(await burst(pilot, "tp"), PairsScreen)

    drive(XmineApp(mined_run), (80, 24), script)
