"""Catalogues of an app or a site, a language a file: texts by their keys.

strings.xml of Android, .strings and .stringsdict of Apple, .arb of Flutter, .properties of Java,
.resx of .NET, .ftl of Fluent, .json and .yml of i18n libraries. translate-toolkit 3.20 reads them
worse: it swallows entries of .strings, halves characters of .properties, gives pictures of .resx
as texts, and refuses a .yml with a date.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any
from xml.etree.ElementTree import Element

from xmine.errors import FileError
from xmine.files.reading import in_command, limited, name_of, read_blocks
from xmine.files.records import json_text, parsed_json
from xmine.files.suffixes import NO_SENTENCES, kind_of
from xmine.files.xml_text import root_of, tag_of, text_of
from xmine.text.formats.units import LeftOut, Passage, line_of, read_text, short

# No pattern repeats a pattern that could match the same characters in another way. A comment does
# not go on over another. Its group is not possessive, which Python before 3.11.5 gets wrong.
_SPACE = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*\n]++|\*(?!/)|\n(?![ \t]*+/\*))*\*/)+")
_QUOTED = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_ENTRY = re.compile(rf"(?:{_QUOTED}|([\w.-]++))\s*+=\s*+{_QUOTED}\s*+;", re.DOTALL)
# A comment, or a key and a text; behind a backslash a text goes on in the next line.
_PROPERTY = re.compile(
    r"\s*+(?:[#!][^\n]*+|((?:[^\\=:\s]++|\\.)*+)[ \t\f]*+[=:]?+[ \t\f]*+((?:[^\\\n]++|\\.)*+))",
    re.DOTALL,
)
# In YAML without quotes: nothing, a truth, a number or a date.
_NO_TEXT = re.compile(r"~?|null|true|false|[-+.\d][\d_.:+exa-f -]*", re.IGNORECASE)
_OF_EXTENSION = {"message", "description", "placeholders"}  # of a browser: a text, and facts
_ESCAPE = re.compile(r"\\(?:[uU]([0-9a-fA-F]{4})|(.))", re.DOTALL)
_MEND = "copy it again, or mend the line"


def _json(path: str) -> Iterator[Passage]:
    name, (what, hint) = name_of(path), NO_SENTENCES["json"]
    hint = hint.replace("FILE", in_command(path))
    root = parsed_json(read_text(path), name, hint, tuple)
    if not isinstance(root, tuple):
        raise FileError(f"{name}: {what}, not texts by their keys", hint)
    return _nested(root, name, "@" if kind_of(path) == "arb" else None)


def _nested(root: Any, name: str, fact: str | None = None) -> Iterator[Passage]:  # noqa: ANN401
    """Walk through lists and objects, a dictionary or its items; what an alias repeats comes once.

    Keys that begin with `fact` hold no text, but facts about one.
    """
    levels, seen = [("", _items(root))], set[int]()
    while levels:
        above, inner = levels[-1]
        for key, value in inner:
            if fact and str(key).startswith(fact) and not (fact == "@" and above):
                continue
            place = short(f"{above}{key}")
            facts = dict(value) if isinstance(value, tuple) else {}
            if "message" in facts and facts.keys() <= _OF_EXTENSION and len(facts) == len(value):
                value = facts["message"]
            if isinstance(value, str):
                yield Passage(json_text(value, place, f"{name}: {place}"), place)
            elif isinstance(value, (tuple, list, dict)) and id(value) not in seen:
                seen.add(id(value))
                levels.append((f"{place}.", _items(value)))
                break
        else:
            levels.pop()


def _items(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    items = value.items() if isinstance(value, dict) else value
    return iter(enumerate(value) if isinstance(value, list) else items)


def _yaml(path: str) -> Iterator[Passage]:
    import yaml

    class Loader(yaml.BaseLoader):  # type: ignore[misc]
        """Keeps keys that come twice, and all values as texts; that of C can be made to crash."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: ANN401
            return tuple((str(x.value), self.construct_object(y, True)) for x, y in node.value)

        def construct_scalar(self, node: Any) -> str | int:  # noqa: ANN401
            return 0 if node.style is None and _NO_TEXT.fullmatch(node.value) else node.value

    name = name_of(path)
    try:
        roots = [*yaml.load_all(read_text(path), Loader)]
    except yaml.YAMLError as error:
        mark, why = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = f":{mark.line + 1}" if mark else ""
        raise FileError(f"{name}{line}: not YAML: {why or error}", _MEND) from None
    yield from _nested(tuple(chain(*(x for x in roots if isinstance(x, tuple)))), name)


def _fluent(path: str) -> Iterator[Passage]:
    from fluent.syntax import FluentParser, ast

    name, text = name_of(path), read_text(path)
    for entry in FluentParser().parse(text).body:
        if isinstance(entry, ast.Junk):
            fault = entry.annotations[0]
            where = f"{name}:{line_of(text, fault.span.start)}"  # type: ignore[union-attr]
            raise FileError(f"{where}: not Fluent: {fault.message}", _MEND)
        for each in (entry, *getattr(entry, "attributes", ())):
            if pattern := getattr(each, "value", None):
                place = [part.id.name for part in dict.fromkeys((entry, each))]
                for more, variant in _variants(pattern.elements, text):
                    term = "-" * isinstance(entry, ast.Term)
                    yield Passage(variant, term + ".".join(place + more))


def _variants(elements: list[Any], text: str) -> Iterator[tuple[list[str], str]]:
    """Give the texts that choices inside, `{ $n -> ... }`, make; placeholders as they stand."""
    begun = ""
    for at, each in enumerate(elements):
        if choice := getattr(getattr(each, "expression", None), "variants", None):
            for one in choice:
                key = text[one.key.span.start : one.key.span.end]
                inside = [*one.value.elements, *elements[at + 1 :]]
                for more, shown in _variants(inside, text):
                    yield [key, *more], begun + shown
            return
        begun += each.value if hasattr(each, "value") else text[each.span.start : each.span.end]
    yield [], begun


def _properties(path: str) -> Iterator[Passage]:
    for found in _PROPERTY.finditer(read_text(path, may_be="latin-1") + "\n"):
        key, text = (re.sub(r"\\\n[ \t\f]*", "", each or "") for each in found.groups())
        yield Passage(_unescaped(text), _unescaped(key))


def _resx(path: str) -> Iterator[Passage | LeftOut]:
    for entry in root_of(path).iter("data"):
        key, value = entry.get("name", ""), entry.find("value")
        if {"type", "mimetype"} & {*entry.keys()} or key.startswith(">>"):
            yield LeftOut("entries that are no text")
        elif value is not None:
            yield Passage(text_of(value, set()), short(key))


def _android(path: str) -> Iterator[Passage | LeftOut]:
    root, name = root_of(path), name_of(path)
    if tag_of(root.tag) != "resources":
        what, hint = NO_SENTENCES["xml"]
        raise FileError(f"{name}: {what} of <{tag_of(root.tag)}>, not texts by their keys", hint)
    for entry in root:
        key, is_list = short(entry.get("name", "")), entry.tag in ("string-array", "plurals")
        texts = [_android_text(item) for item in (entry if is_list else [entry])]
        if entry.get("translatable") == "false":
            yield LeftOut("texts marked not translatable", sum(map(bool, texts)))
        elif is_list:
            for at, (item, text) in enumerate(zip(entry, texts, strict=True)):
                yield Passage(text, f"{key}.{item.get('quantity') or at}")
        elif "string" in (entry.tag, entry.get("type")):
            yield Passage(texts[0], key)
        elif texts[0]:
            yield LeftOut(f"resources <{tag_of(entry.tag)}>", len(entry) or 1)


def _android_text(entry: Element) -> str:
    text = re.sub(r"\s+", " ", text_of(entry, set())).strip()
    return _unescaped(re.sub(r'(?<!\\)"', "", text))


def _apple(path: str) -> Iterator[Passage | LeftOut]:
    data, name = limited(path, read_blocks(path)), name_of(path)
    is_xml = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    if is_xml or data.startswith(b"bplist"):  # as Xcode packs them into an app
        yield from _nested(_property_list(path, data, is_xml=is_xml), name, "NSStringFormat")
        return
    text, at = read_text(path), 0
    while at < len(text):
        found = _SPACE.match(text, at) or _ENTRY.match(text, at)
        if found is None:
            hint = 'an entry is "key" = "text"; a comment ends in */; and the file may be cut off'
            raise FileError(f"{name}:{line_of(text, at)}: not an entry of a .strings file", hint)
        at = found.end()
        if found.re is _ENTRY:
            yield Passage(_unescaped(found[3]), _unescaped(found[1] or found[2] or ""))


def _property_list(path: str, data: bytes, *, is_xml: bool) -> dict[str, Any]:
    import plistlib

    if is_xml:
        root_of(path)  # which tells the line of a fault
    try:
        root = plistlib.loads(data)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        why = f"a broken property list: {error}"
        raise FileError(f"{name_of(path)}: {why}", "copy it again") from None
    return root if isinstance(root, dict) else {}


def _unescaped(text: str) -> str:
    """Resolve escapes; a line break or a tab becomes a space, as everywhere in a unit."""

    def resolved(escape: re.Match[str]) -> str:
        if escape[1]:
            return chr(int(escape[1], 16))
        return " " if escape[2] in "nrtf" else escape[2]

    text = _ESCAPE.sub(resolved, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# Kind of file -> the module that it needs, or nothing, and its reader. The place is the key of a
# text, `menu.file.0` for one inside others.
READERS: dict[str, tuple[str, Callable[[str], Iterator[Passage | LeftOut]]]] = {
    "xml": ("", _android),
    "strings": ("", _apple),
    "arb": ("", _json),
    "json": ("", _json),
    "properties": ("", _properties),
    "resx": ("", _resx),
    "fluent": ("fluent", _fluent),
    "yaml": ("yaml", _yaml),
}
