"""The last line of each screen, for each kind of file and width: few keys, each of which acts."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from tests.toys.app import drive
from tests.toys.grids import mostly_long
from tests.toys.screens import screen_cells, screen_text, settled, until
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.browsing.opening import open_pairs
from xmine.judging.judgements import Judgements
from xmine.pairs.io import read_pairs, write_pairs
from xmine.tui.app import XmineApp
from xmine.tui.key_table import GROUPS
from xmine.tui.widgets.key_line import KeyLine

GERMAN = ["Der Fluss stieg.", "Es regnete.", "Am Morgen kam der Bote.", "Niemand sprach ein Wort."]
ENGLISH = [
    "The river rose.",
    "It rained.",
    "In the morning the messenger came.",
    "Nobody said a word.",
]
WIDTHS = (80, 120, 200)
JUDGING = ("accept", "reject", "unsure", "partial", "language", "source-long", "target-long")
# Keys that lead from the pairs to a screen, and its name; those that every kind of file has first.
EVERY = {
    "": "Pairs",
    "v enter": "Judge",
    "t right": "Threshold",
    "M": "Mine",
    "E": "Train",
    "o": "Home",
    "question_mark": "Help",
}
OF_RUN = {**EVERY, "enter": "Neighbours", "e": "Adapt"}


def a_run(folder: Path, run: Path) -> XmineApp:
    return XmineApp(run)


def an_alignment(folder: Path, run: Path) -> XmineApp:
    for name, lines in (("de", GERMAN), ("en", ENGLISH)):
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    options = AligningOptions(src_lang="de", tgt_lang="en")
    align(folder / "de.txt", folder / "en.txt", options=options, run=folder / "aligned")
    return XmineApp(folder / "aligned")


def a_file(folder: Path, run: Path) -> XmineApp:
    write_pairs(read_pairs(run / "pairs.parquet"), str(folder / "pairs.tsv"))
    for name, verdict in (("ann", "accept"), ("bob", "reject")):
        Judgements.open(open_pairs(folder / "pairs.tsv"), name).judge_all(range(5, 20), verdict)
    return XmineApp(folder / "pairs.tsv")


def a_comparison(folder: Path, run: Path) -> XmineApp:
    pairs = [*read_pairs(run / "pairs.parquet")]
    write_pairs(pairs[2:], str(folder / "other.tsv"))
    app = XmineApp(run)
    app.compared = folder / "other.tsv"  # type: ignore[attr-defined]
    return app


KINDS: dict[str, tuple[Callable[[Path, Path], XmineApp], dict[str, str]]] = {
    "run": (a_run, OF_RUN),
    "alignment": (an_alignment, EVERY),
    "file": (a_file, {"": "Pairs", "r": "Repair", "r j": "Repair", "V": "Judges differ"}),
    "comparison": (a_comparison, {"": "Pairs", "v enter": "Judge", "o": "Home"}),
}


async def reached(pilot: Any, way: str) -> Any:
    """Go from the pairs to a screen."""
    app = pilot.app
    while app._prompt is not None or len(app.screen_stack) > 2 or app.screen.NAME != "Pairs":
        if app._prompt is not None:
            app._prompt.action_give_up()
        app.show("pairs")
        await settled(pilot)
    for key in way.split():
        await pilot.press(key)
        await settled(pilot)
    return app.screen


async def acts(pilot: Any, key: str) -> bool:
    """Press a key, and tell whether something changes soon but a refusal in the message line."""
    app = pilot.app

    def state() -> tuple[Any, ...]:
        rows = screen_cells(app)
        said = app.screen.query_one("#said").region
        others = [row for at, row in enumerate(rows) if not said.y <= at < said.bottom]
        return app.screen, others, len(app.judgements.done), app.clipboard, app._prompt

    app.screen.say("")
    await settled(pilot)
    before = state()
    await pilot.press(key)
    for _ in range(40):
        await pilot.pause()
        message = app.screen.query_one("#said", Static)
        told = "" if message.has_class("-bad") else str(message.render())
        if state() != before or (told and "does nothing here" not in told):
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.mark.parametrize("kind", mostly_long(KINDS, ["file", "comparison"]))
def test_each_key_at_the_bottom_acts_and_a_narrow_window_has_nine_at_most(
    kind: str, run_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make, ways = KINDS[kind]

    async def script(pilot: Any) -> None:
        app, started = pilot.app, list[Any]()
        app.jobs.start = started.append
        await settled(pilot)
        if kind == "comparison":
            app.compare(app.compared, run_copy)
            await until(pilot, lambda: app.view.opened.compared is not None)
        for way, name in ways.items():
            screen, keys = await reached(pilot, way), dict[str, str]()
            assert screen.NAME == name
            for width in WIDTHS:
                await pilot.resize_terminal(width, 40)
                await settled(pilot)
                shown = screen.query_one(KeyLine).shown()
                assert len(shown) <= 9 or width > 80, shown
                assert [x.id for x in shown if x.id.startswith("help")] or name == "Help", shown
                keys |= {each.id: each.key for each in shown if each.id != "close"}
            for action, key in keys.items():
                if app.screen is not screen or app._prompt is not None:
                    screen = await reached(pilot, way)
                did = await acts(pilot, key.split(",")[0])
                assert did, "\n".join([f"{action} of {name} of {kind}", *screen_text(app)])
                if action in JUDGING:  # a sample ends, the last row stays
                    await pilot.press("z")
                elif GROUPS.get(action) == "Repair" and app.screen is screen:
                    await pilot.press(*["escape"] * (action == "split"), "z")
                elif started:
                    started.clear()
                    screen.show_form()

    drive(make(tmp_path, run_copy), (200, 40), script)
