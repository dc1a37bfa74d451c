"""Opening one thing after another, and workers that end late: what is shown belongs together."""

import gc
import shutil
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled, until
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery
from xmine.browsing.view import View
from xmine.errors import FileError, XmineError
from xmine.pairs.io import write_pairs
from xmine.tui import background as reading_module
from xmine.tui.app import XmineApp
from xmine.tui.screens.base import OpeningScreen
from xmine.tui.screens.help import HelpScreen
from xmine.tui.screens.pairs import PairsScreen
from xmine.tui.widgets.pair_table import PairTable


class Gate:
    """Holds calls of a function back, those that `holds` is true of, until it is opened."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._open = threading.Event()
        self.holds: Callable[..., bool] = lambda *_: False

    def __call__(self, *given: Any) -> Any:
        if self.holds(*given):
            assert self._open.wait(20)
        return self._function(*given)

    def close(self, holds: Callable[..., bool]) -> None:
        self._open.clear()
        self.holds = holds

    def open(self) -> None:
        self.holds = lambda *_: False
        self._open.set()


@pytest.fixture
def few(mined_run: Path, tmp_path: Path) -> Path:
    """A file of three pairs."""
    path = tmp_path / "few.tsv"
    write_pairs(open_pairs(mined_run).pairs(np.arange(3)), str(path), ("en", "zh"))
    return path


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Hold back what reads a run or a file."""
    gate = Gate(open_pairs)
    monkeypatch.setattr(reading_module, "open_pairs", gate)
    return gate


@pytest.fixture
def finding(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Hold back what finds the rows of a view."""
    gate = Gate(View.find)
    monkeypatch.setattr(View, "find", lambda view, wanted: gate(view, wanted))
    return gate


def shows(pilot: Any, view: View) -> bool:
    """Tell whether the table has the rows of a view, which is the one that is open."""
    screen = pilot.app.screen
    assert isinstance(screen, PairsScreen)
    table = screen.query_one(PairTable)
    rows: bool = table.pairs.data is view.rows and table.pairs.opened is view.opened
    return rows and pilot.app.view is view


@pytest.mark.long
def test_what_is_opened_twice_at_once_is_opened_once_and_leaves_nothing_behind(
    mined_run: Path, few: Path
) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        for key in ("enter", "t", "p"):
            await pilot.press(key)
            await settled(pilot)
        old, screens = weakref.ref(app.view), len(app._registry)

        def is_shown(path: Path) -> bool:  # no assertion may hold the view
            return bool(app.view.opened.path == path and shows(pilot, app.view))

        for path, again in ((few, mined_run), (mined_run, mined_run)):
            await pilot.press("o")
            app.open(path)
            app.open(again)  # as a double click does
            await settled(pilot)
            assert is_shown(path) and len(app.screen_stack) == 2

        def let_go() -> bool:  # by threads that have just ended, too
            gc.collect()
            return old() is None

        with suppress(AssertionError):
            await until(pilot, let_go, 20)
        assert old() is None, f"held by {gc.get_referrers(old())}"
        assert len(app._registry) < screens
        await pilot.press("j", "t")
        await settled(pilot)
        assert "Threshold" in screen_text(app)[0]

    drive(XmineApp(mined_run), (80, 24), script)


def test_the_first_frame_is_there_before_anything_is_read(
    few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, seen = XmineApp(few), list[str]()

    def watched(path: Path) -> Any:
        seen.append(screen_text(app)[0])
        return reading_module.read(path)

    monkeypatch.setattr("xmine.tui.app.read", watched)
    drive(app, (80, 24), settled)
    assert ["opening" in each for each in seen] == [True]


def test_keys_work_while_something_opens_and_leaving_gives_it_up(
    mined_run: Path, few: Path, tmp_path: Path, reading: Gate
) -> None:
    reading.close(lambda path: True)

    async def script(pilot: Any) -> None:
        app = pilot.app
        assert isinstance(app.screen, OpeningScreen) and app.focused is None
        await pilot.press("question_mark")
        assert isinstance(app.screen, HelpScreen)
        reading.open()  # beneath the help
        await settled(pilot)
        assert shows(pilot, view := app.view)
        reading.close(lambda path: path == few)
        for leaving in ("o", "escape"):
            app.open(few)
            await pilot.press(leaving)
            assert not isinstance(app.screen, OpeningScreen)
        await pilot.press("p")
        reading.open()
        await settled(pilot)
        assert shows(pilot, view)
        # What cannot be opened leaves one where one was; what is opened next is no worse for it.
        reading.close(lambda path: True)
        app.open(tmp_path / "gone.tsv")
        await pilot.press("question_mark")
        reading.open()
        await settled(pilot)
        assert shows(pilot, view)
        assert "no such file" in "".join(screen_text(app)[-5:])
        app.open(few)
        await settled(pilot)
        assert shows(pilot, app.view) and app.view.opened.path == few

    drive(XmineApp(mined_run), (80, 24), script)


def test_what_is_found_late_goes_to_no_other_run_and_replaces_nothing_newer(
    mined_run: Path, few: Path, finding: Gate
) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        first = app.view
        # The older of two questions ends last.
        finding.close(lambda _, wanted: wanted.query.order == "unsure")
        await pilot.press("s", "s", "S")  # each key goes on from what was asked for
        await pilot.pause(0.1)
        assert app.view.query.order == "flags" and app.view.query.descending
        finding.open()
        await settled(pilot)
        assert first.query == PairQuery("kept", "flags", True)
        assert shows(pilot, first)
        # A cut that is moved while another order is looked for keeps both.
        finding.close(lambda *_: True)
        await pilot.press("S", "t")
        while app.screen._cuts is None:
            await pilot.pause(0.01)
        before = first.cut
        await pilot.press("]", "p")
        assert isinstance(app.screen, PairsScreen)  # the key is answered, the rows come later
        assert (first.cut, shows(pilot, first)) == (before, True)
        finding.open()
        await settled(pilot)
        assert first.cut > before and not first.query.descending
        assert first.rows.tolist() == first.find(first.wanted).tolist()
        assert shows(pilot, first)
        assert f"{len(first.rows)} shown, {len(first.rows)} of" in screen_text(app)[0]
        # The rows of one run are found when another one is open.
        finding.close(lambda view, _: view is first)
        await pilot.press("S", "o")
        app.open(few)
        while app.view is first:
            await pilot.pause(0.01)
        finding.open()
        await settled(pilot)
        assert shows(pilot, app.view) and app.view.rows.tolist() == [0, 1, 2]

    drive(XmineApp(mined_run), (80, 24), script)


def test_a_verdict_waits_for_the_rows_that_are_looked_for(run_copy: Path, finding: Gate) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        first = app.view.rows[0]
        finding.close(lambda *_: True)
        await pilot.press("s", "g", "a", "x")
        await pilot.pause(0.1)
        assert app.judgements.counts().judged == 0 and app.view.query.order == "rank"
        finding.open()
        await settled(pilot)
        rows = app.view.rows
        assert app.view.query.order == "unsure" and rows[0] != first
        assert [app.judgements.of(row) for row in rows[:3].tolist()] == ["accept", "reject", ""]
        assert app.judgements.counts().judged == 2

    drive(XmineApp(run_copy), (80, 24), script)


def test_only_the_newest_work_of_a_screen_that_is_there_is_heard(few: Path) -> None:
    heard: list[object] = []
    gates = [threading.Event() for _ in range(3)]

    def after(gate: threading.Event, name: str) -> Callable[[], str]:
        def work() -> str:
            assert gate.wait(20)
            if name == "wrong":
                raise FileError("wrong")
            return name

        return work

    def failed(error: XmineError) -> None:
        heard.append(error.message)

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        for gate, name in zip(gates[:2], ("old", "new"), strict=True):
            app.screen.background.run("kind", after(gate, name), heard.append, failed)
        app.screen.background.run("other", after(gates[1], "wrong"), heard.append, failed)
        gates[1].set()
        while len(heard) < 2:
            await pilot.pause(0.01)
        gates[0].set()
        await settled(pilot)
        assert sorted(map(str, heard)) == ["new", "wrong"]
        await pilot.press("question_mark")
        app.screen.background.run("kind", after(gates[2], "gone"), heard.append, failed)
        await pilot.press("escape")
        gates[2].set()
        await settled(pilot)
        assert len(heard) == 2

    drive(XmineApp(few), (80, 24), script)


def test_a_run_opens_where_it_was_left(run_copy: Path, few: Path) -> None:
    async def first(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        app.screen.look_for(PairQuery("score > -9", "score"), 0.3)
        await settled(pilot)
        await pilot.press("g", "j", "a", "x", "k", "k")
        app.open(few)  # what is left for another one is remembered, too
        await settled(pilot)
        assert app.view.query == PairQuery() and app.view.row == 0
        await pilot.press("j", "j", "q")

    drive(XmineApp(run_copy), (80, 24), first)

    async def second(pilot: Any) -> None:
        await settled(pilot)
        view, table = pilot.app.view, pilot.app.screen.query_one(PairTable)
        assert view.query == PairQuery("score > -9", "score")
        assert view.cut == 0.3 and "score▲" in screen_text(pilot.app)[1]
        assert table.cursor_row == 3  # the next one that is not judged
        await pilot.press("G", "a")

    drive(XmineApp(run_copy), (80, 24), second)

    async def third(pilot: Any) -> None:
        await settled(pilot)
        assert pilot.app.screen.query_one(PairTable).cursor_row == 2

    drive(XmineApp(few), (80, 24), third)


def test_a_run_that_is_mined_anew_takes_no_verdict_until_it_is_opened_again(
    run_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        old = app.view
        await pilot.press("a")
        aside = shutil.move(run_copy, tmp_path / "aside")
        await pilot.press("a")  # as it is while another run is being written
        assert "these pairs are gone" in "".join(screen_text(app)[-3:])
        shutil.copytree(aside, run_copy)
        app.screen.say("")
        app._complained = ""
        await until(pilot, lambda: "mined or cut anew" in "".join(screen_text(app)[-3:]), 20)
        assert app.judgements.counts().judged == 1
        await pilot.press("o", "enter")
        await settled(pilot)
        assert app.view is not old and shows(pilot, app.view)
        await pilot.press("a")
        assert app.judgements.counts().judged == 2

    drive(XmineApp(run_copy), (80, 24), script)
