"""The table bench/sure.tsv, and folders of text -> mining sets with a known truth.

A row names a set's texts, separated by spaces:

    eval/newstest/newstest2019.deu-eng.{en,de}   two files, aligned by line; up to the first tab
    eval/scripture/verses.tsv.gz:en,tr           two columns of a table with a header
    train/en-de.tsv.gz:wmt22-refs                the pairs of a source
    train/en-de.tsv.gz#git-docs,progit2          the short pairs of sources, no meaning twice
    eval/bucc2018                                BUCC's zh-en sample

and how many lines a side has, and how many of them have a translation: `*` is all of them, or as
many as chance gives where each side keeps its own random lines. The other lines are of pairs whose
other half is left out. The texts of a crawl end with one of a third language. A row with XX stands
for one of each of 31 languages.

Of aligned news, and of all sets without translations, a line that is said again on either side is
left out with its pair: two lines of one meaning would be right and count as wrong.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2s
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.evaluation.data import DataFolder
from xmine.evaluation.readers.bucc import find_bucc
from xmine.files.reading import read_lines
from xmine.flags.near_copies import letters_of
from xmine.text.sentences import folded

UNSEEN = "unseen"  # the group of sets to be mined once, when all else is decided
TABLE = Path(__file__).with_name("sure.tsv")
# Lines that pages repeat, on each side in English, and what of a crawl's lines they are.
_FRAMES = "Home|Log in|Contact us|Page {} of 40|Posted on {} March|Share|Read more|{} comments"
_FRAMED, _COPIED, _ESCAPED, _THIRD = 0.2, 0.05, 0.1, 0.05
_NEWS = "eval/newstest", "eval/wmt21", "eval/ntrex"
_SAID_AGAIN = 0.8  # share of the pairs of letters, as of the flag near-copy
_AT_ONCE = 1000
# Digests of lines that a translation of another line says too: in other words, by the same report,
# or in BUCC among the lines without a partner. They were among what was kept of sets without
# translations, and read.
_SAID_OTHERWISE = """cfbba950 3d948684 392fa986 0fd31df7 2ceb6927 23be7db8 998ab3fe 6e329ff1
47792c77 22258190""".split()
_FURTHER = """bg bn da el et fa fi he hr hu km kn lt ml mr ms my ne no pa ro sk sl sr sv sw ta te th
tl ur""".split()
_PARTS = re.compile(r"\s*[,;/]\s*")  # meanings of an entry
_WORD, _WIDE = re.compile(r"\w+"), re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
Pairs = list[tuple[str, str]]
Sides = tuple[list[str], list[str]]


class Text(NamedTuple):
    """Pairs, and lines of each side without a translation."""

    pairs: Pairs
    lone: Sides = ([], [])


class Row(NamedTuple):
    """A row of the table."""

    group: str
    family: str
    name: str
    texts: str
    source_lines: str
    target_lines: str
    right: str


class MiningSet(NamedTuple):
    """Two sides, and the keys of the texts of their gold pairs, see `folded`."""

    name: str
    family: str
    sides: Sides
    gold: set[tuple[str, str]]

    def thinned(self, share: float, repetition: int) -> "MiningSet":
        """Drop a share of the lines of both sides."""
        rng = np.random.default_rng([repetition, *self.name.encode()])
        left, right = (
            [each for each, out in zip(side, rng.random(len(side)) < share, strict=True) if not out]
            for side in self.sides
        )
        return self._replace(sides=(left, right), gold=_present(self.gold, (left, right)))


def rows(wanted: list[str], table: Path = TABLE) -> list[Row]:
    """Read the rows of some groups, families or names; unseen ones as a group alone.

    What is called unseen must not be mined by chance while settings are chosen.
    """
    with table.open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file, delimiter="\t")
    found = [
        Row(*(cell.replace("XX", code) for cell in line))
        for line in lines
        for code in (_FURTHER if "XX" in line[3] else [""])
    ]
    names = [each[:1] if each.group == UNSEEN else each[:3] for each in found]
    if unknown := {*wanted} - {name for some in names for name in some}:
        raise SystemExit(f"{table.name} has no set {', '.join(sorted(unknown))}")
    return [each for each, some in zip(found, names, strict=True) if {*wanted} & {*some}]


def sets(data: Path, row: Row, draws: int) -> Iterator[MiningSet]:
    """Draw a set so many times; a draw depends on its number and on the name alone."""
    texts = [read(data, each) for each in row.texts.split()]
    third = texts.pop().pairs if row.family == "crawl" else []
    left, right = ([line for each in texts for line in each.lone[side]] for side in (0, 1))
    pairs = [pair for each in texts for pair in each.pairs if not _is_said_otherwise(pair[0])]
    text = Text(pairs, ([line for line in left if not _is_said_otherwise(line)], right))
    for draw in range(draws):
        rng = np.random.default_rng([draw, *row.name.encode()])
        sides = _by_chance(row, text, rng) if row.right == "*" else _mixed(row, text, rng)
        name = row.name if draws == 1 else f"{row.name} {draw + 1}"
        keys = {(folded(one), folded(other)) for one, other in text.pairs}
        drawn = MiningSet(name, row.family, sides, _present(keys, sides))
        yield _crawled(drawn, third, rng) if third else drawn


@cache
def read(data: Path, text: str) -> Text:
    """Read a text, as the table names it."""
    if text.startswith("eval/bucc"):
        split = find_bucc(DataFolder(data / "eval")).read("zh-en", "sample")
        other, english = map(dict, split.sides)
        pairs = [(english.pop(right), other.pop(left)) for left, right in sorted(split.gold)]
        return Text(pairs, (list(english.values()), list(other.values())))
    if "#" in text:
        path, wanted = text.split("#")
        return Text(_entries(data / path, set(wanted.split(","))))
    if "{" in text:
        start, ends = text.split("{")
        names, end = ends.split("}")
        files = (read_lines(data / f"{start}{name}{end}") for name in names.split(","))
        aligned = zip(*([line.split("\t")[0] for line in each] for each in files), strict=True)
        pairs = [(one, other) for one, other in aligned if one and other]
        return Text(_said_once(pairs) if text.startswith(_NEWS) else pairs)
    path, wanted = text.split(":")
    table = [line.split("\t") for line in read_lines(data / path)]
    if path.startswith("train"):
        return Text([(line[0], line[1]) for line in table if line[2] == wanted])
    at, to = (table[0].index(name) for name in wanted.split(","))
    return Text([(line[at], line[to]) for line in table[1:]])


def _is_said_otherwise(line: str) -> bool:
    return blake2s(folded(line).encode(), digest_size=4).hexdigest() in _SAID_OTHERWISE


def _said_once(pairs: Pairs) -> Pairs:
    """Leave out a pair of which a side is, or nearly is, that of an earlier pair."""
    again = np.zeros(len(pairs), bool)
    for side in zip(*pairs, strict=True):
        again |= _near_earlier([letters_of(text) for text in side])
    return [pair for pair, out in zip(pairs, again, strict=True) if not out]


def _near_earlier(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Mark the texts that share most of their pairs of letters with one before them."""
    held = [{*map(str.__add__, text, text[1:])} for text in texts]
    times = Counter(each for some in held for each in some)
    columns = {each: at for at, each in enumerate(x for x in times if times[x] > 1)}
    table = np.zeros((len(texts), len(columns)), np.float32)
    for row, some in enumerate(held):
        table[row, [columns[each] for each in some if each in columns]] = 1
    sizes, found = np.array(list(map(len, held)), np.float32), np.zeros(len(texts), bool)
    for at in range(0, len(texts), _AT_ONCE):
        rows = slice(at, at + _AT_ONCE)
        near = 2 * (table[rows] @ table.T) >= _SAID_AGAIN * np.maximum(sizes[rows, None] + sizes, 1)
        found[rows] = np.tril(near, at - 1).any(axis=1)
    return found


def _entries(path: Path, sources: set[str]) -> Pairs:
    found, seen = Pairs(), set[tuple[int, str]]()
    for english, other, source in (line.split("\t")[:3] for line in read_lines(path)):
        if source in sources and _short(english) and _short(other):
            texts = enumerate((english, other))
            keys = {(side, folded(each)) for side, text in texts for each in _PARTS.split(text)}
            if not keys & seen:
                found.append((english, other))
                seen |= keys
    return found


def _short(text: str) -> bool:
    """Tell whether a text has one to three words; in Han and kana, two to nine letters."""
    return 2 <= len(text) <= 9 if _WIDE.search(text) else 1 <= len(_WORD.findall(text)) <= 3


def _by_chance(row: Row, text: Text, rng: np.random.Generator) -> Sides:
    wanted = (row.source_lines, row.target_lines)
    kept = (
        np.sort(rng.permutation(len(text.pairs))[: None if lines == "*" else int(lines)])
        for lines in wanted
    )
    left, right = ([text.pairs[at][side] for at in rows] for side, rows in enumerate(kept))
    return left + text.lone[0], right + text.lone[1]


def _mixed(row: Row, text: Text, rng: np.random.Generator) -> Sides:
    """Take pairs, halves of others, and lines without a translation; of texts that stand once."""
    known = {(folded(one), folded(other)): (one, other) for one, other in text.pairs}
    times = Counter(key for keys in known for key in enumerate(keys))
    once = [known[keys] for keys in known if all(times[key] == 1 for key in enumerate(keys))]
    pairs = [once[at] for at in rng.permutation(len(once))]
    right = int(row.right)
    pairs = pairs if right else _said_once(pairs)
    missing = [int(lines) - right for lines in (row.source_lines, row.target_lines)]
    own = min(len(pairs) - right, sum(missing)) / max(sum(missing), 1)
    if own < 0:
        raise SystemExit(f"{row.name}: {right} pairs of {len(pairs)}")
    middle = right + int(own * missing[0])
    last = middle + int(own * missing[1])
    sides = []
    for side, more in enumerate((pairs[right:middle], pairs[middle:last])):
        lines = [pair[side] for pair in (*pairs[:right], *more)]
        lone = [text.lone[side][at] for at in rng.permutation(len(text.lone[side]))]
        lines += lone[: right + missing[side] - len(lines)]
        if len(lines) + 1 < right + missing[side]:
            raise SystemExit(f"{row.name}: only {len(lines)} lines of side {side + 1}")
        sides.append([lines[at] for at in rng.permutation(len(lines))])
    return sides[0], sides[1]


def _crawled(plain: MiningSet, third: Pairs, rng: np.random.Generator) -> MiningSet:
    """Add what pages hold besides text, and lines of a third language, and escape some lines."""
    frames, sides, new = _FRAMES.split("|"), [], [dict[str, str](), dict[str, str]()]
    lines = [other for _, other in third]
    for number, side in enumerate(plain.sides):
        text = [f"{escape(line)}&nbsp;" if rng.random() < _ESCAPED else line for line in side]
        new[number] = {folded(a): folded(b) for a, b in zip(side, text, strict=True)}
        for at in rng.integers(len(frames), size=int(_FRAMED * len(side))).tolist():
            text.append(frames[at].format(rng.integers(1, 29)))
        if number:
            english = plain.sides[0]
            copied = rng.permutation(len(english))[: int(_COPIED * len(english))]
            text += [english[at] for at in copied]
        text += [lines[at] for at in rng.permutation(len(lines))[: int(_THIRD * len(side))]]
        sides.append([text[at] for at in rng.permutation(len(text))])
    gold = {(new[0][one], new[1][other]) for one, other in plain.gold}
    return plain._replace(sides=(sides[0], sides[1]), gold=gold)


def _present(pairs: set[tuple[str, str]], sides: Sides) -> set[tuple[str, str]]:
    left, right = ({folded(line) for line in side} for side in sides)
    return {(one, other) for one, other in pairs if one in left and other in right}
