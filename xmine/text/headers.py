"""The first row of a table -> whether it names the columns, as `English, German` does.

The words are in `headers.toml`.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from xmine.text.languages import LANGUAGES, is_language, short_code

_LONGEST = 30  # characters of the name of a column


def names_columns(cells: Sequence[str]) -> bool:
    """Tell a row of names from one of texts: most cells are names, and not all of one thing.

    `German, Deutsch` is a pair: both name one language. A single cell is no language, but `text`.
    """
    held = [cell.strip("\ufeff \"'").lower() for cell in cells if cell.strip()]
    meant = [meaning for cell in held if (meaning := _meaning(cell))]
    if len(held) == 1:
        return meant in (["text"], ["sentence"], ["source"], ["target"])
    short = all(len(cell) <= _LONGEST and not re.search(r"[.!?。！？]$", cell) for cell in held)
    return short and len(set(meant)) > 1 and 2 * len(meant) > len(held)


def _meaning(cell: str) -> str:
    """Tell the language that the name of a column says, or what it holds; nothing of a text."""
    if is_language(cell) and short_code(cell) in LANGUAGES:
        return short_code(cell)
    words = re.findall(r"[^\W\d_]+", cell)
    known = [_words().get(word, "") for word in words]
    codes = [short_code(word) for word in words if short_code(word) in LANGUAGES]
    if not any(known) or len(words) > len([*filter(None, known)]) + len(codes):
        return ""
    number = re.sub(r"\D", "", cell)
    return next(iter([each for each in known if each in LANGUAGES] + codes), known[0] + number)


@cache
def _words() -> dict[str, str]:
    """Read the words, and what each means: the code of a language, or the name of a role."""
    text = Path(__file__).with_name("headers.toml").read_text(encoding="utf-8")
    found = {name.lower(): code for code, name in LANGUAGES.items()}
    for table in tomllib.loads(text).values():
        found |= {word: meaning for meaning, words in table.items() for word in words.split()}
    return found
