"""A line of text -> its sentences: Chinese and Japanese by a rule of our own, others by sentencex.

Only places to cut are looked for: a sentence is a slice of its line, never another text. Chinese
marks end a sentence in any line; what is left and is not Chinese or Japanese goes to sentencex, so
that a line may hold both.
"""

import re
from collections.abc import Iterable, Iterator

from xmine.errors import OptionError
from xmine.text.folding import HAN
from xmine.text.languages import UNKNOWN_LANGUAGE, short_code

# Languages that write ordinal numbers with a full stop, where sentencex cuts behind `am 3.`.
_ORDINALS = frozenset("cs da de et fi hr hu lv nb no pl sk sl sr tr".split())
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,2}\.\s+$")
_TITLE = re.compile(r"(?:^|[\s«(])MM?\.\s+$")  # of French
_REMARK = re.compile(r"\s*\([^()]*[.!?]\)\s+")  # a sentence in brackets
_OPENED = re.compile(r'\s("+)$')  # quotes of the sentence that follows
_WITHOUT_MARKS = ("km", "lo", "th")  # languages whose sentences end with a space or with nothing
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
# belong to sentencex unless a Chinese character or kana stands before or, after white
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
_WORD = re.compile(rf"[^\W\d_{_EAST}]+")
_CHINESE = re.compile(f"[{_EAST}]")

_LONGEST_REMARK = 200  # brackets farther apart belong to no remark, or were forgotten


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
        OptionError: no mark ends the sentences of the language.
    """
    code = short_code(language)
    if code in _WITHOUT_MARKS:
        raise OptionError(
            f"--segment cannot cut text in {language}",
            "no mark ends its sentences: cut the text before, a sentence to a line",
        )
    spans: list[tuple[int, int]] = []
    at = 0
    for piece in _pieces(text, "en" if code == UNKNOWN_LANGUAGE else code):
        start, stop = at + len(piece) - len(piece.lstrip()), at + len(piece.rstrip())
        at += len(piece)
        if start >= stop:
            continue
        if spans and not any(map(str.isalnum, piece)):
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return [(start, text[start:stop]) for start, stop in spans]


def _pieces(text: str, language: str) -> Iterator[str]:
    """Cut at line breaks, then at Chinese marks, then as sentencex does; joined, the text."""
    for line in _LINE_BREAK.split(text):
        for piece in _chinese(line):
            if len(_CHINESE.findall(piece)) >= len(_WORD.findall(piece)):
                yield piece
            else:
                yield from _others(piece, language)


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


def _others(text: str, language: str) -> Iterator[str]:
    """Cut as sentencex does, but not behind ordinal numbers; and behind sentences in brackets.

    Straight quotes are hidden from sentencex, which cuts nothing between one and the next.
    """
    from sentencex import segment as cut

    start = at = 0
    for piece in cut(language, text.replace('"', " ")):
        at += len(piece)
        held = text[start:at]
        if language in _ORDINALS and _ORDINAL.search(held):
            continue
        if language == "fr" and _TITLE.search(held):
            continue
        if remark := _REMARK.match(held):
            yield remark[0]
            start += remark.end()
        opened = _OPENED.search(text[start:at])
        stop = start + opened.start(1) if opened and at < len(text) else at
        if stop > start:
            yield text[start:stop]
            start = stop
    yield text[start:]


def join(texts: Iterable[str]) -> str:
    """Put lines together, with a space between but where Chinese or Japanese text meets."""
    whole = ""
    for text in map(str.strip, texts):
        apart = whole and text and not (_FULL_WIDTH.match(whole[-1]) and _FULL_WIDTH.match(text[0]))
        whole += " " * bool(apart) + text
    return whole
