"""Lines of known languages in files of some sizes -> how many files are told, and as what.

    python bench/languages.py DATA [--json OUT.json]

Of each language of NTREX and Tatoeba up to 40 files of a size are told: `alone`; as an encoder of
`fifty` languages takes them; `sure`, as users are told. Then how many are right, und and wrong.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.text.identification import guess_language, sure_language
from xmine.text.languages import short_code

FIFTY = """ar bg bn cs da de el en es et fa fi fr he hi hr hu id it ja km kn ko lt ml mr ms my ne nl
no pa pl pt ro ru sk sl sr sv sw ta te th tl tr uk ur vi zh""".split()
KIN = {"bs": "hr", "mk": "bg", "be": "ru"}  # none of them -> what is right for `fifty`
SIZES = (10, 30, 100, 1000)
TOLD: dict[str, Callable[[list[str]], str]] = {
    "alone": guess_language,
    "fifty": partial(guess_language, expected=FIFTY),
    "sure": sure_language,
}


def texts(data: Path) -> dict[str, list[list[str]]]:
    """Read the texts of each language: of one set, or of two."""
    found = defaultdict[str, list[list[str]]](list)
    for path in sorted((data / "eval/ntrex").glob("*.txt.gz")):
        found[path.name[:2]].append(read_lines(path))
    for path in sorted((data / "eval/tatoeba").glob("tatoeba.*-eng.*")):
        code = short_code(path.suffix[1:])
        if code in {*FIFTY, *KIN} and code != "en" and path.suffix not in {".ary", ".arz"}:
            found[code].append(read_lines(path))
    return found


def main() -> None:
    """Print languages and sizes of which a file is not told right, and all sums."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    table: dict[str, dict[str, list[str]]] = {way: defaultdict(list) for way in TOLD}
    sums = defaultdict[str, Counter[str]](Counter)
    for code, sets in sorted(texts(options.data).items()):
        for size, (way, tell) in product(SIZES, TOLD.items()):
            starts = [(lines, at) for lines in sets for at in range(0, len(lines) - size + 1, size)]
            some = starts[:: max(1, -(-len(starts) // 40))]
            said = Counter(tell(lines[at : at + size]) for lines, at in some)
            right = said.pop(code, 0) + (said.pop(KIN.get(code, ""), 0) if way == "fifty" else 0)
            told = {"right": right, "undetermined": said.pop("und", 0), "wrong": said.total()}
            sums[f"{way}, {size:,} lines"].update(told)
            shown = f"{size}: {' '.join(map(str, told.values()))} {dict(said) or ''}".strip()
            table[way][code] += [shown] * bool(some)
            print(*[f"{code} {way} {shown}\n"] * (right < len(some)), end="", flush=True)
    print(*(f"{name}: {dict(each)}" for name, each in sums.items()), sep="\n")
    if options.json:
        rows = {way: {x: "; ".join(y) for x, y in each.items()} for way, each in table.items()}
        write_record(options.json, record({"results": rows, "sums": sums}))


if __name__ == "__main__":
    main()
