"""Runs and files of pairs that were opened lately, the last one first."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from xmine.run.folder import PAIRS_FILE, RUN_FILE, SUMMARY_FILE

from .state import changing, load

MOST = 50
_FILE = "recent.json"


@dataclass(frozen=True, slots=True)
class Recent:
    """A run or file that was opened.

    Attributes:
        path: of the run or file.
        opened: time of the last opening in UTC, as in 2026-01-31T12:00:00Z.
        kind: run; unfinished, a run that can be resumed; file; gone.
        pairs: how many pairs a run keeps; None where that is not known.
    """

    path: str
    opened: str
    kind: str
    pairs: int | None

    def facts(self) -> dict[str, object]:
        """Give the entry for JSON."""
        return asdict(self)


def recent() -> list[Recent]:
    """List the entries, with the present state of their files."""
    return [_now(path, opened) for path, opened in _entries(load(_FILE))]


def remember(path: Path, when: datetime | None = None) -> None:
    """Put a run or a file on top.

    Raises:
        FileError: nothing can be remembered.
    """
    name = os.path.abspath(path)
    opened = f"{when or datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    with changing(_FILE) as content:
        others = [each for each in _entries(content) if each[0] != name]
        _put(content, [(name, opened), *others])


def forget(paths: Iterable[str]) -> None:
    """Take entries off the list; the files stay.

    Raises:
        FileError: nothing can be remembered.
    """
    gone = set(paths)
    with changing(_FILE) as content:
        _put(content, (each for each in _entries(content) if each[0] not in gone))


def _put(content: dict[str, object], entries: Iterable[tuple[str, str]]) -> None:
    rows = [{"path": path, "opened": opened} for path, opened in entries]
    content["recent"] = rows[:MOST]


def _entries(content: dict[str, object]) -> list[tuple[str, str]]:
    """Read the valid rows of a file that a user may have edited."""
    rows = content.get("recent")
    found = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("path"), str):
            found.append((row["path"], str(row.get("opened", ""))))
    return found


def _now(path: str, opened: str) -> Recent:
    place = Path(path)
    if (place / RUN_FILE).is_file():
        kind = "run" if (place / PAIRS_FILE).is_file() else "unfinished"
        return Recent(path, opened, kind, _pairs_of(place))
    return Recent(path, opened, "file" if place.is_file() else "gone", None)


def _pairs_of(run: Path) -> int | None:
    try:
        pairs = json.loads((run / SUMMARY_FILE).read_text(encoding="utf-8"))["pairs"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pairs if isinstance(pairs, int) else None
