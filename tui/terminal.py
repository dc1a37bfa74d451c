"""The terminal, or the server of a browser's window; either may go away while it is written to.

Terminals disagree on the cells of vowel signs, so the terminal is asked: a spacing mark (general
category Mc of Unicode), such as ा in Hindi, takes a cell of its own in tmux and other terminals,
and none in some. Rich and Textual count none.
"""

import sys
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rich import cells
from textual.app import App
from textual.driver import Driver
from textual.drivers.web_driver import WebDriver
from textual.events import AppFocus
from textual.messages import ExitApp

if sys.platform == "win32":
    from textual.drivers.windows_driver import WindowsDriver as SystemDriver
else:
    from textual.drivers.linux_driver import LinuxDriver as SystemDriver

# A letter and a spacing mark, where the next frame is drawn; then where is the cursor?
PROBE = "\x1b[1;1H\u0915\u093e\x1b[6n\r\x1b[2K"
_MARKED = 2  # the column of the cursor behind both, from 0, where the mark takes a cell


def hear(column: int) -> bool:
    """Hear where the cursor was; tell whether widths are others from now on."""
    if column != _MARKED or cells.get_character_cell_size("\u093e") == 1:
        return False
    widths: Any = cells.load_cell_table().widths  # type: ignore[attr-defined]
    widths[:] = [*_with_marks(widths)]
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()
    return True


def _with_marks(widths: Any) -> Iterator[tuple[int, int, int]]:  # noqa: ANN401 - rows of Rich
    """Leave spacing marks out of the ranges (first, last, cells): what is in none takes a cell."""
    for first, last, size in widths:
        if size:
            yield first, last, size
        else:
            codes = range(first, last + 1)
            yield from ((x, x, 0) for x in codes if unicodedata.category(chr(x)) != "Mc")


class Lasting:
    """A file that swallows what cannot be written.

    Textual's thread that writes would end with that error, and whoever writes would wait for ever:
    nobody takes anything out of its queue.
    """

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - a text file, of any class
        self._file = file

    def fileno(self) -> int:
        return int(self._file.fileno())

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


class TerminalDriver(SystemDriver):
    """Textual's own, which survives its terminal, and asks it for widths, see `hear`."""

    def __init__(self, app: App[Any], **named: Any) -> None:  # noqa: ANN401 - what Textual gives
        """Let Textual's own take files that swallow what they cannot write for the terminal."""
        kept = sys.__stdout__, sys.__stderr__
        lasting: list[Any] = [Lasting(each) for each in kept]
        try:
            sys.__stdout__, sys.__stderr__ = lasting  # type: ignore[misc]
            super().__init__(app, **named)
        finally:
            sys.__stdout__, sys.__stderr__ = kept  # type: ignore[misc]

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.write(PROBE)


class WindowDriver(WebDriver):
    """Textual's own, which ends the app when its server is gone, and begins with the focus.

    Without the focus no keys would stand at the bottom.
    """

    def __init__(self, app: App[Any], **named: Any) -> None:  # noqa: ANN401 - what Textual gives
        super().__init__(app, **named)
        self.shown = app

    def write(self, data: str) -> None:
        with suppress(OSError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        with suppress(OSError):
            super().write_meta(data)

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self.write(PROBE)
        self.shown.call_later(self.shown.post_message, AppFocus())

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            self.shown.post_message(ExitApp())


# Drivers of Textual -> ours.
DRIVERS: dict[type[Driver], type[Driver]] = {SystemDriver: TerminalDriver, WebDriver: WindowDriver}
