"""Captions of MicroDVD, SAMI and TTML -> cues; SBV and SubViewer -> SubRip."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from xmine.errors import FileError
from xmine.files.xml_text import parsed_xml, tag_of

_Said = TypeVar("_Said", bound=tuple[Any, ...])  # its last two are a language and a text
Cues = Iterator[tuple[float, float, str, str]]  # milliseconds; lines, and all of their source
TIMES = re.compile(r"^(\d+:\d\d:\d\d\.\d{1,3}),(\d+:\d\d:\d\d\.\d{1,3})$", re.MULTILINE)
_FRAMES = re.compile(r"^\{(\d{1,9})\}\{(\d{,9})\}(.*)$", re.MULTILINE)
_NO_WORDS = re.compile(r"</?(?:p|sync|body|sami)\b[^<>]*>|&nbsp;", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?:(\d{1,4}):)?(\d\d?):(\d\d?(?:\.\d+)?)(?::(\d{1,9}))?|(\d{1,18}(?:\.\d+)?)(h|ms?|s|f|t)"
)
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_WHOLE = re.compile(r"[1-9]\d{0,9}")
_RATE, _HELD = 25, 5_000  # frames a second; milliseconds of a last caption


def _framed(text: str, name: str, left_out: Counter[str]) -> Cues:
    """Read MicroDVD, `{25}{49}One|Two`, where `{1}{1}23.976` tells the frames a second."""
    rate = float(_RATE)
    for start, end, said in _FRAMES.findall(text):
        if start == end and re.fullmatch(r"\s*\d{1,9}\.\d+\s*", said):
            rate = float(said) or rate
        else:
            said = re.sub(r"\{\w+:[^{}]*\}", "", said).replace("|", "\n")
            yield 1000 * int(start) / rate, 1000 * int(end or start) / rate, said, said
    rest = filter(str.strip, _FRAMES.sub("", text).split("\n"))
    left_out["texts outside of cues"] += sum(1 for _ in rest)


def _sami(text: str, name: str, left_out: Counter[str]) -> Cues:
    start, found = 0, list[tuple[int, str, str]]()
    for piece in re.split(r"(?i)<(?=sync\b|p\b)", text)[1:]:
        head, _, said = piece.partition(">")
        if time := re.search(r"(?is)^sync\b.*\bstart\W*(\d{1,9})", head):
            start = int(time[1])
        language = re.search(r"(?i)\bclass\W*(\w+)", head)
        said = re.sub(r"(?i)<br\s*/?>", "\n", _NO_WORDS.sub("", said.replace("\n", " ")))
        if head[:1] in "pP" or said.strip():
            found.append((start, language[1].lower() if language else "", said))
    own = _of_first(found, left_out)
    for at, (begin, _, said) in enumerate(own, start=1):
        yield begin, own[at][0] if at < len(own) else begin + _HELD, said, said


def _of_first(found: list[_Said], left_out: Counter[str]) -> list[_Said]:
    """Keep what is said in the first language, which stands before the text."""
    own = [each for each in found if each[-2] == found[0][-2]]
    others = sum(each[-2] != found[0][-2] and each[-1].strip() != "" for each in found)
    left_out["texts in other languages"] += others
    return own


def _timed_text(text: str, name: str, left_out: Counter[str]) -> Cues:
    """Read TTML and DFXP of any year; times count in hours to seconds, frames or ticks."""
    root = parsed_xml(text, name)
    facts = {tag_of(key): value for key, value in root.items()}
    rates = (_WHOLE.match(facts.get(each, "")) for each in ("frameRate", "tickRate"))
    frame, tick = (1000 / int(rate[0] if rate else _RATE) for rate in rates)
    units = {"h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1, "f": frame, "t": tick}

    def milliseconds(time: str) -> float:
        if not (clock := _CLOCK.fullmatch(time.strip())):
            raise FileError(f"{name}: not the time of a caption: {time[:60]!r}", "mend the file")
        hours, minutes, seconds, frames, number, unit = clock.groups("0")
        whole = 3_600_000 * int(hours) + 60_000 * int(minutes) + 1000 * float(seconds)
        return whole + frame * int(frames) + float(number) * units.get(unit, 0)

    for each in root.iter():
        if tag_of(each.tag) == "br":
            each.text = "\n"
    waiting, found = [(root, "", 0.0)], list[tuple[float, float, str, str]]()
    while waiting:  # language and times of a part hold for those in it
        each, language, shift = waiting.pop()
        language = each.get(_LANGUAGE, language)
        if tag_of(each.tag) != "p":
            shift += milliseconds(each.get("begin", "0s"))
            waiting += [(part, language, shift) for part in reversed(each)]
        else:
            begin, end = (
                [x for part in each.iter() if (x := part.get(y))] for y in ("begin", "end")
            )
            start = shift + milliseconds(begin[0] if begin else "0s")
            length = each.get("dur", f"{_HELD}ms")
            until = shift + milliseconds(end[-1]) if end else start + milliseconds(length)
            found.append((start, until, language, "".join(each.itertext())))
    for start, until, _, said in _of_first(found, left_out):
        yield start, until, said, said


# By suffix; of several languages in a file the first one is given.
READERS: dict[str, Callable[[str, str, Counter[str]], Cues]] = {
    **dict.fromkeys((".sub", ".sbv"), _framed),
    **dict.fromkeys((".smi", ".sami"), _sami),
    **dict.fromkeys((".ttml", ".dfxp"), _timed_text),
}
