"""What is sent to the terminal: no more than changed, and the screen is the one of whole frames."""

import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual._compositor import ChopsUpdate, LayoutUpdate

import xmine.tui.app
from tests.toys.app import drive
from tests.toys.screens import settled
from xmine.tui.app import XmineApp
from xmine.tui.terminal import PasteParser

_TOKEN = re.compile(r"\x1b\[([0-9;]*)([Hm])|(.)", re.DOTALL)


class Terminal:
    """A terminal that knows two sequences: cells, each with its text and its style."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], tuple[str, tuple[str, ...]]] = {}
        self.sent = 0  # bytes

    def write(self, text: str) -> None:
        self.sent += len(text.encode())
        y = x = 0
        styles: dict[str, str] = {}
        for numbers, kind, character in _TOKEN.findall(text):
            if kind == "H":
                y, x = (int(each) - 1 for each in numbers.split(";"))
            elif kind == "m":
                styles = _styled(styles, numbers)
            elif width := cell_len(character):
                drawn = tuple(sorted(f"{name}{value}" for name, value in styles.items()))
                for at in range(width):
                    self.cells[y, x + at] = ("" if at else character, drawn)
                x += width
            elif character != "\n":  # a mark belongs to the character before it
                at = next(at for at in range(x - 1, -1, -1) if self.cells[y, at][0])
                self.cells[y, at] = (self.cells[y, at][0] + character, self.cells[y, at][1])


def _styled(styles: dict[str, str], numbers: str) -> dict[str, str]:
    for code in re.findall(r"[34]8;2;\d+;\d+;\d+|[34]8;5;\d+|\d+", numbers):
        if code == "0":
            styles = {}
        elif code[:1] in "34" and len(code) > 1:
            styles = {**styles, code[0]: code}
        else:
            styles = {**styles, f"a{code}": ""}
    return styles


class Watched(XmineApp):
    """The app, with a terminal that gets what is sent."""

    CSS_PATH = str(Path(xmine.tui.app.__file__).with_name("app.tcss"))

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.seen = Terminal()

    def _display(self, screen: Any, renderable: Any) -> None:
        if isinstance(renderable, ChopsUpdate | LayoutUpdate) and not self._batch_count:
            self.seen.write(self._frame.towards(renderable).render_segments(self.console))
        super()._display(screen, renderable)

    def whole(self) -> Terminal:
        """Draw all of the screen as Textual does."""
        drawn = Terminal()
        drawn.write(self.screen._compositor.render_full_update().render_segments(self.console))
        return drawn


# Keys, and the most bytes that each may send at 80 x 24, 120 x 40 and 200 x 60.
KEYS = {
    "j": (1000, 1200, 2000),
    "a": (1000, 1200, 2500),
    "pagedown": None,
    "ctrl+l": None,
    "l": None,
    "slash": None,
    "o": None,
    "escape": None,
    "enter": (4000, 14000, 22000),
    "tab": None,
    "q": None,
    "t": (8000, 17000, 26000),
    "right": (2800, 7000, 9000),
    "h": None,
    "question_mark": None,
}


@pytest.mark.parametrize(("at", "size"), [(0, (80, 24)), (1, (120, 40)), (2, (200, 60))])
def test_only_what_changed_is_sent_and_the_screen_is_that_of_whole_frames(
    run_copy: Path, at: int, size: tuple[int, int]
) -> None:
    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        for key, most in [*KEYS.items(), ("resize", None), ("p", None)]:
            app.seen.sent = 0
            if key == "ctrl+l":  # others wrote to it
                app.seen.cells.clear()
            await (pilot.resize_terminal(100, 30) if key == "resize" else pilot.press(key))
            await settled(pilot)
            assert most is None or app.seen.sent <= most[at], (key, app.seen.sent)
            area = [(y, x) for y in range(app.size.height) for x in range(app.size.width)]
            seen, whole = app.seen.cells, app.whole().cells
            assert [each for each in area if seen[each] != whole[each]] == [], key

    drive(Watched(run_copy), size, script)


@pytest.mark.parametrize("at", range(7, 24))
def test_an_escape_in_a_pasted_text_is_no_key(at: int) -> None:
    sent, parser = "a\x1b[200~x\x1bx\nx\x1b[Ax\x1b[201~b\x1b[B", PasteParser()
    found = [*parser.feed(sent[:at]), *parser.feed(sent[at:])]
    told = [getattr(each, "key", None) or getattr(each, "text", None) for each in found]
    assert told == ["a", "xx\nx[Ax", "b", "down"]
