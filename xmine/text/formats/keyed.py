"""Catalogues of an app or a site, a language a file: texts by their keys.

strings.xml of Android, .strings of Apple, .arb of Flutter, and .json of i18n libraries.
"""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from xmine.errors import FileError
from xmine.files.reading import in_command, limited, name_of, read_blocks
from xmine.files.records import json_text, parsed_json
from xmine.files.suffixes import NO_SENTENCES, kind_of
from xmine.files.xml_text import root_of, tag_of
from xmine.text.formats.units import Unit, line_of, read_text

KINDS = ("xml", "strings", "arb", "json")
_ENTRY = re.compile(
    r"\s*(?:/\*.*?\*/\s*|//[^\n]*\s*)*"
    r'(?:\Z|(?:"((?:[^"\\]|\\.)*+)"|([\w.-]++))\s*=\s*"((?:[^"\\]|\\.)*+)"\s*;)',
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[uU]([0-9a-fA-F]{4})|(.))", re.DOTALL)


def read(path: str) -> Iterator[Unit]:
    """Read the texts; the place of one is its key, `menu.file.0` for a text inside others."""
    kind = kind_of(path)
    if kind == "xml":
        return _android(path)
    return _apple(path) if kind == "strings" else _json(path, is_arb=kind == "arb")


def _json(path: str, *, is_arb: bool) -> Iterator[Unit]:
    name, (what, hint) = name_of(path), NO_SENTENCES["json"]
    hint = hint.replace("FILE", in_command(path))
    root = parsed_json(read_text(path), name, hint)
    if not isinstance(root, dict):
        raise FileError(f"{name}: {what}, not texts by their keys", hint)
    waiting = [(key, value) for key, value in reversed(root.items())]
    while waiting:
        key, value = waiting.pop()
        if is_arb and key.startswith("@"):
            continue  # facts about a text
        if isinstance(value, str):
            yield Unit(json_text(value, key, f"{name}: {key}"), key)
        elif isinstance(value, dict) and isinstance(value.get("message"), str):
            yield Unit(
                json_text(value["message"], key, f"{name}: {key}"), key
            )  # of a browser's extension
        elif isinstance(value, (dict, list)):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += reversed([(f"{key}.{each}", inside) for each, inside in inner])


def _android(path: str) -> Iterator[Unit]:
    root, name = root_of(path), name_of(path)
    if tag_of(root.tag) != "resources":
        what, hint = NO_SENTENCES["xml"]
        raise FileError(f"{name}: {what} of <{tag_of(root.tag)}>, not texts by their keys", hint)
    for entry in root:
        key = entry.get("name", "")
        if entry.get("translatable") == "false":
            continue
        if entry.tag == "string":
            yield Unit(_android_text(entry), key)
        elif entry.tag in ("string-array", "plurals"):
            for at, item in enumerate(entry):
                yield Unit(_android_text(item), f"{key}.{item.get('quantity') or at}")


def _android_text(entry: Element) -> str:
    text = re.sub(r"\s+", " ", "".join(entry.itertext())).strip()
    return _unescaped(re.sub(r'(?<!\\)"', "", text))


def _apple(path: str) -> Iterator[Unit]:
    data, name = limited(path, read_blocks(path)), name_of(path)
    if data.startswith(b"bplist"):  # as Xcode packs them into an app
        import plistlib

        try:
            root = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
        except (plistlib.InvalidFileException, ValueError, RecursionError, LookupError) as error:
            raise FileError(f"{name}: a broken property list: {error}", "copy it again") from None
        entries = root.items() if isinstance(root, dict) else ()
        for key, text in entries:
            if isinstance(text, str):
                yield Unit(json_text(text, key, f"{name}: {key}"), str(key))
        return
    text, at = read_text(path), 0
    while at < len(text):
        entry = _ENTRY.match(text, at)
        if entry is None:
            rest = re.compile(r"\s*").match(text, at)
            where = f"{name_of(path)}:{line_of(text, rest.end() if rest else at)}"
            hint = 'an entry is "key" = "text"; and the file may be cut off'
            raise FileError(f"{where}: not an entry of a .strings file", hint)
        at = entry.end()
        if entry[3] is not None:
            yield Unit(_unescaped(entry[3]), _unescaped(entry[1] or entry[2] or ""))


def _unescaped(text: str) -> str:
    """Resolve escapes; a line break or a tab becomes a space, as everywhere in a unit."""

    def resolved(escape: re.Match[str]) -> str:
        if escape[1]:
            return chr(int(escape[1], 16))
        return " " if escape[2] in "nrt" else escape[2]

    text = _ESCAPE.sub(resolved, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
