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
from xmine.flags.negation import negators
from xmine.flags.numbers import reader
from xmine.flags.numbers.number import exactly, plain
from xmine.flags.reading import one_sided, other_numbers
from xmine.text.languages import ISO_639_3

LANGUAGES = "ar cs de es fr hi id it ja ko nl pl pt ru sv tr uk vi zh".split()
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


def flagged(negated: bool, pairs: list[Pair], code: str) -> str:
    """Say how many percent of how many pairs have the flag `negation` or `number`."""
    if not pairs:
        return "none"
    source, target = map(list, zip(*pairs, strict=True))
    found = (one_sided if negated else other_numbers)((source, target), ("en", code))
    return f"{100 * float(found.mean()):.2f} % of {len(pairs)}"


def families(folder: Path, code: str) -> Iterator[tuple[str, list[Pair]]]:
    """Read right pairs of English and a language: of news, and of what people say."""
    long = {"zh": "cmn"}.get(code, ISO_639_3[code])
    news = [*folder.glob(f"newstest/*.{code}"), *folder.glob(f"newstest2019/*.{code}")]
    said = folder / f"tatoeba/tatoeba.{long}-eng.eng", folder / f"tatoeba/tatoeba.{long}-eng.{long}"
    for name, files in (
        ("news", [(each.with_suffix(".en"), each) for each in news]),
        ("said", [said]),
    ):
        yield name, [pair for each in files for pair in zip(*map(read_lines, each), strict=True)]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("eval", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    table: dict[str, dict[str, str]] = {}
    for code in LANGUAGES:
        for family, pairs in families(options.eval, code):
            row = {
                name: flagged(name == "negation", pairs, code) for name in ("number", "negation")
            }
            for name in PLANTED:
                some = [each for pair in pairs if (each := changed(name, pair, code))]
                row[name] = flagged(name.startswith("not"), some, code)
            table[f"{code} {family}"] = row
            print(code, family, *(f"{name}: {each};" for name, each in row.items()))
    if options.json:
        write_record(options.json, record({"flagged": table}))


if __name__ == "__main__":
    main()
