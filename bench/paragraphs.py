"""Align sentences with paragraphs, and count the beads that are exactly right.

    python bench/paragraphs.py EVAL [--sizes 3 2-6] [--lines 10 40] [--draws 5] [--blind] [--json F]

A draw takes consecutive lines of news, EVAL/newstest, and puts those of one side together, so many
in each paragraph, or by chance; `--lines` counts the paragraphs. Both sides take their turn;
`--blind` has an encoder that knows none of the words. Rows are means, with the least F1 of a draw.
"""

import argparse
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
from align import Bead, Counts, Document, encoder_of, lines_of, measure

from xmine.evaluation.reports.record import record, write_record

NEWS = "2014.eng-fra 2013.eng-spa 2020.eng-rus 2020.eng-jpn 2020.eng-deu"


def paragraphs(
    sides: list[list[str]], size: str, lines: int, turn: int, random: Random
) -> Document:
    """Put consecutive lines of one side together."""
    ends = [int(each) for each in size.split("-")]
    counts = [random.randint(ends[0], ends[-1]) for _ in range(lines)]
    start = random.randrange(max(1, len(sides[0]) - sum(counts)))
    whole, parts = [each[start : start + sum(counts)] for each in sides], list[str]()
    gold = list[Bead]()
    for at, count in enumerate(counts):
        rows = range(sum(counts[:at]), min(sum(counts[:at]) + count, len(whole[0])))
        if rows:
            parts.append(" ".join(whole[turn][row] for row in rows))
            gold.append((tuple(rows), (at,)) if turn else ((at,), tuple(rows)))
    return Document(*((whole[0], parts) if turn else (parts, whole[1])), gold)


def main() -> None:
    """Measure, print a row for each language, size and number of lines, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", nargs="+", default="3 4 5 10 2-6".split())
    parser.add_argument("--lines", nargs="+", type=int, default=[10, 40])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--blind", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    encoder, rows = encoder_of(blind=arguments.blind), list[dict[str, object]]()
    print("| news | size | lines | F1 | least | precision | expected |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for name, size, lines in product(NEWS.split(), arguments.sizes, arguments.lines):
        files = sorted((arguments.data / "newstest").glob(f"newstest{name}.*"))
        sides, found = [lines_of(each) for each in files], list[dict[str, float]]()
        for draw, turn in product(range(arguments.draws), (0, 1)):
            counts, random = Counts([], [], [], [], []), Random(f"{name} {size} {lines} {draw}")
            measure(paragraphs(sides, size, lines, turn, random), encoder, counts, "align")
            found.append(counts.figures())
        row = {"f1": 0.0, "least": min(each["f1"] for each in found), "precision": 0, "expected": 0}
        for key in ("f1", "precision", "expected"):
            row[key] = round(float(np.mean([each[key] for each in found])), 3)
        rows.append({"news": name, "size": size, "lines": lines, **row})
        print("| " + " | ".join(map(str, rows[-1].values())) + " |", flush=True)
    if arguments.json:
        write_record(arguments.json, record({"blind": arguments.blind, "rows": rows}))


if __name__ == "__main__":
    main()
