"""Evaluation data -> faulty lines to plant into it, for bench/flags.py."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from random import Random

from xmine.evaluation.data import DataFolder
from xmine.evaluation.readers.bucc import find_bucc
from xmine.files.reading import read_lines

Pair = tuple[str, str]
Lines = list[str]

_DIGITS = re.compile(r"\d+")
_MONTHS = (
    "January February March April May June July August September October November December"
).split()
TEMPLATES = (
    (
        "Page {page} of 512 - printed on {month} {day}, {year} - all rights reserved",
        "第{page}页，共512页，{year}年{number}月{day}日印刷，出版社保留所有权利",
    ),
    (
        "Click here to read the other {page} comments, or log in to post your own ({month} {day}).",
        "点击此处阅读其余{page}条评论，或登录后发表您的评论（{number}月{day}日）。",
    ),
)
NAMES = (
    "Ada Ben Cleo Dan Eva Finn Gwen Hal Iris Jon".split(),
    "艾达 本恩 克莉 丹尼 伊娃 芬恩 格温 哈尔 艾瑞 乔恩".split(),
)
LETTER = (
    "Dear {} {} {}, please sign in or subscribe to go on reading this article.",
    "亲爱的{}·{}·{}，请登录或订阅后继续阅读本文。",
)
REPEATS = 500
_NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve twenty thirty".split()
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b")
_NUMERAL = re.compile("[二两三四五六七八九十]")


@dataclass
class Fault:
    """Lines that were planted for a flag."""

    flag: str  # the flag that is to find them
    name: str  # what they are
    source_lines: Lines = field(default_factory=list)  # to be added to the two files
    target_lines: Lines = field(default_factory=list)  # to be added to the two files
    # the pairs that count, where a fault is one of pairs, and a number for each; variants of one
    # pair share it. Without them every pair with one of the lines counts
    pairs: dict[Pair, int] = field(default_factory=dict)

    def is_in(self, pair: Pair) -> bool:
        """Tell whether a mined pair holds the fault."""
        if self.pairs:
            return pair in self.pairs
        return pair[0] in self._lines[0] or pair[1] in self._lines[1]

    @cached_property
    def _lines(self) -> tuple[set[str], set[str]]:
        return set(self.source_lines), set(self.target_lines)


def pairs_of_lines(data: Path, english: str, chinese: str) -> tuple[Lines, Lines, list[Pair]]:
    """Read two aligned files: their lines, and the pairs of them."""
    sides = read_lines(data / english), read_lines(data / chinese)
    return *sides, list(zip(*sides, strict=True))


def pairs_of_bucc(data: Path) -> tuple[Lines, Lines, list[Pair]]:
    """Read the BUCC sample: its lines, and the gold pairs."""
    split = find_bucc(DataFolder(data)).read("zh-en", "sample")
    chinese, english = map(dict, split.sides)
    gold = [(english[second], chinese[first]) for first, second in sorted(split.gold)]
    return list(english.values()), list(chinese.values()), gold


def faults(data: Path, english: Lines, chinese: Lines, random: Random) -> list[Fault]:
    """Make faulty lines of everything but `high`.

    Args:
        data: the folder of evaluation data; lines of newstest2019 and flores101 are taken.
        english, chinese: the files that they are for; lines of them are copied.
        random: draws.
    """
    news = pairs_of_lines(data, "newstest2019/ref.en", "newstest2019/ref.zh")[2]
    random.shuffle(news)
    numbered = [pair for pair in news if all(map(_DIGITS.search, pair))][:400]
    rest = [pair for pair in news if not any(map(_DIGITS.search, pair))]
    used = {*numbered, *rest[:400]}
    worded = [
        pair
        for pair in news
        if pair not in used and _NUMBER_WORD.search(pair[0]) and _NUMERAL.search(pair[1])
    ]
    flores = {
        code: read_lines(data / f"flores101/dev/{code}.dev")
        for code in ("eng", "zho_simpl", "rus", "deu", "ces")
    }
    originals = random.sample(english, 200), random.sample(chinese, 200)
    return [
        _copies("copy", "same line on both sides", originals[0][:100], originals[1][:100], str),
        _copies("near-copy", "upper case", originals[0][100:150], [], str.upper),
        _copies(
            "near-copy",
            "other digits and punctuation",
            originals[0][150:],
            originals[1][100:150],
            lambda text: _DIGITS.sub("7", text).rstrip(".。") + " (2)!",
        ),
        _copies(
            "near-copy",
            "a word or two characters less",
            originals[0][100:150],
            originals[1][150:],
            lambda text: text.rsplit(" ", 1)[0] if text.isascii() else text[:8] + text[10:],
        ),
        Fault("language", "Russian", flores["rus"][:75], flores["rus"][75:150]),
        Fault("language", "German", flores["deu"][150:225], flores["deu"][225:300]),
        Fault("language", "Czech", flores["ces"][300:375], flores["ces"][375:450]),
        Fault(
            "language", "the other language", flores["zho_simpl"][450:525], flores["eng"][525:600]
        ),
        Fault(
            "language",
            "another, in capitals",
            [line.upper() for line in flores["deu"][600:675]],
            [line.upper() for line in flores["eng"][675:750]],
        ),
        _changed("number", "one number changed", numbered, lambda text: _swapped(text, random)),
        _words_changed(worded, random),
        _changed("length", "cut to a quarter", rest[:200], lambda text: text[: len(text) // 4]),
        *_boilerplate(),
        _twins(rest[200:400]),
    ]


def _copies(
    flag: str, name: str, english: Lines, chinese: Lines, change: Callable[[str], str]
) -> Fault:
    """Add changed lines of a side to the other one, beside the lines themselves."""
    pairs = [(line, change(line)) for line in english] + [(change(line), line) for line in chinese]
    return Fault(
        flag,
        name,
        [change(line) for line in chinese],
        [change(line) for line in english],
        {pair: row for row, pair in enumerate(pairs)},
    )


def _changed(flag: str, name: str, pairs: Iterable[Pair], change: Callable[[str], str]) -> Fault:
    """Change one side of each pair: the source of every other one."""
    changed = [
        (change(source), target) if row % 2 else (source, change(target))
        for row, (source, target) in enumerate(pairs)
    ]
    return Fault(
        flag,
        name,
        [source for source, _ in changed],
        [target for _, target in changed],
        {pair: row for row, pair in enumerate(changed)},
    )


def _swapped(text: str, random: Random) -> str:
    """Change one number of a text to another one with as many digits."""
    match = random.choice(list(_DIGITS.finditer(text)))
    digits = match.group()
    while int(digits) == int(match.group()):
        digits = "".join(
            random.choice("123456789" if not at else "0123456789") for at in range(len(digits))
        )
    return text[: match.start()] + digits + text[match.end() :]


def halved(pair: Pair, kind: int) -> Pair:
    """Leave out half of the words of the source, or half of the characters of the target.

    `kind` is 0 to 3: the end of the source, the end of the target, the start of either.
    """
    source, target = pair
    words, begins = source.split(), kind < 2
    if kind % 2:
        middle = len(target) // 2
        return source, target[: len(target) - middle] if begins else target[middle:]
    middle = len(words) // 2
    return " ".join(words[: len(words) - middle] if begins else words[middle:]), target


def _words_changed(pairs: list[Pair], random: Random) -> Fault:
    """Change one English number word of each pair, where the Chinese side has numerals."""
    changed = [
        (_NUMBER_WORD.sub(lambda match: _other_word(match[0], random), source, count=1), target)
        for source, target in pairs
    ]
    return Fault(
        "number",
        "one number word changed",
        [source for source, _ in changed],
        [target for _, target in changed],
        {pair: row for row, pair in enumerate(changed)},
    )


def _other_word(word: str, random: Random) -> str:
    return random.choice([each for each in _NUMBER_WORDS if each != word])


def _boilerplate() -> list[Fault]:
    """Make variants of a line on both sides, on one side, and a line without variants."""
    lines: list[tuple[Lines, Lines]] = []
    for english, chinese in TEMPLATES:
        filled = [
            {
                "page": row + 1,
                "day": row % 28 + 1,
                "year": 1990 + row % 30,
                "number": row % 12 + 1,
                "month": _MONTHS[row % 12],
            }
            for row in range(REPEATS)
        ]
        lines.append(
            (
                [english.format(**each) for each in filled],
                [chinese.format(**each) for each in filled],
            )
        )
    (english_pages, chinese_pages), (english_clicks, _) = lines
    letters = [
        [line.format(*each) for each in product(names, repeat=3)][:REPEATS]
        for line, names in zip(LETTER, NAMES, strict=True)
    ]
    exact = "This page was left blank on purpose.", "此页有意留白。"
    return [
        Fault("hub", "boilerplate, both sides", english_pages, chinese_pages),
        Fault("hub", "boilerplate, one side", english_clicks),
        Fault("hub", "boilerplate, names", letters[0], letters[1]),
        Fault("hub", "boilerplate, exact", [exact[0]] * REPEATS, [exact[1]] * REPEATS),
    ]


def _twins(pairs: list[Pair]) -> Fault:
    """Add each pair, and the pair with other case, punctuation and digits."""
    groups: dict[Pair, int] = {}
    sources: Lines = []
    targets: Lines = []
    for row, (source, target) in enumerate(pairs):
        ours, theirs = (
            (source, f"{row}. {source.upper()}"),
            (target, f"{row}、{target.rstrip('。')}！"),
        )
        sources += ours
        targets += theirs
        groups |= {(x, y): row for x in ours for y in theirs}
    return Fault("duplicate", "case, punctuation, digits", sources, targets, groups)
