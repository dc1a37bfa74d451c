"""TMX 1.4, the exchange format of translation memories: written streaming, read from any tool."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape  # that of xml.sax loads urllib: 35 ms at every start
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.xml_text import tag_of, text_of
from xmine.pairs.language_choice import Choice, distinct, places_of
from xmine.pairs.losses import NOT_XML, SURROGATES, Losses, Rules
from xmine.pairs.pair import BEAD_LINES, COLUMNS, Languages, Pair, is_kept, is_whole
from xmine.pairs.tmx_units import raw_units
from xmine.pairs.tsv import write_rows
from xmine.text.languages import same_language
from xmine.version import __version__


def _type(name: str) -> str:
    """Give the `type` of the property of a column; what TMX does not know itself begins with x-."""
    return name if name == "score" else escape(f"x-{name.replace('_', '-')}")


_ORDER = dict.fromkeys(("score", "cosine", *COLUMNS))
_NAMED = [name for name in _ORDER if name not in ("source", "target")]
_FIELDS = {_type(name): name for name in _NAMED}
_RULES = Rules(NOT_XML, SURROGATES)
_SPARED = ("repaired", "note", *BEAD_LINES)  # where they are empty
_OTHERS = {"note": "notes", "prop": "properties"}
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def write(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    """Write a translation unit per pair; what the pair has besides its sentences is a property."""
    write_rows(stream, _rows(pairs, languages, losses))


def _rows(pairs: Iterable[Pair], languages: Languages, losses: Losses) -> Iterator[str]:
    source, target = (f'"{escape(code.replace("_", "-"))}"' for code in languages)
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        f'<header creationtool="xmine" creationtoolversion="{__version__}" '
        f'segtype="sentence" o-tmf="xmine" adminlang="en" srclang={source} datatype="plaintext"/>\n'
        "<body>\n"
    )
    for pair in pairs:
        facts = pair.facts()
        properties = "".join(
            f'<prop type="{_type(name)}">{_shown(facts[name], losses)}</prop>\n'
            for name in (*_NAMED, *(pair.more or ()))
            if name in facts and (facts[name] != "" or name not in _SPARED)
        )
        yield (
            f"<tu>\n{properties}"
            f"<tuv xml:lang={source}><seg>{_shown(pair.source, losses)}</seg></tuv>\n"
            f"<tuv xml:lang={target}><seg>{_shown(pair.target, losses)}</seg></tuv>\n</tu>\n"
        )
    yield "</body>\n</tmx>\n"


def _shown(value: str | int | float, losses: Losses) -> str:
    if isinstance(value, str):
        return escape(losses.fit(value, _RULES), quote=False).replace("\r", "&#13;")
    return f"{value:.4f}" if isinstance(value, float) else str(value)


@dataclass(slots=True)
class _Unit:
    """A translation unit: its texts with the codes of their languages, and what belongs to them.

    `values` are fields of a pair, `others` names what no pair has a place for; `fault` tells why
    the unit, or a text of it, cannot be read.
    """

    where: str
    source_language: str
    fault: str = ""
    texts: list[tuple[str, str]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)

    def languages(self) -> list[str]:
        """List the languages, that of the source first; two texts may be in the same one."""
        codes = [code for code, _ in self.texts]
        codes = codes if len(codes) == 2 else distinct(codes)
        if self.source_language:  # the sort is stable: all others keep their order
            codes.sort(key=lambda code: not same_language(code, self.source_language))
        return codes


def languages(path: str | Path) -> Languages | None:
    """Read the languages of the first unit that has two."""
    for unit in _units(path):
        codes = unit.languages()
        if len(codes) >= 2:
            return codes[0], codes[1]
    return None


def read(
    path: str | Path, chosen: Languages | None = None, losses: Losses | None = None
) -> Iterator[Pair]:
    """Read a pair of each two texts of a unit in the two languages, in the order of the texts.

    Units that cannot be read or have none are passed over; `losses` counts them, and what a pair
    has no place for. Codes of formatting inside a sentence are left out, the text around them
    stays. `chosen` names two languages, source first; `en` is also `en-US`. Without it the file
    must have two, and the header's `srclang` is the source.
    """
    choice, name = Choice(path, chosen), name_of(path)
    losses = Losses() if losses is None else losses
    seen: list[str] = []
    before: list[str] = []
    fault = ""
    units = some = faults = 0
    for unit in _units(path):
        units += 1
        codes = unit.languages()
        if codes != before:  # nearly all units have the languages of the one before
            seen, before = distinct([*seen, *codes]), codes
            if not choice.asked and max(len(codes), len(seen)) > 2:
                raise choice.too_many(unit.where, seen)
            if choice.languages is None and len(codes) == 2:
                choice.languages = codes[0], codes[1]
        number = 0
        for pair in _pairs(unit, choice.languages) if choice.languages else ():
            number += 1
            yield pair
        some += number
        if number:
            losses.leave(unit.others, number)
        else:
            fault, faults = fault or unit.fault, faults + bool(unit.fault)
            losses.pass_over(unit.fault)
    if units and faults == units:
        raise FileError(
            fault, "nor can another unit be read: mend the file, or save it again as UTF-8"
        )
    if units and not some:
        wanted = f"both {chosen[0]} and {chosen[1]}" if chosen else "two languages"
        raise FileError(
            f"{name}: none of its {units:,} units is in {wanted}; "
            f"its languages: {', '.join(seen) or 'none'}",
            "a unit needs a text in each of two languages",
        )


def _pairs(unit: _Unit, languages: Languages) -> Iterator[Pair]:
    """Pair each text in the one language with each in the other."""
    codes = [code for code, _ in unit.texts]
    own = unit.languages()[0] if unit.values else ""
    sources, targets = (places_of(language, codes) for language in languages)
    for x, y in product(sources, targets):
        # `en` and `en-US` may name the same texts: each two of them are a pair once.
        if x == y or (x > y and y in sources and x in targets):
            continue
        turned = codes[x] != own == codes[y]  # the values know the sides the other way round
        source, target = (unit.texts[at][1] for at in ((y, x) if turned else (x, y)))
        pair = Pair.of({**unit.values, "source": source, "target": target})
        yield pair.swapped() if turned else pair


def _value(text: str, property_: str) -> str | int | float | None:
    """Read a property; that of another tool may have another name, or the same and no number."""
    name = _FIELDS.get(property_, "")
    if name in ("flags", ""):  # no flags were found, which is not the same as not looked for
        return text if name else None
    kind = COLUMNS[name]
    try:
        value: str | int | float = kind(text)
    except ValueError:
        return None
    return None if value == "" or (kind is int and not is_whole(value)) else value


def _units(path: str | Path) -> Iterator[_Unit]:
    for where, element, language in raw_units(path):
        unit = _Unit(where, language)
        if isinstance(element, str):
            unit.fault = f"{where}: {element}"
        else:
            _fill(unit, element)
        yield unit


def _fill(unit: _Unit, element: Element) -> None:
    unit.source_language = element.get("srclang") or unit.source_language
    if "tuid" in element.attrib:
        unit.others.add("tuids")
    for child in element:
        tag, kind = tag_of(child.tag), child.get("type", "")
        if tag == "prop" and (value := _value(child.text or "", kind)) is not None:
            unit.values[_FIELDS[kind]] = value
        elif tag == "prop" and is_kept(name := kind.removeprefix("x-").replace("-", "_")):
            unit.values[name] = child.text or ""
        elif tag == "tuv":
            parts = {tag_of(part.tag): part for part in reversed(child)}
            unit.others |= {_OTHERS[each] for each in parts if each in _OTHERS}
            code = child.get(_LANG) or child.get("lang")
            if code and "seg" in parts:
                unit.texts.append((code, text_of(parts["seg"])))
                if any(tag_of(each.tag) == "sub" for each in parts["seg"].iter()):
                    unit.others.add("texts inside codes")
            else:
                missing = "<seg>" if code else "xml:lang"
                unit.fault = f"{unit.where}: a <tuv> without {missing}"
        elif tag in _OTHERS:
            unit.others.add(_OTHERS[tag])
