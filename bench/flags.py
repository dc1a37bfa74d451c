"""Real and spoilt pairs -> which flags leave good pairs alone, and which find what was planted.

    python bench/flags.py EVAL [--messages FOLDER]... [--json OUT.json]

EVAL is a folder with newstest2019, un-devset, flores101, bucc2018, tatoeba and ntrex, the files
that docs/reference/benchmarks.md names. Gold pairs are mined out of their files with the
embedded encoder, at any score, and scored as they stand; then faulty lines are added to the BUCC
sample. FOLDER has catalogues of gettext (LANGUAGE/LC_MESSAGES/*.mo). No text is written.
"""

import argparse
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from line_flags import marked_lines, marked_messages
from numpy.typing import NDArray
from planted import Fault, faults, halved, pairs_of_bucc, pairs_of_lines

from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.flags.names import FLAGS
from xmine.mining.aligned import score_aligned
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine

SETS: dict[str, tuple[str, str]] = {
    "newstest2019": ("newstest2019/ref.en", "newstest2019/ref.zh"),
    "un-devset": ("un-devset/UNv1.0.devset.en", "un-devset/UNv1.0.devset.zh"),
    "flores101": ("flores101/dev/eng.dev", "flores101/dev/zho_simpl.dev"),
}
EVERYTHING = MiningOptions(threshold=-1000.0, keep_copies=True, src_lang="en", tgt_lang="zh")
TURNS = 10
FAR = 40  # lines of `high`; they are vectors, since no text is far from everything for this encoder

Pair = tuple[str, str]


class Flagged(NamedTuple):
    """Pairs with their flags."""

    pairs: list[Pair]
    flags: list[set[str]]


def written(folder: Path, name: str, lines: list[str]) -> Path:
    """Write lines to a file."""
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def mined(
    english: list[str],
    chinese: list[str],
    encoder: SentenceEncoder | None,
    vectors: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> Flagged:
    """Mine pairs of any score as `xmine mine` does."""
    with TemporaryDirectory() as name:
        files = [written(Path(name), *each) for each in (("en", english), ("zh", chinese))]
        found = mine(files[0], files[1], encoder, EVERYTHING, vectors=vectors)
    pairs = found.pairs
    assert pairs.flags is not None
    return Flagged(
        list(zip(pairs.sources, pairs.targets, strict=True)),
        [set(each.split(",")) - {""} for each in pairs.flags],
    )


def aligned(pairs: list[Pair], pool: tuple[list[str], list[str]] | None) -> Flagged:
    """Score pairs as `xmine score` does, in a larger pool or among themselves."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = [
            written(folder, f"{row}", [*each]) for row, each in enumerate(zip(*pairs, strict=True))
        ]
        more = pool and (written(folder, "en", pool[0]), written(folder, "zh", pool[1]))
        found = score_aligned(files[0], files[1], pool=more)
    given = [(pair.source, pair.target) for pair in found.given]
    return Flagged(
        [given[row] for row in found.numbers.tolist()],
        [set(each.split(",")) - {""} for each in found.flags],
    )


def left_alone(found: Flagged, gold: set[Pair]) -> dict[str, float]:
    """Measure the share of gold pairs, in percent, that each flag leaves alone."""
    flags = [flags for pair, flags in zip(found.pairs, found.flags, strict=True) if pair in gold]
    shares = {name: 100 * float(np.mean([name not in each for each in flags])) for name in FLAGS}
    return {"pairs": len(flags), **{name: round(share, 2) for name, share in shares.items()}}


def good_pairs(data: Path, encoder: SentenceEncoder) -> dict[str, dict[str, float]]:
    """Flag gold pairs of every set, mined and aligned."""
    table = {}
    sets = {name: pairs_of_lines(data, *paths) for name, paths in SETS.items()}
    sets["bucc2018"] = pairs_of_bucc(data)
    for name, (english, chinese, pairs) in sets.items():
        pool = (english, chinese) if len(pairs) < len(english) else None
        found, gold = mined(english, chinese, encoder), set(pairs)
        table[f"{name} mined"] = left_alone(found, gold)
        table[f"{name} aligned"] = left_alone(aligned(pairs, pool), gold)
    return table


def far_vectors(width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw rows of length 1 for both sides, far from all, a little nearer to their partner."""
    rng = np.random.default_rng(1)
    ours, others = rng.standard_normal((2, FAR, width))
    ours /= np.linalg.norm(ours, axis=1, keepdims=True)
    others -= (others * ours).sum(axis=1, keepdims=True) * ours
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    cosines = rng.uniform(0.35, 0.5, (FAR, 1))
    return ours, cosines * ours + np.sqrt(1 - cosines**2) * others


def spoilt(
    data: Path, encoder: SentenceEncoder
) -> tuple[list[dict[str, object]], dict[str, float]]:
    """Add every fault to the BUCC sample, mine, and see what the flags find."""
    english, chinese, gold = pairs_of_bucc(data)
    planted = faults(data, english, chinese, Random(1))
    for fault in planted:
        english, chinese = english + fault.source_lines, chinese + fault.target_lines
    # So that the place in the file tells nothing.
    sides = [Random(2).sample(lines, len(lines)) for lines in (english, chinese)]
    far = far_vectors(encoder.dim)
    vectors = [
        np.concatenate([encoder.encode_half(lines), rows.astype(np.float16)])
        for lines, rows in zip(sides, far, strict=True)
    ]
    names = [[f"{word} {row}" for row in range(FAR)] for word in ("far", "远")]
    pairs = {pair: row for row, pair in enumerate(zip(*names, strict=True))}
    planted.append(Fault("high", "far from everything", names[0], names[1], pairs))
    found = mined(sides[0] + names[0], sides[1] + names[1], None, (vectors[0], vectors[1]))
    return [outcome(fault, found) for fault in planted], left_alone(found, set(gold))


def cut_in_half(data: Path, encoder: SentenceEncoder) -> dict[str, dict[str, object]]:
    """Cut one side of a tenth of the pairs of a set in half, mine, and see what `partial` finds.

    Every pair has its turn. `pairs` are those that mining pairs up, `found` those with the flag;
    `others flagged` are the gold pairs beside them that have it, both in percent.
    """
    table: dict[str, dict[str, object]] = {}
    for name, paths in SETS.items():
        gold = pairs_of_lines(data, *paths)[2]
        cut, whole = [], []
        for turn in range(TURNS):
            cuts = {
                row: halved(gold[row], row // TURNS % 4) for row in range(turn, len(gold), TURNS)
            }
            lines = [cuts.get(row, pair) for row, pair in enumerate(gold)]
            sides = [source for source, _ in lines], [target for _, target in lines]
            found = mined(*sides, encoder)
            planted, others = set(cuts.values()) - set(gold), set(gold)
            for pair, flags in zip(found.pairs, found.flags, strict=True):
                if pair in planted:
                    cut.append("partial" in flags)
                elif pair in others:
                    whole.append("partial" in flags)
        table[name] = {
            "cut": len(gold),
            "pairs": len(cut),
            "found": percent(sum(cut), len(cut)),
            "others flagged": percent(sum(whole), len(whole)),
        }
    return table


def outcome(fault: Fault, found: Flagged) -> dict[str, object]:
    """Count the pairs with what was planted, and those that bear its flag."""
    holding = np.array([fault.is_in(pair) for pair in found.pairs])
    marked = np.array([fault.flag in flags for flags in found.flags])
    if fault.flag == "duplicate":  # one of the two pairs is the better one
        better: set[int] = set()
        for row in np.flatnonzero(holding).tolist():
            group = fault.pairs[found.pairs[row]]
            holding[row] = group in better
            better.add(group)
    return {
        "flag": fault.flag,
        "planted": fault.name,
        "lines": len(fault.source_lines) + len(fault.target_lines),
        "pairs": int(holding.sum()),
        "found": percent(int((holding & marked).sum()), int(holding.sum())),
    }


def percent(part: int, whole: int) -> float | None:
    """Give a share in percent, None of nothing."""
    return round(100 * part / whole, 2) if whole else None


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("eval", type=Path)
    parser.add_argument("--messages", type=Path, action="append", default=[])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    lines = {
        "language": marked_lines(options.eval),
        "placeholder": marked_messages(options.messages),
    }
    for name, table in lines.items():
        print(f"\n{name}, % marked")
        for each, found in table.items():
            print(f"{each:14}", ", ".join(f"{kind} {share:g}" for kind, share in found.items()))
    encoder = SentenceEncoder.load()
    good = good_pairs(options.eval, encoder)
    rows, good["bucc2018 spoilt, mined"] = spoilt(options.eval, encoder)
    cut = cut_in_half(options.eval, encoder)
    print(f"{'gold pairs left alone, %':26}" + "".join(f"{name:>10}" for name in ("pairs", *FLAGS)))
    for name, shares in good.items():
        print(f"{name:26}" + "".join(f"{share:10g}" for share in shares.values()))
    print(
        "\n" + "".join(f"{name:>24}" if i == 1 else f"{name:>14}" for i, name in enumerate(rows[0]))
    )
    for row in rows:
        cells = [("-" if cell is None else str(cell)) for cell in row.values()]
        print("".join(f"{cell:>24}" if i == 1 else f"{cell:>14}" for i, cell in enumerate(cells)))
    print("\npartial, of pairs with one side cut in half")
    for name, figures in cut.items():
        print(f"{name:26}", ", ".join(f"{each} {figure}" for each, figure in figures.items()))
    if options.json:
        write_record(
            options.json, record({"gold": good, "planted": rows, "cut_in_half": cut, **lines})
        )


if __name__ == "__main__":
    main()
