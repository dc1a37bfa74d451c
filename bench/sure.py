"""Texts with a known truth -> how sure mining is, and how sure it may be.

    python bench/sure.py DATA --sets scripture,small,news [--draws N] [--repeat N] [--list]
        [--wrong] [--model FOLDER] [--json OUT.json]

DATA is the folder that holds `eval/` and `train/`; bench/sure.tsv has the sets. Every set is mined
by default, once. Loss is the F1 of the best cut in hindsight, by score or by probability, less that
of `auto`; a pair is right if its two texts are those of a gold pair. `found` counts the right
candidates; `loss f` is the loss where no other pairs count as gold. `--repeat` mines a set again so
many times, each time without 15 % of the lines, and gives the spans of F1 and of the loss.
`--wrong` prints the kept pairs that are not gold; `--list` draws the sets and mines nothing.
"""

import argparse
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sure_sets import MiningSet, rows, sets

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.scoring.threshold import choose_threshold
from xmine.text.sentences import folded

PRECISIONS = (0.9, 0.95)
DROPPED = 0.15
Figures = dict[str, Any]  # numbers, None where there is none
COLUMNS = (
    "lines,lines 2,gold,found,best,auto,loss,loss f,kept,stated,low,high,true,inside,"
    "P .9,R .9,P .95,R .95,expected,seconds"
).split(",")


def measure(drawn: MiningSet, encoder: SentenceEncoder, wrong: bool = False) -> Figures:
    """Mine a set as `xmine mine` does by default, compare with the truth, and print wrong pairs."""
    start = time.process_time()
    mined = mine(*drawn.sides, encoder, MiningOptions(cache=False))
    seconds = time.process_time() - start
    x, y = mined.candidates.lines()
    keys = [[folded(line) for line in side] for side in drawn.sides]
    right = np.array(
        [(keys[0][i - 1], keys[1][j - 1]) in drawn.gold for i, j in zip(x, y, strict=True)], bool
    )
    for row in mined.kept_rows[~right[mined.kept_rows]].tolist() if wrong else []:
        print("   ", drawn.sides[0][x[row] - 1], drawn.sides[1][y[row] - 1], sep="\t")
    gold, kept = len(drawn.gold), len(mined.kept_rows)
    listed, found = int(right[mined.eligible].sum()), int(right[mined.kept_rows].sum())
    best, auto, true = _best(mined, right, gold), _f1(found, kept, gold), found / max(kept, 1)
    less = _best(mined, right, listed) - _f1(found, kept, listed)
    stated, (low, high) = mined.kept.precision, mined.kept.interval or (None, None)
    inside = None if low is None or high is None else low <= true <= high
    sizes = len(drawn.sides[0]), len(drawn.sides[1]), gold, listed
    expected = mined.confidence.translations if mined.confidence else None
    values = [*sizes, best, auto, best - auto, less, kept, stated, low, high]
    values += [true if kept else None, inside]
    values += [*_at_precisions(mined, right, gold), expected, seconds]
    return {
        name: None if each is None else round(float(each), 4)
        for name, each in zip(COLUMNS, values, strict=True)
    }


def _at_precisions(mined: Mined, right: NDArray[np.bool_], gold: int) -> list[float | None]:
    """Give true precision and recall at every wanted precision; None where nothing is kept."""
    values: list[float | None] = []
    left = np.sort(mined.eligible)
    scores = mined.candidates.chosen.scores[left]
    confidence = mined.confidence.of(left) if mined.confidence else None
    for wanted in PRECISIONS:
        kept = choose_threshold(scores, confidence, precision=wanted).kept.pairs
        found = int(right[left[:kept]].sum())
        values += [found / kept if kept else None, found / gold if gold else None]
    return values


def _f1(found: int, kept: int, gold: int) -> float:
    return 2 * found / max(kept + gold, 1)


def _best(mined: Mined, right: NDArray[np.bool_], gold: int) -> float:
    """Give the best F1 of all cuts through the pairs, by score or by probability."""
    ranks: list[NDArray[np.floating]] = [mined.candidates.chosen.scores]
    if mined.confidence:
        ranks.append(mined.confidence.probs)
    best = 0.0
    for each in (rank[mined.eligible] for rank in ranks):
        order = np.argsort(-each, kind="stable")
        last = np.append(np.diff(each[order]) != 0, True)[: len(order)]  # equal ones together
        f1 = 2 * right[mined.eligible][order].cumsum() / (np.arange(1, len(order) + 1) + gold)
        best = max(best, *f1[last].tolist(), 0.0)
    return best


def repeat(drawn: MiningSet, encoder: SentenceEncoder, times: int) -> Figures:
    """Mine a set without some of its lines; give least and most of F1 and loss, and the spans."""
    again = [measure(drawn.thinned(DROPPED, number), encoder) for number in range(times)]
    spans: Figures = {}
    for name in ("best", "auto", "loss"):
        values = [each[name] for each in again]
        spans[name] = [min(values), max(values), round(max(values) - min(values), 4)]
    return spans


def summary(group: list[Figures]) -> Figures:
    """Sum up the sets of a family.

    Both losses and the error of the stated precision are followed by the worst, `P .95` is the
    lowest; `silent` counts sets of which nothing is kept, `of none` the most pairs kept of a set
    without translations.
    """
    some = [each for each in group if each["gold"]]
    errors = [abs(each["stated"] - each["true"]) for each in some if each["stated"] is not None]
    inside = [each["inside"] for each in some if each["inside"] is not None]
    loss = [each["loss"] for each in some]
    empty = [each["kept"] for each in group if not each["gold"]]
    exact = [each["P .95"] for each in some if each["P .95"] is not None]
    figures = {
        "sets": len(group),
        "auto": np.mean([each["auto"] for each in some]) if some else None,
        "loss": np.mean(loss) if loss else None,
        "worst": max(loss, default=None),
        "loss f": max((each["loss f"] for each in some), default=None),
        "error": np.mean(errors) if errors else None,
        "worst ": max(errors, default=None),
        "inside": np.mean(inside) if inside else None,
        "P .95": min(exact, default=None),
        "silent": sum(not each["kept"] for each in some),
        "of none": max(empty, default=None),
        "seconds": sum(each["seconds"] for each in group),
    }
    return {name: None if x is None else round(float(x), 4) for name, x in figures.items()}


def show(name: str, figures: Figures) -> None:
    """Print figures in a row."""
    cells = ("-" if each is None else f"{each:g}" for each in figures.values())
    print(f"{name:36}" + "".join(f"{cell:>9}" for cell in cells), flush=True)


def main() -> None:
    """Print a row for each set, and one for each family."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="scripture,small,news", help="groups, families or names")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--model", type=Path, default=EMBEDDED)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    encoder = None if options.list else SentenceEncoder.load(options.model)
    found, families = dict[str, Figures](), defaultdict[str, list[Figures]](list)
    spans: dict[str, Figures] = {}
    print(f"{'':36}" + "".join(f"{name:>9}" for name in COLUMNS[: 3 if options.list else None]))
    for row in rows(options.sets.split(",")):
        for drawn in sets(options.data, row, options.draws):
            if encoder is None:
                left, right = map(len, drawn.sides)
                show(drawn.name, {"lines": left, "lines 2": right, "gold": len(drawn.gold)})
                continue
            found[drawn.name] = measure(drawn, encoder, options.wrong)
            families[drawn.family].append(found[drawn.name])
            show(drawn.name, found[drawn.name])
            if options.repeat:
                spans[drawn.name] = repeat(drawn, encoder, options.repeat)
                for name, (least, most, span) in spans[drawn.name].items():
                    print(f"    {name} {least:g} to {most:g}, span {span:g}", flush=True)
    table = {name: summary(group) for name, group in families.items()}
    for name, figures in table.items():
        if name == next(iter(table)):
            print(f"\n{'':36}" + "".join(f"{each:>9}" for each in figures))
        show(name, figures)
    if options.json:
        settings = {"sets": options.sets, "draws": options.draws, "repeat": options.repeat}
        results = {"families": table, "sets": found, "spans": spans}
        write_record(options.json, record({"settings": settings, **results}))


if __name__ == "__main__":
    main()
