"""Published tables, each with what has to be the same for its figures to stand beside ours."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parent / "published.toml"
_NOT_GIVEN = -1  # TOML has no null


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """Figures as they were printed."""

    source: str  # paper and table
    benchmark: str  # whose results they stand beside
    # (row, metric) of such a result; of a row alternatives, the right one first and then what is
    # nearest to it, with `|` between and `*` for any text
    columns: Sequence[tuple[str, str]]
    # name -> its figures, as printed; None where the table has none
    systems: Mapping[str, Sequence[float | None]]
    settings: Mapping[str, object]  # the choices of our benchmark that they were measured with
    differs: str  # why they can never stand beside ours; empty if they may where the settings agree

    def obstacle(self, settings: Mapping[str, object]) -> str:
        """Tell what keeps them from standing beside figures measured with these settings."""
        unlike = [
            f"{name.replace('_', ' ')} {wanted}, here {settings.get(name)}"
            for name, wanted in self.settings.items()
            if settings.get(name) != wanted
        ]
        return "; ".join(filter(None, [self.differs, *unlike]))


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """Read the tables that come with xmine."""
    found = tomllib.loads(_FILE.read_text(encoding="utf-8"))["table"]
    return tuple(
        PublishedTable(
            table["source"],
            table["benchmark"],
            list(zip(table["rows"], table["metrics"], strict=True)),
            {
                system: [None if value == _NOT_GIVEN else value for value in values]
                for system, values in table["systems"].items()
            },
            table.get("settings", {}),
            table.get("differs", ""),
        )
        for table in found
    )
