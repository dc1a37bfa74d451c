"""Candidates with probabilities and flags -> the threshold, and the pairs that are kept."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.files.scratch import taken
from xmine.flags.beside import Beside
from xmine.flags.flag_set import Bools, Flags
from xmine.flags.names import FLAGS
from xmine.mining.candidates import Candidates, Estimated
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.pairs.io import Pairs
from xmine.pairs.known import NOTHING_KNOWN, LabelledPairs, labels_of
from xmine.scoring import threshold as cuts
from xmine.scoring.gold import best_threshold
from xmine.scoring.order import rising_share
from xmine.scoring.probability import DOUBT, Floats
from xmine.text.packed import PickedTexts
from xmine.text.segmentation import join


def select(
    estimated: Estimated,
    flags: Flags,
    options: MiningOptions,
    seeds: LabelledPairs = NOTHING_KNOWN,
    gold: LabelledPairs = NOTHING_KNOWN,
    warnings: Sequence[str] = (),
    unknown: str = "",
    beside: Beside | None = None,
) -> Mined:
    """Choose the threshold, and keep the pairs that the options ask for.

    `unknown` says why nobody can know how precise the pairs are; no figure is given then. With
    `beside`, see `fits_beside`, pairs are merged but for those that are known to be right.
    """
    candidates, confidence = estimated.candidates, estimated.confidence
    assert candidates.read is not None
    labels = labels_of(seeds.pairs, *candidates.lines())
    eligible = find_eligible(candidates.chosen.scores, flags, estimated.copies, labels, options)
    threshold = _threshold(estimated, eligible.rows, options, gold)
    rows = _best(eligible.rows[: threshold.kept.pairs], options.top, labels)
    probs = None if confidence is None else taken(confidence.probs, rows)
    known = None if unknown else probs
    expected = cuts.precision_of(known, DOUBT if confidence is None else confidence.doubt)
    if unknown:
        threshold = replace(threshold, others=(), translations=None, weakness=unknown)
    kept = candidates.chosen.take(rows)
    pairs = _with_text(candidates, rows, probs, flags.take(rows))
    if beside is not None:
        merged = merge_beside(candidates, rows, flags.take(rows), beside)
        is_known = labels[rows] == 1
        merged = {at: bead for at, bead in merged.items() if not is_known[at]}
        pairs = replace(pairs, merged=merged)
    return Mined(
        pairs=pairs,
        kept=cuts.Kept(threshold.value, len(rows), *expected),
        threshold=threshold,
        candidates=candidates,
        flags=flags,
        confidence=confidence,
        eligible=eligible.rows,
        kept_rows=rows,
        refused=eligible.reasons,
        dropped=eligible.dropped(estimated.ranks >= threshold.value),
        options=options,
        seeds=seeds,
        gold=gold,
        warnings=list(warnings),
        languages=candidates.read.languages,
        rising=rising_share(kept.sources, kept.targets),
    )


def _best(rows: NDArray[np.intp], top: int | None, labels: NDArray[np.int8]) -> NDArray[np.intp]:
    """Keep the first rows, and before others those that are known to be right."""
    if top is None:
        return rows
    right_first = np.argsort(labels[rows] != 1, kind="stable")
    best: NDArray[np.intp] = rows[np.sort(right_first[:top])]
    return best


def _threshold(
    estimated: Estimated, rows: NDArray[np.intp], options: MiningOptions, gold: LabelledPairs
) -> cuts.Threshold:
    """Choose the threshold that the options ask for among some rows of the candidates."""
    candidates, confidence = estimated.candidates, estimated.confidence
    scores, wanted, how = taken(candidates.chosen.scores, rows), options.threshold, ""
    some = None if confidence is None else confidence.of(rows)
    ranks, lowest = taken(estimated.ranks, rows), options.min_prob
    if wanted == "gold":
        lines = (each[rows].tolist() for each in candidates.lines())
        right = {pair[:2] for pair in gold.pairs if pair.right}
        pairs = list(zip(*lines, strict=True))
        lowest, how = best_threshold(ranks.tolist(), pairs, right), "best for --gold"
        if lowest == np.inf:
            lowest, how = cuts.above_all(ranks), "no pair is one of --gold, none kept"
    elif lowest is not None and some is None:
        lowest, how = cuts.above_all(ranks), "too few lines to estimate a probability, no pair kept"
    elif isinstance(wanted, float) and lowest is None:  # `find_eligible` leaves out lower scores
        lowest = wanted if some is None else 0.0
    found = cuts.choose_threshold(scores, some, lowest, options.precision)
    alone = wanted == "auto" and lowest is None and options.precision is None
    best_few = ranks[: len(ranks) if alone else found.kept.pairs][: options.top]
    if options.top is not None and len(best_few) and (alone or len(best_few) == options.top):
        lowest, how = float(best_few[-1]), f"the best {len(best_few):,}"
        found = cuts.choose_threshold(scores, some, lowest if some else cuts.floored(lowest))
    return replace(found, how=how or found.how)


def _with_text(
    candidates: Candidates, rows: NDArray[np.intp], probs: Floats | None, flags: Flags
) -> Pairs:
    chosen = candidates.chosen.take(rows)
    columns: dict[str, Any] = {
        "score": chosen.scores,
        "cosine": chosen.cosines,
        "prob": probs,
        "flags": flags,
        "margin": chosen.margins,
    }
    for name, side, at in (
        ("source", candidates.source, chosen.sources),
        ("target", candidates.target, chosen.targets),
    ):
        lines = taken(side.lines, at)
        files, lines = side.files.places(lines) if side.files else (None, lines)
        texts = {"place": side.places, **side.kept}
        columns |= {name: PickedTexts(side.texts, at), f"{name}_line": lines, f"{name}_file": files}
        columns[f"{name}_offset"] = None if side.offsets is None else side.offsets[at]
        columns |= {f"{name}_{each}": x and PickedTexts(x, at) for each, x in texts.items()}
    return Pairs({name: each for name, each in columns.items() if each is not None})


def merge_beside(
    candidates: Candidates, rows: NDArray[np.intp], flags: Sequence[str], beside: Beside
) -> dict[int, dict[str, str]]:
    """Merge pairs that are `partial` with the line beside, where both fit better together.

    A line that belongs to another pair, or was merged before, stays alone. `rows` are the
    candidates that are kept, best first, with `flags` of each; `beside` is of all, see
    `fits_beside`.

    Returns:
        of each place in `rows` that is merged the fields of a pair that change.
    """
    sides = candidates.source, candidates.target
    pairs = candidates.chosen.sources[rows], candidates.chosen.targets[rows]
    used = [np.isin(np.arange(len(side)), some) for side, some in zip(sides, pairs, strict=True)]
    fits, which = beside
    merged = {}
    for at in np.flatnonzero(fits[rows] > 0).tolist():
        names = flags[at].split(",")
        side, is_behind = divmod(int(which[rows[at]]), 2)
        line, texts, lines = int(pairs[side][at]), sides[side].texts, sides[side].lines
        first = line if is_behind else line - 1
        other = first + is_behind
        if "partial" not in names or used[side][other] or lines[first + 1] - lines[first] != 1:
            continue
        both, files = lines[first : first + 2], sides[side].files
        if files is not None:
            (one, two), both = files.places(both)
            if one != two:
                continue
        used[side][other] = True
        name = ("source", "target")[side]
        merged[at] = {
            name: join((texts[first], texts[first + 1])),
            f"{name}_lines": f"{both[0]}-{both[1]}",
            "flags": ",".join(each for each in names if each != "partial"),
        }
    return merged


KEPT, BELOW, DROPPED = range(3)
WRONG, COPY = "known to be wrong", "copy"


@dataclass(frozen=True, slots=True)
class Eligible:
    """The candidates that may be kept, and the reasons that drop the others.

    Attributes:
        reasons: bool [candidates] for each reason, the candidates that the reason drops; two may
            drop the same candidate.
        rows: int64 [eligible], rising, the candidates that no reason drops, and those that are
            known to be right.
    """

    reasons: dict[str, Bools]
    rows: NDArray[np.intp]

    def dropped(self, above: Bools) -> dict[str, int]:
        """Count the candidates that each reason drops.

        An option drops none but those `above` the cut, bool [candidates]. Copies and pairs known to
        be wrong count wherever they stand.
        """
        counts = {
            name: int((rows if name in (WRONG, COPY) else rows & above).sum())
            for name, rows in self.reasons.items()
        }
        return {name: count for name, count in counts.items() if count}


def find_eligible(
    scores: NDArray[np.float32],
    flags: Flags,
    copies: Bools,
    known: NDArray[np.int8],
    options: MiningOptions,
) -> Eligible:
    """Find the candidates that may be kept.

    `copies`, bool [candidates], have the same text on both sides; `known`, [candidates], is 1 for
    those known to be right, 0 for wrong ones, else -1.
    """
    reasons = {WRONG: known == 0}
    if not options.keep_copies:
        reasons[COPY] = copies
    others = sorted({*options.drop}.difference(FLAGS))
    reasons |= {name: flags.raised(name) for name in (*FLAGS, *others) if name in options.drop}
    reasons = {name: rows & (known != 1) for name, rows in reasons.items()}
    stay = np.ones(len(scores), dtype=bool)
    if isinstance(options.threshold, float):
        stay = scores.astype(np.float64) >= options.threshold
    for rows in reasons.values():
        stay &= ~rows
    return Eligible(reasons, np.flatnonzero(stay | (known == 1)))


def outcomes(mined: Mined) -> tuple[NDArray[np.int8], list[str | None]]:
    """Tell what became of each candidate, and why.

    Returns:
        int8 [candidates], places in `OUTCOMES`; and the reason for those that are dropped, None for
        others.
    """
    scores, options = mined.candidates.chosen.scores, mined.options
    kinds = np.full(len(scores), BELOW, np.int8)
    reasons: list[str | None] = [None] * len(scores)
    beyond = mined.eligible[: mined.threshold.kept.pairs]
    kinds[beyond] = DROPPED
    kinds[mined.kept_rows] = KEPT
    for row in beyond[kinds[beyond] == DROPPED].tolist():
        reasons[row] = f"dropped: beyond the best {options.top:,} that --top asks for"
    by_flag = "dropped for its flag: "
    said = {
        WRONG: "dropped: known to be wrong",
        COPY: "dropped: the same text on both sides, or nearly; --keep-copies keeps it",
    }
    for name, rows in mined.refused.items():  # flags come last, and do not hide the others
        kinds[rows] = DROPPED
        for row in np.flatnonzero(rows).tolist():
            if not (before := reasons[row]):
                reasons[row] = said.get(name, by_flag + name)
            elif before.startswith(by_flag):
                reasons[row] = f"{before}, {name}"
    if isinstance(lowest := options.threshold, float):
        for row in np.flatnonzero((kinds == BELOW) & (scores.astype(np.float64) < lowest)).tolist():
            kinds[row], reasons[row] = DROPPED, f"dropped: below --threshold {lowest:g}"
    return kinds, reasons
