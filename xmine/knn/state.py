"""What an approximate search knows when it was killed: settings, and how much is done."""

import json
from pathlib import Path
from typing import Any

from xmine.files.atomic import remove, replacing
from xmine.files.digests import digest_of, read_sealed, sealed
from xmine.knn.state_files import SearchFiles

_STATE = "approximate.state"


class SearchState:
    """Facts that are written at once, and found again after a kill.

    Attributes:
        known: the facts.
    """

    def __init__(self, files: SearchFiles) -> None:
        """Read them unless the search starts afresh, or they are not what was written."""
        self.known: dict[str, Any] = {}
        self.files = files
        self._path = None if files.folder is None else files.folder / _STATE
        if self._path and self._path.exists():
            text = read_sealed(self._path, files.mark)
            if text is None:
                files.watch.changed(self._path)
            if text is None or files.fresh:
                self.forget()
            else:
                self.known = json.loads(text)

    def note(self, **facts: float | str) -> None:
        """Add facts, and write them all down."""
        self.known |= facts
        self.save()

    def save(self) -> None:
        """Write the facts down."""
        if self._path:
            with replacing(self._path) as partial:
                text = sealed(json.dumps(self.known), self.files.mark)
                partial.write_text(text, encoding="utf-8")

    def has(self, path: Path) -> bool:
        """Tell whether a file is there, and is what it was when it was noted; if not, it goes."""
        known = self.known.get(path.name)
        if path.is_file() and known is not None and digest_of(path) == known:
            return True
        if path.exists():
            if known is not None or not path.is_file():
                self.files.watch.changed(path)
            remove(path)
        return False

    def forget(self) -> None:
        """Begin anew: what was found depends on what is not there any more."""
        self.known.clear()
        self.files.forget()
        if self._path:
            remove(self._path)
