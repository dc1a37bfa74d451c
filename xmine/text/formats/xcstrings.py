"""String catalogues of Xcode (.xcstrings): texts of a source language with all translations."""

from collections.abc import Iterator
from typing import Any

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.records import json_text, parsed_json
from xmine.text.formats.units import LOCKED, OTHER_FORM, Translation, read_text, short
from xmine.text.languages import same_language

_SOURCE = "sourceLanguage"
# What stands between a language and its forms, which are named: one, other, iphone.
_BETWEEN = {"variations", "plural", "device", "substitutions"}


def languages(path: str) -> tuple[str, ...]:
    """Read the source language, and those of translations, in the order of the alphabet."""
    source, entries = _read(path)
    others = {code for each in entries.values() for code in _object(each.get("localizations"))}
    return source, *(sorted(others - {source}) or [""])


def translations(path: str, target: str = "", source: str = "") -> Iterator[Translation]:
    """Read the texts of two languages: by default that of the source, and the only other one.

    The place is the key, with the form behind it. A source that is not there is the key itself.
    """
    name, codes = name_of(path), languages(path)
    wanted = source or codes[0], target or codes[1] * (len(codes) == 2)
    source, other = (next((x for x in codes if same_language(x, y)), "") for y in wanted)
    if not source or (not other and (target or codes[1])):
        hint = f"name one: {name}:{codes[1] or codes[0]}"
        raise FileError(f"{name}: in {', '.join(filter(None, codes))}", hint)
    for key, entry in _read(path)[1].items():
        both = _object(entry.get("localizations"))
        found, others = (
            dict(_forms(both.get(each), path)) or ({"": (key, "")} if each == codes[0] else {})
            for each in (source, other)
        )
        locked = LOCKED * (entry.get("shouldTranslate") is False)
        for form, (text, state) in others.items():
            near = form if form in found else {"": ".other", ".other": ""}.get(form, form)
            fault = "not translated" * (not text or state == "new")
            fault = locked or fault or "marked unfinished" * (state == "needs_review")
            fault = fault or OTHER_FORM * (near not in found)
            yield Translation(found.pop(near, ("",))[0], text, short(key + form), fault)
        for form, (text, _) in found.items():
            yield Translation(text, "", short(key + form), locked or "not translated")


def _read(path: str) -> tuple[str, dict[str, dict[str, Any]]]:
    root = _object(parsed_json(read_text(path), name_of(path)))
    if not isinstance(source := root.get(_SOURCE), str):
        raise FileError(f"{name_of(path)}: no catalogue of Xcode: it names no {_SOURCE}")
    return source, {key: _object(each) for key, each in _object(root.get("strings")).items()}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _forms(inside: object, path: str) -> Iterator[tuple[str, tuple[str, str]]]:
    waiting = [("", inside)]
    while waiting:
        form, each = waiting.pop()
        unit = _object(_object(each).get("stringUnit"))
        if "value" in unit:
            text = json_text(unit["value"], "value", name_of(path))
            yield form, (text, unit.get("state", ""))
        for name, inner in reversed(_object(each).items()):
            if name != "stringUnit":
                waiting.append((form if name in _BETWEEN else f"{form}.{name}", inner))
