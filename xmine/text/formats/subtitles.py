"""SubRip, WebVTT, SubStation and other subtitles -> sentences; the place of one is its times.

What the cue before still showed is left out of a cue: captions roll by repeating their lines. A
sentence that goes on over cues is put together: after a comma, before a small letter, or, where
a third of the cues end in a mark as sentences do, after a cue that ends in none. Turns of a
dialogue in one cue, each behind a dash, are texts with the times of that cue. What is heard, such
as [door creaks], is a text of its own: the captions of the other side may have it, too.
"""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from itertools import pairwise, starmap
from typing import NamedTuple

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.suffixes import suffix_of
from xmine.text.formats.captions import READERS, TIMES, Cues
from xmine.text.formats.units import LeftOut, Passage, one_line, read_text
from xmine.text.segmentation import join

_TIME = r"(?:\d{1,4}:)?\d\d?:\d\d[.,]\d{1,3}"
_TIMES = re.compile(rf"\s*({_TIME})\s*-->\s*({_TIME})(?!\S)")
# What a cut leaves of a line of times.
_CUT = re.compile(r"\s*\d+:(?:\d\d:\d\d[.,]\d*\s*-+>|[\d:.,]*+\s*+-*+>?[\s\d:.,]*+$)")
_NO_CUE = re.compile(r"(NOTE|STYLE|REGION)(?:\s|$)")
_EVENT = "Layer Start End Style Name MarginL MarginR MarginV Effect Text".split()
_TAG = re.compile(
    r"</?(?:(?:[bcisu]|em|strong|ruby|rt)(?:\.[^\s<>]*)?\s*|(?:v|lang|font|span)(?:[.\s][^<>]*)?)>"
    r"|<[\d:.]+>|\{\\[^{}]*\}",
    re.IGNORECASE,
)
_READING = re.compile(r"<rt(?:\.[^<>]*)?>.*?(?:</rt>|(?=</ruby>)|\Z)", re.DOTALL | re.IGNORECASE)
_BREAK = re.compile(r"<[Bb][Rr]\s*/?>|(?<!:)\\N")
_CHARACTER = re.compile(r"&#?\w{1,31};")
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9][^{}]*\}[^{}]*")
_ENDS = re.compile(r"[.!?…。！？؟।♪][\])）】\"'”’»」』*]*$")
_TRAILS = re.compile(r"(?:\.\.\.|…)$")
_HALTS = re.compile(r"[,;،，、–—-]$")
_SPEAKER = re.compile(r"[-‐–—\[(（【♪]")
# What is heard and not said: [door creaks], (music), ♪ a song ♪.
HEARD = re.compile(r"(?:[-‐–—]\s*+)?(?:(?:[\[(（【][^\])）】]*+[\])）】]\s*+)+|[♪♫](?:.*[♪♫])?)$")
_TURN = re.compile(r"[-‐–—](?![-‐–—\d])\s*+\S")  # behind a dash, which is no minus
_NEXT_TURN = re.compile(r"(?<=[.!?…。！？\"”»])\s+(?=[-‐–—]\s?[^-‐–—\s\d])")
_FIRST = re.compile(r"[^\W\d_]")
_MOST_APART, _LONGEST = 3_000, 400  # milliseconds, characters
_ENDING = 1 / 3  # of the cues end in a mark, where marks tell the end of a sentence
_AT_ONCE, _GLIMPSE = 50, 100  # milliseconds: no pause between two cues; too short to be read
_MOST_LINES = 8  # that stay on the screen


class _Cue(NamedTuple):
    start: int  # milliseconds
    end: int
    source: str  # with its tags
    lines: list[str]


def read(path: str) -> Iterator[Passage | LeftOut]:
    """Read the sentences, without tags, drawings and notes."""
    text, name, left_out = read_text(path), name_of(path), Counter[str]()
    readers = {**READERS, ".ass": _scripted, ".ssa": _scripted}
    if suffix_of(path) in READERS and TIMES.search(text):  # SBV, of YouTube, and SubViewer
        text, readers = TIMES.sub(r"\1 --> \2", text).replace("[br]", "\n"), {}
    given = readers.get(suffix_of(path), _timed)(text, name, left_out)
    found = [cue for each in given if (cue := _cue(left_out, *each)).lines]
    if not found:
        raise FileError(f"{name}: no cues in it", "give a file of subtitles")
    cues = list(_once(found, left_out))
    yield from starmap(LeftOut, (+left_out).items())
    marked = sum(_ENDS.search(text) is not None for *_, text in cues) >= _ENDING * len(cues)
    whole = list[tuple[int, int, str]]()
    for start, end, text in cues:
        begun, until, before = whole[-1] if whole else (0, -_MOST_APART - 1, "")
        if start - until <= _MOST_APART and _goes_on(before, text, marked):
            whole[-1] = begun, end, join([before, text])
        else:
            whole.append((start, end, text))
    for start, end, text in whole:
        yield Passage(text, f"{_shown(start)} --> {_shown(end)}")


def _shown(milliseconds: int) -> str:
    """Write a time as SubRip does."""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{rest:03}"


def _timed(text: str, name: str, left_out: Counter[str]) -> Cues:
    """Cut SubRip; or WebVTT, where blank lines end a cue: https://www.w3.org/TR/webvtt1/."""
    is_web, lines = text.startswith("WEBVTT"), ["", *text.split("\n")]
    times = {number: each for number, line in enumerate(lines) if (each := _TIMES.match(line))}
    for first, last in pairwise([0, *times, len(lines)]):
        own, *others = _blocks(lines, first, last, is_web)
        for block in filter(None, others):
            kind = _NO_CUE.match(block[0]) if is_web else None
            named = is_web or block[0].strip().isdigit()
            if kind:
                left_out["notes of captions"] += kind[1] == "NOTE"
            elif cut := next(filter(_CUT.match, block[: 1 + named]), None):
                raise _not_whole(name, lines.index(cut, first), cut)
            elif is_web and own:
                left_out["texts outside of cues"] += 1
            else:
                own += block
        if first:
            said = "\n".join(own)
            start, end = _milliseconds(times[first])
            yield start, end, said, said
        elif own and not is_web:
            left_out["texts outside of cues"] += 1


def _blocks(lines: list[str], first: int, last: int, is_web: bool) -> list[list[str]]:
    """Cut the lines between two lines of times at blank ones, without the name of the second."""
    blocks: list[list[str]] = [[]]
    for line in lines[first + (first > 0) : last]:
        if line if is_web else line.strip():
            blocks[-1].append(line)
        else:
            blocks.append([])
    line = lines[last - 1].strip() if blocks[-1] and last < len(lines) else ""
    if line.isdigit() or (line and is_web and len(blocks) > 1 + (first == 0)):
        blocks[-1].pop()
    return blocks


def _not_whole(name: str, number: int, line: str) -> FileError:
    return FileError(
        f"{name}:{number}: not a whole cue: {line.strip()[:60]!r}",
        "the file is cut off, or no file of subtitles: copy it again",
    )


def _scripted(text: str, name: str, left_out: Counter[str]) -> Cues:
    """Read the events of SubStation."""
    fields = _EVENT
    for number, line in enumerate(text.split("\n"), start=1):
        kind, _, values = line.partition(":")
        if kind == "Format" and "Text" in values:
            fields = [field.strip() for field in values.split(",")]
        elif kind == "Comment":
            left_out["notes of captions"] += 1
        elif kind == "Dialogue":
            event = dict(zip(fields, values.split(",", len(fields) - 1), strict=False))
            times = _TIMES.match(f"{event.get('Start')} --> {event.get('End')}")
            if times is None or "Text" not in event:
                raise _not_whole(name, number, line)
            said = re.sub(r"\\[Nnh]", "\n", _DRAWING.sub("", event["Text"]))
            said = re.sub(r"\{[^{}]*\}", "", said)
            start, end = _milliseconds(times)
            yield start, end, said, event["Text"]


def _cue(left_out: Counter[str], start: float, end: float, said: str, source: str) -> _Cue:
    text, readings = _READING.subn("", said)
    left_out["readings"] += readings
    text = _TAG.sub("", _BREAK.sub("\n", text))
    text = _CHARACTER.sub(lambda character: unescape(character[0]), text)
    lines = [one_line(line) for line in text.split("\n") if line.strip()]
    return _Cue(round(start), round(end), source, lines)


def _milliseconds(times: re.Match[str]) -> list[float]:
    parts = (f"0:{each}".replace(",", ".").split(":")[-3:] for each in times.groups())
    return [1000 * float(s) + 60_000 * (int(m) + 60 * int(h)) for h, m, s in parts]


def _once(cues: list[_Cue], left_out: Counter[str]) -> Iterator[tuple[int, int, str]]:
    """Give what each cue adds to what is shown, in the order of time."""
    shown = dict[str, int]()  # text -> until when
    before = _Cue(0, -_MOST_APART, "", [])
    for cue in sorted(cues, key=lambda cue: cue.start):
        text = " ".join(cue.lines)
        lines = _added(before, cue) if shown.get(text, cue.start) <= cue.start else []
        left_out["repeated captions"] += lines != cue.lines
        shown[text], before = max(cue.end, shown.get(text, 0)), cue
        for said in _turns(lines):
            yield cue.start, cue.end, said


def _turns(lines: list[str]) -> list[str]:
    """Join the lines of a cue; cut them where two or more speak, as dashes tell."""
    if lines and _TURN.match(lines[0]):
        lines = [each for line in lines for each in _NEXT_TURN.split(line)]
    begins = [at for at, line in enumerate(lines) if _TURN.match(line)]
    starts = sorted({0, *(begins if len(begins) > 1 else ())}) if lines else []
    return [" ".join(lines[at:to]) for at, to in pairwise([*starts, len(lines)])]


def _added(before: _Cue, cue: _Cue) -> list[str]:
    """Give the lines that the cue before did not show until now; the first perhaps in part."""
    old, new, pause = before.lines, cue.lines, cue.start - before.end
    is_read = min(before.end - before.start, cue.end - cue.start) >= _GLIMPSE
    if pause > _AT_ONCE or (cue.source == before.source and pause >= 0 and is_read):  # said again
        return new
    for moved in range(min(len(old), len(new), _MOST_LINES), 0, -1):
        last, line = old[-1], new[moved - 1]
        if old[-moved:-1] == new[: moved - 1]:
            if line == last:
                return new[moved:]
            grows = len(last.split()) > 2 or not _ENDS.search(last)
            if grows and line.startswith(f"{last} "):
                return [line[len(last) + 1 :], *new[moved:]]
    return new


def _goes_on(text: str, after: str, marked: bool) -> bool:
    """Tell whether a sentence goes on in the next cue."""
    first = _FIRST.search(after)
    if len(text) > _LONGEST or _SPEAKER.match(after) or HEARD.match(text) or first is None:
        return False
    small = first[0].islower()
    if _ENDS.search(text):
        return small and _TRAILS.search(text) is not None
    return small or _HALTS.search(text) is not None or (marked and not text.isupper())
