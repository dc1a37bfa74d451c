"""A typed line -> the pairs to show, and what to look for among them.

`flag:number`, `is:below`, `in:source`, `text:bank`, `where:"…"`, `score<1.3` and, of a comparison,
`change:new` say which pairs are shown; a quotation mark within quotation marks is written twice.
All other words are looked for: a text, `/a regular expression/`, or `:974` for a line.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from xmine.browsing.opened import Bools, Opened
from xmine.browsing.query import JUDGED, KEPT, SIDES, USUAL, PairQuery, found_in
from xmine.errors import OptionError
from xmine.flags.names import FLAGS
from xmine.pairs.changes import KINDS

HINT = "text, /regex/, :974, flag:number, is:below, score<1.3"
_COMPARED = r"(?P<column>score|prob|cosine|margin) ?(?P<sign><=|>=|<|>|=) ?(?P<number>[^\s<>=]+)"
_CHANGE = re.compile(r"change = '(\w+)'")
_TERM = re.compile(
    r"(?<!\S)(?:(?P<name>flag|is|in|by|text|where|change):"
    r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>\S*))'
    rf"|{_COMPARED.replace(' ?', '')})(?!\S)"
)
_CLAUSE = re.compile(_COMPARED)
_REGEX = re.compile(r"/(.+)/", re.DOTALL)
_OR = re.compile(r"\bor\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sought:
    """What to look for: a text, a regular expression, or a line of either file.

    Attributes:
        text: as it was typed; empty for nothing.
    """

    text: str = ""

    @property
    def pattern(self) -> str:
        """Give the regular expression to mark; empty for a line."""
        if found := _REGEX.fullmatch(self.text):
            return found[1]
        return "" if self._line else re.escape(self.text)

    @property
    def _line(self) -> int:
        return int(self.text[1:]) if re.fullmatch(r":[0-9]{1,18}", self.text) else 0

    def hits(self, opened: Opened) -> Bools:
        """Mark the pairs that have it, bool [pairs]."""
        if line := self._line:
            ours, theirs = (each.at(line) for each in (opened.source, opened.target))
            return ours[opened.sources] | theirs[opened.targets]
        text, regex = without_slashes(self.text)
        return np.asarray(found_in(opened, PairQuery(text=text, regex=regex)))


def read_line(line: str, before: PairQuery) -> tuple[PairQuery, Sought]:
    """Read a line; the pairs keep the order of `before`."""
    query = replace(USUAL, order=before.order, descending=before.descending)
    for term in _TERM.finditer(line):
        query = _with(query, term)
    words = (each.strip() for each in _TERM.sub("\0", line).split("\0"))
    return query, Sought(" ".join(filter(None, words)))


def ways_on(line: str) -> list[str]:
    """List the lines that tab makes of a line: its last word goes on to a flag, or to a verdict."""
    before, space, word = line.rpartition(" ")
    named = {"flag": (*FLAGS, "none"), "is": (*KEPT, *JUDGED[1:]), "in": SIDES, "change": KINDS}
    words = [f"{name}:{value}" for name, values in named.items() for value in values]
    return [f"{before}{space}{each}" for each in words if word and each.startswith(word)]


def _with(query: PairQuery, term: re.Match[str]) -> PairQuery:
    if column := term["column"]:
        return _compared(query, column, term["sign"], term["number"])
    name, value = term["name"], (term["quoted"] or "").replace('""', '"') or term["plain"] or ""
    if name == "flag":
        return replace(query, flags=(*query.flags, *filter(None, value.split(","))))
    if name == "is" and value in JUDGED:
        return replace(query, verdict=value)
    if name == "is":
        if value not in KEPT:
            raise OptionError(f"is:{value}", f"choose from {', '.join((*KEPT, *JUDGED[1:]))}")
        return replace(query, kept=value)
    if name in ("in", "by"):
        return replace(query, side=value) if name == "in" else replace(query, by=value)
    if name == "change":
        if value not in KINDS:
            raise OptionError(f"change:{value}", f"choose from {', '.join(KINDS)}")
        return with_where(query, f"change = '{value}'")
    if name == "where":
        return with_where(query, value)
    text, regex = without_slashes(value)
    return replace(query, text=text, regex=regex)


def _is_number(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


def _compared(query: PairQuery, column: str, sign: str, number: str) -> PairQuery:
    if not _is_number(number):
        raise OptionError(f"{number!r} is no number", f"write {column}{sign}1.2")
    return with_where(query, f"{column} {sign} {number}")


def with_where(query: PairQuery, clause: str) -> PairQuery:
    """Ask for a condition besides."""
    if not (query.where and clause):
        return replace(query, where=query.where or clause)
    both = (f"({each})" if _OR.search(each) else each for each in (query.where, clause))
    return replace(query, where=" AND ".join(both))


def without_slashes(text: str) -> tuple[str, bool]:
    """Give a text to look for, and whether it is a regular expression, which stands in slashes."""
    found = _REGEX.fullmatch(text)
    return (found[1], True) if found else (text, False)


def _quoted(name: str, value: str) -> str:
    return '{}:"{}"'.format(name, value.replace('"', '""'))


def line_of(query: PairQuery) -> str:
    """Write the line that asks for the pairs of a query; empty for the usual ones."""
    said = [f"is:{each}" for each in (query.kept, query.verdict) if each not in ("kept", "any")]
    said += [f"flag:{','.join(query.flags)}"] if query.flags else []
    said += [f"in:{query.side}"] if query.side != "either" else []
    said += [_quoted("by", query.by) if " " in query.by else f"by:{query.by}"] if query.by else []
    if query.text:
        looks_so = _REGEX.fullmatch(query.text) is not None
        pattern = query.text if query.regex else re.escape(query.text)
        said.append(_quoted("text", f"/{pattern}/" if query.regex or looks_so else query.text))
    terms = [_term_of(each) for each in query.where.split(" AND ")] if query.where else []
    return " ".join([*said, *(terms if all(terms) else [_quoted("where", query.where)])])


def _term_of(clause: str) -> str:
    """Write a clause of a condition as a term of its own; empty where that cannot be."""
    if found := _CHANGE.fullmatch(clause):
        return f"change:{found[1]}"
    found = _CLAUSE.fullmatch(clause)
    if not found or not _is_number(found["number"]):
        return ""
    return found["column"] + found["sign"] + found["number"]
