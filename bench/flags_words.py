"""Right pairs, and the same with English changed -> what `number` and `negation` flag of them.

    python bench/flags_words.py EVAL [--json OUT.json]

EVAL has newstest, newstest2019 and tatoeba, see docs/reference/benchmarks.md. A pair is changed
where the other side has the same number in digits, names a month or a weekday, or negates as much.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.flags.negation import Negators, negated_alone, negators
from xmine.flags.numbers import differing, reader
from xmine.flags.numbers.calendar import MONTHS, WEEKDAYS
from xmine.flags.numbers.number import exactly, plain
from xmine.text.languages import ISO_639_3

LANGUAGES = "ar cs de es fr hi id it ja ko nl pl pt ru sv tr uk vi zh".split()
SCALES = {"million": 1e6, "billion": 1e9}
# A word -> the one before; the last digit of a number -> the next one.
OTHER = dict(zip("0123456789", "1234567891", strict=True)) | {"million": "billion"}
OTHER |= {name: MONTHS[at] for at, name in enumerate(MONTHS[2:], 1)}
OTHER |= {name: WEEKDAYS[at] for at, name in enumerate(WEEKDAYS[2:], 1)}
OTHER |= {"billion": "million", "January": "June", "Monday": "Friday", "": " not"}
MONTH = rf"\b(?:{'|'.join(MONTHS[1:5] + MONTHS[6:])})\b"  # May is a verb, too
AUXILIARY = "is|are|was|were|will|would|can|could|should|must|has|have|had|may|might"
PLANTED = {
    "decimal": r"(?<![.,\d])(\d+\.\d*)(\d)(?![.,]?\d| [mbt][irn])",
    "million": r"(?<![.,\d])(\d+(?:\.\d+)?) ([mb]illion)\b",
    "months": f"()({MONTH})",
    "weekdays": rf"()\b({'|'.join(WEEKDAYS[1:])})\b",
    "day": rf"{MONTH} (\d?)(\d)(?![.,:]?\d)",
    "not added": rf"()\b(?:{AUXILIARY})()(?= [a-z])",
    "not left out": r"()( (?:not|never)\b|n['’]t\b)",
}
Pair = tuple[str, str]


def lists(code: str) -> tuple[Negators, Negators]:
    """Give what negates in English and in another language."""
    ours, theirs = negators("en"), negators(code)
    assert ours and theirs
    return ours, theirs


def changed(name: str, pair: Pair, code: str) -> Pair | None:
    """Change the English of a pair; None where the other side does not have it."""
    source, text = pair[0], reader(code).adapted(plain(pair[1]))
    found = re.search(PLANTED[name], source)
    if not found:
        return None
    before, old = found.groups()
    if name in ("months", "weekdays"):
        seen = bool(getattr(reader(code), name)(text))
    elif name.startswith("not"):
        counts = [
            len(each.plain.findall(side)) for each, side in zip(lists(code), pair, strict=True)
        ]
        seen = counts[0] == (old != "") and (counts[1] > 0) == (old != "")
    else:
        value = float(before) * SCALES[old] if old in SCALES else float(before + old)
        known = (each.readings | each.scaled for each in reader(code).digits(text))
        seen = any(exactly({value}) <= each for each in known)
    start, end = found.span(2)
    new = OTHER.get(old, "")
    if new and before + new in source + text:  # the other side may mean that one
        return None
    return (source[:start] + new + source[end:], pair[1]) if seen else None


def flagged(flag: str, pairs: list[Pair], code: str) -> tuple[int, float | None]:
    """Count pairs, and give the percentage that a flag is raised for."""
    readers = reader("en"), reader(code)
    if flag == "number":
        marked = sum(differing(*pair, *readers) is not None for pair in pairs)
    else:
        marked = sum(any(negated_alone(pair, *lists(code))) for pair in pairs)
    return len(pairs), round(100 * marked / len(pairs), 2) if pairs else None


def families(folder: Path, code: str) -> Iterator[tuple[str, list[Pair]]]:
    """Read right pairs of English and a language: of news, and of what people say."""
    long = {"zh": "cmn"}.get(code, ISO_639_3[code])
    news = [*folder.glob(f"newstest/*.{code}"), *folder.glob(f"newstest2019/*.{code}")]
    english = [path.with_suffix(".en") for path in news]
    said = folder / f"tatoeba/tatoeba.{long}-eng.eng", folder / f"tatoeba/tatoeba.{long}-eng.{long}"
    for name, files in (("news", zip(english, news, strict=True)), ("said", [said])):
        yield name, [pair for each in files for pair in zip(*map(read_lines, each), strict=True)]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("eval", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    table: dict[str, dict[str, dict[str, tuple[int, float | None]]]] = {}
    for code in LANGUAGES:
        for family, pairs in families(options.eval, code):
            row = {flag: flagged(flag, pairs, code) for flag in ("number", "negation")}
            for name in PLANTED:
                some = [each for pair in pairs if (each := changed(name, pair, code))]
                flag = "negation" if name.startswith("not") else "number"
                row[name] = flagged(flag, some, code)
            table.setdefault(code, {})[family] = row
            print(
                code,
                family,
                *(f"{name} {count}: {share}" for name, (count, share) in row.items()),
                sep="  ",
            )
    if options.json:
        write_record(options.json, record({"pairs and percent flagged": table}))


if __name__ == "__main__":
    main()
