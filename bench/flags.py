"""Real and spoilt pairs -> which flags leave good pairs alone, and which find what was planted.

    python bench/flags.py EVAL [--json OUT.json]

EVAL is a folder with newstest2019, un-devset, flores101 and bucc2018 as docs/evaluation.md names
their files. Gold pairs are mined out of their files with the embedded encoder, and aligned as they
are; then faulty lines are added to the BUCC sample. Pairs at or above the cut of `auto` count as
confident. No text is written.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from planted import Fault, faults, pairs_of_bucc, pairs_of_lines

from xmine.encoder import SentenceEncoder
from xmine.evaluation.record import record, write_record
from xmine.flags import FLAGS, flag_pairs
from xmine.margin import SMALLEST_MEAN
from xmine.mining import Encoded, Scored, score_vectors
from xmine.options import MiningOptions
from xmine.pairing import ChosenPairs
from xmine.sentences import folded, sentence_table
from xmine.threshold import choose_threshold

SETS: dict[str, tuple[str, str]] = {
    "newstest2019": ("newstest2019/ref.en", "newstest2019/ref.zh"),
    "un-devset": ("un-devset/UNv1.0.devset.en", "un-devset/UNv1.0.devset.zh"),
    "flores101": ("flores101/dev/eng.dev", "flores101/dev/zho_simpl.dev"),
}
LANGUAGES = ("en", "zh")
REPEATS = 3
FAR = 40  # lines of `high`; they are vectors, since no text is far from everything for this encoder

Pair = tuple[str, str]
Encode = Callable[[list[str], str], Encoded]


class Flagged(NamedTuple):
    """Pairs with their flags, and how many were flagged in a second."""

    pairs: list[Pair]
    flags: list[set[str]]
    kept: NDArray[np.bool_]
    rate: int


def encoder_of_texts() -> Encode:
    """Make a function that reads lines as mining does and encodes them."""
    encoder = SentenceEncoder.load()

    def encode(lines: list[str], name: str) -> Encoded:
        sentences = sentence_table(name, lines)
        return sentences, encoder.encode_half(sentences.texts)

    return encode


def mined(source: Encoded, target: Encoded) -> Scored:
    """Score all pairs that mining chooses."""
    return score_vectors(source, target, MiningOptions())


def aligned(scored: Scored, pairs: list[Pair]) -> ChosenPairs:
    """Score given pairs, as `xmine score` would."""
    rows = [
        {folded(text): row for row, text in enumerate(side.texts)}
        for side in (scored.source, scored.target)
    ]
    x = np.array([rows[0][folded(source)] for source, _ in pairs])
    y = np.array([rows[1][folded(target)] for _, target in pairs])
    near = scored.neighbours
    means = (near.target_cosines.mean(axis=1)[x] + near.source_cosines.mean(axis=1)[y]) / 2
    # The pair's own cosine, where it is among the neighbours; else that of the furthest.
    same = near.targets[x] == y[:, None]
    cosines = np.where(same.any(axis=1), (near.target_cosines[x] * same).max(axis=1), 0)
    cosines = np.where(same.any(axis=1), cosines, near.target_cosines[x, -1]).astype(np.float32)
    scores = (cosines / np.maximum(means, SMALLEST_MEAN)).astype(np.float32)
    order = np.argsort(-scores, kind="stable")
    return ChosenPairs(x, y, scores, cosines).take(order)


def flagged(scored: Scored, chosen: ChosenPairs) -> Flagged:
    """Flag pairs; those at or above the cut that `auto` finds count as confident."""
    cut = choose_threshold(scored.chosen, scored.neighbours).value
    kept = chosen.scores >= cut
    source, target = scored.source, scored.target
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        flags = flag_pairs(
            chosen, kept.astype(np.float64), scored.neighbours, source, target, LANGUAGES
        )
        seconds.append(time.process_time() - started)
    texts = [
        (source.texts[x], target.texts[y])
        for x, y in zip(chosen.sources.tolist(), chosen.targets.tolist(), strict=True)
    ]
    found = [set(each.split(",")) - {""} for each in flags]
    return Flagged(texts, found, kept, round(len(flags) / min(seconds)))


def left_alone(found: Flagged, gold: set[Pair]) -> dict[str, float]:
    """Measure the share of gold pairs, in percent, that each flag leaves alone."""
    flags = [flags for pair, flags in zip(found.pairs, found.flags, strict=True) if pair in gold]
    shares = {name: 100 * float(np.mean([name not in each for each in flags])) for name in FLAGS}
    return {"pairs": len(flags), **{name: round(share, 2) for name, share in shares.items()}}


def good_pairs(data: Path, encode: Encode) -> tuple[dict[str, dict[str, float]], dict[str, int]]:
    """Flag gold pairs of every set, mined and aligned; also measure pairs per second."""
    table, rates = {}, {}
    sets = {name: pairs_of_lines(data, *paths) for name, paths in SETS.items()}
    sets["bucc2018"] = pairs_of_bucc(data)
    for name, (english, chinese, gold) in sets.items():
        scored = mined(encode(english, "en"), encode(chinese, "zh"))
        wanted = [(x, y) for x, y in gold if x.strip() and y.strip()]
        for how, chosen in (("mined", scored.chosen), ("aligned", aligned(scored, wanted))):
            found = flagged(scored, chosen)
            texts = set(wanted)
            if how == "aligned":  # a repeated line stands for its first occurrence
                texts = set(found.pairs)
            table[f"{name} {how}"] = left_alone(found, texts)
            if how == "mined":
                rates[name] = found.rate
    return table, rates


def far_lines(source: Encoded, target: Encoded) -> tuple[Encoded, Encoded, list[Pair]]:
    """Add lines that are far from everything, and a little nearer to each other."""
    rng = np.random.default_rng(1)
    width = source[1].shape[1]
    ours = rng.standard_normal((FAR, width))
    ours /= np.linalg.norm(ours, axis=1, keepdims=True)
    others = rng.standard_normal((FAR, width))
    others -= (others * ours).sum(axis=1, keepdims=True) * ours
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    cosines = rng.uniform(0.35, 0.5, (FAR, 1))
    theirs = cosines * ours + np.sqrt(1 - cosines**2) * others
    texts = [[f"{word} {row}" for row in range(FAR)] for word in ("far", "远")]
    sides = []
    for (sentences, vectors), added, rows in zip(
        (source, target), texts, (ours, theirs), strict=True
    ):
        lines = np.concatenate([sentences.lines, sentences.total + 1 + np.arange(FAR)])
        assert sentences.occurrences is not None
        counts = np.concatenate([sentences.occurrences, np.ones(FAR, dtype=np.int64)])
        texts_of_all = sentences.texts + added
        grown = replace(sentences, texts=texts_of_all, lines=lines, occurrences=counts)
        sides.append((grown, np.concatenate([vectors, rows.astype(np.float16)])))
    return sides[0], sides[1], list(zip(*texts, strict=True))


def spoilt(data: Path, encode: Encode) -> tuple[list[dict[str, object]], dict[str, float], int]:
    """Add every fault to the BUCC sample, mine, and see what the flags find."""
    english, chinese, gold = pairs_of_bucc(data)
    planted = faults(data, english, chinese, Random(1))
    for fault in planted:
        english, chinese = english + fault.source_lines, chinese + fault.target_lines
    shuffled = []
    for lines in (english, chinese):  # so that the place in the file tells nothing
        shuffled.append(Random(2).sample(lines, len(lines)))
    source, target = encode(shuffled[0], "en"), encode(shuffled[1], "zh")
    source, target, far = far_lines(source, target)
    planted.append(
        Fault("high", "far from everything", pairs={pair: row for row, pair in enumerate(far)})
    )
    scored = mined(source, target)
    found = flagged(scored, scored.chosen)
    rows = [outcome(fault, found) for fault in planted]
    return rows, left_alone(found, set(gold)), found.rate


def outcome(fault: Fault, found: Flagged) -> dict[str, object]:
    """Count the pairs with what was planted, and those that bear its flag; all, and those kept."""
    holding = np.array([fault.is_in(pair) for pair in found.pairs])
    marked = np.array([fault.flag in flags for flags in found.flags])
    if fault.flag == "duplicate":  # one of the two pairs is the better one
        better: set[int] = set()
        for row in np.flatnonzero(holding).tolist():
            group = fault.pairs[found.pairs[row]]
            holding[row] = group in better
            better.add(group)
    kept = holding & found.kept
    return {
        "flag": fault.flag,
        "planted": fault.name,
        "lines": len(fault.source_lines) + len(fault.target_lines),
        "pairs": int(holding.sum()),
        "found": percent(int((holding & marked).sum()), int(holding.sum())),
        "kept": int(kept.sum()),
        "found of kept": percent(int((kept & marked).sum()), int(kept.sum())),
    }


def percent(part: int, whole: int) -> float | None:
    """Give a share in percent, None of nothing."""
    return round(100 * part / whole, 2) if whole else None


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("eval", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    encode = encoder_of_texts()
    good, rates = good_pairs(options.eval, encode)
    rows, gold, rate = spoilt(options.eval, encode)
    good["bucc2018 spoilt, mined"], rates["bucc2018 spoilt"] = gold, rate
    print(f"{'gold pairs left alone, %':26}" + "".join(f"{name:>10}" for name in ("pairs", *FLAGS)))
    for name, shares in good.items():
        print(f"{name:26}" + "".join(f"{share:10g}" for share in shares.values()))
    print(
        "\n" + "".join(f"{name:>24}" if i == 1 else f"{name:>14}" for i, name in enumerate(rows[0]))
    )
    for row in rows:
        cells = [("-" if cell is None else str(cell)) for cell in row.values()]
        print("".join(f"{cell:>24}" if i == 1 else f"{cell:>14}" for i, cell in enumerate(cells)))
    print("\npairs flagged in a second:", rates)
    if options.json:
        write_record(
            options.json, record({"gold": good, "planted": rows, "pairs_per_second": rates})
        )


if __name__ == "__main__":
    main()
