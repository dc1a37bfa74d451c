"""Draw the pictures of README and docs/how-to/browse.md: every screen, on the mined examples.

    python docs/pictures.py [NAME...]

The app runs without a terminal, in a temporary folder with the examples. The pictures
are SVG, so that text in them is text; they name no font that would have to be fetched.
"""

import asyncio
import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.cells import cell_len
from textual.worker import WorkerCancelled

from xmine.cli.fields import fields_of
from xmine.tui.app import XmineApp

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
_SIZE = 100, 28  # columns and rows
_SECONDS = 2.2  # that a frame of a moving picture is seen
_CELL = 12.2  # of the pictures' units, as Rich draws them


async def draw(opened: Path | None, name: str, keys: Sequence[str], theme: str) -> None:
    """Press keys, and draw what is on the screen; a key "" adds a frame of a moving picture."""
    app: Any = XmineApp(opened, fields=fields_of)
    frames = []
    async with app.run_test(size=_SIZE) as pilot:
        app.theme = theme
        await _settle(pilot)
        for key in [*keys, ""]:
            if not key:
                title = f"xmine browse {opened.name}/" if opened else "xmine browse"
                frames.append(_mended(app.export_screenshot(title=title)))
                continue
            if key == "wait":
                while any(job.runs for job in app.jobs.jobs.values()):
                    await pilot.pause(0.1)
            elif key.startswith("typed:"):
                app.focused.value = key.removeprefix("typed:")
            else:
                await pilot.press(key)
            await _settle(pilot)
    svg = frames[0] if len(frames) == 1 else _moving(frames)
    (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")


def _moving(frames: Sequence[str]) -> str:
    """Show frames in turn; what stands in several of them is drawn once."""
    styles: dict[str, str] = {}  # what a class does -> its name
    shown: dict[str, set[int]] = {}
    for at, frame in enumerate(frames):
        rules = dict(re.findall(r"\.(terminal-\d+-r\d+) {([^}]*)}", frame))
        body = frame[frame.rindex("<g transform") :]
        for element in re.findall(r"<rect [^>]*/>|<text [^>]*>[^<]*</text>", body):
            bare = re.sub(r' clip-path="[^"]*"| shape-rendering="[^"]*"', "", element)
            named = re.sub(
                r"terminal-\d+-r\d+",
                lambda found, rules=rules: styles.setdefault(rules[found[0]], f"r{len(styles)}"),
                bare,
            )
            shown.setdefault(named, set()).add(at)
    head, tail = frames[0][: frames[0].rindex("<g transform")], "</g></svg>"
    fonts = re.findall(r"\.(terminal-\d+-matrix) {", frames[0])[0]
    begin = re.findall(r'<g transform="[^"]*"', frames[0])[-1]
    css, groups = [f".{name} {{ {rule} }}" for rule, name in styles.items()], []
    part = 100 / len(frames)
    for when in sorted({tuple(sorted(each)) for each in shown.values()}):
        inside = sorted((each for each, at in shown.items() if (*sorted(at),) == when), key=_layer)
        name = "f" + "-".join(map(str, when))
        if len(when) < len(frames):
            steps = "".join(
                f"{at * part:.3f}% {{ opacity: {int(at in when)} }} " for at in range(len(frames))
            )
            css.append(f"@keyframes {name} {{ {steps}}}")
            css.append(
                f".{name} {{ animation: {name} {len(frames) * _SECONDS}s step-end infinite }}"
            )
        groups.append((name, inside))
    layers = "".join(
        f'<g class="{name}">{"".join(each for each in inside if _layer(each) == layer)}</g>'
        for layer in (0, 1)
        for name, inside in groups
    )
    head = head.replace("</style>", "\n".join(css) + "</style>")
    head = re.sub(r"<clipPath.*?</clipPath>|\.terminal-\d+-r\d+ {[^}]*}", "", head, flags=re.DOTALL)
    return f'{head}{begin} class="{fonts}">{layers}{tail}'


def _layer(element: str) -> int:
    return int(element.startswith("<text"))


def _mended(svg: str) -> str:
    """Leave out fonts that would be fetched, and put each wide character into its two cells."""
    svg = re.sub(r"@font-face\s*{[^}]*}", "", svg)

    def placed(found: re.Match[str]) -> str:
        made, x = "", float(found["x"])
        for wide, each in groupby(
            html.unescape(found["text"]), lambda letter: cell_len(letter) > 1
        ):
            text = "".join(each)
            width = cell_len(text) * _CELL
            places = " ".join(f"{x + 2 * at * _CELL:g}" for at in range(len(text)))
            room = f'x="{places}"' if wide else f'x="{x:g}" textLength="{width:g}"'
            made += f"{found['head']} {room}{found['y']}{found['rest']}>{html.escape(text)}</text>"
            x += width
        return made

    head = r'(?P<head><text[^>]*) x="(?P<x>[^"]*)"(?P<y>[^>]*) textLength="[^"]*"'
    return re.sub(head + "(?P<rest>[^>]*)>(?P<text>[^<]*)</text>", placed, svg)


async def _settle(pilot: Any) -> None:  # noqa: ANN401 - generic in Textual
    with suppress(WorkerCancelled):  # a search that another key has made old
        await pilot.app.workers.wait_for_complete()
    await pilot.pause(0.3)
    await pilot.pause()


# Two versions of a story, of which one puts two sentences into one line.
_STORY = {
    "de": """Der Fährmann wartete bis zum Abend.
Niemand kam ans Ufer.
Dann hörte er Stimmen; zwei Kinder liefen den Deich herunter.
„Bring uns hinüber“, riefen sie.
Er fragte nicht nach Geld.
Auf der anderen Seite brannte kein Licht.
Der Wind drehte nach Norden, und es begann zu regnen.
Das kleinere Kind hielt eine Laterne.
„Wer hat euch geschickt?“, fragte er.
„Unsere Großmutter ist krank.“
Da ruderte er schneller.
Am Steg stand eine Frau mit einem Hund.
Sie weinte und lachte zugleich.
Er wartete, bis sie im Dorf waren.
""",
    "en": """The ferryman waited until evening.
Nobody came to the bank.
Then he heard voices. Two children ran down the dike.
"Take us across," they called.
He did not ask for money. There was no light on the other side.
The wind turned north, and it began to rain.
The smaller child held a lantern.
"Who sent you?" he asked.
"Our grandmother is ill."
Then he rowed faster.
On the landing stood a woman with a dog.
She wept and laughed at once.
He waited until they were in the village.
""",
}
_TRAINED = ["typed:run/", "tab"]
_DARK, _LIGHT = "textual-dark", "textual-light"
_SORTED = ["slash", "typed:kept AND flags <> ''", "enter", "s"]  # by how unsure
_AGREED = [*"aaaaaaaaaaaaaaaaxaaa"]  # twenty verdicts
_TOUR = ["g", "", "enter", "wait", "", "enter", *_SORTED, "j", "", "enter", "", "escape", "escape"]
_TOUR += ["t", "", *["right"] * 6, "", "p", "v", "typed:20", "enter", *"aa", ""]
_TOUR += [*_AGREED[2:], "", "escape", "m", "enter", "wait", "enter", "j"]
# What is opened, and the keys by name: "" makes a frame, "typed:TEXT" puts a text into the line
# that has the focus, "wait" waits for the command that runs.
SCREENS: dict[str, tuple[str, list[str], str]] = {
    "tour": ("", _TOUR, _DARK),
    "home": ("", [], _DARK),
    "pairs": ("run", [*_SORTED, *"jj"], _DARK),
    "filter": ("run", ["slash"], _DARK),
    "neighbours": ("run", [*"jjjj", "enter"], _DARK),
    "sample": ("run", ["v", "typed:20", "enter", *_AGREED], _DARK),
    "threshold": ("run", ["t", "right", "right"], _LIGHT),
    "repair": ("aligned", [*"jjjj", "", "minus", "", "enter", ""], _DARK),
    "train": ("run", ["E", *_TRAINED, "ctrl+s", "wait"], _DARK),
}


def main() -> None:
    """Mine, align and draw the screens that are named, or every one."""
    PICTURES.mkdir(exist_ok=True)
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    for name in sys.argv[1:] or SCREENS:
        with TemporaryDirectory() as folder:
            os.environ |= {"XMINE_STATE": f"{folder}/.state", "XMINE_CACHE": f"{folder}/.cache"}
            # Pictures show no folder and no name of this machine.
            os.environ |= {"HOME": folder, "XMINE_JUDGE": "you"}
            for text in ("en.txt", "zh.txt"):
                shutil.copy(ROOT / "examples" / text, folder)
            os.chdir(folder)
            opened, keys, theme = SCREENS[name]
            if opened == "run":
                xmine("mine", "en.txt", "zh.txt", "-o", "run/")
            for language, lines in _STORY.items():
                Path(f"story.{language}.txt").write_text(lines, encoding="utf-8")
            if opened == "aligned" or not opened:
                xmine("align", "story.de.txt", "story.en.txt", "-o", "aligned/")
            asyncio.run(draw(Path(opened) if opened else None, name, keys, theme))


def xmine(*words: str) -> None:
    """Run a command."""
    subprocess.run([sys.executable, "-m", "xmine", *words, "-q"], check=True)


if __name__ == "__main__":
    main()
