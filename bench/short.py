"""Glossaries and strings of interfaces -> the best F1 on short lines, and that of `auto`.

    python bench/short.py TRAIN [--model FOLDER] [--lines 800] [--json OUT.json]

TRAIN is the folder `train/` of pairs. A set is a language and a kind of entries of one to three
words, no meaning of which stands in two; half of the lines of a side have no counterpart. The
embedded encoder was not trained on the entries of `terms` (FreeDict) and `titles` (of manuals and
courses), but on those of `strings` (the Godot editor) and of `seen terms`. Loss is the F1 of the
best cut in hindsight, by probability or by score, less that of `auto`.
"""

import argparse
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.text.sentences import folded

KINDS = {
    "terms": {"freedict"},
    "titles": {"darktable-docs", "git-docs", "javascript-info", "progit2"},
    "strings": {"godot-editor"},
    "seen terms": {"cedict", "tico19-terms"},
}
COLUMNS = ("lines", "best F1", "auto", "loss", "precision", "expected")
_PARTS = re.compile(r"\s*[,;/]\s*")  # meanings of an entry
_WORD, _WIDE = re.compile(r"\w+"), re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
Entries = list[tuple[str, str]]


def short(text: str) -> bool:
    """Tell whether a text has one to three words; in Han and kana, two to nine letters."""
    return 2 <= len(text) <= 9 if _WIDE.search(text) else 1 <= len(_WORD.findall(text)) <= 3


def entries(path: Path, sources: set[str]) -> Entries:
    """Read the pairs of some sources that are short on both sides, no meaning twice."""
    found, seen = Entries(), set[tuple[int, str]]()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            english, other, source = line.rstrip("\n").split("\t")[:3]
            if source not in sources or not (short(english) and short(other)):
                continue
            texts = enumerate((english, other))
            keys = {(side, folded(each)) for side, text in texts for each in _PARTS.split(text)}
            if not keys & seen:
                found.append((english, other))
                seen |= keys
    return found


def sets(folder: Path, lines: int) -> Iterator[tuple[str, str, Entries]]:
    """Draw the entries of each set of 80 lines a side or more; of a third both sides count."""
    for path in sorted(folder.glob("en-*.tsv.gz")):
        for kind, sources in KINDS.items():
            found = entries(path, sources)
            np.random.default_rng(1).shuffle(found)
            if len(some := found[: lines // 2 * 3]) * 2 // 3 >= 80:
                yield path.name[3:5], kind, some


def measure(some: Entries, encoder: SentenceEncoder) -> dict[str, float]:
    """Mine a set by default, and compare with the truth."""
    gold = len(some) // 3
    both = np.arange(2 * gold), np.r_[:gold, 2 * gold : 3 * gold]
    numbers = [np.random.default_rng(seed).permutation(each) for seed, each in enumerate(both)]
    left, right = ([some[row][side] for row in each] for side, each in enumerate(numbers))
    mined = mine(left, right, encoder, MiningOptions(cache=False))
    chosen, confidence = mined.candidates.chosen, mined.confidence
    assert confidence is not None
    x, y = mined.candidates.lines()
    right_pairs = numbers[0][x - 1] == numbers[1][y - 1]
    best = max(_best(each, right_pairs, gold) for each in (confidence.probs, chosen.scores))
    x, y = mined.pairs.source_lines, mined.pairs.target_lines
    true, kept = int((numbers[0][x - 1] == numbers[1][y - 1]).sum()), len(mined.pairs)
    auto, precision = 2 * true / (kept + gold), true / max(kept, 1)
    values = 2 * gold, best, auto, best - auto, precision, mined.kept.precision or 0.0
    return {name: round(each, 3) for name, each in zip(COLUMNS, values, strict=True)}


def _best(ranks: NDArray[np.floating], right: NDArray[np.bool_], gold: int) -> float:
    """Give the best F1 of all cuts through pairs; equal ones stay together."""
    order = np.argsort(-ranks, kind="stable")
    last = np.append(np.diff(ranks[order]) != 0, True)
    f1 = 2 * right[order].cumsum() / (np.arange(1, len(ranks) + 1) + gold)
    return float(f1[last].max())


def main() -> None:
    """Print a row for each set, and the mean of each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--lines", type=int, default=800, help="of a side, at most")
    parser.add_argument("--model", type=Path, default=EMBEDDED)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    encoder, found = SentenceEncoder.load(options.model), dict[str, dict[str, float]]()
    for language, kind, some in sets(options.data, options.lines):
        found[f"{kind} {language}"] = measure(some, encoder)
    for kind in {name[:-3]: 0 for name in found}:
        rows = [[*row.values()] for name, row in found.items() if name[:-3] == kind]
        means = np.mean(rows, axis=0).round(3).tolist()
        found[f"{kind}, mean"] = dict(zip(COLUMNS, means, strict=True))
    print(" " * 20 + "".join(f"{name:>10}" for name in COLUMNS))
    for name, row in sorted(found.items()):
        print(f"{name:20}" + "".join(f"{each:10g}" for each in row.values()))
    if options.json:
        write_record(options.json, record({"settings": {"lines": options.lines}, "table": found}))


if __name__ == "__main__":
    main()
