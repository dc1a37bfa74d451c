"""A text -> the stretch of it that is markup, or that is garbled: no sentence that people read."""

import re

from xmine.text.folding import ENTITY, TAG, resolved

# A line of a page's program.
_SCRIPT = re.compile(
    r"\bfunction\s*\w*\([\w, ]*\)\s*\{|\bvar \w+ ?=.*;|\$\(['\"]|\{[^{}:]*:[^{};]*;\s*\}"
)
# Of UTF-8 that was read as Windows-1252: its signs -> the bytes that Latin-1 has them for.
_BYTES = {ord(bytes([each]).decode("cp1252", "ignore") or "\0"): each for each in range(0x80, 0xA0)}
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_FEWEST_MISREAD = 2  # letters: "Â»" stands in text that is right
_RARE = re.compile("[\u0080-\u00a0\u0780-\u08ff]")  # what "ß…" would be, read so
_LOST = re.compile("[\ufffd\x00-\x08\x0e-\x1f]")
# A question mark for each letter of a script, or for a letter with an accent: "caf? cr?me".
_QUESTIONS = re.compile(r"(?:\?{3,} ?){3,}|[a-z]\?[a-z](?=.*[a-z]\?(?:[a-z]|[ .,]\W*[a-z]))")
# Scripts that are written without spaces.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_LONGEST_WORD = 200
_LONG_WORD = re.compile(rf"[^\s{_UNSPACED}]{{{_LONGEST_WORD}}}")
_ADDRESS = "://", "www.", "@"


def markup(text: str) -> str:
    """Give the first tag, entity or line of a program in a text; an empty string if it has none."""
    if "&" in text:
        for entity in ENTITY.finditer(text):
            if resolved(entity) != entity[0]:
                return entity[0]
    found = TAG.search(text) if "<" in text else None
    if not found and ("{" in text or "=" in text or "$" in text):
        found = _SCRIPT.search(text)
    return found[0] if found else ""


def garbled(text: str) -> str:
    """Give the first stretch that lost its letters, or the start of a word of 200 characters."""
    if misread := _misread(text):
        return misread
    found = _LOST.search(text)
    if not found and "?" in text:
        words = [each for each in text.split() if not any(part in each for part in _ADDRESS)]
        found = _QUESTIONS.search(" ".join(words))
    if not found and len(text) >= _LONGEST_WORD:
        found = _LONG_WORD.search(text)
    return found[0] if found else ""


def _misread(text: str) -> str:
    """Give the first letters of a text that is UTF-8 when its characters are taken for bytes."""
    if text.isascii():
        return ""
    try:
        right = text.translate(_BYTES).encode("latin-1").decode()
    except UnicodeError:
        return ""
    found = _BEYOND_ASCII.findall(right)
    if sum(map(len, found)) < _FEWEST_MISREAD or _RARE.search("".join(found)):
        return ""
    first = _BEYOND_ASCII.search(text)
    return first[0] if first else ""
