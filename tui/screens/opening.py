"""What is shown while a run or a file is read."""

from pathlib import Path

from xmine.tui.screens.viewing import Viewing


class Opening(Viewing):
    """A line that says what is read."""

    def __init__(self, path: Path) -> None:
        """Name what is read."""
        super().__init__()
        self._view = None  # the pairs that were open go as soon as others are there
        self.path = path

    def heading(self) -> str:
        """Say what is read."""
        return f"opening {self.path}"
