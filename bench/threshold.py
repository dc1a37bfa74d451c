"""Held-out translations -> how far `--threshold auto` falls short of the best cut there is.

    python bench/threshold.py PAIRS.tsv[.gz] [--encoder FOLDER] [--out FILE.json]

PAIRS has lines English<TAB>Chinese[<TAB>source] that the encoder was not trained on. Out of them
come many mining sets: two files of given sizes in which a given share of the shorter one has its
translation in the other, the rest being text of the same source. Regret is the F1 of the best cut
minus the F1 at the chosen one; where nothing has a translation, the pairs kept per line.
"""

import argparse
import gzip
import json
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoder import EMBEDDED, SentenceEncoder
from xmine.margin import margin_scores
from xmine.neighbours import nearest
from xmine.pairing import choose_pairs
from xmine.threshold import NEIGHBOURS, choose_threshold

SHARES = (0.0, 0.01, 0.03, 0.1, 0.3, 0.5, 0.8, 1.0)
# Lines a side, and how many sets of that size.
SIZES = {(50, 50): 4, (300, 300): 2, (300, 1000): 1, (1000, 300): 1}
SIZES |= {(1000, 1000): 2, (1000, 5000): 1, (5000, 5000): 1}
FIXED = (1.02, 1.04, 1.06, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4)  # for the ratio margin
SMALLEST_SOURCE = 600  # pairs; smaller ones count only in `all`

Rows = NDArray[np.int64]
Vectors = NDArray[np.float16]


@dataclass(frozen=True)
class Outcome:
    """What a set gave: its make, the best F1, and what each cut lost (or kept, at share 0)."""

    source: str
    size: tuple[int, int]
    share: float
    best: float
    losses: dict[str, float]


def read(path: Path) -> tuple[list[str], list[str], dict[str, Rows]]:
    """Read pairs, each side's repeated lines left out, and the rows of each source."""
    opened = gzip.open if path.suffix == ".gz" else open
    english, chinese, sources = [], [], []
    seen: tuple[set[str], set[str]] = set(), set()
    with opened(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            left, right, *more = line.rstrip("\n").split("\t")
            if left and right and left not in seen[0] and right not in seen[1]:
                seen[0].add(left)
                seen[1].add(right)
                english.append(left)
                chinese.append(right)
                sources.append(more[0] if more else "all")
    names = np.array(sources)
    rows = {name: np.flatnonzero(names == name) for name in dict.fromkeys(sources)}
    large = {name: found for name, found in rows.items() if len(found) >= SMALLEST_SOURCE}
    return english, chinese, large | {"all": np.arange(len(names))}


def outcomes(
    english: Vectors, chinese: Vectors, sources: dict[str, Rows], options: argparse.Namespace
) -> Iterator[Outcome]:
    """Mine every set that the sources have rows for."""
    rng = np.random.default_rng(options.seed)
    for source, pool in sources.items():
        for (left, right), draws in SIZES.items():
            for share in SHARES:
                shared = round(share * min(left, right))
                if left + right - shared > len(pool) or (share and not shared):
                    continue
                for _ in range(draws):
                    rows = rng.permutation(pool)[: left + right - shared]
                    ours = rows[:left]
                    theirs = rng.permutation(np.concatenate([rows[:shared], rows[left:]]))
                    best, losses = mine(english[ours], chinese[theirs], ours, theirs, options)
                    yield Outcome(source, (left, right), share, best, losses)


def mine(
    source: Vectors, target: Vectors, ours: Rows, theirs: Rows, options: argparse.Namespace
) -> tuple[float, dict[str, float]]:
    """Mine one set and see what each cut loses."""
    neighbours = nearest(source, target, NEIGHBOURS)
    scores = margin_scores(neighbours, options.margin)
    pairs = choose_pairs(neighbours, scores, options.retrieval)
    right = ours[pairs.sources] == theirs[pairs.targets]  # [pairs]
    gold = len(np.intersect1d(ours, theirs))
    found = np.arange(1, len(pairs) + 1)
    last = np.append(pairs.scores[1:] != pairs.scores[:-1], True)  # of equal scores
    f1 = np.append(np.where(last, 2 * right.cumsum() / (found + gold), 0), 0.0)  # none: 0
    cuts = {"auto": choose_threshold(pairs, neighbours).value}
    if options.margin == "ratio":
        cuts |= {str(cut): cut for cut in FIXED}
    kept = {name: int((pairs.scores.astype(np.float64) >= cut).sum()) for name, cut in cuts.items()}
    if not gold:
        return 0.0, {name: number / min(len(ours), len(theirs)) for name, number in kept.items()}
    return float(f1.max()), {name: float(f1.max() - f1[n - 1]) for name, n in kept.items()}


def summary(group: list[Outcome], cuts: list[str]) -> dict[str, float]:
    """Mean and worst loss of each cut over a group of sets, in percent."""
    row = {"sets": len(group), "best F1": 100 * float(np.mean([each.best for each in group]))}
    for cut in cuts:
        losses = [100 * each.losses[cut] for each in group]
        row |= {cut: float(np.mean(losses)), f"{cut} worst": max(losses)}
    return {name: round(value, 2) for name, value in row.items()}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--encoder", type=Path, default=EMBEDDED)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--margin", default="ratio", choices=("ratio", "distance", "absolute"))
    parser.add_argument("--retrieval", default="max", choices=("max", "fwd", "bwd", "intersect"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    english, chinese, sources = read(options.pairs)
    encoder = SentenceEncoder.load(options.encoder)
    left, right = (encoder.encode(texts).astype(np.float16) for texts in (english, chinese))
    results = list(outcomes(left, right, sources, options))
    groups = {f"share {share:g}": [r for r in results if r.share == share] for share in SHARES}
    real = [r for r in results if r.share]
    groups["every share but 0"] = real
    groups |= {f"{a} x {b} lines": [r for r in real if r.size == (a, b)] for a, b in SIZES}
    groups |= {f"source {name}": [r for r in real if r.source == name] for name in sources}
    fixed = {cut: np.mean([r.losses[cut] for r in real]) for cut in real[0].losses if cut != "auto"}
    cuts = ["auto", *([min(fixed, key=lambda cut: fixed[cut]), "1.06"] if fixed else [])]
    table = {name: summary(group, cuts) for name, group in groups.items() if group}
    print(f"{'regret, %':22}" + "".join(f"{name:>11}" for name in table["every share but 0"]))
    for name, row in table.items():
        print(f"{name:22}" + "".join(f"{value:11g}" for value in row.values()))
    if options.out:
        git = shutil.which("git") or "true"
        commit = subprocess.run([git, "rev-parse", "HEAD"], capture_output=True, text=True)
        about = {
            "date": time.strftime("%Y-%m-%d"),
            "commit": commit.stdout.strip() or None,
            "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
            "settings": {key: str(value) for key, value in vars(options).items()},
            "neighbours": NEIGHBOURS,
        }
        options.out.write_text(json.dumps(about | {"table": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
