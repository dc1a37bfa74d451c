"""A condition of SQL on the columns of pairs -> an expression of polars.

Only columns, numbers, texts and the words below get through: polars would read any file that a
subquery names.
"""

import re
from typing import TYPE_CHECKING

from xmine.errors import OptionError

if TYPE_CHECKING:
    import polars as pl

# As files of pairs name them; `kept` is whether the cut keeps a pair.
COLUMNS = (
    "source",
    "target",
    "score",
    "prob",
    "cosine",
    "margin",
    "flags",
    "source_line",
    "target_line",
    "source_offset",
    "target_offset",
    "kept",
    "verdict",
    "change",
)
HINT = f"columns: {', '.join(COLUMNS)}; for example score < 1.3 AND flags LIKE '%number%'"
_WORDS = {"and", "between", "false", "ilike", "in", "is", "like", "not", "null", "or", "true"}
_FUNCTIONS = {"abs", "coalesce", "ends_with", "length", "lower", "regexp_like", "starts_with"}
_FUNCTIONS |= {"round", "upper"}
_LONGEST = (
    2000  # characters: polars nests as deep as a condition, and 20,000 times +1 end the process
)
# A text has no backslash before a quote: some dialects take the quote for a part of the text.
_TOKEN = re.compile(
    r"""\s+ | '(?:[^'\\] | '' | \\(?!'))*' | (?P<word>[^\W\d]\w*)
    | (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)? | <> | [<>!]?=
    | [-+*/%<>(),](?<!--)(?<!/\*)""",
    re.VERBOSE,
)


def condition(where: str) -> "pl.Expr":
    """Read a condition."""
    import polars as pl

    if len(where) > _LONGEST:
        raise OptionError(f"--where has {len(where):,} characters, at most {_LONGEST:,}", HINT)
    at = 0
    while at < len(where):
        token = _TOKEN.match(where, at)
        if token is None:
            raise wrong(where, f"{where[at]!r} at {at + 1} is not allowed")
        word = token["word"]
        if word and word not in COLUMNS and word.lower() not in _WORDS | _FUNCTIONS:
            raise wrong(where, f"{word!r} is no column")
        at = token.end()
    try:
        found = pl.sql_expr(where)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise wrong(where, error) from None
    for name in found.meta.root_names():
        if name not in COLUMNS:  # polars takes a word that stands alone for a column
            raise wrong(where, f"{name!r} is no column")
    return found


def wrong(where: str, why: str | BaseException) -> OptionError:
    """Say why a condition cannot be used."""
    said = why if isinstance(why, str) else reason(why)
    return OptionError(f"--where {where!r}: {said}", HINT)


def reason(error: BaseException) -> str:
    """Give what an error of polars says, in one line: of a wrong pattern the cause alone."""
    said = str(error).partition("\n\nThis error")[0].rpartition("\nerror: ")[2]
    return " ".join(said.split())
