"""Two texts of an interface -> the placeholders and tags that only one of them has.

Read are conversions of printf, Python and Qt (`%s`, `%1$s`, `%(name)s`, `%1`), braces (`{name}`,
`{}`, `{{x}}`, `${x}`), `$x`, `:name`, tags, and ICU messages (`{n, plural, one{...} other{...}}`)
branch by branch. Width, precision and format do not count, nor attributes of tags but `id`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from xmine.text.folding import TAG

# What is on the source side only, and on the target side only, as it is written.
Differing = tuple[list[str], list[str]]

_ANY = re.compile(r"[%{$<]|(?<![\w:.]):[a-z]")
_LONGEST = 5000  # characters; no text of an interface is longer
_DEEPEST = 3  # messages in messages
# Dates of strftime, which each language writes in its own way.
_DATE = re.compile(r"%-?(?:[YyHIM]\W{1,2}%-?[BbdmyMS]|[BbdmHM]\W{1,2}%-?[YyMS])")
_PRINTF = re.compile(
    r"(?:%[0-9A-Fa-f]{2}){2,}|%%"  # letters of an address; a percent sign
    r"|(?<!\d)%(?:\((?P<name>\w+)\)|(?P<at>\d+)\$)?[+#0']*(?:-?\d+|\*)?(?:\.(?:\d+|\*))?"
    r"(?:hh?|ll?|[Lzjt])?(?P<type>[sdf]|[iouxXeEFgGcr](?![A-Za-z]))|(?<![\w/])%(?P<alone>L?\d{1,2}|[mn])(?!\w)"
)
_SAME_TYPES = str.maketrans("iEFGX", "defgx")
_BRACES = re.compile(
    r"([$#%]?\{+)\s*((?:\w[\w.\[\]-]*)?)\s*(?:(?:[!:,]|\|(?=[^{}]*\}\}))[^{}]*)?\}"
)
_NAMES = re.compile(r"(?<![\w$\\])\$[A-Za-z_]\w*\$?|(?<![\w:.]):[a-z][a-z_]+(?![\w:])", re.ASCII)
_NAMED_TAG = re.compile(r"<(/?)([A-Za-z0-9][\w:.-]*)((?:\s[^<>]*?)?)(/?)>")
_CLOSING = re.compile(r"</([\w:.-]+)\s*>")
_ID = re.compile(r"""\bid\s*=\s*["']?([\w:.-]+)""")
_MESSAGE = re.compile(r"\{\s*(\w+)\s*,\s*(plural|selectordinal|select)\s*,(?:\s*offset:\d+)?")
_BRANCH = re.compile(r"\s*([\w=]+)\s*\{")
_BRACE = re.compile("[{}]")
_END = re.compile(r"\s*\}")
_FEW = "zero", "one", "two", "="  # languages put words for so few


def may_have(text: str) -> bool:
    """Tell whether a text may have a placeholder."""
    return _ANY.search(text) is not None


class _Message(NamedTuple):
    """A message of ICU: its argument, what chooses a branch, and the branches by name."""

    name: str
    kind: str
    branches: dict[str, str]


def differing(source: str, target: str) -> Differing | None:
    """Give the placeholders that the other side lacks; None where both sides have the same ones."""
    if max(len(source), len(target)) > _LONGEST:
        return None
    found = _compared((source, target), {*_CLOSING.findall(source + target)}, _DEEPEST)
    return found if any(found) else None


def _compared(texts: tuple[str, str], closed: set[str], deepest: int) -> Differing:
    (ours, mine), (theirs, yours) = (_messages(text, deepest) for text in texts)
    first, second = list(_read(ours, mine, closed)), list(_read(theirs, yours, closed))
    found = _beyond(first, second), _beyond(second, first)
    if any(found):
        return found
    messages = [sorted(each, key=lambda message: message[:2]) for each in (mine, yours)]
    for pair in zip(*messages, strict=True):
        for here, there, way in ((*pair, True), (*pair[::-1], False)):
            for text, others, own in _counterparts(here, there):
                both = [(text, each) if way else (each, text) for each in others]
                told = [_compared(each, closed, deepest - 1) for each in both]
                if all({*first, *second} - own for first, second in told):
                    return told[0]
    return [], []


def _counterparts(here: _Message, there: _Message) -> Iterator[tuple[str, list[str], set[str]]]:
    """Give each branch, the branches one of which has to agree, and what either may leave out."""
    for branch in sorted(here.branches, key=lambda name: name.startswith(_FEW)):
        if here.kind != "select" and branch.startswith(_FEW):
            yield here.branches[branch], [*there.branches.values()], {f"{{{here.name}}}"}
        else:
            same = branch if branch in there.branches else [*there.branches][-1]
            yield here.branches[branch], [there.branches[same]], set()


def _beyond(some: list[tuple[str, str]], others: list[tuple[str, str]]) -> list[str]:
    more, written = Counter(key for key, _ in some), dict(some)
    more -= Counter(key for key, _ in others)
    return [written[key] for key in more.elements()]


def _messages(text: str, deepest: int) -> tuple[str, list[_Message]]:
    """Take messages out of a text: give what is left, and these."""
    rest, found, at = "", list[_Message](), 0
    for head in _MESSAGE.finditer(text) if deepest else ():
        if head.start() < at:
            continue  # in a branch of the last one
        branches, stop = dict[str, str](), head.end()
        while begin := _BRANCH.match(text, stop):
            stop = _closed(text, begin.end())
            own = text[begin.end() : stop - 1]
            branches[begin[1]] = own if head[2] == "select" else own.replace("#", f"{{{head[1]}}}")
        if branches and (end := _END.match(text, stop)):
            rest, at = rest + text[at : head.start()], end.end()
            found.append(_Message(head[1], head[2], branches))
    return rest + text[at:], found


def _closed(text: str, at: int) -> int:
    """Find the end of a branch that begins at a place; the end of the text if it is open."""
    depth = 1
    for brace in _BRACE.finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(text)


def _read(text: str, messages: list[_Message], closed: set[str]) -> Iterator[tuple[str, str]]:
    """Give each placeholder of a text twice: as it is compared, and as it is written."""
    for message in messages:
        yield (f"{{{message.name}, {message.kind}}}",) * 2
    place, number = count(1), count()
    for each in _PRINTF.finditer(text) if not _DATE.search(text) else ():
        if each["alone"]:
            yield "%" + each["alone"].lstrip("L"), each[0]
        elif each["type"]:
            name = f"({each['name']})" if each["name"] else f"{each['at'] or next(place)}$"
            yield f"%{name}{each['type'].translate(_SAME_TYPES)}", each[0]
    for each in _BRACES.finditer(text):
        name = each[2] or str(next(number))
        yield f"{each[1]}{name}}}", f"{each[1]}{each[2]}}}"
    for each in _NAMES.finditer(text):
        yield each[0], each[0]
    for each in _NAMED_TAG.finditer(text):
        end, name, more, alone = each.groups()
        if alone or name.isdigit() or name in closed or TAG.match(text, each.start()):
            yield f"<{end}{name.lower()} {''.join(_ID.findall(more))}>", each[0]
