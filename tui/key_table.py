"""The keys of the app, from one table, `keys.toml` beside this file, and from a user's own."""

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from textual.binding import Binding, BindingType

_TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("keys.toml").read_text("utf-8"))
# What stands at the bottom of each screen, see `KeyLine`.
FOOTERS: dict[str, str] = _TABLE.pop("footer")
# Action -> the title that the help lists it under.
GROUPS = {name: group for group, actions in _TABLE.items() for name in actions}
KEYS: dict[str, list[str]] = {name: row for each in _TABLE.values() for name, row in each.items()}
# Actions that open nothing: several of them may wait for one drawing.
STAYING = {name for name, group in GROUPS.items() if group == "Move"}
STAYING |= {"accept", "reject", "unsure", "undo"}


def bound(names: str = "", **others: str) -> list[BindingType]:
    """Bind keys of the table.

    Args:
        names: actions of the table.
        others: an action, `_` for `-`, and what it runs here, perhaps with a title behind `:`.
    """
    changed = {name.replace("_", "-"): each.partition(": ") for name, each in others.items()}
    found = list[BindingType]()
    for name in (*names.split(), *changed):
        keys, title, runs, more = [*KEYS[name], ""][:4]
        other, _, called = changed.get(name, ("", "", ""))
        more = "" if called else more
        found.append(
            Binding(keys, other or runs, called or title, show=False, tooltip=more, id=name)
        )
    return found


def own_keys(file: Path) -> tuple[dict[str, str], str]:
    """Read the keys that a user gives actions, and say what of the file is left out, and why."""
    try:
        read = tomllib.loads(file.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):  # who may read only has no folder
        return {}, ""
    except (OSError, ValueError) as error:
        return {}, f"{file}: {error}"
    given, wrong = dict[str, str](), list[str]()
    for name, keys in read.items():
        if name not in KEYS:
            near = get_close_matches(name, KEYS, 1)
            wrong.append(f"no action {name!r}" + (f", perhaps {near[0]}" if near else ""))
        elif not isinstance(keys, str):
            wrong.append(f'{name} is no key, as "f2" or "ctrl+e,f2" is')
        else:
            given[name] = keys
    left = {name: row[0].split(",") for name, row in KEYS.items() if name not in given}
    owners = {key: name for name, keys in left.items() for key in keys}
    for name, keys in [*given.items()]:
        for key in keys.split(","):
            if (owner := owners.setdefault(key, name)) != name:
                wrong.append(f"{key} is for {owner}, so {name} keeps {KEYS[name][0]}")
                given.pop(name, None)
    return given, f"{file}: {'; '.join(wrong)}" if wrong else ""
