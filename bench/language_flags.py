"""Translations in eighteen languages -> what the flags of single pairs say, right and wrong.

    python bench/language_flags.py EVAL [--json OUT.json]

EVAL is a folder with `newstest/NAME.SRC-TGT.{en,XX}`, newstest2019 and `tatoeba/`. Newstests are
read where a language has some, else Tatoeba, whose sentences have few numbers. For each language
the share of pairs, in percent, that `script`, `number` and `near-copy` leave alone; of pairs with
digits on both sides in which one digit of the side that is not English was changed, the share that
`number` finds; of the pairs with an English line in the place of that side, and of those with a
line of that side in the place of the English one, the share that `script` finds. No encoder is
asked, and no text is written.
"""

import argparse
import json
import re
from pathlib import Path
from random import Random

import numpy as np
from flags import percent
from planted import Lines

from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.flags.near_copies import copied, letters_of
from xmine.flags.numbers import differing, reader
from xmine.flags.scripts import foreign_to
from xmine.text.languages import scripts_of

TATOEBA = (
    "ar ara, cs ces, de deu, es spa, fr fra, hi hin, id ind, it ita, ja jpn, ko kor, nl nld, "
    "pl pol, pt por, ru rus, tr tur, uk ukr, vi vie, zh cmn"
)
_DIGIT = re.compile(r"\d")


def sets(data: Path) -> dict[str, tuple[str, Lines, Lines]]:
    """Read for each language the name of its set, and the English and the other lines."""
    found: dict[str, tuple[str, Lines, Lines]] = {}
    for code, long_code in (each.split(" ") for each in TATOEBA.split(", ")):
        stem = f"tatoeba/tatoeba.{long_code}-eng"
        paths = [(data / f"{stem}.eng", data / f"{stem}.{long_code}")]
        name = "Tatoeba"
        if code == "zh":
            paths, name = [(data / "newstest2019/ref.en", data / "newstest2019/ref.zh")], "newstest"
        elif news := sorted((data / "newstest").glob(f"*.{code}")):
            paths, name = [(path.with_suffix(".en"), path) for path in news], "newstest"
        both = [
            [line for path in side for line in read_lines(path)]
            for side in zip(*paths, strict=True)
        ]
        found[code] = name, both[0], both[1]
    return found


def changed(text: str, draw: Random) -> str:
    """Change one digit of a text to another one of its script, not to zero."""
    place = draw.choice([match.start() for match in _DIGIT.finditer(text)])
    value = int(text[place])
    other = draw.choice([each for each in range(1, 10) if each != value])
    return text[:place] + chr(ord(text[place]) - value + other) + text[place + 1 :]


def measured(code: str, english: Lines, others: Lines) -> dict[str, object]:
    """Measure the flags of one language."""
    draw, readers = Random(1), (reader("en"), reader(code))
    scripts = scripts_of("en", english), scripts_of(code, others)
    is_foreign = foreign_to("en", scripts[0]), foreign_to(code, scripts[1])
    same_script = not scripts[0].isdisjoint(scripts[1])
    alone: dict[str, list[bool]] = {name: [] for name in ("script", "number", "near-copy")}
    found: dict[str, list[bool]] = {name: [] for name in ("digit changed", "English", "in English")}
    for ours, theirs in zip(english, others, strict=True):
        letters = letters_of(ours), letters_of(theirs)
        kind = copied(ours, theirs, *letters, same_script=same_script)
        foreign = is_foreign[0](ours, letters[0]) or is_foreign[1](theirs, letters[1])
        differ = differing(ours, theirs, *readers) is not None
        alone["script"].append(not foreign)
        alone["number"].append(not differ)
        alone["near-copy"].append(kind != "near-copy")
        if not differ and _DIGIT.search(ours) and _DIGIT.search(theirs):
            other = changed(theirs, draw)
            found["digit changed"].append(differing(ours, other, *readers) is not None)
        if kind:
            continue
        found["English"].append(is_foreign[1](ours, letters[0]))
        found["in English"].append(is_foreign[0](theirs, letters[1]))
    return {
        "pairs": len(english),
        **{name: round(100 * float(np.mean(each)), 2) for name, each in alone.items()},
        "with digits": len(found["digit changed"]),
        **{f"{name}, found": percent(sum(each), len(each)) for name, each in found.items()},
    }


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("eval", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    table = {
        code: {"set": name, **measured(code, english, others)}
        for code, (name, english, others) in sets(options.eval).items()
    }
    for code, figures in table.items():
        print(code, json.dumps(figures))
    if options.json:
        write_record(options.json, record({"languages": table}))


if __name__ == "__main__":
    main()
