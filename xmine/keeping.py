"""Scored candidates -> the pairs that are kept: judged, flagged, cut, with their texts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.agreement import best_threshold
from xmine.candidates import Scored
from xmine.confidence import Confidence, Floats, estimate
from xmine.copies import same_texts
from xmine.digests import NOBODY, Watch
from xmine.flagged import Flags
from xmine.flags import flag_pairs
from xmine.known import NOTHING_KNOWN, KnownPairs, labels_of
from xmine.languages import guess_language
from xmine.options import MiningOptions
from xmine.pairs import Pairs
from xmine.picked import PickedTexts
from xmine.progress import Report, silent
from xmine.selection import select
from xmine.sentences import Sentences
from xmine.threshold import Kept, Threshold, choose_threshold, precision_of


@dataclass(frozen=True, slots=True)
class Mined:
    """What mining two files gave.

    Attributes:
        pairs: those at or above the threshold that were not dropped for another reason.
        kept: how many they are, and how precise they are expected to be.
        threshold: the cut, how it was found, and what it and its neighbours keep.
        scored: where the pairs come from.
        flags: of each of `scored.chosen`.
        confidence: how likely each pair of `scored.chosen` is; None if there was too little to see.
        eligible: int64, rows of `scored.chosen` that no option drops, whatever their score.
        dropped: how many pairs above the threshold were dropped, for each reason.
        copies: how many of `scored.chosen` have the same text on both sides.
        seeds, gold: pairs that are known, by the lines that stand for repeated ones.
        warnings: what the user should know before trusting the pairs.
        languages: codes of source and target, as given or guessed; `und` where that failed.
    """

    pairs: Pairs
    kept: Kept
    threshold: Threshold
    scored: Scored
    flags: Flags
    confidence: Confidence | None
    eligible: NDArray[np.intp]
    dropped: dict[str, int]
    copies: int
    seeds: KnownPairs
    gold: KnownPairs
    warnings: list[str]
    languages: tuple[str, str]

    def curve(self) -> tuple[NDArray[np.float32], Floats | None, float]:
        """Give what a picture of the scores shows: scores and chances of all, and the cut."""
        chances = None if self.confidence is None else self.confidence.chances[self.eligible]
        return self.scored.chosen.scores[self.eligible], chances, self.threshold.value


def keep(
    scored: Scored,
    options: MiningOptions,
    known: tuple[str, ...] = (),
    warnings: Sequence[str] = (),
    seeds: KnownPairs = NOTHING_KNOWN,
    gold: KnownPairs = NOTHING_KNOWN,
    report: Report = silent,
    folder: Path | None = None,
    watch: Watch = NOBODY,
) -> Mined:
    """Judge candidates, flag them, choose the cut, and keep the pairs that the options ask for.

    Args:
        scored: the candidates, which other options may be asked of again without a new search.
        options: see MiningOptions; those that make candidates do nothing here.
        known: languages of the encoder.
        warnings: what is to be told with the pairs.
        seeds, gold: as `mine` takes them, by the lines that stand for repeated ones.
        report: called meanwhile.
        folder: where what was seen of lines is kept, and found again.
        watch: told what these files are.

    Raises:
        FileError: the folder cannot be written to.
    """
    copies = same_texts(*scored.texts())
    labels = labels_of(seeds.pairs, *scored.lines())
    labels[copies & (labels == -1)] = 0  # a copy is no translation
    confidence = estimate(scored.chosen, scored.neighbours, labels)
    languages = _languages(scored, copies, options, known)
    flags = flag_pairs(
        scored.chosen,
        np.zeros(len(copies)) if confidence is None else confidence.chances,
        scored.neighbours.first(options.neighborhood),
        scored.source,
        scored.target,
        languages,
        report,
        folder,
        watch,
    )
    selection = select(scored.chosen.scores, flags, labels == 0, options)
    threshold = _threshold(scored, selection.rows, confidence, options, gold)
    rows = selection.rows[: threshold.kept.pairs][: options.top]
    chances = None if confidence is None else confidence.chances[rows]
    return Mined(
        pairs=_with_text(scored, rows, chances, flags.take(rows)),
        kept=Kept(threshold.value, len(rows), *precision_of(chances)),
        threshold=threshold,
        scored=scored,
        flags=flags,
        confidence=confidence,
        eligible=selection.rows,
        dropped=selection.dropped(scored.chosen.scores >= threshold.value),
        copies=int(copies.sum()),
        seeds=seeds,
        gold=gold,
        warnings=list(warnings),
        languages=languages,
    )


def cut_without_gold(scored: Scored) -> float:
    """Choose the threshold as `auto` does."""
    labels = np.where(same_texts(*scored.texts()), 0, -1).astype(np.int8)
    confidence = estimate(scored.chosen, scored.neighbours, labels)
    return choose_threshold(scored.chosen.scores, confidence).value


def _languages(
    scored: Scored, copies: NDArray[np.bool_], options: MiningOptions, known: tuple[str, ...]
) -> tuple[str, str]:
    """Take the languages that are given, or guess them by lines that are not copies."""
    codes = []
    for given, side, rows in (
        (options.src_lang, scored.source, scored.chosen.sources[copies]),
        (options.tgt_lang, scored.target, scored.chosen.targets[copies]),
    ):
        left = np.ones(len(side), dtype=bool)
        left[rows] = False
        others = np.flatnonzero(left)
        texts = PickedTexts(side.texts, others) if len(others) else side.texts
        codes.append(given or guess_language(texts, known))
    return codes[0], codes[1]


def _threshold(
    scored: Scored,
    rows: NDArray[np.intp],
    confidence: Confidence | None,
    options: MiningOptions,
    gold: KnownPairs,
) -> Threshold:
    """Choose the cut that the options ask for among some rows of the candidates."""
    scores, wanted = scored.chosen.scores[rows], options.threshold
    judged = None if confidence is None else confidence.of(rows)
    if wanted == "gold":
        lines = (each[rows].tolist() for each in scored.lines())
        right = {pair[:2] for pair in gold.pairs if pair.right}
        best = best_threshold(scores.tolist(), list(zip(*lines, strict=True)), right)
        found = choose_threshold(scores, judged, best.threshold)
        found = replace(found, how="best for the gold pairs")
    else:
        found = choose_threshold(scores, judged, wanted, options.precision)
        alone = wanted == "auto" and options.precision is None
        best_few = scores[: len(scores) if alone else found.kept.pairs][: options.top]
        if options.top is not None and len(best_few) and (alone or len(best_few) == options.top):
            cut = math.floor(float(best_few[-1]) * 1e4) / 1e4
            found = choose_threshold(scores, judged, cut)
            found = replace(found, how=f"the best {len(best_few):,}")
    return found


def _with_text(
    scored: Scored, rows: NDArray[np.intp], chances: Floats | None, flags: Flags
) -> Pairs:
    chosen, (source, target) = scored.chosen.take(rows), (scored.source, scored.target)
    return Pairs(
        scores=chosen.scores,
        sources=PickedTexts(source.texts, chosen.sources),
        targets=PickedTexts(target.texts, chosen.targets),
        source_lines=source.lines[chosen.sources],
        target_lines=target.lines[chosen.targets],
        cosines=chosen.cosines,
        source_offsets=_offsets(source, chosen.sources),
        target_offsets=_offsets(target, chosen.targets),
        probs=chances,
        flags=flags,
    )


def _offsets(side: Sentences, rows: NDArray[np.intp]) -> NDArray[np.int64] | None:
    return None if side.offsets is None else side.offsets[rows]
