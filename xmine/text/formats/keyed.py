"""Catalogues of an app or a site, a language a file: texts by their keys.

strings.xml of Android, .strings of Apple, .arb of Flutter, and .json of i18n libraries.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from xmine.errors import FileError
from xmine.files.reading import in_command, limited, name_of, read_blocks
from xmine.files.records import json_text, parsed_json
from xmine.files.suffixes import NO_SENTENCES, kind_of
from xmine.files.xml_text import root_of, tag_of, text_of
from xmine.text.formats.units import LeftOut, Passage, line_of, read_text, short

KINDS = ("xml", "strings", "arb", "json")
# No pattern repeats a pattern that could match the same characters in another way. A comment does
# not go on over the beginning of another: it has lost its end.
_SPACE = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*\n]++|\*(?!/)|\n(?![ \t]*+/\*))*+\*/)++")
_QUOTED = r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_ENTRY = re.compile(rf"(?:{_QUOTED}|([\w.-]++))\s*+=\s*+{_QUOTED}\s*+;", re.DOTALL)
_OF_EXTENSION = {"message", "description", "placeholders"}  # of a browser: a text, and facts
_ESCAPE = re.compile(r"\\(?:[uU]([0-9a-fA-F]{4})|(.))", re.DOTALL)


def read(path: str) -> Iterator[Passage | LeftOut]:
    """Read the texts; the place of one is its key, `menu.file.0` for a text inside others."""
    kind = kind_of(path)
    if kind == "xml":
        return _android(path)
    return _apple(path) if kind == "strings" else _json(path, is_arb=kind == "arb")


def _json(path: str, *, is_arb: bool) -> Iterator[Passage]:
    name, (what, hint) = name_of(path), NO_SENTENCES["json"]
    hint = hint.replace("FILE", in_command(path))
    root = parsed_json(read_text(path), name, hint, tuple)
    if not isinstance(root, tuple):
        raise FileError(f"{name}: {what}, not texts by their keys", hint)
    levels: list[tuple[str, Iterator[tuple[Any, Any]]]] = [("", iter(root))]
    while levels:
        above, inner = levels[-1]
        for key, value in inner:
            if is_arb and str(key).startswith("@") and not above:
                continue  # facts about a text
            place = short(f"{above}{key}")
            facts = dict(value) if isinstance(value, tuple) else {}
            if "message" in facts and facts.keys() <= _OF_EXTENSION and len(facts) == len(value):
                value = facts["message"]
            if isinstance(value, str):
                yield Passage(json_text(value, place, f"{name}: {place}"), place)
            elif isinstance(value, (tuple, list)):
                inside = enumerate(value) if isinstance(value, list) else value
                levels.append((f"{place}.", iter(inside)))
                break
        else:
            levels.pop()


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
    if data.startswith(b"bplist"):  # as Xcode packs them into an app
        yield from _packed(data, name)
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


def _packed(data: bytes, name: str) -> Iterator[Passage | LeftOut]:
    import plistlib

    try:
        root = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
    except (plistlib.InvalidFileException, ValueError, LookupError) as error:
        raise FileError(f"{name}: a broken property list: {error}", "copy it again") from None
    for key, text in root.items() if isinstance(root, dict) else ():
        if isinstance(text, str):
            yield Passage(json_text(text, key, f"{name}: {key}"), str(key))
        elif isinstance(text, (dict, list)):
            yield LeftOut("entries that hold others")


def _unescaped(text: str) -> str:
    """Resolve escapes; a line break or a tab becomes a space, as everywhere in a unit."""

    def resolved(escape: re.Match[str]) -> str:
        if escape[1]:
            return chr(int(escape[1], 16))
        return " " if escape[2] in "nrt" else escape[2]

    text = _ESCAPE.sub(resolved, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
