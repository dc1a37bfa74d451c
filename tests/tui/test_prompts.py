"""While a prompt is open, no key and no click does anything but to answer it, or to give it up."""

import string
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.keys import _character_to_key

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled, until
from xmine.flags.names import FLAGS
from xmine.tui.app import XmineApp
from xmine.tui.widgets.prompt import Prompt

EVERY = [*string.printable.strip(), " ", "tab", "shift+tab"]
EVERY += ["up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete"]
EVERY += ["backspace", "shift+up", "shift+down", "ctrl+home", "ctrl+end", "alt+a"]
EVERY += [f"f{number}" for number in range(2, 13)]
EVERY += [f"ctrl+{letter}" for letter in string.ascii_lowercase if letter not in "iqm"]


def press(app: Any, *keys: str) -> None:
    for key in keys:
        name, text = (_character_to_key(key), key) if len(key) == 1 else (key, None)
        app.post_message(events.Key(name, text))


def click(app: Any, x: int, y: int) -> None:
    for kind in (events.MouseDown, events.MouseUp):
        app.post_message(kind(None, x, y, 0, 0, 1, False, False, False, x, y))


# Keys that open each prompt, from the pairs or from the threshold, one burst after the other.
PROMPTS = {
    "export": ["e"],
    "find": ["/"],
    "all": ["/is:all", "enter", "X"],
    "cut": ["t", "c"],
    "write": ["t", "w"],
    "leave": ["t", "]", "ctrl+q"],
}
YES_OR_NO = ("all", "write", "leave")


@pytest.mark.long
def test_no_key_and_no_click_judges_while_a_prompt_is_open(run_copy: Path) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app

        async def pressed(*keys: str) -> None:
            press(app, *keys)
            await settled(pilot)

        async def opened(name: str) -> Prompt:
            await pressed("p")
            for keys in PROMPTS[name]:
                await pressed(*([keys] if keys in ("enter", "ctrl+q") else keys))
                if keys == "]":  # the view follows soon
                    await until(pilot, lambda: app.view.unwritten is not None)
            prompt: Prompt = app.screen.query_one(Prompt)
            assert prompt.display, name
            return prompt

        await pressed("a")
        written = (run_copy / "judgements.tsv").read_bytes()
        for name in PROMPTS:
            prompt = await opened(name)
            answers = "ynYN" if name in YES_OR_NO else ""
            await pressed("tab", *(key for key in EVERY if key not in [*answers]), "f1")
            assert app.screen.NAME == "Help", name
            await pressed("escape", *"ax")
            complete = "tab Complete " if name in ("export", "find") else ""
            assert prompt.display and screen_text(app)[-1] == f"esc Give up {complete}F1 Help"
            for x, y in ((3, 4), (3, 23)):  # a row of the table, and a key that is no longer there
                click(app, x, y)
                await settled(pilot)
                assert not prompt.display, name
                await opened(name)
            app.screen.set_focus(None)  # as work in the background may do
            app.post_message(events.Paste("axax"))
            await pressed(*"ax", "escape")
            assert not prompt.display, name
            assert (run_copy / "judgements.tsv").read_bytes() == written, name
        await pressed("x")
        assert (run_copy / "judgements.tsv").read_bytes() != written

    drive(XmineApp(run_copy), (80, 24), script)


def test_tab_completes_paths_and_flags(
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
            ("e", "ou", ["out/", "out/pairs.tsv", "out/plots/", "out/pairs.tsv"]),
            ("e", "out/pl", ["out/plots/", "out/plots/a.svg", "out/plots/a.svg"]),
            ("e", "nowhere/x", ["nowhere/x"]),
            ("/", "books fla", [f"books flag:{name}" for name in (*FLAGS, "none", FLAGS[0])]),
            ("/", "is:u", ["is:unsure", "is:unjudged"]),
            ("/", "books ", ["books "]),
        ):
            press(app, opening, "ctrl+u", *typed)
            for way in ways:
                press(app, "tab")
                await settled(pilot)
                assert app.screen.query_one(Prompt).line.value == way
            press(app, "escape")

    drive(XmineApp(mined_run), (80, 24), script)


def test_a_question_of_yes_or_no_waits_for_one_of_them(run_copy: Path) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        press(app, *"/is:all", "enter", *"Xax ", "enter")
        await settled(pilot)
        assert app.screen.query_one(Prompt).display
        press(app, "y")
        await settled(pilot)
        assert app.judgements.counts().judged == len(app.view.opened)

    drive(XmineApp(run_copy), (80, 24), script)
