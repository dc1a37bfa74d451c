"""A line of text -> its sentences: Chinese and Japanese by a rule of our own, others by sentencex.

Only places to cut are looked for: a sentence is a slice of its line, never another text. Chinese
marks end a sentence in any line; what is left and is not Chinese or Japanese goes to sentencex, so
that a line may hold both. Its cuts are corrected by what stands before and behind them; the
abbreviations of nineteen languages are in `abbreviations.toml`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from xmine.errors import OptionError
from xmine.text.folding import HAN
from xmine.text.languages import UNKNOWN_LANGUAGE, read_table, short_code

# Languages that write ordinal numbers with a full stop, where sentencex cuts behind `am 3.`.
_ORDINALS = frozenset("cs da de et fi hr hu lv nb no pl sk sl sr tr".split())
_ORDINAL = re.compile(r"\d{1,2}\.")
_ITEM = re.compile(r"\s*\(?(?:(?:\d{1,3}\.)+|(?:[^\W\d_]|[IVXLC]+)\.)\s*")  # number of an item
_NUMBERED = re.compile(r"\s*(\(?)(\d{1,3}|[A-Ya-y])([.)])\s+")
_ITEM_IN_BRACKETS = re.compile(r"\((\w{1,4})\)")  # behind which sentencex cuts no more
_NUMBER = re.compile(r"[(\[№§]?\s?[^\W\d_]{0,2}[-.]?\d|(?:[IVXLC]{2,}|[VX])\b")
_CLOSES = re.compile(r"[,;:)\]}!?.%،؛]|[»”]\s")  # no sentence begins with these
_CYRILLIC, _LETTER = re.compile(r"[\u0400-\u042f]\."), re.compile(r"[^\W\d_]\.")
# The first letter behind dashes and quotes, but for iPhone and 's Avonds.
_FIRST = re.compile(r"[\"“„«»'‘’–— -]*(?![^\W\d_]+[A-Z]|(?<=['’])\w\w? [A-Z])([^\W\d_])")
_PARTS = re.compile(r"[^\s'’‘\"“„«»(\[{–—]+")  # words without what stands before them
_JOINED = re.compile(r"(?:\(([^()]*[.!?])\)|\.)\s+")  # a remark, or any full stop
# What is a space to sentencex: quotes, as it cuts nothing between one and the next; and white space
# whose bytes it counts wrongly.
_HIDDEN = re.compile('["“”„«»\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]')
_OPENED = re.compile(r"\s([\"'“„«»‘’]+|«\s*)$")  # quotes of the sentence that follows
WITHOUT_MARKS = ("km", "lo", "th")  # languages whose sentences end with a space or with nothing
# Chinese characters and kana; and all that is written without spaces, for classes of regular
# expressions.
_EAST = HAN + "\u3041-\u30ff"
UNSPACED = _EAST + "\u0e01-\u0edf\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
# Between these, lines are put together without a space.
_FULL_WIDTH = re.compile(rf"[{HAN}\u3001-\u30ff\uff01-\uff60“”‘’…—]")

_BRACKETS = dict(zip("（(【〔［[《〈", "）)】〕］]》〉", strict=True))
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

_ONE_CASE = ("ar", "fa", "he", "hi", "ja", "ko", "ur", "zh")  # a Latin word begins with any letter
# Marks that probably end a sentence, and how many a line has that holds a chapter.
_END, _CHAPTER = re.compile(r"[^\W\d_]{2}[.!?؟।]+[\"”»’)]*(?=\s|$)|[。！？]"), 10
_LONGEST = 40  # characters of abbreviations that stand together
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
    if code in WITHOUT_MARKS:
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


def check_chapters(name: str, texts: Sequence[str]) -> list[str]:
    """Say that most of a text stands in lines of many sentences; about a thousand are looked at."""
    some = texts[:: max(1, len(texts) // 1000)]
    long = [text for text in some if len(_END.findall(text)) >= _CHAPTER]
    if 2 * sum(map(len, long)) <= sum(map(len, some)):
        return []
    most = max(len(_END.findall(text)) for text in long)
    return [f"{name}: lines of up to {most:,} sentences; --segment cuts lines into sentences"]


def _pieces(text: str, language: str) -> Iterator[str]:
    """Cut at line breaks, then at Chinese marks, then as sentencex does; joined, the text."""
    for line in _LINE_BREAK.split(text):
        for piece in _chinese(line):
            chinese = len(_CHINESE.findall(piece))
            if chinese >= (len(_WORD.findall(piece)) if chinese else bool(_WORD.search(piece))):
                yield piece
            else:
                for item in _items(piece):
                    yield from _others(item, language)


def _items(text: str) -> Iterator[str]:
    """Cut before each number of a list that counts on within a line: 1. …. 2. …. or a) …. b) …."""
    start, item = 0, _NUMBERED.match(text)
    while item:
        label = str(int(item[2]) + 1) if item[2].isdecimal() else chr(ord(item[2]) + 1)
        end = rf"[.!?;]\s+(?={re.escape(item[1])}{label}{re.escape(item[3])}\s)"
        found = re.compile(end).search(text, item.end())
        stop = found.end() if found else len(text)
        yield text[start:stop]
        start, item = stop, _NUMBERED.match(text, stop) if found else None
    if start < len(text):
        yield text[start:]


def _chinese(text: str) -> Iterator[str]:
    """Cut behind Chinese marks and the quotes and brackets that close behind them."""
    start = counted = quotes = 0
    for mark in () if text.isascii() else _MARK.finditer(text):
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
    """Cut as sentencex does, but where a sentence goes on; and where one ends against sentencex."""
    from sentencex import segment as cut

    has_capitals = (
        language not in _ONE_CASE and text != text.lower()
    )  # else small ones tell nothing
    start = at = 0
    for piece in cut(language, _ITEM_IN_BRACKETS.sub(r" \1 ", _HIDDEN.sub(" ", text))):
        at += len(piece)
        if at < len(text):
            first = _FIRST.match(text, at) if has_capitals else None
            if (first and first[1].islower()) or _goes_on(text, start, at, language):
                continue
        for stop in (*_joined(text, start, at, language), at):
            if stop < len(text) and (opened := _OPENED.search(text, max(start, stop - 4), stop)):
                stop = opened.start(1)
            if stop > start:
                yield text[start:stop]
                start = stop
    yield text[start:]


@cache
def _abbreviations(language: str) -> tuple[frozenset[str], ...]:
    """Read those behind which no sentence ends, those with none before a number, and others."""
    tables = read_table("abbreviations")
    both = tables["all"], tables.get(language, {})
    return tuple(
        frozenset(word for each in both for word in each.get(kind, "").split())
        for kind in ("never", "number", "ends")
    )


def _goes_on(text: str, start: int, at: int, language: str) -> bool:
    """Tell whether the sentence from `start` goes on at a place where sentencex cuts."""
    if _ITEM.fullmatch(text, start, at) or _CLOSES.match(text, at):
        return True
    words = _PARTS.findall(text, max(start, at - _LONGEST), at)
    if not words or words[-1][-1] != ".":
        return False
    never, number, _ = _abbreviations(language)
    if language in _ORDINALS and _ORDINAL.fullmatch(words[-1]):
        return number.isdisjoint(_endings(words[:-1]))  # kap. 3.
    # Of the letters of names sentencex knows Latin ones; т. е.
    letters = _LETTER.fullmatch(words[-1]) and _LETTER.match(text, at)
    held = never | number if _NUMBER.match(text, at) else never
    return bool(letters or _CYRILLIC.fullmatch(words[-1])) or not held.isdisjoint(_endings(words))


def _endings(words: list[str]) -> list[str]:
    """Give the last word, and the last two and three where all are abbreviated, as in the table."""
    found = [each.lower()[:-1] for each in words[-1:]]
    for word in words[-2:-4:-1]:
        if word[-1] != ".":
            break
        found.append(word.lower() + found[-1])
    return found


def _joined(text: str, start: int, stop: int, language: str) -> Iterator[int]:
    """Find where sentences end that sentencex joins: behind `etc.`, and behind one in brackets."""
    never, _, ends = _abbreviations(language)
    for mark in _JOINED.finditer(text, start, stop):
        at, end = mark.end(), mark.start() + 1
        if at == stop or not text[at : at + 3].lstrip('"“„«‘¿¡')[:1].isupper():
            continue
        words = _PARTS.findall(mark[1] or text[max(start, end - _LONGEST) : end])
        if not mark[1] and len(words) > 1 and not ends.isdisjoint(_endings(words)):
            yield at
        is_whole = len(words) > 2 or not text[start : end - 1].strip()
        if mark[1] and is_whole and never.isdisjoint(_endings(words)):
            yield at


def join(texts: Iterable[str]) -> str:
    """Put lines together, with a space between but where Chinese or Japanese text meets."""
    whole = ""
    for text in map(str.strip, texts):
        whole += " " * are_apart(whole, text) + text
    return whole


def are_apart(before: str, after: str) -> bool:
    """Tell whether a space stands between two texts that are put together."""
    if not before or not after:
        return False
    return not (_FULL_WIDTH.match(before[-1]) and _FULL_WIDTH.match(after[0]))
