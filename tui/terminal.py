"""The terminal, which may go away while it is written to."""

from typing import Any

from textual.drivers.linux_driver import LinuxDriver


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

    def flush(self) -> None:
        self._try(self._file.flush)

    def _try(self, act: Any, *given: str) -> None:  # noqa: ANN401 - a method of the file
        if not self._gone:
            try:
                act(*given)
            except OSError:
                self._gone = True


class TerminalDriver(LinuxDriver):
    """Textual's own, which survives its terminal."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - what Textual gives
        super().__init__(*given, **named)
        self._file = Lasting(self._file)  # type: ignore[assignment]
