"""A text -> the stretch of it that is markup, or that is garbled: no sentence that people read."""

import re

from xmine.text.folding import ENTITY, TAG, resolved

# A line of a page's program.
_SCRIPT = re.compile(
    r"\bfunction\s*\w*\([\w, ]*\)\s*\{|\bvar \w+ ?=.*;|\$\(['\"]|\{[^{}]*:[^{}]*;\s*\}"
)
# UTF-8 read as Latin-1 or Windows-1252: the first byte of a letter, and the next ones, which are
# letters beside signs as no word has them.
_NEXT = "\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_MISREAD = re.compile(
    f"[\u00c2-\u00df\u00d0\u00d1][{_NEXT}]|[\u00e0-\u00ef][{_NEXT}]{{2}}|\u00f0\u0178[{_NEXT}]{{2}}"
)
_FEWEST_MISREAD = 2  # "Â»" stands in text that is right
_LOST = re.compile("[\ufffd\x00-\x08\x0e-\x1f]")
# A question mark for each letter of a script, or for a letter with an accent: "caf? cr?me".
_QUESTIONS = re.compile(r"(?:\?{3,} ?){3,}|[a-z]\?[a-z](?=.*[a-z]\?(?:[a-z]|[ .,]\W*[a-z]))")
# Scripts that are written without spaces.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_LONGEST_WORD = 200
_LONG_WORD = re.compile(rf"[^\s{_UNSPACED}]{{{_LONGEST_WORD}}}")
_ADDRESS = re.compile(r"\S*(?:://|www\.|@)\S*")


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
    if not text.isascii():
        misread = [found[0] for found in _MISREAD.finditer(text)]
        if len(misread) >= _FEWEST_MISREAD:
            return misread[0]
    found = _LOST.search(text)
    if not found and "?" in text:
        found = _QUESTIONS.search(_ADDRESS.sub("", text))
    if not found and len(text) >= _LONGEST_WORD:
        found = _LONG_WORD.search(text)
    return found[0] if found else ""
