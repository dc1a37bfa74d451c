"""State that the app keeps between starts: places and settings."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xmine.errors import FileError
from xmine.files.atomic import replacing

_MOST = 50  # places
_PLACES, _SETTINGS = "places.json", "settings.json"


def keep_place(path: Path, place: dict[str, Any]) -> None:
    """Remember where a user was in a run or a file.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_PLACES) as content:
        content.pop(_absolute(path), None)
        content[_absolute(path)] = place
        for name in [*content][:-_MOST]:
            del content[name]


def place_in(path: Path) -> Any:  # noqa: ANN401 - of a file that a user may have edited
    """Give the place that was kept last; None if there is none."""
    return load(_PLACES).get(_absolute(path))


def _absolute(path: Path) -> str:
    """Name a run, a file or two files as they are found from anywhere."""
    return ",".join(map(os.path.abspath, str(path).split(",")))


def state_folder() -> Path:
    """Name the folder: $XMINE_STATE, or xmine in the folder for states of this system."""
    from platformdirs import user_state_dir  # 0.02 s

    return Path(os.environ.get("XMINE_STATE") or user_state_dir("xmine", appauthor=False))


def load(name: str) -> dict[str, Any]:
    """Read an object of the app; empty where there is none, or none that can be read."""
    return read_object(state_folder() / name)


def read_object(file: Path) -> dict[str, Any]:
    """Read an object of a file; empty where there is none, or none that can be read."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


@contextmanager
def changing(name: str) -> Iterator[dict[str, Any]]:
    """Give an object to be changed, and write it whole.

    Raises:
        FileError: the folder cannot be written.
    """
    folder, content = state_folder(), load(name)
    yield content
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / name) as partial:
            partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise FileError(
            f"{folder}: cannot be written: {error.strerror}",
            "settings are not remembered; XMINE_STATE names another folder",
        ) from error


def setting(name: str) -> Any:  # noqa: ANN401 - of a file that a user may have edited
    """Read a setting: `theme`, `judge`, `sample`; empty where there is none."""
    return load(_SETTINGS).get(name, "")


def keep_setting(name: str, value: object) -> None:
    """Remember a setting, or the theme.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_SETTINGS) as content:
        content[name] = value
