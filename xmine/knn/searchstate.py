"""What an approximate search knows when it was killed: settings, and how much is done."""

import json
from pathlib import Path
from typing import Any

from xmine.files import replacing

_STATE = "approximate.json"


class SearchState:
    """Facts that are written at once, and found again after a kill.

    Attributes:
        known: the facts.
    """

    def __init__(self, folder: Path | None, *, fresh: bool) -> None:
        """Read them unless the search starts afresh."""
        self.known: dict[str, Any] = {}
        self._path = None if folder is None else folder / _STATE
        if self._path and self._path.exists():
            if fresh:
                self._path.unlink()
            else:
                self.known = json.loads(self._path.read_text(encoding="utf-8"))

    def note(self, **facts: float) -> None:
        """Add facts, and write them all down."""
        self.known |= facts
        self.save()

    def save(self) -> None:
        """Write the facts down."""
        if self._path:
            with replacing(self._path) as partial:
                partial.write_text(json.dumps(self.known), encoding="utf-8")
