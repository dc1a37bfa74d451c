"""The terminal, or the server of a browser's window; either may go away while it is written to."""

import os
from typing import Any

from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver
from textual.events import AppFocus
from textual.messages import ExitApp

from .widths import PROBE


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


class TerminalDriver(LinuxDriver):
    """Textual's own, which survives its terminal, and asks it for widths, see `widths`."""

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


# Drivers of Textual -> ours.
DRIVERS: dict[type[Driver], type[Driver]] = {LinuxDriver: TerminalDriver, WebDriver: WindowDriver}
