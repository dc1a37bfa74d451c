"""Draw the pictures of docs/how-to/browse.md: every screen of the app, on the mined examples.

    python docs/pictures.py

The examples are mined into a temporary folder, and the app runs without a terminal. The pictures
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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.cells import cell_len

from xmine.tui.app import XmineApp

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
_SIZE = (110, 32)
_CELL = 12.2  # of the pictures' units, as Rich draws them


async def draw(run: Path, name: str, keys: Sequence[str], theme: str) -> None:
    """Press keys, and draw what is on the screen."""
    app: Any = XmineApp(run)
    async with app.run_test(size=_SIZE) as pilot:
        app.theme = theme
        await _settle(pilot)
        for key in keys:
            if key.startswith("typed:"):
                app.focused.value = key.removeprefix("typed:")
            else:
                await pilot.press(key)
            await _settle(pilot)
        svg = app.export_screenshot(title=f"xmine browse {run.name}/")
    (PICTURES / f"{name}.svg").write_text(_mended(svg), encoding="utf-8")


def _mended(svg: str) -> str:
    """Leave out fonts that would be fetched, and give wide characters the room of two."""
    svg = re.sub(r"@font-face\s*{[^}]*}", "", svg)

    def widened(found: re.Match[str]) -> str:
        cells = cell_len(html.unescape(found["text"]))
        return f'textLength="{cells * _CELL:g}"{found["rest"]}>{found["text"]}</text>'

    return re.sub(r'textLength="[^"]*"(?P<rest>[^>]*)>(?P<text>[^<]*)</text>', widened, svg)


async def _settle(pilot: Any) -> None:  # noqa: ANN401 - generic in Textual
    await pilot.app.workers.wait_for_complete()
    await pilot.pause(0.3)
    await pilot.pause()


_DARK, _LIGHT = "textual-dark", "textual-light"
# Keys by name; "typed:TEXT" puts a text into the line that has the focus.
SCREENS: dict[str, tuple[list[str], str]] = {
    "pairs": ([*"jjjaax"], _DARK),
    "filter": (["f"], _DARK),
    "neighbours": ([*"jjjj", "enter"], _DARK),
    "threshold": (["t", "right", "right"], _LIGHT),
    "search": (["F", "typed:Where can I buy a ticket?", "enter"], _DARK),
    "home": (["h"], _DARK),
    "mine": (["M"], _DARK),
    "train": (["T"], _DARK),
}


def main() -> None:
    """Mine the examples, and draw every screen."""
    PICTURES.mkdir(exist_ok=True)
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    with TemporaryDirectory() as folder:
        os.environ |= {"XMINE_STATE": f"{folder}/state", "XMINE_CACHE": f"{folder}/cache"}
        # Pictures show no folder and no name of this machine.
        os.environ |= {"HOME": folder, "XMINE_JUDGE": "you"}
        for text in ("en.txt", "zh.txt"):
            shutil.copy(ROOT / "examples" / text, folder)
        os.chdir(folder)
        command = [sys.executable, "-m", "xmine", "mine", "en.txt", "zh.txt", "-o", "run/", "-q"]
        subprocess.run(command, check=True)
        for name, (keys, theme) in SCREENS.items():
            asyncio.run(draw(Path("run"), name, keys, theme))


if __name__ == "__main__":
    main()
