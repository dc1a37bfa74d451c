"""A line of text -> its sentences, Chinese and Japanese by a rule of our own, the rest by pysbd.

Only places to cut are looked for: a sentence is a slice of its line, never another text. Chinese
marks end a sentence in any line; what is left and is not Chinese or Japanese goes to pysbd, so that
a line may hold both.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from xmine.errors import OptionError
from xmine.extras import needs
from xmine.text.folding import HAN
from xmine.text.languages import UNKNOWN_LANGUAGE, short_code

# The rules of pysbd for a language: those of another one where pysbd has none, or where these do no
# better in a tenth of the time (Italian) or cut at commas (Arabic).
_RULES = {code: code for code in "am bg da de el en es fa fr hi hy kk mr my nl pl ru sk ur".split()}
_RULES |= dict.fromkeys(("ar", "id", "it", "ja", "ko", "pt", "vi", "zh", UNKNOWN_LANGUAGE), "en")
_RULES |= {"cs": "de", "tr": "de", "uk": "ru"}
# Chinese characters and kana; and all that is written without spaces, for classes of regular
# expressions.
_EAST = HAN + "\u3041-\u30ff"
UNSPACED = _EAST + "\u0e01-\u0edf\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
# Between these, lines are put together without a space.
_FULL_WIDTH = re.compile(rf"[{HAN}\u3001-\u30ff\uff01-\uff60“”‘’…—]")

_BRACKETS = {
    "（": "）",
    "(": ")",
    "【": "】",
    "〔": "〕",
    "［": "］",
    "[": "]",
    "《": "》",
    "〈": "〉",
}
_CLOSING = re.escape("”’」』＂〞" + "".join(_BRACKETS.values()))
_CLOSERS = re.compile(rf"(?:\s*[{_CLOSING}])+")
_QUOTE = re.compile('["“”]')

# Full-width marks and the Arabic question mark end a sentence wherever they stand. Half-width ones
# belong to the rules of pysbd unless a Chinese character or kana stands before or, after white
# space, behind them; a full stop ends nothing before a letter or a digit. A semicolon and an
# ellipsis end none: in English they stand inside sentences, and a sentence cut on one side alone
# finds no partner (cutting at semicolons loses 11 in 1,000 pairs of newstest2019 at `--threshold
# auto`).
_MARK = re.compile(
    rf"(?:[。｡！？؟]|(?<=[{_EAST}])[!?]|[!?](?=[{_CLOSING}\"]*\s+[{_EAST}])"
    rf"|(?<=[{_EAST}])[.．](?![A-Za-z0-9０-９.．]))[。｡！？؟!?.．]*"
)
_GOES_ON = re.compile(r"\s*[，、；：,;:—）)]")
# “快走！”他对我们说。 is one sentence: a quotation and who said it; 「走れ！」と言った。, too.
_WHO_SAID_IT = re.compile(rf"[{HAN}]{{1,8}}?(?:说|道|问|喊|叫|答|说道|說|問)[。，：,]|と|って|など")
_LINE_BREAK = re.compile("(?<=[\n\r\x0b\x0c\x85\u2028\u2029])")
_LOOSE_QUOTE = re.compile(r"[\"”’]\s+")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(rf"[^\W\d_{_EAST}]+")
_CHINESE = re.compile(f"[{_EAST}]")

_LONGEST_REMARK = 200  # brackets farther apart belong to no remark, or were forgotten

# pysbd takes time that grows with the square of the length: 4 ms for 2,000 characters, 40 ms for
# 10,000. A longer text is read through a window.
_WINDOW = 2000
_OVERLAP = 200  # so much of a window without an end is read again, in case one lies at its edge
# What pysbd marks places with; it loses them from a text that holds them.
_MASK = dict.fromkeys(map(ord, "∯∮♟♝ǃ♨☝ƪ⁃✂☏☉☈☇☄ȹȸ⎋⌬♭♬ᓰᓱᓳᓴᓷᓸ"), "_")


def segment(text: str, language: str = UNKNOWN_LANGUAGE) -> list[tuple[int, str]]:
    """Cut a line into sentences.

    Args:
        text: the line.
        language: its code; where it is not known, the rules of English are taken.

    Returns:
        Each sentence with its offset in the line, in characters from 0:
        `text[offset : offset + len(sentence)] == sentence`. White space around a sentence belongs
        to none; a piece without a letter or a digit stays with the sentence before it.

    Raises:
        OptionError: there are no rules for the language.
        XmineError: there is text that is not Chinese or Japanese, and pysbd is not installed.
    """
    rules = _rules(language)
    spans: list[tuple[int, int]] = []
    at = 0
    for piece in _pieces(text, rules):
        start, stop = at + len(piece) - len(piece.lstrip()), at + len(piece.rstrip())
        at += len(piece)
        if start >= stop:
            continue
        if spans and not any(map(str.isalnum, piece)):
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return [(start, text[start:stop]) for start, stop in spans]


def _rules(language: str) -> str:
    code = short_code(language)
    if code not in _RULES:
        known = ", ".join(sorted(_RULES.keys() - {UNKNOWN_LANGUAGE}))
        raise OptionError(
            f"--segment cannot cut text in {language}",
            f"it can in {known}; cut the others before, a sentence to a line",
        )
    return _RULES[code]


def _pieces(text: str, rules: str) -> Iterator[str]:
    """Cut at line breaks, then at Chinese marks, then as pysbd does; joined they are the text."""
    for line in _LINE_BREAK.split(text):
        for piece in _chinese(line):
            if len(_CHINESE.findall(piece)) >= len(_WORD.findall(piece)):
                yield piece
            else:
                yield from _others(piece, rules)


def _chinese(text: str) -> Iterator[str]:
    """Cut behind Chinese marks and the quotes and brackets that close behind them."""
    start = counted = quotes = 0
    for mark in _MARK.finditer(text):
        quotes += len(_QUOTE.findall(text, counted, mark.end()))
        counted = stop = mark.end()
        if text.startswith('"', stop) and quotes % 2:  # it closes one; else it opens the next
            stop += 1
        if closers := _CLOSERS.match(text, stop):
            stop = closers.end()
        if stop > start and _ends(text, start, mark.end(), stop):
            stop = _past_space(text, stop)
            yield text[start:stop]
            start = stop
    yield text[start:]


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _ends(text: str, start: int, mark: int, stop: int) -> bool:
    """Tell whether the sentence from `start` ends behind a mark and what closes behind it."""
    if _GOES_ON.match(text, stop):
        return False
    first, near = _past_space(text, start), max(start, mark - _LONGEST_REMARK)
    for opener, closer in _BRACKETS.items():  # a remark (what else?) or a title ends no sentence
        opened = text.rfind(opener, near, mark)
        if opened < 0 or text.rfind(closer, opened, mark) > 0:
            continue
        closed = text.find(closer, mark, mark + _LONGEST_REMARK)
        if closed >= stop or (closed > 0 and not (opener in "（(【" and opened == first)):
            return False
    return not (stop > mark and _WHO_SAID_IT.match(text, stop))


def _others(text: str, rules: str) -> Iterator[str]:
    """Cut as pysbd does, through a window that starts again at the last sentence it saw."""
    start = at = 0
    while at < len(text):
        window = text[at : at + _WINDOW]
        cuts = [at + cut for cut in _cuts(window, rules)]
        for cut in cuts:
            yield text[start:cut]
            start = cut
        if at + _WINDOW >= len(text):
            break
        blank = window.rfind(" ", 0, -_OVERLAP)
        at = cuts[-1] if cuts else at + (blank if blank > 0 else _WINDOW)
    yield text[start:]


def _cuts(text: str, rules: str) -> list[int]:
    """Find where pysbd starts a new sentence; not within a word, which it does in addresses."""
    # White space of more than one character hides the ends of quotations from it.
    joined = _SPACES.sub(" ", text.strip().translate(_MASK))
    letters = [place for place, char in enumerate(text) if not char.isspace()]
    cuts, at = [], 0
    # Its `segment` looks for the places too, slower by half and not always in order.
    for piece in _pysbd(rules).processor(joined).process():
        found = joined.find(piece.strip(), at)
        if found < 0:  # pysbd changed it: it stays with the piece before it
            continue
        stop = found + len(piece.strip())
        loose = _LOOSE_QUOTE.match(joined, found, stop)  # `Go. " He went.`: it ends what was said
        start = loose.end() if loose else found
        if at and joined[start - 1] == " ":
            cuts.append(letters[start - joined.count(" ", 0, start)])
        at = stop
    return cuts


@cache
def _pysbd(rules: str) -> Any:  # noqa: ANN401
    needs("--segment of this language", "pysbd")
    with warnings.catch_warnings():  # its regular expressions have escapes that Python warns about
        warnings.simplefilter("ignore")
        import pysbd
    return pysbd.Segmenter(language=rules, clean=False)


def join(texts: Iterable[str]) -> str:
    """Put lines together, with a space between but where Chinese or Japanese text meets."""
    whole = ""
    for text in map(str.strip, texts):
        apart = whole and text and not (_FULL_WIDTH.match(whole[-1]) and _FULL_WIDTH.match(text[0]))
        whole += " " * bool(apart) + text
    return whole
