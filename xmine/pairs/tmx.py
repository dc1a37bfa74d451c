"""TMX 1.4, the exchange format of translation memories: written streaming, read from any tool."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape  # that of xml.sax loads urllib: 35 ms at every start
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from xmine.errors import FileError
from xmine.files.reading import name_of, read_blocks
from xmine.pairs.language_choice import Choice, distinct, place_of, same_language
from xmine.pairs.losses import NOT_XML, SURROGATES, Losses, Rules
from xmine.pairs.pair import COLUMNS, Languages, Pair, is_whole
from xmine.pairs.tsv import write_rows
from xmine.version import __version__

# A pair's field -> the `type` of its property; what TMX does not know itself begins with x-.
_NAMED = "score cosine source_line target_line source_offset target_offset origin prob flags margin"
_PROPERTIES = {name: f"x-{name.replace('_', '-')}" for name in _NAMED.split()} | {"score": "score"}
_RULES = Rules(NOT_XML, SURROGATES)
_CODES = {"bpt", "ept", "it", "ph", "ut"}  # formatting of other tools: what is inside is no text
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
        properties = "".join(
            f'<prop type="{kind}">{_shown(value, losses)}</prop>\n'
            for name, kind in _PROPERTIES.items()
            if (value := getattr(pair, name)) is not None
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


@dataclass(frozen=True, slots=True)
class _Unit:
    """A translation unit: its texts with the codes of their languages, and its properties."""

    where: str
    texts: list[tuple[str, str]]
    properties: Mapping[str, str]
    source_language: str

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
    """Read pairs; units without a text in both languages are passed over, and counted in `losses`.

    Codes of formatting inside a sentence are left out, the text around them stays. `chosen` names
    two languages, source first; `en` is also `en-US`. Without it the file must have two, and the
    header's `srclang` is the source.
    """
    choice, name = Choice(path, chosen), name_of(path)
    seen: list[str] = []
    before: list[str] = []
    units = pairs = 0
    for unit in _units(path):
        units += 1
        codes = unit.languages()
        if codes != before:  # nearly all units have the languages of the one before
            seen, before = distinct([*seen, *codes]), codes
            if not choice.asked and max(len(codes), len(seen)) > 2:
                raise choice.too_many(unit.where, seen)
            if choice.languages is None and len(codes) == 2:
                choice.languages = codes[0], codes[1]
        if choice.languages and (pair := _pair(unit, choice.languages)):
            pairs += 1
            yield pair
        elif losses is not None:
            losses.pass_over()
    if units and not pairs:
        wanted = f"both {chosen[0]} and {chosen[1]}" if chosen else "two languages"
        raise FileError(
            f"{name}: none of its {units:,} units is in {wanted}; "
            f"its languages: {', '.join(seen) or 'none'}",
            "a unit needs a text in each of two languages",
        )


def _pair(unit: _Unit, languages: Languages) -> Pair | None:
    """Take the first text in each language; None where there is none."""
    texts = list(unit.texts)
    sides = []
    for language in languages:
        at = place_of(language, [code for code, _ in texts])
        if at is None:
            return None
        sides.append(texts.pop(at))
    values: dict[str, Any] = {}
    for name, kind in _PROPERTIES.items() if unit.properties else ():
        if kind in unit.properties:
            values[name] = _value(unit.properties[kind], name)
    (first, source), (second, target) = sides
    own = unit.languages()[0]
    if values and first != own == second:  # the properties know the sides the other way round
        return Pair(target, source, **values).swapped()
    return Pair(source, target, **values)


def _value(text: str, name: str) -> str | int | float | None:
    """Read a property; that of another tool with the same name may be no number."""
    kind = COLUMNS[name]
    if name == "flags":  # none were found, which is not the same as not looked for
        return text
    try:
        value: str | int | float = kind(text)
    except ValueError:
        return None
    return None if value == "" or (kind is int and not is_whole(value)) else value


def _units(path: str | Path) -> Iterator[_Unit]:
    name, number, source_language = name_of(path), 0, ""
    parent: Element | None = None
    for event, element in _elements(path):
        tag = _tag(element.tag)
        if event == "start":
            if parent is None and tag != "tmx":
                raise FileError(
                    f"{name}: not a TMX file: it begins with <{tag}>", "give a TMX file"
                )
            if parent is None or tag == "body":
                parent = element
        elif tag == "header":
            said = element.get("srclang", "")
            source_language = "" if said == "*all*" else said
        elif tag == "tu" and parent is not None:
            number += 1
            yield _unit(element, f"{name}: unit {number:,}", source_language)
            parent.clear()  # or the whole file would stay in memory


def _unit(element: Element, where: str, source_language: str) -> _Unit:
    texts, properties = [], {}
    for child in element:
        tag = _tag(child.tag)
        if tag == "prop":
            properties[child.get("type", "")] = child.text or ""
        elif tag == "tuv":
            code = child.get(_LANG) or child.get("lang")
            if not code:
                raise FileError(f"{where}: a <tuv> without xml:lang", "every text needs a language")
            seg = next((each for each in child if _tag(each.tag) == "seg"), None)
            if seg is None:
                raise FileError(f"{where}: a <tuv> without <seg>", "the text belongs into <seg>")
            texts.append((code, _text(seg)))
    return _Unit(where, texts, properties, element.get("srclang") or source_language)


def _text(seg: Element) -> str:
    if len(seg) == 0:
        return seg.text or ""
    for element in list(seg.iter()):
        if _tag(element.tag) in _CODES:
            after = element.tail
            element.clear()
            element.tail = after
    return "".join(seg.itertext())


@lru_cache
def _tag(name: str) -> str:
    """Drop the namespace of an element's name."""
    return name.rpartition("}")[2]


def _elements(path: str | Path) -> Iterator[tuple[str, Element]]:
    name, empty = name_of(path), True
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    try:
        for block in read_blocks(path):
            empty = empty and not block
            parser.feed(block)
            yield from parser.read_events()  # type: ignore[misc]
        if empty:
            raise FileError(f"{name}: the file is empty")
        parser.close()
        yield from parser.read_events()  # type: ignore[misc]
    except ParseError as error:
        line, column = error.position
        why = re.sub(r": line \d+, column \d+$", "", str(error))
        if why in ("no element found", "unclosed token"):
            raise FileError(f"{name}:{line}: ends before </tmx>", "copy it again") from None
        raise FileError(
            f"{name}:{line}: not XML: {why} at column {column + 1}",
            "save it again as UTF-8, or mend the line",
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that XML's parser does not know
        raise FileError(f"{name}: cannot be decoded: {error}", "save it again as UTF-8") from error
