"""The first bytes of a file, and its suffix -> what it holds where that is no plain text.

The table is `kinds.toml`.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

# Bytes that are looked at: members of an archive stand further behind than other marks.
LOOKED_AT = 1 << 16
NO_TEXT = "give a text file"  # the hint where nothing else helps


class Kind(NamedTuple):
    """What a file holds: how it begins, its name, what to do, and what reads it, if anything."""

    begins: re.Pattern[bytes]
    name: str
    hint: str
    kind: str = ""


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))


@cache
def _kinds() -> list[Kind]:
    plain = {"hint": NO_TEXT}
    every: list[dict[str, str]] = [plain | each for each in _table()["files"]]
    return [Kind(re.compile(each.pop("begins").encode(), re.DOTALL), **each) for each in every]


def kind_of_bytes(start: bytes, suffix: str) -> Kind | None:
    """Tell a file that is no plain text by its first bytes, LOOKED_AT of them, and its suffix."""
    known = start[:LOOKED_AT] + suffix.encode(errors="replace")
    return next((each for each in _kinds() if each.begins.match(known)), None)


@cache
def suffixes(which: str) -> frozenset[str]:
    """List the suffixes of `marked` text, with keys and tags, or of `programs`."""
    return frozenset(f".{each}" for each in _table()[which].split())
