"""Right and planted lines and messages -> what the flags `language` and `placeholder` mark."""

import gettext
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np

from xmine.flags.near_copies import letters_of
from xmine.flags.placeholders import differing
from xmine.flags.scripts import foreign_lines
from xmine.text.folding import nfkc, without_markup
from xmine.text.languages import ISO_639_3, scripts_of

# The language of a side, and that of the lines among them.
PAIRS = "de nl, nl de, es pt, pt es, ru uk, uk ru, cs pl, pl cs, it fr, fr it".split(", ")
FEWEST, LEAST, MOST = 20, 300, 3000  # letters of a line; lines
_TOKEN = re.compile(r"%(?:\(\w+\)|\d\$)?[sd]|\{\w*\}|\$\{\w+\}|</?(?:a|b|i|em|strong|code|p)>")
_NAME = re.compile(r"[A-Za-z]{2,}")
_TYPES = str.maketrans("sd", "ds")


def lines_of(data: Path, code: str) -> Iterator[tuple[str, list[str]]]:
    """Read lines of a language that have twenty letters, by kind: everyday, news, manuals."""
    name, kinds = ISO_639_3.get(code, ""), dict[str, list[str]]()
    if (path := data / f"tatoeba/tatoeba.{name}-eng.{name}").exists():
        kinds["tatoeba"] = path.read_text("utf-8").split("\n")
    if (path := data / f"ntrex/{code}.txt.gz").exists():
        kinds["ntrex"] = gzip.decompress(path.read_bytes()).decode().split("\n")
    if (path := data.parent / f"train/en-{code}.tsv.gz").exists():
        rows = (row.split("\t") for row in gzip.decompress(path.read_bytes()).decode().split("\n"))
        kinds["docs"] = [row[1] for row in rows if len(row) > 2 and row[2].endswith("-docs")]
    for kind, lines in kinds.items():
        some = [nfkc(without_markup(line)) for line in lines]
        some = [line for line in some if len(letters_of(line)) >= FEWEST]
        if len(some) >= LEAST:
            yield kind, Random(1).sample(some, min(len(some), MOST))


def marked_lines(data: Path) -> dict[str, dict[str, float]]:
    """Measure the percentage of lines with the flag `language`: of another one, and of the own."""
    found = dict[str, dict[str, float]]()
    alone = [path.name.split(".")[0] for path in sorted((data / "ntrex").glob("*.gz"))]
    for pair in [*PAIRS, *(f"{code} {code}" for code in [*{*" ".join(PAIRS).split()}, *alone])]:
        own, other = pair.split()
        marks = foreign_lines(own, scripts_of(own, ()))
        for kind, lines in lines_of(data, other) if own != "en" else ():
            share = 100 * float(np.mean(marks(lines, list(map(letters_of, lines)))))
            found.setdefault(f"{other} among {own}", {})[kind] = round(share, 2)
    return dict(sorted(found.items()))


def spoilt(text: str, random: Random) -> Iterator[tuple[str, str]]:
    """Give a text with one of its placeholders dropped, doubled, renamed, and of another type."""
    token = random.choice(list(_TOKEN.finditer(text)))
    before, after, written = text[: token.start()], text[token.end() :], token[0]
    for name, new in {
        "dropped": "",
        "doubled": written * 2,
        "renamed": _NAME.sub(lambda name: name[0][::-1] + "x", written),
        "type": written[:-1] + written[-1].translate(_TYPES),
    }.items():
        if new != written:
            yield name, before + new + after


def marked_messages(folders: list[Path]) -> dict[str, dict[str, float]]:
    """Measure the percentage of messages of gettext with the flag `placeholder`, by language.

    All that have a placeholder are `right`; faults are planted into those without the flag.
    """
    table = dict[str, dict[str, float]]()
    for code in sorted({*" ".join(PAIRS).replace("pt", "pt_BR").split()}):
        marks, random = {"right": list[bool]()}, Random(1)
        for path in sorted(path for each in folders for path in each.rglob(f"{code}/*/*.mo")):
            for source, target in messages(path):
                marks["right"].append(differing(source, target) is not None)
                for name, text in spoilt(target, random) if not marks["right"][-1] else ():
                    marks.setdefault(name, []).append(differing(source, text) is not None)
        table[code] = {"messages": len(marks["right"])} | {
            name: round(100 * float(np.mean(found)), 2) for name, found in marks.items()
        }
    return table


def messages(path: Path) -> Iterator[tuple[str, str]]:
    """Read the messages of a catalogue that have a placeholder on both sides, not their plurals."""
    try:
        with path.open("rb") as file:
            told = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    except UnicodeDecodeError:  # not in its character set
        return
    for source, target in told.items():
        if isinstance(source, str) and all(map(_TOKEN.search, (source, target))):
            yield source.split("\x04")[-1], target
