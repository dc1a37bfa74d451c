"""What is on the screen of an app, as rows of text and as a file to compare it with."""

import asyncio
import difflib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from textual.worker import WorkerCancelled

SIZES = ((80, 24), (140, 40))
THEMES = ("textual-dark", "textual-light")
Cell = tuple[str, str]
_MOST_LOOKS = 50  # at something that never stands still


def screen_cells(app: Any) -> list[list[Cell]]:
    """Give each cell of the screen: what stands in it and its style.

    A wide character stands in its first cell, and `""` in the second.
    """
    rows = []
    for strip in app.screen._compositor.render_strips(app.size):
        row: list[Cell] = []
        for segment in strip:
            style = str(segment.style) if segment.style else "none"
            for character in segment.text:
                width = cell_len(character)
                if width:
                    row += [(character, style)] + [("", style)] * (width - 1)
                elif row:  # a mark belongs to the character before it
                    at = max(place for place, (text, _) in enumerate(row) if text)
                    row[at] = (row[at][0] + character, row[at][1])
        rows.append(row)
    return rows


def screen_text(app: Any) -> list[str]:
    """Give the rows of the screen as text, without what is blank at their ends.

    Every row of an app that fills its terminal is as wide as the terminal.
    """
    rows = ["".join(text for text, _ in row) for row in screen_cells(app)]
    width = app.size.width
    wrong = [row for row in rows if cell_len(row) != width]
    assert not wrong, f"not {width} cells wide: {wrong}"
    return [row.rstrip() for row in rows]


async def settled(pilot: Any) -> None:
    """Wait until the app has nothing left to do, its workers too, and looks as it did just before.

    On a busy machine an app that waits for the processor is taken for one that has nothing to do.
    """
    app, before = pilot.app, None
    for _ in range(_MOST_LOOKS):
        with suppress(WorkerCancelled):  # another one has taken its place
            await app.workers.wait_for_complete()
        await pilot.pause()
        now = app.screen, app.screen._compositor.render_strips(app.size)
        still = now == before and app.screen._compositor.size == app.size
        still = still and not getattr(app, "keys", None)
        if still or not app.is_running:
            return
        before = now
    raise AssertionError("the screen never stands still:\n" + "\n".join(screen_text(app)))


async def until(pilot: Any, true: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is true; show the screen where it never is."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "\n".join(screen_text(pilot.app))
        await asyncio.sleep(0.02)
    await pilot.pause()


class Snapshots:
    """Files that hold how screens look: at 80x24 and 140x40, in dark and in light."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def compare(
        self,
        pilot: Any,
        name: str,
        *,
        holds: Iterable[str] = (),
        sizes: Iterable[tuple[int, int]] = SIZES,
    ) -> Mapping[str, list[str]]:
        """Compare the screen as it is now with `snapshots/NAME-80x24.txt` and so on.

        Args:
            pilot: of the app.
            name: of the files.
            holds: texts that must be on the screen at every size, whatever the files say.
            sizes: columns and rows.

        Returns:
            The rows of the screen by size, `80x24` for instance, for further assertions.
        """
        app, before, was = pilot.app, pilot.app.theme, pilot.app.size
        rows_by_size: dict[str, list[str]] = {}
        for width, height in sizes:
            if app.size != (width, height):
                await pilot.resize_terminal(width, height)
            looks = []
            for theme in THEMES:
                app.theme = theme
                _hold_still(app)
                await settled(pilot)
                looks.append(screen_cells(app))
            rows = screen_text(app)
            rows_by_size[f"{width}x{height}"] = rows
            text = "\n".join(rows)
            lost = [each for each in holds if each not in text]
            assert not lost, f"{name} at {width}x{height} lacks {lost}:\n{text}"
            self._same(f"{name}-{width}x{height}.txt", described(*looks))
        app.theme = before
        await pilot.resize_terminal(*was)
        return rows_by_size

    def _same(self, file: str, now: str) -> None:
        path = self.folder / file
        if os.environ.get("XMINE_SNAPSHOTS") == "write":
            self.folder.mkdir(exist_ok=True)
            path.write_text(now, encoding="utf-8")
            return
        known = path.read_text(encoding="utf-8") if path.is_file() else ""
        if now == known:
            return
        changes = difflib.unified_diff(
            known.splitlines(), now.splitlines(), "known", "now", lineterm="", n=1
        )
        raise AssertionError(
            f"{file} is {'another' if known else 'missing'}; "
            "XMINE_SNAPSHOTS=write pytest makes it anew\n" + "\n".join(changes)
        )


def _hold_still(app: Any) -> None:
    from textual.widgets import Input

    for each in app.screen.query(Input):
        each.cursor_blink = False


def described(dark: list[list[Cell]], light: list[list[Cell]]) -> str:
    """Describe a screen: its rows, runs of styles (`12a 3b`), and the styles, dark and light."""
    letters: dict[tuple[str, str], str] = {}
    text, runs = [], []
    for row, other in zip(dark, light, strict=True):
        assert [each for each, _ in row] == [each for each, _ in other], "texts follow the theme"
        text.append("".join(each for each, _ in row).rstrip())
        styles = [(left, right) for (_, left), (_, right) in zip(row, other, strict=True)]
        named = [letters.setdefault(each, _letters(len(letters))) for each in styles]
        runs.append(" ".join(f"{len(list(group))}{name}" for name, group in groupby(named)))
    folded = []
    for line, group in groupby(runs):
        times = len(list(group))
        folded.append(line if times == 1 else f"{line}  x{times}")
    legend = [f"{name}: {left} | {right}" for (left, right), name in letters.items()]
    return "\n".join([*text, "", "styles", *folded, "", *legend, ""])


def _letters(number: int) -> str:
    high, low = divmod(number, 26)
    return (chr(ord("a") + high - 1) if high else "") + chr(ord("a") + low)
