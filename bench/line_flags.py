"""Right lines, pairs and messages, and such with a fault -> what the flags of texts alone mark."""

import gettext
import gzip
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np

from xmine.files.reading import read_lines
from xmine.flags.near_copies import letters_of
from xmine.flags.negation import negators
from xmine.flags.numbers import reader
from xmine.flags.numbers.number import exactly, plain
from xmine.flags.placeholders import differing
from xmine.flags.reading import compared
from xmine.flags.scripts import foreign_lines
from xmine.text.folding import nfkc, without_markup
from xmine.text.languages import ISO_639_3, scripts_of

LANGUAGES = "ar cs de es fr hi id it ja ko nl pl pt ru sv tr uk vi zh".split()
# The language of a side, and that of the lines among them.
PAIRS = "de nl, nl de, es pt, pt es, ru uk, uk ru, cs pl, pl cs, it fr, fr it".split(", ")
FEWEST, LEAST, MOST = 20, 300, 3000  # letters of a line; lines
_TOKEN = re.compile(r"%(?:\(\w+\)|\d\$)?[sd]|\{\w*\}|\$\{\w+\}|</?(?:a|b|i|em|strong|code|p)>")
MONTH = "January|February|March|April|June|July|August|September|November|December"
WEEKDAY = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday"
AUXILIARY = "is|are|was|were|will|would|can|could|should|must|has|have|had|may|might"
# Where English is changed, in the second group; and what stands there then, if no other digit.
PLANTED = {
    "decimal": (r"(?<![.,\d])(\d+\.\d*)(\d)(?![.,]?\d| [mbt][irn])", None),
    "million": (r"(?<![.,\d])(\d+(?:\.\d+)?) (million)\b", "billion"),
    "months": (rf"()\b({MONTH})\b", "October"),
    "weekdays": (rf"()\b({WEEKDAY})\b", "Sunday"),
    "day": (rf"\b(?:{MONTH}) (\d?)(\d)(?![.,:]?\d)", None),
    "not added": (rf"()\b(?:{AUXILIARY})()(?= [a-z])", " not"),
    "not left out": (r"()( (?:not|never)\b|n['’]t\b)", ""),
}
Pair = tuple[str, str]
# The name of a flag, a row and a column of its table, and which of some texts have the flag.
Marks = tuple[str, str, str, list[bool]]


def measured(data: Path, folders: list[Path]) -> dict[str, dict[str, dict[str, float]]]:
    """Measure the percentage of texts that have a flag, and of how many, in a table for each flag.

    Of messages of gettext, faults are planted into those that are right without a flag; of pairs,
    where the other side has the same number, names a month or a weekday, or negates as much.
    """
    tables: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for flag, row, column, marks in chain(_lines(data), _pairs(data), _messages(folders)):
        share = {column: round(100 * float(np.mean(marks)), 2)} if marks else {}
        tables[flag][row] |= {**share, f"of {column}": len(marks)}
    return tables


def families(data: Path, code: str) -> dict[str, list[Pair]]:
    """Read right pairs of English and a language: what people say, news, and manuals."""
    long = {"zh": "cmn"}.get(code, ISO_639_3.get(code, ""))
    news = [*data.glob(f"newstest/*.{code}"), *data.glob(f"newstest2019/*.{code}")]
    said = [data / f"tatoeba/tatoeba.{long}-eng.{each}" for each in ("eng", long)]
    files = {"said": [said], "news": [[each.with_suffix(".en"), each] for each in news]}
    files["ntrex"] = [[data / f"ntrex/{each}.txt.gz" for each in ("en", code)]]
    found = {
        name: [
            pair
            for both in some
            if all(map(Path.exists, both))
            for pair in zip(*map(read_lines, both), strict=True)
        ]
        for name, some in files.items()
    }
    if (path := data.parent / f"train/en-{code}.tsv.gz").exists():
        rows = (row.split("\t") for row in gzip.decompress(path.read_bytes()).decode().split("\n"))
        docs = [row for row in rows if len(row) > 2 and row[2].endswith("-docs")]
        found["docs"] = [(row[0], row[1]) for row in docs]
    return found


def _lines(data: Path) -> Iterator[Marks]:
    """Look for `language` in lines of another language and of the own, of twenty letters."""
    alone = [path.name.split(".")[0] for path in sorted((data / "ntrex").glob("*.gz"))]
    own_ones = [f"{code} {code}" for code in {*" ".join(PAIRS).split(), *alone} - {"en"}]
    for own, other in map(str.split, sorted([*PAIRS, *own_ones])):
        marks = foreign_lines(own, scripts_of(own, ()))
        for kind, pairs in families(data, other).items():
            lines = [nfkc(without_markup(line)) for _, line in pairs if kind != "news"]
            lines = [line for line in lines if len(letters_of(line)) >= FEWEST]
            if len(lines) >= LEAST:
                lines = Random(1).sample(lines, min(len(lines), MOST))
                found = marks(lines, list(map(letters_of, lines)))
                yield "language", f"{other} among {own}", kind, found


def _pairs(data: Path) -> Iterator[Marks]:
    """Look for `number` and `negation` in right pairs, and in those with English changed."""
    for code in LANGUAGES:
        for kind, pairs in families(data, code).items():
            for name in ("right", *PLANTED) if kind in ("said", "news") else ():
                some = pairs
                if name != "right":
                    some = [each for pair in pairs if (each := changed(name, pair, code))]
                flags = ["negation"] * (name[:3] in ("rig", "not")) + ["number"] * (
                    name[:3] != "not"
                )
                texts = [source for source, _ in some], [target for _, target in some]
                found = compared(texts, ("en", code), names=flags)
                for flag in flags:
                    yield flag, f"{code} {kind}", name, found[flag].tolist()


def changed(name: str, pair: Pair, code: str) -> Pair | None:
    """Change the English of a pair; None where the other side does not have it."""
    source, text = pair[0], reader(code).adapted(plain(pair[1]))
    where, new = PLANTED[name]
    found = re.search(where, source)
    if not found:
        return None
    (before, old), (start, end) = found.groups(), found.span(2)
    new = str(9 - int(old)) if new is None else new
    if name in ("months", "weekdays"):
        seen = bool(getattr(reader(code), name)(text))
    elif name.startswith("not"):
        ours, theirs = negators("en"), negators(code)
        assert ours and theirs
        negated = len(ours.plain.findall(source)), bool(theirs.plain.search(text))
        seen = negated == (len(new) == 0, not new)
    else:
        value = float(before + old) if old.isdecimal() else float(before) * 1e6
        known = (each.readings | each.scaled for each in reader(code).digits(text))
        seen = any(exactly({value}) <= each for each in known)
    if not seen or (new and before + new in source + text):  # the other side may mean that one
        return None
    return source[:start] + new + source[end:], pair[1]


def _messages(folders: list[Path]) -> Iterator[Marks]:
    """Look for `placeholder` in messages, and in those with a placeholder spoilt."""
    for code in sorted({*" ".join(PAIRS).replace("pt", "pt_BR").split()}):
        marks, random = {"right": list[bool]()}, Random(1)
        for path in sorted(path for each in folders for path in each.rglob(f"{code}/*/*.mo")):
            for source, target in messages(path):
                marks["right"].append(differing(source, target) is not None)
                for name, text in spoilt(target, random) if not marks["right"][-1] else ():
                    marks.setdefault(name, []).append(differing(source, text) is not None)
        yield from (("placeholder", code, name, found) for name, found in marks.items())


def spoilt(text: str, random: Random) -> Iterator[tuple[str, str]]:
    """Give a text with one of its placeholders dropped, doubled, renamed, and of another type."""
    token = random.choice(list(_TOKEN.finditer(text)))
    before, after, written = text[: token.start()], text[token.end() :], token[0]
    for name, new in {
        "dropped": "",
        "doubled": written * 2,
        "renamed": re.sub("[A-Za-z]{2,}", lambda name: name[0][::-1] + "x", written),
        "type": written[:-1] + {"s": "d", "d": "s"}.get(written[-1], written[-1]),
    }.items():
        if new != written:
            yield name, before + new + after


def messages(path: Path) -> Iterator[Pair]:
    """Read the messages of a catalogue that have a placeholder on both sides, not their plurals."""
    try:
        with path.open("rb") as file:
            told = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    except UnicodeDecodeError:  # not in its character set
        return
    for source, target in told.items():
        if isinstance(source, str) and all(map(_TOKEN.search, (source, target))):
            yield source.split("\x04")[-1], target
