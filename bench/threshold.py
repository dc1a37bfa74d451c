"""Held-out translations -> how far `--threshold auto` falls short of the best cut there is.

    python bench/threshold.py PAIRS.tsv[.gz] [--model FOLDER] [--json OUT.json]

PAIRS has lines English<TAB>Chinese[<TAB>source] that the encoder was not trained on. Out of them
come many mining sets: two files of given sizes in which a given share of the shorter one has its
translation in the other, the rest being text of the same source. Regret is the F1 of the best cut
minus the F1 at the chosen one; where nothing has a translation, the pairs kept per line.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.encoder import EMBEDDED, SentenceEncoder
from xmine.evaluation.record import record, write_record
from xmine.margin import margin_scores
from xmine.neighbours import nearest
from xmine.pairing import choose_pairs
from xmine.pairs import read_parallel
from xmine.threshold import NEIGHBOURS, choose_threshold

SHARES = (0.0, 0.01, 0.03, 0.1, 0.3, 0.5, 0.8, 1.0)
# Lines a side, and how many sets of that size.
SIZES = {(50, 50): 4, (300, 300): 2, (300, 1000): 1, (1000, 300): 1}
SIZES |= {(1000, 1000): 2, (1000, 5000): 1, (5000, 5000): 1}
FIXED = (1.02, 1.04, 1.06, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4)  # for the ratio margin
SMALLEST_SOURCE = 600  # pairs; smaller ones count only in `all`

Rows = NDArray[np.int64]
Vectors = NDArray[np.float16]


class Outcome(NamedTuple):
    """What a set gave: its make, the best F1, what each cut lost (or kept, at share 0), and the
    precision that `auto` expected minus the one it had, where it kept something.
    """

    source: str
    size: tuple[int, int]
    share: float
    best: float
    losses: dict[str, float]
    too_sure: float | None


def read(path: Path) -> tuple[list[str], list[str], dict[str, Rows]]:
    """Read pairs, each side's repeated lines left out, and the rows of each source."""
    text = read_parallel(path)
    seen: set[str] = set()
    kept = []
    for row, sides in enumerate(zip(text.sources, text.targets, strict=True)):
        if seen.isdisjoint(sides):
            seen |= set(sides)
            kept.append(row)
    text = text.take(np.array(kept, dtype=np.intp))
    names = np.array(text.origins)
    rows = {str(name): np.flatnonzero(names == name) for name in np.unique(names)}
    large = {name: found for name, found in rows.items() if len(found) >= SMALLEST_SOURCE}
    if len(rows) == 1:
        large = {}
    return text.sources, text.targets, large | {"all": np.arange(len(names))}


def outcomes(
    english: Vectors, chinese: Vectors, sources: dict[str, Rows], options: argparse.Namespace
) -> Iterator[Outcome]:
    """Mine every set that a source has rows for."""
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
                    found = mine(english[ours], chinese[theirs], ours, theirs, options)
                    yield Outcome(source, (left, right), share, *found)


def mine(
    source: Vectors, target: Vectors, ours: Rows, theirs: Rows, options: argparse.Namespace
) -> tuple[float, dict[str, float], float | None]:
    """Mine one set and see the best F1, what each cut loses, and how sure `auto` was."""
    neighbours = nearest(source, target, NEIGHBOURS)
    scores = margin_scores(neighbours, options.margin)
    pairs = choose_pairs(neighbours, scores, options.retrieval)
    right = ours[pairs.sources] == theirs[pairs.targets]  # [pairs]
    gold = len(np.intersect1d(ours, theirs))
    found = np.arange(1, len(pairs) + 1)
    last = np.append(pairs.scores[1:] != pairs.scores[:-1], True)  # of equal scores
    f1 = np.append(np.where(last, 2 * right.cumsum() / (found + gold), 0), 0.0)  # none: 0
    auto = choose_threshold(pairs, neighbours)
    cuts = {"auto": auto.value}
    if options.margin == "ratio":
        cuts |= {str(cut): cut for cut in FIXED}
    kept = {name: int((pairs.scores.astype(np.float64) >= cut).sum()) for name, cut in cuts.items()}
    sure = None
    if auto.precision is not None and kept["auto"]:
        sure = auto.precision - float(right[: kept["auto"]].mean())
    if not gold:
        lines = min(len(ours), len(theirs))
        return 0.0, {name: number / lines for name, number in kept.items()}, sure
    return float(f1.max()), {name: float(f1.max() - f1[n - 1]) for name, n in kept.items()}, sure


def summary(group: list[Outcome], cuts: list[str]) -> dict[str, float]:
    """Mean and worst loss of each cut over a group of sets, in percent."""
    row = {"sets": len(group), "best F1": 100 * float(np.mean([each.best for each in group]))}
    for cut in cuts:
        losses = [100 * each.losses[cut] for each in group]
        row |= {cut: float(np.mean(losses)), f"{cut} worst": max(losses)}
    sure = [100 * each.too_sure for each in group if each.too_sure is not None]
    row["too sure"] = float(np.mean(sure)) if sure else 0.0
    return {name: round(value, 2) for name, value in row.items()}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--model", type=Path, default=EMBEDDED)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--margin", default="ratio", choices=("ratio", "distance", "absolute"))
    parser.add_argument("--retrieval", default="max", choices=("max", "fwd", "bwd", "intersect"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    english, chinese, sources = read(options.pairs)
    encoder = SentenceEncoder.load(options.model)
    left, right = (encoder.encode_half(texts) for texts in (english, chinese))
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
    if options.json:
        settings = {
            key: value.name if isinstance(value, Path) else value
            for key, value in vars(options).items()
        }
        write_record(options.json, record({"settings": settings, "table": table}))


if __name__ == "__main__":
    main()
