"""How the app looks: what is seen in passing, every key told, colours that may be absent."""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.actions import parse
from textual.binding import Binding
from textual.color import Color
from textual.theme import BUILTIN_THEMES
from textual.widgets import Input

import tests.toys.screens
from tests.toys.app import drive
from tests.toys.screens import screen_cells, screen_text, settled
from xmine.browsing.opening import open_pairs
from xmine.errors import FileError
from xmine.judging.judgements import Judgements
from xmine.tui import background as reading
from xmine.tui.app import XmineApp
from xmine.tui.jobs import Job
from xmine.tui.key_table import GROUPS
from xmine.tui.screens import home
from xmine.tui.text import contrast
from xmine.tui.widgets import job_view
from xmine.tui.widgets.pair_table import PairTable

Snapshot = Callable[..., Awaitable[Any]]
# Keys that lead from the pairs to each screen, and its name.
WAYS = {
    "": "Pairs",
    "v enter": "Judge",
    "enter": "Neighbours",
    "t": "Threshold",
    "M": "Mine",
    "E": "Train",
    "o": "Home",
    "r": "Repair",
    "V": "Judges differ",
    "e": "Adapt",
    "question_mark": "Help",
}


MANNERS = {"bold", "dim", "reverse", "underline", "not", "italic"}


pytestmark = pytest.mark.long


async def paused(pilot: Any) -> None:
    """Wait until all is drawn; `settled` would wait for a tree, or for a file that is read."""
    for _ in range(3):
        await pilot.pause()


def bindings(screen: Any) -> Iterator[tuple[Any, Binding]]:
    """Give the keys that the app's own code tells of, as they are written there.

    From the app to what has the focus; in each, the keys of the kind it is made of come first.
    """
    nodes = (screen.focused or screen).ancestors_with_self
    for node in reversed(nodes):
        for kind in reversed(type(node).__mro__):
            if kind.__module__.startswith("xmine."):
                for binding in vars(kind).get("BINDINGS", ()):
                    yield node, binding


def leave_line(app: Any) -> None:
    """Take the keys from a line that letters would be typed into."""
    if isinstance(app.screen.focused, Input):
        app.screen.set_focus(None)


def told(screen: Any) -> set[str]:
    """What the keys do that work now."""
    by_key = {}
    for node, binding in bindings(screen):
        assert binding.id, f"{binding.key} of {node} cannot be given another key"
        for key in binding.key.split(","):
            by_key[key] = node, binding
    return {
        binding.description
        for node, binding in by_key.values()
        if node.check_action(*parse(binding.action)[1:]) is not False
    }


def moving(screen: Any) -> set[str]:
    """What keys that only move do."""
    return {each.description for _, each in bindings(screen) if GROUPS[str(each.id)] == "Move"}


def test_every_key_of_every_screen_is_told_in_its_help_and_in_the_palette(
    mined_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        for way, name in [*WAYS.items()][:-1]:  # but for the help itself
            screen = await reached(pilot, way)
            assert screen.NAME == name
            leave_line(app)
            expected = told(screen)
            assert len(expected) > 3, name
            commands = {each.title.split("  ")[0] for each in app.get_system_commands(screen)}
            assert expected - commands <= moving(screen), name
            await pilot.press("f1")
            await paused(pilot)
            assert app.screen.NAME == "Help", name
            text = "\n".join(screen_text(app))
            assert [each for each in expected if each not in text] == [], name
            app.back()

    drive(XmineApp(mined_run), (110, 70), script)


def test_no_color_leaves_no_colour_and_ansi_themes_show_the_same(
    mined_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def seen(pilot: Any) -> AsyncIterator[tuple[str, list[str]]]:
        await settled(pilot)
        for name in ("pairs", "threshold", "home"):
            pilot.app.show(name)
            await settled(pilot)
            yield name, screen_text(pilot.app)

    async def coloured(pilot: Any) -> dict[str, list[str]]:
        shown = {name: rows async for name, rows in seen(pilot)}
        for theme in ("ansi-dark", "ansi-light"):
            pilot.app.theme = theme
            assert {name: rows async for name, rows in seen(pilot)} == shown, theme
        return shown

    async def colourless(pilot: Any) -> dict[str, list[str]]:
        shown = {}
        async for name, rows in seen(pilot):
            shown[name] = rows
            styles = {style for row in screen_cells(pilot.app) for _, style in row}
            words = {word for style in styles for word in style.split()}
            assert words <= {"none", "default", "on", *MANNERS}, name
            assert words & MANNERS, name  # what is chosen can be told from the rest
        pilot.app.theme = "ansi-dark"
        async for name, rows in seen(pilot):
            assert rows == shown[name], name
        return shown

    monkeypatch.setattr(home, "_when", lambda opened: "today")  # a minute ends meanwhile
    expected = drive(XmineApp(mined_run), (80, 24), coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    assert drive(XmineApp(mined_run), (80, 24), colourless) == expected


def test_what_is_seen_in_passing_looks_as_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus" / "run").mkdir(parents=True)
    (tmp_path / "corpus" / "run" / "run.toml").touch()
    for name in ("en.txt", "机器翻译.txt", "a\x1b[31m[red]b"):
        (tmp_path / "corpus" / name).touch()
    monkeypatch.setattr(tests.toys.screens, "settled", paused)
    read = threading.Event()

    def held(path: Path) -> None:
        read.wait(60)
        raise FileError(f"{path}: was never there")

    monkeypatch.setattr(reading, "open_pairs", held)

    async def script(pilot: Any) -> None:
        app = pilot.app
        await training(pilot, snapshot, monkeypatch)
        app.show("home")
        await pilot.press("ctrl+p")
        await until_shown(pilot, "Mine  M")
        await snapshot(pilot, "palette", holds=["Open  O", "A run or a file of pairs.", "Mine  M"])
        await pilot.press("escape")
        app.open(Path("corpus/run"))
        await paused(pilot)
        app.screen.set_focus(None)
        await snapshot(pilot, "opening", holds=["opening corpus/run"])
        read.set()
        await until_shown(pilot, "! corpus/run: was never there")
        said = ["enlarge the window to 60 x 15"]
        rows = await snapshot(pilot, "enlarge", holds=said, sizes=[(50, 12)])
        assert [row.strip() for row in rows["50x12"] if row.strip()] == said

    drive(XmineApp(), (80, 24), script)


async def until_shown(pilot: Any, text: str) -> None:
    for _ in range(400):
        if text in "\n".join(screen_text(pilot.app)):
            return
        await asyncio.sleep(0.02)
        await pilot.pause()
    raise AssertionError(f"no {text!r}:\n" + "\n".join(screen_text(pilot.app)))


async def training(pilot: Any, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Show a job that trains, has run for 75 seconds and has told its loss."""
    monkeypatch.setattr(job_view, "time", SimpleNamespace(monotonic=lambda: 75.0))
    app = pilot.app
    app.show("train")
    await paused(pilot)
    words = ["train", "机器 翻译.tsv", "--method", "msimcse", "-o", "encoder/"]
    app.jobs.jobs["train"] = job = Job("train", words, Path("encoder"))
    job.started = 0.0
    told = [("training", 100, {"loss": 4 / step, "rows/s": 1234.5}) for step in range(1, 6)]
    for stage, done, numbers in (("reading", 400, {}), *told):
        job.hear(json.dumps({"stage": stage, "done": done, "total": 400, "numbers": numbers}))
    app.screen.show_form(False)
    await paused(pilot)
    app.jobs._told(job)
    holds = ["Train", "xmine train '机器 翻译.tsv' --method msimcse", "✓ reading", "▸ training"]
    holds += ["25% 100 of 400", "rows/s 1,234", "█", "1:15", "train: training 25%"]
    await snapshot(pilot, "training", holds=holds)
    del app.jobs.jobs["train"]


async def reached(pilot: Any, way: str) -> Any:
    """Go from the pairs to a screen."""
    app = pilot.app
    if app._prompt is not None:
        await pilot.press("escape")
    while len(app.screen_stack) > 2 or app.screen.NAME != "Pairs":
        app.show("pairs")
        await paused(pilot)
    for key in way.split():
        await pilot.press(key)
        await settled(pilot)
    return app.screen


def test_all_text_can_be_read_in_every_theme(
    run_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    for name, verdict in (("ann", "accept"), ("bob", "reject")):
        Judgements.open(open_pairs(run_copy), name).judge_all([5, 6], verdict)

    async def read(pilot: Any, screen: Any) -> None:
        for theme in (name for name, each in BUILTIN_THEMES.items() if not each.ansi):
            pilot.app.theme = theme  # the screen stays, and so does what is drawn already
            await paused(pilot)
            screen.say("wrong", bad=True)
            await paused(pilot)
            cells = (cell for row in screen_cells(pilot.app) for cell in row)
            styles = {style for text, style in cells if text.isalnum() or text == "●"}
            weak = {style: contrast(*found) for style in styles if (found := ground(style))}
            lost = [style for style, each in weak.items() if each < 4.45]
            assert lost == [], f"{screen.NAME} in {theme}"

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        await pilot.press("a", "x", "u")
        app.screen.query_one(PairTable).mark("a")
        for way, name in WAYS.items():
            screen = await reached(pilot, way)
            assert screen.NAME == name
            await read(pilot, screen)

    drive(XmineApp(run_copy), (120, 40), script)


def ground(style: str) -> list[Color]:
    """The colours of a text and of what is behind it."""
    found = [Color.parse(each) for each in re.findall("#[0-9a-f]{6}", style)]
    return found if len(found) == 2 else []
