"""Evaluation data -> faulty lines to plant into it, for bench/flags.py."""

import re
from collections.abc import Callable, Iterable, Iterator
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
        _changed(
            "number", "one number changed", _by_turns(numbered, lambda text: _swapped(text, random))
        ),
        _changed(
            "number", "one number word changed", [(_other_word(x, random), y) for x, y in worded]
        ),
        _changed(
            "length", "cut to a quarter", _by_turns(rest[:200], lambda text: text[: len(text) // 4])
        ),
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


def _changed(flag: str, name: str, pairs: Iterable[Pair]) -> Fault:
    """Add changed pairs."""
    numbers = {pair: row for row, pair in enumerate(pairs)}
    sources, targets = ([pair[at] for pair in numbers] for at in (0, 1))
    return Fault(flag, name, sources, targets, numbers)


def _by_turns(pairs: Iterable[Pair], change: Callable[[str], str]) -> Iterator[Pair]:
    """Change one side of each pair: the source of every other one."""
    for row, (source, target) in enumerate(pairs):
        yield (change(source), target) if row % 2 else (source, change(target))


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


def _other_word(text: str, random: Random) -> str:
    """Change the first number word of an English text."""
    return _NUMBER_WORD.sub(
        lambda word: random.choice([each for each in _NUMBER_WORDS if each != word[0]]), text, 1
    )


def _twins(pairs: list[Pair]) -> Fault:
    """Add each pair, and the pair with other case, punctuation and digits."""
    variants = [
        ((source, f"{row}. {source.upper()}"), (target, f"{row}、{target.rstrip('。')}！"))
        for row, (source, target) in enumerate(pairs)
    ]
    sources, targets = ([text for each in variants for text in each[at]] for at in (0, 1))
    groups = {pair: row for row, both in enumerate(variants) for pair in product(*both)}
    return Fault("duplicate", "case, punctuation, digits", sources, targets, groups)
