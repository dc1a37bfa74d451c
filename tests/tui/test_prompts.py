"""While a prompt is open, no key and no click does anything but to answer it, or to give it up."""

import ast
import string
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.keys import _character_to_key

import xmine.tui
from tests.toys.app import drive
from tests.toys.grids import mostly_long
from tests.toys.screens import screen_text, settled
from xmine.tui.app import XmineApp
from xmine.tui.jobs import Job
from xmine.tui.widgets.prompt import Prompt

EVERY = [*string.printable.strip(), " ", "tab", "shift+tab", "up", "down", "pagedown", "delete"]
EVERY += ["ctrl+d", "ctrl+l", "ctrl+p", "ctrl+s", "f5"]


def press(app: Any, *keys: str) -> None:
    for key in keys:
        name, text = (_character_to_key(key), key) if len(key) == 1 else (key, None)
        app.post_message(events.Key(name, text))


def click(app: Any, x: int, y: int) -> None:
    for kind in (events.MouseDown, events.MouseUp):
        app.post_message(kind(None, x, y, 0, 0, 1, False, False, False, x, y))


# Keys that lead to each screen from the pairs, and those that open each of its prompts. Keys after
# a space follow when the screen stands; the questions of y or n are named.
PROMPTS: dict[str, tuple[str, ...]] = {
    "Pairs": ("w", "/", "v", "d", "f", "i", "b", "/prob>=0 enter X"),
    "t Threshold": ("w", "=", "i", "b", "W"),
    "enter Neighbours": ("i", "b"),
    "v enter Judge": ("i", "b"),
    "r Repair": ("f2",),
    "o Home": ("/", "O"),
    "M Mine": ("ctrl+o", "job escape", "job ctrl+q"),
    "E Train": ("ctrl+o",),
    "e Adapt": ("ctrl+o",),
}
YES_OR_NO = ("X", "W", "ctrl+q", "escape")


def test_every_question_is_among_the_prompts() -> None:
    """Each call that opens a prompt is one of ours; who writes a further one adds it to PROMPTS."""
    asking = {"ask", "confirm", "ask_path"}
    calls = [
        node
        for path in Path(xmine.tui.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in asking
    ]
    # Of `Prompt` and of `BaseScreen` three, which pass it on; one prompt is on several screens.
    opened = {(key, way[-5:]) for way, keys in PROMPTS.items() for key in keys}
    shared = {"i": 3, "b": 3, "ctrl+o": 2, "w": 1}
    assert len(calls) - 3 == len(opened) - sum(shared.values())


@pytest.mark.parametrize("way", mostly_long([*PROMPTS], ["r Repair"]))
def test_no_key_and_no_click_judges_while_a_prompt_is_open(
    run_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.chdir(tmp_path)
    *leading, name = way.split()

    async def script(pilot: Any) -> None:
        app = pilot.app

        async def pressed(*keys: str) -> None:
            press(app, *keys)
            await settled(pilot)

        async def opened(keys: str) -> Prompt:
            while app.screen.NAME != "Pairs":
                app.show("pairs")
                await settled(pilot)
            for key in leading:
                await pressed(key)
            assert app.screen.NAME.startswith(name)
            for key in keys.split():
                if key == "job":
                    app.jobs.jobs["mine"] = Job("mine", ["mine"], Path("run"))
                    app.screen.show_form(False)
                else:
                    await pressed(
                        *([key] if key in ("enter", "escape", "f2") or "+" in key else key)
                    )
            prompt: Prompt = app.screen.query_one(Prompt)
            assert prompt.display, keys
            return prompt

        await settled(pilot)
        await pressed("a")
        written = (run_copy / "judgements.tsv").read_bytes()
        for keys in PROMPTS[way]:
            prompt, is_choice = await opened(keys), keys.split()[-1] in YES_OR_NO
            is_choice = is_choice and (name, keys) != ("Pairs", "w")
            await pressed(*(key for key in EVERY if not (is_choice and key in [*"ynYN"])))
            assert prompt.display and "esc Give up" in screen_text(app)[-1], keys
            app.screen.set_focus(None)  # as work in the background may do
            app.post_message(events.Paste("axax"))
            await pressed(*"ax")
            click(app, 3, 4)
            await settled(pilot)
            assert not prompt.display, keys
            await opened(keys)
            await pressed("escape")
            assert not prompt.display, keys
            assert (run_copy / "judgements.tsv").read_bytes() == written, keys

    drive(XmineApp(run_copy), (80, 24), script)


def test_tab_completes_paths(
    mined_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("out/pairs.tsv", "out/plots/a.svg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        for opening, typed, ways in (
            ("w", "ou", ["out/", "out/pairs.tsv", "out/plots/", "out/pairs.tsv"]),
            ("w", "out/pl", ["out/plots/", "out/plots/a.svg", "out/plots/a.svg"]),
            ("w", "nowhere/x", ["nowhere/x"]),
        ):
            press(app, opening, "ctrl+u", *typed)
            for way in ways:
                press(app, "tab")
                await settled(pilot)
                assert app.screen.query_one(Prompt).line.value == way
            press(app, "escape")

    drive(XmineApp(mined_run), (80, 24), script)
