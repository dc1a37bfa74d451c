"""XLIFF 1.2 and 2, of Trados, memoQ and Phrase too, and .ts of Qt -> texts and translations."""

import re
from collections.abc import Iterator
from itertools import islice
from xml.etree.ElementTree import Element

from xmine.errors import FileError
from xmine.files.reading import name_of, read_blocks
from xmine.files.xml_text import BREAK, decoded, root_of, tag_of, text_of
from xmine.text.formats.units import LOCKED, OTHER_FORM, Translation, one_line, short

_UNITS, _SEGMENTS = {"trans-unit", "unit", "message"}, {"segment", "ignorable"}
_PARTS = {each: each for each in ("source", "seg-source", "target")} | {"translation": "target"}
# Attributes by which a translation is none yet, of XLIFF, Trados, memoQ, Phrase, and Qt.
_DRAFT = re.compile(
    "approved=no|state=(?:new|initial|needs-.*)|confirmed=0|conf=(?:Draft|Rejected.*)"
    "|state-qualifier=(?:fuzzy-match|leveraged-mt|.*-suggestion|rejected-.*)"
    "|status=(?:NotStarted|Rejected|PartiallyEdited|Pretranslated|MachineTranslated)"
    "|type=(?:unfinished|vanished|obsolete)"
)


def languages(path: str) -> tuple[str, str]:
    """Read the languages that the file says; empty where it does not."""
    head = "".join(islice(decoded(read_blocks(path), name_of(path)), 2))
    said = [
        re.search(rf"""\s(?:{names})\s*=\s*["']([\w-]+)""", head)
        for names in ("source-?language|srcLang", "(?:target-)?language|trgLang")
    ]
    return said[0][1] if said[0] else "", said[1][1] if said[1] else ""


def translations(path: str) -> Iterator[Translation]:
    """Read each segment; codes of formatting go, placeholders that say their text stay.

    The place is the id of the unit, and of the segment inside, behind the file, if there are some;
    of Qt the context and the source. A text inside of a code, `sub`, has no translation.
    """
    root, name = root_of(path), name_of(path)
    if tag_of(root.tag) not in ("xliff", "TS"):
        raise FileError(f"{name}: not XLIFF: it begins with <{tag_of(root.tag)}>")
    waiting, number = [(root, "", "")], 0
    several = len([each for each in root if tag_of(each.tag) == "file"]) > 1
    while waiting:  # what a group says holds for the units in it
        unit, may, above = waiting.pop()
        may = unit.get("translate", may)
        if tag_of(unit.tag) not in _UNITS:
            if several and tag_of(unit.tag) == "file":
                above = unit.get("original", unit.get("id", "")) + " "
            elif unit.tag == "context":
                above = unit.findtext("name", "") + "|"
            waiting += [(child, may, above) for child in reversed(unit)]
            continue
        number += 1
        words = map(unit.find, ("source", "comment") * (unit.tag == "message"))
        named = one_line("|".join(text_of(each) for each in words if each is not None))
        place = short(above + (unit.get("id") or named or f"unit {number}"))
        breaks = {each.get("id") for each in _all(unit, "data") if BREAK.search(each.text or "")}
        for code in unit.iter() if breaks else ():
            if code.get("dataRef") in breaks:
                code.set("type", "lb")
        facts = {each.get("id"): each for each in _all(unit, "seg")}  # of Trados
        segments = [child for child in unit if tag_of(child.tag) in _SEGMENTS]
        for at, segment in enumerate(segments or [unit], start=1):
            where = place if len(segments) < 2 else f"{place} {segment.get('id') or at}"
            yield from _segments(segment, where, LOCKED * (may == "no"), unit, facts)


def _segments(
    segment: Element, place: str, fault: str, unit: Element, facts: dict[str | None, Element]
) -> Iterator[Translation]:
    named = ((_PARTS.get(tag_of(child.tag)), child) for child in segment)
    parts = {name: child for name, child in named if name}
    marks, others = (_marked(parts.get(name)) for name in ("seg-source", "target"))
    both = parts.get("source"), parts.get("target")
    sides = [(place, *both)]
    if marks and ("target" not in parts or marks.keys() == others.keys()):
        sides = [(f"{place} {mid}", mark, others.get(mid)) for mid, mark in marks.items()]
    if forms := _all(both[1], "numerusform") or _all(both[1], "lengthvariant"):
        sides = [(place, both[0], forms[-1])]
        sides += [(f"{place}[{at}]", None, form) for at, form in enumerate(forms[:-1])]
    sides += [(f"{place} sub", each, None) for each in _all(both[0], "sub")]
    sides += [(f"{place} sub", None, each) for each in _all(both[1], "sub")]
    for where, source, target in sides:
        texts = ["" if side is None else text_of(side).strip() for side in (source, target)]
        told = (unit, segment, both[1], None if source is None else facts.get(source.get("mid")))
        said = [pair for each in told if each is not None for pair in each.attrib.items()]
        is_draft = any(_DRAFT.fullmatch(f"{tag_of(name)}={value}") for name, value in said)
        is_form = source is None and bool(forms)
        why = fault or "not translated" * (not (all(texts) or is_form))
        why = why or "marked unfinished" * is_draft or OTHER_FORM * is_form
        if any(texts):
            yield Translation(texts[0], texts[1], where, why)


def _all(part: Element | None, tag: str) -> list[Element]:
    return [] if part is None else [each for each in part.iter() if tag_of(each.tag) == tag]


def _marked(part: Element | None) -> dict[str, Element]:
    """Find the outer segments that are marked inside a text, by their ids, if all is in them."""
    marks, inside = dict[str, Element](), set[Element]()
    for mark in _all(part, "mrk"):
        if mark.get("mtype") == "seg" and mark not in inside:
            marks[mark.get("mid", "")] = mark
            inside.update(mark.iter())
    held = "".join(map(text_of, marks.values())), "" if part is None else text_of(part)
    return marks if len({"".join(text.split()) for text in held}) == 1 else {}
