"""State that the app keeps between starts: what was opened lately, the last one first; settings."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from xmine.errors import FileError, XmineError
from xmine.files.atomic import replacing
from xmine.pairs.judgements import standing_in
from xmine.run.folder import JUDGEMENTS_FILE, PAIRS_FILE, RUN_FILE, SUMMARY_FILE

MOST = 50
_RECENT, _SETTINGS = "recent.json", "settings.json"
_Row = dict[str, Any]  # path, opened and, where a user was there, place


@dataclass(frozen=True, slots=True)
class Recent:
    """A run or file that was opened.

    Attributes:
        path: of the run or file.
        opened: time of the last opening in UTC, as in 2026-01-31T12:00:00Z.
        kind: run; unfinished, a run that can be resumed; file; gone.
        pairs: how many pairs a run keeps; None where that is not known.
        judged: how many pairs have a verdict.
    """

    path: str
    opened: str
    kind: str
    pairs: int | None
    judged: int = 0

    def facts(self) -> dict[str, object]:
        """Give the entry for JSON."""
        return asdict(self)


def recent() -> list[Recent]:
    """List the entries, with the present state of their files."""
    return [_now(row["path"], row["opened"]) for row in _entries(load(_RECENT))]


def remember(path: Path, when: datetime | None = None) -> None:
    """Put a run or a file on top.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_RECENT) as content:
        row, others = _taken(content, path)
        row["opened"] = f"{when or datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        content["recent"] = [row, *others][:MOST]


def keep_place(path: Path, place: dict[str, Any]) -> None:
    """Remember where a user was in a run or a file that was opened.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_RECENT) as content:
        rows, name = _entries(content), _absolute(path)
        content["recent"] = rows
        for row in rows:
            if row["path"] == name:
                row["place"] = place


def place_in(path: Path) -> Any:  # noqa: ANN401 - of a file that a user may have edited
    """Give the place that was kept last; None if there is none."""
    return _taken(load(_RECENT), path)[0].get("place")


def forget(paths: Iterable[str]) -> None:
    """Take entries off the list; the files stay.

    Raises:
        FileError: nothing can be remembered.
    """
    gone = set(paths)
    with changing(_RECENT) as content:
        content["recent"] = [row for row in _entries(content) if row["path"] not in gone]


def _taken(content: Mapping[str, object], path: Path) -> tuple[_Row, list[_Row]]:
    """Part the row of a path, which may be a new one, from the others."""
    name, rows = _absolute(path), _entries(content)
    row = next((row for row in rows if row["path"] == name), {"path": name, "opened": ""})
    return row, [each for each in rows if each is not row]


def _entries(content: Mapping[str, object]) -> list[_Row]:
    """Read the valid rows of a file that a user may have edited."""
    rows = content.get("recent")
    return [
        {**row, "opened": str(row.get("opened", ""))}
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and isinstance(row.get("path"), str)
    ]


def _now(path: str, opened: str) -> Recent:
    place = Path(path)
    if (place / RUN_FILE).is_file():
        is_whole = all((place / name).is_file() for name in (PAIRS_FILE, SUMMARY_FILE))
        kind = "run" if is_whole else "unfinished"
        judged = _judged_in(place / JUDGEMENTS_FILE)
        return Recent(path, opened, kind, _pairs_of(place), judged)
    files = [place] if place.is_file() else _parts_of(path)
    judged = _judged_in(files[0].with_name(f"{files[0].name}.{JUDGEMENTS_FILE}"))
    is_there = all(each.is_file() for each in files)
    return Recent(path, opened, "file" if is_there else "gone", None, judged)


def _parts_of(path: str) -> list[Path]:
    """Name the files of a Moses pair, or the file behind a choice of languages or columns."""
    from xmine.pairs.paths import paths_to_read  # here: it loads every format

    try:
        return list(map(Path, paths_to_read(path).paths))
    except XmineError:
        return [Path(path)]


def _absolute(path: Path) -> str:
    """Name a run or a file as it is found from anywhere."""
    if path.exists() or "," not in str(path):
        return os.path.abspath(path)
    files = _parts_of(str(path))
    return ",".join(map(os.path.abspath, files)) if len(files) > 1 else os.path.abspath(path)


def _judged_in(file: Path) -> int:
    try:
        return len(standing_in(file, file.read_text(encoding="utf-8").split("\n")))
    except (OSError, ValueError, XmineError):
        return 0


def _pairs_of(run: Path) -> int | None:
    try:
        said = json.loads((run / SUMMARY_FILE).read_text(encoding="utf-8"))
        pairs = said["beads" if "beads" in said else "pairs"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pairs if isinstance(pairs, int) else None


def state_folder() -> Path:
    """Name the folder: $XMINE_STATE, or xmine in the folder for states of this system."""
    from platformdirs import user_state_dir  # 0.02 s

    return Path(os.environ.get("XMINE_STATE") or user_state_dir("xmine", appauthor=False))


def load(name: str) -> dict[str, Any]:
    """Read an object; empty where there is none, or none that can be read."""
    try:
        read = json.loads((state_folder() / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


@contextmanager
def changing(name: str) -> Iterator[dict[str, Any]]:
    """Give an object to be changed, and write it; two apps wait for each other.

    Raises:
        FileError: the folder cannot be written.
    """
    import fcntl  # of Linux and macOS

    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _not_written(folder, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # every process holds it for a moment only
        content = load(name)
        yield content
        with replacing(folder / name) as partial:
            partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise _not_written(folder, error) from error
    finally:
        os.close(lock)


def _not_written(folder: Path, error: OSError) -> FileError:
    return FileError(
        f"{folder}: cannot be written: {error.strerror}",
        "what was opened is not remembered; XMINE_STATE names another folder",
    )


def settings() -> tuple[object, dict[str, str]]:
    """Read the name of the theme, and keys by the ids of actions; keys are joined by commas."""
    read = load(_SETTINGS)
    keys = read.get("keys")
    named = keys.items() if isinstance(keys, dict) else ()
    return read.get("theme"), {name: key for name, key in named if isinstance(key, str)}


def keep_theme(name: str) -> None:
    """Remember a theme.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_SETTINGS) as content:
        content["theme"] = name
