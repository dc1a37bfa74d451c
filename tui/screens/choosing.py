"""The choice of columns of the table of pairs, and views that are kept by name; both by a line."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from xmine.browsing.query import PairQuery
from xmine.errors import OptionError

from ..state import keep_setting, setting
from ..widgets.pair_cells import CHOICE, PairCells
from ..widgets.prompt import Question
from .base import BaseScreen


def chosen_columns() -> list[str]:
    """Give the columns that were chosen last; none where they follow the width of the window."""
    return [name for name in str(setting("columns")).split() if name in CHOICE]


def ask_columns(
    screen: BaseScreen, cells: PairCells, changed: Callable[[list[str]], object]
) -> Question:
    """Ask which columns to show, beside both texts."""

    def take(line: str) -> None:
        names = line.replace(",", " ").split()
        with screen.complaining():
            if wrong := [name for name in names if name not in CHOICE]:
                raise OptionError(f"{wrong[0]!r} is no column", f"choose from {', '.join(CHOICE)}")
            keep_setting("columns", " ".join(names))
            changed(names)

    def ways(line: str) -> list[str]:
        before, space, word = line.rpartition(" ")
        return [f"{before}{space}{name} " for name in CHOICE if word and name.startswith(word)]

    shown = " ".join(name for name in cells.names if name in CHOICE)
    text = "columns (none: as there is room; tab):"
    return Question(text=text, answered=take, given=shown, ways=ways)


def ask_view(screen: BaseScreen, query: PairQuery) -> Question:
    """Ask for a view: one that is kept is shown, a new name keeps the present one, -NAME drops."""
    kept = setting("views")
    views: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {}

    def take(name: str) -> None:
        name = name.strip()
        with screen.complaining():
            if name in views:
                found = dict(views[name])
                screen.look_for(PairQuery(**{**found, "flags": tuple(found["flags"])}))
            elif name.startswith("-") and name[1:] in views:
                keep_setting("views", {each: views[each] for each in views if each != name[1:]})
                screen.say(f"{name[1:]} is dropped")
            elif name:
                keep_setting("views", views | {name: asdict(query)})
                screen.say(f"kept: {name} is this filter and order from now on")

    text = f"view ({', '.join(views) or 'none kept yet'}):"
    return Question(text=text, answered=take, ways=lambda line: [v for v in views if line in v])
