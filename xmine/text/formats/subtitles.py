"""SubRip, WebVTT and SubStation subtitles -> sentences; the place of one is its times.

A sentence that goes on over cues is put together: after a comma, before a small letter, or, where
a third of the cues end in a mark as sentences do, after a cue that ends in none.
"""

import re
import warnings
from collections.abc import Iterator
from html import unescape

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.suffixes import suffix_of
from xmine.text.formats.units import Unit, line_of, one_line, read_text
from xmine.text.segmentation import join

_TIME = r"(?:\d+:)?\d\d?:\d\d[.,]\d{1,3}"
_CUE = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
# A line of times, or what a cut leaves of one: at the end of the file a part is enough.
_TIMES = re.compile(r"^.*-->.*$|^\s*\d+:\d\d:\d\d[.,]\d*\s*-*$|^\s*\d+:[\d:]*\s*\Z", re.MULTILINE)
_DIALOGUE = re.compile(r"^Dialogue:(?!(?:[^,\n]*,){9}).*$", re.MULTILINE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[\d:.]+>")
_ENDS = re.compile(r"[.!?…。！？؟।♪][\])）】\"'”’»」』*]*$")
_TRAILS = re.compile(r"(?:\.\.\.|…)$")
_HALTS = re.compile(r"[,;،，、–—-]$")
_SPEAKER = re.compile(r"[-–—\[(（【♪]")
_FIRST = re.compile(r"[^\W\d_]")
_MOST_APART, _LONGEST = 3_000, 400  # milliseconds, characters
_ENDING = 1 / 3  # of the cues end in a mark, where marks tell the end of a sentence


def read(path: str) -> Iterator[Unit]:
    """Read the sentences, without tags, drawings and comments."""
    cues = _cues(path)
    marked = sum(_ENDS.search(text) is not None for *_, text in cues) >= _ENDING * len(cues)
    waiting: tuple[int, int, str] | None = None
    for start, end, text in cues:
        if waiting and start - waiting[1] <= _MOST_APART and _goes_on(waiting[2], text, marked):
            waiting = (waiting[0], end, join([waiting[2], text]))
            continue
        if waiting:
            yield _unit(*waiting)
        waiting = (start, end, text)
    if waiting:
        yield _unit(*waiting)


def _cues(path: str) -> list[tuple[int, int, str]]:
    """Read start and end, in milliseconds, and the text of each cue that has any."""
    import pysubs2

    text, name = read_text(path), name_of(path)
    kind = suffix_of(path).removeprefix(".")
    is_script = kind in ("ass", "ssa")
    wrong = _DIALOGUE.search(text) if is_script else None
    for times in () if is_script else _TIMES.finditer(text):
        wrong = wrong or (None if _CUE.match(times[0]) else times)
    if wrong:
        raise FileError(
            f"{name}:{line_of(text, wrong.start())}: not a whole cue: {wrong[0].strip()[:60]!r}",
            "the file is cut off, or no file of subtitles: copy it again",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fields that do not matter here
        try:
            found = pysubs2.SSAFile.from_string(text, format_=kind)
        except (pysubs2.exceptions.Pysubs2Error, ValueError, LookupError) as error:
            raise FileError(f"{name}: no subtitles: {error}", "copy it again") from None
    cues = []
    for event in found:
        said = one_line(unescape(_TAG.sub("", event.plaintext)))
        if said and not (event.is_comment or event.is_drawing):
            cues.append((event.start, event.end, said))
    if not cues:
        raise FileError(f"{name}: no cues in it", "give a file of subtitles")
    return cues


def _goes_on(text: str, after: str, marked: bool) -> bool:
    """Tell whether a sentence goes on in the next cue."""
    first = _FIRST.search(after)
    if len(text) > _LONGEST or _SPEAKER.match(after) or first is None:
        return False
    small = first[0].islower()
    if _ENDS.search(text):
        return small and _TRAILS.search(text) is not None
    return small or _HALTS.search(text) is not None or (marked and not text.isupper())


def _unit(start: int, end: int, text: str) -> Unit:
    return Unit(text, f"{_shown(start)} --> {_shown(end)}")


def _shown(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{rest:03}"
