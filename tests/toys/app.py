"""The app without a terminal: a way to press keys, texts that are hard to show, a run to open."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from xmine.cli import run
from xmine.cli.fields import fields_of
from xmine.errors import XmineError
from xmine.tui import background
from xmine.tui.background import _told

# A text with markup, an escape sequence, a C1 control, marks of direction, stacked marks, emoji.
HOSTILE = (
    "[/b] [red]not red[/red] [@click=app.quit]x[/]",
    "\x1b[31mred\x1b[0m \x9b5m \x07 \x7f",
    "user\u202egnp.exe \u2066a\u2069 \u200f",
    "\u0301Ze\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309 a\u200bb",
    "👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽 🇨🇳 \U000e0041",
    "tab\there, line\u2028here\x85",
    "\\[/] \\n &amp; {} %s $x",
)
# What a reader looks for: numbers in other dress, names, codes, an address, a copy.
PLAIN = (
    ("Zhang Wei bought 21 books in 1998.", "Zhang Wei在一九九八年买了二十一本书。"),
    ("See https://example.org/a?b=1 for GB-2312.", "GB-2312见https://example.org/a?b=1。"),
    ("He paid 1,200 dollars.", "他付了12美元。"),
    ("The very same words", "The very same words"),
)
Script = Callable[[Any], Awaitable[Any]]


def drive(app: Any, size: tuple[int, int], script: Script) -> Any:
    """Run an app of some columns and rows, and give what `script(pilot)` gives.

    What goes wrong in the app, in a worker too, goes wrong in the test.
    """

    def told(error: BaseException) -> XmineError:
        if not isinstance(error, XmineError | OSError):
            raise error
        return _told(error)

    app.fields = fields_of

    async def driven() -> Any:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            return await script(pilot)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "_told", told)
        return asyncio.run(driven())


def is_there(pid: int) -> bool:
    """Whether a process runs, and is not merely what is left of one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(gone: int, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while is_there(gone) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_there(gone)


def mine_files(
    folder: Path, model: Path, patch: pytest.MonkeyPatch, threshold: str = "auto"
) -> None:
    """Mine `en.txt` and `zh.txt` of a folder into `run/` beside them, as the command does."""
    words = ["mine", "en.txt", "zh.txt", "-o", "run/", "--model", str(model), "-q"]
    words += ["--threshold", threshold, "--src-lang", "en", "--tgt-lang", "zh"]
    patch.chdir(folder)
    patch.setattr(sys, "argv", ["xmine", *words])
    with pytest.raises(SystemExit) as leaving:
        run()
    assert leaving.value.code == 0
