"""The terminal, or the server of a browser's window; either may go away while it is written to.

Terminals disagree on the cells of vowel signs, so the terminal is asked: a spacing mark (general
category Mc of Unicode), such as ा in Hindi, takes a cell of its own in tmux and other terminals,
and none in some. Rich and Textual count none.

Of a frame only the cells that changed are sent: over a slow line a key costs its bytes.
"""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich import cells
from rich.color import ColorSystem
from rich.console import Console
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers.web_driver import WebDriver
from textual.events import AppFocus
from textual.message import Message
from textual.messages import ExitApp
from textual.strip import Strip

if sys.platform == "win32":
    from textual.drivers.windows_driver import WindowsDriver as SystemDriver
else:
    from textual.drivers.linux_driver import LinuxDriver as SystemDriver

_Cell = tuple[str, str | None]
# A letter and a spacing mark, where the next frame is drawn; then where is the cursor?
PROBE = "\x1b[1;1H\u0915\u093e\x1b[6n\r\x1b[2K"
_MARKED = 2  # the column of the cursor behind both, from 0, where the mark takes a cell
_PASTED = "\x1b[200~", "\x1b[201~"  # where a pasted text begins and ends
# Cells between two changes that are sent again: to go on with another style costs 50 bytes.
_GAP = 20
_NOTHING: _Cell = ("", "")
_EMOJI = range(0x1F000, 0x20000)  # whose cells terminals do not agree on


def hear(column: int) -> bool:
    """Hear where the cursor was; tell whether widths are others from now on."""
    if column != _MARKED or cells.get_character_cell_size("\u093e") == 1:
        return False
    load: Callable[[str], cells.CellTable] = vars(cells)["load_cell_table"]
    known: dict[str, cells.CellTable] = {}

    def loaded(version: str = "auto") -> cells.CellTable:
        if version not in known:
            table = load(version)
            known[version] = table._replace(widths=[*_with_marks(table.widths)])
        return known[version]

    vars(cells)["load_cell_table"] = loaded
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()
    _width.cache_clear()
    return True


def _with_marks(widths: Any) -> Iterator[tuple[int, int, int]]:  # noqa: ANN401 - rows of Rich
    """Leave spacing marks out of the ranges (first, last, cells): what is in none takes a cell."""
    for first, last, size in widths:
        if size:
            yield first, last, size
            continue
        start = first
        for code in range(first, last + 2):
            if code > last or unicodedata.category(chr(code)) == "Mc":
                if start < code:
                    yield start, code - 1, size
                start = code + 1


class Frame(CompositorUpdate):
    """The cells that the terminal shows, and what is to be sent for an update of Textual.

    A cell is a character and its style as a code of the terminal; the second cell of a wide
    character holds none. Where terminals may not agree on cells, all cells hold their whole piece
    of the row, which is sent whole.
    """

    def __init__(self) -> None:
        self._rows: dict[int, list[_Cell]] = {}
        self._update: ChopsUpdate | LayoutUpdate | None = None

    def forget(self) -> None:
        """Know nothing: the terminal has another size, or others wrote to it."""
        self._rows.clear()

    def towards(self, update: ChopsUpdate | LayoutUpdate) -> CompositorUpdate:
        """Take an update in place of the one before."""
        self._update = update
        return self

    def render_segments(self, console: Console) -> str:
        """Write what the terminal does not show yet of the update, and take it for shown."""
        assert self._update is not None  # or nobody asks
        sent, system = [], console._color_system or ColorSystem.TRUECOLOR
        for y, x, strip in _pieces(self._update):
            now, row = _cells(strip, system), self._rows.setdefault(y, [])
            row += [_NOTHING] * (x + len(now) - len(row))
            before, row[x : x + len(now)] = row[x : x + len(now)], now
            if now == before:
                continue
            if now[0][1] is None:
                sent.append(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}")
                continue
            for start, end in _changed(before, now):
                sent.append(f"\x1b[{y + 1};{x + start + 1}H")
                sent += _drawn(now[start:end])
        return "".join(sent)


def _drawn(stretch: list[_Cell]) -> Iterator[str]:
    """Write some cells, each style once; where the ground stays, the colour of the text alone."""
    front = ground = ""
    for code, group in groupby(stretch, key=itemgetter(1)):
        before, (front, sign, ground) = (front, ground), (code or "").partition(";48;")
        if before[1] == ground and before[0][:5] == front[:5] == "38;2;":
            yield f"\x1b[{front}m"
        else:
            yield f"\x1b[0;{front}{sign}{ground}m"
        yield from map(itemgetter(0), group)
    yield "\x1b[0m"


def _pieces(update: ChopsUpdate | LayoutUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Give the parts of rows that an update draws: row, column, and what stands there."""
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in strips:
                yield y, x, strip
                x += strip.cell_length
        return
    for y, start, end in update.spans:
        for (x, piece), stop in zip(update.chops[y].items(), update.chop_ends[y], strict=False):
            if piece is not None and x < end and stop > start:
                yield y, x, piece if stop <= end else piece.crop(0, end - x)


def _cells(strip: Strip, system: ColorSystem) -> list[_Cell]:
    found: list[_Cell] = []
    for text, style, _ in strip:
        code = "" if style is None else style._ansi or Strip.render_ansi(style, system)
        for character in text:
            width = 1 if character.isascii() else _width(character)
            if not width:
                return [(repr(strip._segments), None)] * strip.cell_length
            found.append((character, code))
            if width == 2:
                found.append(("", code))
    return found


@lru_cache(4096)
def _width(character: str) -> int:
    """Count the cells of a character; none where terminals may not agree."""
    if ord(character) in _EMOJI or unicodedata.category(character)[0] == "M":
        return 0
    return cells.get_character_cell_size(character)


def _changed(before: list[_Cell], now: list[_Cell]) -> list[tuple[int, int]]:
    """Find the stretches of cells that changed; those with a short gap are one."""
    stretches: list[tuple[int, int]] = []
    for at, (old, new) in enumerate(zip(before, now, strict=True)):
        if old != new:
            joins = stretches and at - stretches[-1][1] <= _GAP
            start = stretches.pop()[0] if joins else at
            stretches.append((start, at + 1))
    return stretches


class Lasting:
    """A file that swallows what is written, from the first error on.

    Textual's thread that writes would end with that error, and whoever writes would wait for ever:
    nobody takes anything out of its queue.
    """

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - a text file, of any class
        self._file = file
        self._gone = False

    def fileno(self) -> int:
        return int(self._file.fileno())

    def write(self, text: str) -> None:
        self._try(self._file.write, text)

    def write_bytes(self, data: bytes) -> None:
        """Write at once, not by way of the buffer."""
        self._try(os.write, self._file.fileno(), data)

    def flush(self) -> None:
        self._try(self._file.flush)

    def _try(self, act: Any, *given: Any) -> None:  # noqa: ANN401 - a method of the file
        if not self._gone:
            try:
                act(*given)
            except OSError:
                self._gone = True


class PasteParser(XTermParser):
    """Textual's own, for which an escape character in a pasted text begins no key."""

    _pasted = False
    _rest = ""  # may be the beginning of the sign that ends a pasted text

    def feed(self, data: str) -> Iterator[Message]:
        """Read what a terminal sends."""
        kept, data, self._rest = "", self._rest + data, ""
        ended = not data
        while data:
            text, sign, data = data.partition(_PASTED[self._pasted])
            if self._pasted and not sign:
                ends = (
                    n for n in range(len(_PASTED[1]) - 1, 0, -1) if text.endswith(_PASTED[1][:n])
                )
                held = next(ends, 0)
                text, self._rest = text[: len(text) - held], text[len(text) - held :]
            kept += (text.replace("\x1b", "") if self._pasted else text) + sign
            self._pasted ^= bool(sign)
        if kept or ended:  # an empty text would end all input
            yield from super().feed(kept)


class TerminalDriver(SystemDriver):
    """Textual's own, which survives its terminal, and asks it for widths, see `hear`."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - what Textual gives
        super().__init__(*given, **named)
        self._file = Lasting(self._file)  # type: ignore[assignment]

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.write(PROBE)


class WindowDriver(WebDriver):
    """Textual's own, which ends the app when its server is gone, and begins with the focus.

    Without the focus no keys would stand at the bottom.
    """

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - what Textual gives
        super().__init__(*given, **named)
        self._write = Lasting(self.stdout).write_bytes  # type: ignore[assignment]

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self.write(PROBE)
        self._app.call_later(self._app.post_message, AppFocus())

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(ExitApp())


vars(sys.modules[SystemDriver.__module__])["XTermParser"] = PasteParser
# Drivers of Textual -> ours.
DRIVERS: dict[type[Driver], type[Driver]] = {SystemDriver: TerminalDriver, WebDriver: WindowDriver}
