"""How often the language of some lines is told right: lines alone, and samples of 10 to 1,000.

    python bench/identification.py FOLDER [--json OUT.json]

FOLDER has Tatoeba's files, `tatoeba.deu-eng.deu`. Lines of the nineteen languages are told apart
among these. Random samples are told among all languages, and as a file is that is mined with an
encoder of the nineteen; those of other languages that pass for one of these are counted.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.text.identification import guess_language, tell_apart
from xmine.text.languages import short_code

NINETEEN = "en zh de fr ru es ja ko pt it ar cs nl pl tr uk hi id vi".split()
SAMPLES = {10: 100, 100: 20, 1000: 1}  # lines in a sample -> samples of a language


def told(lines: list[str], size: int, guess: Callable[[list[str]], str]) -> Counter[str]:
    """Count what random samples are taken for."""
    drawn, most = random.Random(size), min(size, len(lines))
    return Counter(guess(drawn.sample(lines, most)) for _ in range(SAMPLES[size]))


def share_right(found: dict[str, Counter[str]]) -> dict[str, object]:
    """Give the share of samples that are told right, and what is told wrongly how often."""
    right = sum(counts[code] for code, counts in found.items())
    wrong = {code: counts - Counter({code: counts[code]}) for code, counts in found.items()}
    share = right / sum(map(Counter.total, found.values()))
    return {"right": round(share, 4), "wrong": {code: wrong[code] for code in wrong if wrong[code]}}


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    texts = {"en": list(read_lines(arguments.folder / "tatoeba.deu-eng.eng"))}
    for path in sorted(arguments.folder.glob("tatoeba.*-eng.*")):
        if path.suffix != ".eng":
            texts.setdefault(short_code(path.suffix[1:]), list(read_lines(path)))
    known = {code: texts.pop(code) for code in NINETEEN}
    as_mined = partial(guess_language, expected=NINETEEN)
    tell_apart("Hallo", ("de", "en"))  # loads the model
    started = time.process_time()
    alone = {code: Counter(tell_apart(x, NINETEEN) for x in each) for code, each in known.items()}
    rate = round(sum(map(len, known.values())) / (time.process_time() - started))
    figures: dict[str, object] = {"lines_alone": share_right(alone), "lines_per_cpu_second": rate}
    for size in SAMPLES:
        every = {code: told(each, size, guess_language) for code, each in known.items()}
        close = {code: told(each, size, as_mined) for code, each in known.items()}
        others = {code: told(each, size, as_mined) for code, each in texts.items()}
        figures[f"{size}_lines"] = {
            "among_all": share_right(every),
            "nineteen_expected": share_right(close),
            "others_taken_for_one": {
                code: counts & Counter(dict.fromkeys(NINETEEN, SAMPLES[size]))
                for code, counts in others.items()
                if not counts.keys().isdisjoint(NINETEEN)
            },
        }
    result = record(figures)
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
