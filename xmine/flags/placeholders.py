"""Two texts of an interface -> the placeholders and tags that only one of them has.

Read are conversions of printf, Python and Qt (`%s`, `%1$s`, `%(name)s`, `%1`), braces (`{name}`,
`{}`, `{{x}}`, `${x}`), `$x`, `:name`, and tags; of ICU messages, which have a branch for each form
(`{n, plural, one{...} other{...}}`), nothing but what they depend on. Width, precision and format
do not count, nor attributes of tags but `id`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import count

from xmine.text.folding import TAG

# What is on the source side only, and on the target side only, as it is written.
Differing = tuple[list[str], list[str]]

_ANY = re.compile(r"[%{$<]|(?<![\w:.]):[a-z]")
_LONGEST = 5000  # characters; no text of an interface is longer
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
_MESSAGE = re.compile(r"\{\s*(\w+)\s*,\s*(plural|selectordinal|select)\s*,[^{}]*\{")


def may_have(text: str) -> bool:
    """Tell whether a text may have a placeholder."""
    return _ANY.search(text) is not None


def differing(source: str, target: str) -> Differing | None:
    """Give the placeholders that the other side lacks; None where both sides have the same ones."""
    if max(len(source), len(target)) > _LONGEST:
        return None
    closed = {*_CLOSING.findall(source + target)}
    first, second = list(_read(source, closed)), list(_read(target, closed))
    if any(_MESSAGE.search(text) for text in (source, target)):
        first, second = (list(map(_named, _MESSAGE.finditer(text))) for text in (source, target))
    found = _beyond(first, second), _beyond(second, first)
    return found if any(found) else None


def _named(message: re.Match[str]) -> tuple[str, str]:
    return (f"{{{message[1]}, {message[2]}}}",) * 2


def _beyond(some: list[tuple[str, str]], others: list[tuple[str, str]]) -> list[str]:
    more, written = Counter(key for key, _ in some), dict(some)
    more -= Counter(key for key, _ in others)
    return [written[key] for key in more.elements()]


def _read(text: str, closed: set[str]) -> Iterator[tuple[str, str]]:
    """Give each placeholder of a text twice: as it is compared, and as it is written."""
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
