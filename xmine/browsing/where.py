"""A filter -> an expression of polars: a condition of SQL, or a text that is looked for.

Only columns, numbers, texts and the words below get through to SQL: polars would read any file that
a subquery names.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

from xmine.errors import OptionError
from xmine.flags.names import FLAGS
from xmine.pairs.changes import KINDS
from xmine.pairs.judgements import WORDS
from xmine.run.tables import OUTCOMES

if TYPE_CHECKING:
    import polars as pl

# Columns of which a pair may have several values, with the value of a pair that has none: `=` asks
# whether it has one, so that flag = 'copy' is no near-copy.
MANY = {"flag": "none", "verdict": "unjudged", "judge": "nobody"}
VERDICTS = (*WORDS, "judged", "unjudged", "repaired", "conflict")
# The values of columns that have no others.
_KNOWN = {"verdict": VERDICTS, "change": KINDS, "outcome": OUTCOMES}
_TEXTS = "source", "target", "flags", "reason", "since"
# As files of pairs name them, with their types in polars; `kept` is whether the cut keeps a pair,
# `since` when it came to the run.
COLUMNS = {
    "kept": "Boolean",
    **dict.fromkeys(("score", "prob", "cosine", "margin"), "Float64"),
    **dict.fromkeys(MANY, "List"),
    **dict.fromkeys((*_TEXTS, "change", "outcome"), "String"),
    **dict.fromkeys(("source_line", "target_line", "source_offset", "target_offset"), "Int64"),
}
HINT = "kept, prob < .9 AND flag = 'number', a text, /regex/ or :974"
_HINT = (
    f"columns: {', '.join(COLUMNS)}; for example prob < .9 AND flag = 'number'; /…/ finds a text"
)
_WORDS = {"and", "between", "false", "ilike", "in", "is", "like", "not", "null", "or", "true"}
_FUNCTIONS = {"abs", "coalesce", "ends_with", "length", "lower", "regexp_like", "starts_with"}
_FUNCTIONS |= {"array_contains", "max", "min", "round", "upper"}
_LONGEST = (
    2000  # characters: polars nests as deep as a condition, and 20,000 times +1 end the process
)
# A text has no backslash before a quote: some dialects take the quote for a part of the text.
_TEXT = r"'(?:[^'\\]|''|\\(?!'))*'"
_TOKEN = re.compile(
    rf"""\s+ | {_TEXT} | (?P<word>[^\W\d]\w*)
    | (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)? | <> | [<>!]?=
    | [-+*/%<>(),](?<!--)(?<!/\*)""",
    re.VERBOSE,
)
_VALUE = rf'(?:{_TEXT}|"[^"]*"|[\w-]+)'
_VALUES = rf"{_VALUE}|\(\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\)"
# What people type for SQL: prob < 0,9 and Prob < .9, flag = number, verdict is null.
_SLIP = re.compile(
    rf"""{_TEXT} | (?P<before>[<>=]\s*-?\d*),(?P<after>\d)
    | \b(?P<name>flags|{"|".join({**MANY, **_KNOWN})})\s*
      (?: (?P<sign>=|!=|<>|\b(?:not\s+)?in\b(?=\s*\())\s*(?P<values>{_VALUES})
        | (?P<null>\bis\s+(?:not\s+)?null\b) )
    | (?P<word>[^\W\d]\w*)""",
    re.VERBOSE | re.IGNORECASE,
)
_COMPARED = re.compile(
    r"([^\W\d]\w*)\s*(?:[<>=]|!=|:(?=\S)|(?:not\s+)?(?:i?like\s*['\"]|in\s*\(|between\s+[\d.-])"
    r"|is\s+(?:not\s+)?null\b)",
    re.IGNORECASE,
)
_CALLED = re.compile(
    rf"\b(?:{'|'.join(sorted(_FUNCTIONS))})\s*\(|^[^\W\d]\w*\s*[<>=]=?\s*[\d.,]+$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Filter:
    """What a pair must be.

    Attributes:
        expression: true of it.
        pattern: the regular expression that is looked for; empty for a condition or a line.
        is_text: whether a text, a regular expression or a line is looked for.
        flags: that the condition names.
    """

    expression: "pl.Expr"
    pattern: str = ""
    is_text: bool = False
    flags: frozenset[str] = frozenset()


def read_filter(line: str) -> Filter:
    """Read a filter: /a regular expression/, :974 for a line, a condition, or else a text.

    Raises:
        OptionError: it looks like a condition, and is none.
    """
    import polars as pl

    line = line.strip()
    if re.fullmatch(r":[0-9]{1,18}", line):
        number = int(line[1:])
        ours, theirs = (
            pl.lit(number).is_between(f"{name}_line", f"{name}_last")
            for name in ("source", "target")
        )
        return Filter(ours | theirs, is_text=True)
    regex = re.fullmatch(r"/(.+)/", line, re.DOTALL)
    if regex is None:
        try:
            return condition(line) if line else Filter(pl.lit(value=True))
        except OptionError:
            if len(line) > _LONGEST or _is_meant(line):
                raise
    pattern = regex[1] if regex else pl.escape_regex(line)
    holds = (pl.col(name).str.contains(f"(?i){pattern}") for name in ("source", "target"))
    return Filter(pl.any_horizontal(*holds), pattern, is_text=True)


def _is_meant(line: str) -> bool:
    """Tell whether a line calls a function, or compares what is nearly a column, or a number."""
    compared = (found[1].lower() for found in _COMPARED.finditer(line))
    near = any(get_close_matches(word, COLUMNS, 1, 0.75) for word in compared)
    return near or _CALLED.search(line) is not None


def suggestion(text: str) -> str:
    """Say which condition somebody may mean who looks for a text and finds none; or nothing."""
    word = text.strip().casefold()
    named = {"below": "NOT kept", "kept": "kept"}
    named |= {name: f"flag = '{name}'" for name in (*FLAGS, MANY["flag"])}
    named |= {name: f"verdict = '{name}'" for name in VERDICTS}
    named |= {name: f"change = '{name}'" for name in KINDS}
    meant = named.get(word.rpartition(":")[2], f":{word}" if word.isdigit() else "")
    return f"; {meant} asks for such pairs" if meant else ""


def condition(where: str) -> Filter:
    """Read a condition."""
    import polars as pl

    flags: set[str] = set()
    sql = _SLIP.sub(partial(_mended, flags), where)
    if len(sql) > _LONGEST:
        raise OptionError(f"a filter of {len(sql):,} characters, at most {_LONGEST:,}", _HINT)
    at = 0
    while at < len(sql):
        token = _TOKEN.match(sql, at)
        if token is None:
            raise wrong(where, f"{sql[at]!r} is not allowed")
        word = token["word"]
        if word and word not in COLUMNS and word.lower() not in _WORDS | _FUNCTIONS:
            raise wrong(where, f"{word!r} is no column")
        at = token.end()
    types = {name: getattr(pl, kind) for name, kind in COLUMNS.items()}
    nothing = pl.DataFrame(schema=types | dict.fromkeys(MANY, pl.List(pl.String)))
    try:
        found = pl.sql_expr(sql)
        # polars takes a word that stands alone for a column, and a column for a condition
        told = nothing.select(found.alias("told")) if found.meta.root_names() else nothing
        nothing.filter(found)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise wrong(where, error) from None
    if told.dtypes != [pl.Boolean]:
        raise wrong(where, "it says nothing of a pair that is true or false")
    return Filter(found, flags=frozenset(flags))


def _mended(flags: set[str], found: re.Match[str]) -> str:
    """Write in SQL what is nearly SQL; note the `flags` that are named."""
    if found["before"]:
        return f"{found['before']}.{found['after']}"
    if word := found["word"]:
        word = word.lower() if word.lower() in COLUMNS else word
        if word in ("verdict", "judge"):
            raise OptionError(f"{word} is compared with =", "verdict = 'accept', judge = 'anna'")
        return "flags" if word == "flag" else word  # compared otherwise: as one text
    if not found["name"]:
        return found[0]
    name = found["name"].lower()
    name = "flag" if name == "flags" else name
    none = MANY.get(name, "")
    if found["null"] and not none:
        return found[0]
    said = [
        each[1:-1].replace("''", "'") if each[0] in "'\"" else each
        for each in re.findall(_VALUE, found["values"] or "") or [none]
    ]
    for value in said:
        known = _KNOWN.get(name, (value,))
        if value not in known:
            raise OptionError(f"{value!r} is no {name}", f"one of {', '.join(known)}")
    if name == "flag":
        flags.update(said)
    texts = ["'{}'".format((value or none).replace("'", "''")) for value in said]
    tests = [f"array_contains({name}, {text})" if none else f"{name} = {text}" for text in texts]
    sign = (found["sign"] or found["null"]).lower()
    turned = sign in ("!=", "<>") or "not" in sign.split()
    return f"{'NOT ' * turned}({' OR '.join(tests)})"


def wrong(where: str, why: str | BaseException) -> OptionError:
    """Say why a filter cannot be used."""
    said = why
    if isinstance(why, BaseException):  # of a wrong pattern the cause alone, in one line
        said = str(why).partition("\n\nThis error")[0].rpartition("\nerror: ")[2]
    return OptionError(f"the filter {where!r}: {' '.join(str(said).split())}", _HINT)
