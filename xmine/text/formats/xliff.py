"""XLIFF 1.2 and 2, and those of Trados, memoQ and Phrase -> segments and their translations."""

import re
from collections.abc import Iterator
from itertools import islice
from xml.etree.ElementTree import Element

from xmine.errors import FileError
from xmine.files.reading import name_of, read_blocks
from xmine.files.xml_text import decoded, root_of, tag_of, text_of
from xmine.text.formats.units import Translation, Unit

_UNITS = {"trans-unit", "unit"}
_PARTS = ("source", "seg-source", "target")
_SHOWN = ("equiv-text", "disp")  # what an empty code says that it stands for


def read(path: str) -> Iterator[Unit]:
    """Read the sources."""
    for found in translations(path):
        yield Unit(found.source, found.place)


def languages(path: str) -> tuple[str, str]:
    """Read the languages that the file says; empty where it does not."""
    head = "".join(islice(decoded(read_blocks(path), name_of(path)), 2))
    said = [
        re.search(rf"""\s(?:{names})\s*=\s*["']([\w-]+)""", head)
        for names in ("source-language|srcLang", "target-language|trgLang")
    ]
    return said[0][1] if said[0] else "", said[1][1] if said[1] else ""


def translations(path: str) -> Iterator[Translation]:
    """Read each segment; codes of formatting go, placeholders that say their text stay.

    The place is the id of the unit, and of the segment inside.
    """
    root, name = root_of(path), name_of(path)
    if tag_of(root.tag) != "xliff":
        raise FileError(f"{name}: not XLIFF: it begins with <{tag_of(root.tag)}>")
    for number, unit in enumerate((x for x in root.iter() if tag_of(x.tag) in _UNITS), start=1):
        place = unit.get("id") or f"unit {number}"
        segments = [child for child in unit if tag_of(child.tag) == "segment"]
        for at, segment in enumerate(segments or [unit], start=1):
            where = place if len(segments) < 2 else f"{place} {segment.get('id') or at}"
            yield from _segments(segment, where)


def _segments(segment: Element, place: str) -> Iterator[Translation]:
    parts = {tag_of(child.tag): child for child in segment if tag_of(child.tag) in _PARTS}
    marks = {name: _marked(part) for name, part in parts.items()}
    inner = marks.get("seg-source") or {}
    if inner and inner.keys() == marks.get("target", inner).keys():
        targets = marks.get("target", {})
        sides = [(f"{place} {mid}", mark, targets.get(mid)) for mid, mark in inner.items()]
    else:
        sides = [(place, parts["source"], parts.get("target"))] if "source" in parts else []
    for where, source, target in sides:
        texts = ["" if side is None else _text(side) for side in (source, target)]
        fault = "" if all(text.strip() for text in texts) else "not translated"
        yield Translation(texts[0], texts[1], where, fault)


def _marked(part: Element) -> dict[str, Element]:
    """Find the segments that are marked inside a text, by their ids."""
    marks = (each for each in part.iter() if tag_of(each.tag) == "mrk")
    return {mark.get("mid", ""): mark for mark in marks if mark.get("mtype") == "seg"}


def _text(part: Element) -> str:
    for code in list(part.iter()):
        shown = next((code.get(name) for name in _SHOWN if code.get(name)), None)
        if shown and code is not part and not len(code):
            code.tag, code.text = "shown", shown
    return text_of(part)
