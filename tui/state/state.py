"""The files in which the terminal app keeps settings and recent runs."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xmine.errors import FileError
from xmine.files.atomic import replacing


def state_folder() -> Path:
    """Name the folder: $XMINE_STATE, or xmine in $XDG_STATE_HOME, or in ~/.local/state."""
    if own := os.environ.get("XMINE_STATE"):
        return Path(own)
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(home, "xmine")


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


_FILE = "settings.json"


def settings() -> tuple[object, dict[str, str]]:
    """Read the name of the theme, and keys by the ids of actions; keys are joined by commas."""
    read = load(_FILE)
    keys = read.get("keys")
    named = keys.items() if isinstance(keys, dict) else ()
    return read.get("theme"), {name: key for name, key in named if isinstance(key, str)}


def keep_theme(name: str) -> None:
    """Remember a theme.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_FILE) as content:
        content["theme"] = name
