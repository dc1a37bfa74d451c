"""The end of a file's name, and its first bytes -> what the file holds, and how it is packed.

The tables are in `kinds.toml`.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from xmine.extras import plugin, plugin_names

PACKINGS = (".gz", ".xz", ".zst")
PAIR_SUFFIXES = ".tsv, .jsonl, .parquet, .tmx, .po"  # as help and hints list them
WRITTEN_SUFFIXES = f"{PAIR_SUFFIXES}, .csv, .xlsx, .docx"
PICTURE_SUFFIXES = ".png, .svg or .pdf"
PACKED = ".gz, .xz or .zst"
NO_TEXT = "give a text file"  # the hint where nothing else helps
# First bytes that are looked at: members of an archive stand further behind than other marks.
LOOKED_AT = 1 << 16
TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("kinds.toml").read_text("utf-8"))
_KINDS: dict[str, str] = {
    f".{each}": kind for kind, some in TABLES["suffixes"].items() for each in some.split()
}
# Kinds of files, or what is in a file of one, without texts to mine -> their name, what to do.
NO_SENTENCES: dict[str, tuple[str, str]] = TABLES["no_sentences"]
PROGRAMS, MARKED = ({f".{each}" for each in some.split()} for some in TABLES["plain"].values())


BEGINS = {
    f".{suffix}": re.compile(rf"(\xef\xbb\xbf)?\s*{begins}".encode("latin-1"))
    for suffix, begins in TABLES["begins"].items()
}


def packing_of(path: str) -> str:
    """Tell the suffix of an archive, or nothing."""
    suffix = Path(path).suffix.lower()
    return suffix if suffix in PACKINGS else ""


def suffix_of(path: str) -> str:
    """Tell the suffix under that of an archive, in small letters."""
    return own_suffix(path).lower()


def own_suffix(path: str) -> str:
    """Tell the suffix under that of an archive, as it stands."""
    return Path(path[: len(path) - len(packing_of(path))]).suffix


@cache
def _contents() -> list[tuple[re.Pattern[bytes], dict[str, str]]]:
    return [(re.compile(each["begins"].encode(), re.DOTALL), each) for each in TABLES["files"]]


def content_of(start: bytes, path: str) -> dict[str, str]:
    """Tell a file that is no plain text by its first bytes, LOOKED_AT of them, and its suffix.

    Returns:
        its `name`, a `hint` what to do, and the `kind` that a reader takes; nothing of a text.
    """
    known = start[:LOOKED_AT] + suffix_of(path).encode(errors="replace")
    return next((each for begins, each in _contents() if begins.match(known)), {})


def kind_of(path: str) -> str:
    """Tell the kind of a file, such as `tsv` or `parquet`; nothing for an unknown suffix."""
    suffix = suffix_of(path)
    if suffix in _KINDS or len(suffix) < 4:  # .en is a language
        return _KINDS.get(suffix, "")
    return suffix[1:] if suffix[1:] in plugin_names("formats") else ""


def plugged(kind: str) -> Any:  # noqa: ANN401 - whatever the package gives
    """Load the format of another package; None for a kind of ours."""
    return None if not kind or kind in _KINDS.values() else plugin("formats", kind)
