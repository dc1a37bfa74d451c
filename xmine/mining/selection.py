"""Scored candidates -> the pairs that are kept: judged, ordered, flagged, cut, with their texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.files.digests import NOBODY, Watch
from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS
from xmine.flags.near_copies import same_texts
from xmine.flags.rules import flag_pairs
from xmine.mining.candidates import Scored
from xmine.mining.options import MiningOptions
from xmine.pairs.io import Pairs
from xmine.pairs.known import NOTHING_KNOWN, KnownPairs, labels_of
from xmine.progress import Report, silent
from xmine.scoring.gold import best_threshold
from xmine.scoring.probability import Confidence, Floats, estimate
from xmine.scoring.retrieval import ChosenPairs
from xmine.scoring.threshold import Kept, Threshold, choose_threshold, floored, precision_of
from xmine.text.languages import guess_language
from xmine.text.packed import PickedTexts
from xmine.text.sentences import Sentences


@dataclass(frozen=True, slots=True)
class Mined:
    """What mining two files gave.

    Attributes:
        pairs: those at or above the cut that were not dropped for another reason.
        kept: how many they are, and how precise they are expected to be.
        threshold: the cut, how it was found, and what it and its neighbours keep.
        scored: where the pairs come from, the most probable ones first, equal ones by score.
        flags: of each of `scored.chosen`.
        confidence: how likely each pair of `scored.chosen` is; None if there was too little to see.
        eligible: int64, rows of `scored.chosen` that may be kept, wherever the cut is.
        dropped: how many pairs were dropped for each reason; of those for a flag the ones above
            the cut.
        options: what was asked for.
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
    options: MiningOptions
    seeds: KnownPairs
    gold: KnownPairs
    warnings: list[str]
    languages: tuple[str, str]

    def curve(self) -> tuple[NDArray[np.floating], Floats | None, float]:
        """Give what a picture shows: what pairs are ordered by, their chances, and the cut."""
        chances = None if self.confidence is None else self.confidence.chances[self.eligible]
        scores = self.scored.chosen.scores[self.eligible]
        return scores if chances is None else chances, chances, self.threshold.value


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
    scored, confidence, copies = judge(scored, seeds, keep_copies=options.keep_copies)
    known_pairs = labels_of(seeds.pairs, *scored.lines())
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
    selection = select(scored.chosen.scores, flags, copies, known_pairs, options)
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
        dropped=selection.dropped(_ranks(scored, confidence) >= threshold.value),
        options=options,
        seeds=seeds,
        gold=gold,
        warnings=list(warnings),
        languages=languages,
    )


def judge(
    scored: Scored, seeds: KnownPairs = NOTHING_KNOWN, *, keep_copies: bool = False
) -> tuple[Scored, Confidence | None, NDArray[np.bool_]]:
    """Estimate how likely each candidate is a translation, and order the candidates by that.

    Candidates of one probability are ordered by score, then by rows. Without an estimate they keep
    their order.

    Args:
        scored: the candidates.
        seeds: pairs that are known, by the lines that stand for repeated ones.
        keep_copies: whether pairs with the same text on both sides are translations.

    Returns:
        The candidates in the new order, what is known of them, and which are copies, bool
        [candidates].
    """
    copies = same_texts(*scored.texts())
    labels = labels_of(seeds.pairs, *scored.lines())
    # Copies stand out more than any translation: they take no part in the fit.
    confidence = estimate(
        scored.chosen, scored.neighbours, np.where(copies & (labels == -1), 0, labels)
    )
    if confidence is None:
        return scored, None, copies
    if keep_copies:
        confidence = confidence.with_right(copies & (labels != 0))
    chosen = scored.chosen
    order = np.lexsort((chosen.targets, chosen.sources, -chosen.scores, -confidence.chances))
    return replace(scored, chosen=chosen.take(order)), confidence.of(order), copies[order]


def best_without_gold(scored: Scored) -> tuple[float, ChosenPairs]:
    """Choose as `auto` does: the cut, and the pairs that it keeps."""
    scored, confidence, copies = judge(scored)
    rows = np.flatnonzero(~copies)
    judged = None if confidence is None else confidence.of(rows)
    found = choose_threshold(scored.chosen.scores[rows], judged)
    return found.value, scored.chosen.take(rows[: found.kept.pairs])


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
    scores, wanted, how = scored.chosen.scores[rows], options.threshold, ""
    judged = None if confidence is None else confidence.of(rows)
    ranks = scores if judged is None else judged.chances
    lowest = options.min_prob
    if wanted == "gold":
        lines = (each[rows].tolist() for each in scored.lines())
        right = {pair[:2] for pair in gold.pairs if pair.right}
        pairs = list(zip(*lines, strict=True))
        lowest, how = best_threshold(ranks.tolist(), pairs, right).threshold, "best for --gold"
    elif isinstance(wanted, float) and lowest is None:  # `select` has left out lower scores
        lowest = wanted if judged is None else 0.0
    found = choose_threshold(scores, judged, lowest, options.precision)
    alone = wanted == "auto" and lowest is None and options.precision is None
    best_few = ranks[: len(ranks) if alone else found.kept.pairs][: options.top]
    if options.top is not None and len(best_few) and (alone or len(best_few) == options.top):
        lowest, how = float(best_few[-1]), f"the best {len(best_few):,}"
        found = choose_threshold(scores, judged, lowest if judged else floored(lowest))
    return replace(found, how=how or found.how)


def _ranks(scored: Scored, confidence: Confidence | None) -> NDArray[np.floating]:
    """Give what the candidates are ordered by, [candidates]."""
    return scored.chosen.scores if confidence is None else confidence.chances


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


Bools = NDArray[np.bool_]

WRONG, COPY, TOO_HIGH = "known to be wrong", "copy", "above --score-max"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is dropped, and why.

    Attributes:
        reasons: for each reason the candidates that it drops, bool [candidates]; several may drop
            the same one.
        rows: int64 [kept], the candidates that no reason drops, and those that are known to be
            right, rising.
    """

    reasons: dict[str, Bools]
    rows: NDArray[np.intp]

    def dropped(self, above: Bools) -> dict[str, int]:
        """Count what each reason drops.

        Args:
            above: bool [candidates], those above the cut, which alone count for an option; what is
                wrong counts wherever it stands.
        """
        counts = {
            name: int((rows if name in (WRONG, COPY) else rows & above).sum())
            for name, rows in self.reasons.items()
        }
        return {name: count for name, count in counts.items() if count}


def select(
    scores: NDArray[np.float32],
    flags: Flags,
    copies: Bools,
    known: NDArray[np.int8],
    options: MiningOptions,
) -> Selection:
    """Find the candidates that may be kept.

    Args:
        scores: [candidates].
        flags: of each candidate, see `xmine.flags.rules.flag_pairs`.
        copies: bool [candidates], which have the same text on both sides.
        known: [candidates], 1 for those known to be right, 0 for wrong ones, -1 for the others.
        options: `threshold`, `score_max`, `drop`, `keep_copies`.
    """
    reasons = {WRONG: known == 0}
    if not options.keep_copies:
        reasons[COPY] = copies
    if options.score_max is not None:
        reasons[TOO_HIGH] = scores.astype(np.float64) > options.score_max
    for name in FLAGS:
        if name in options.dropped_flags():
            reasons[name] = flags.raised(name)
    reasons = {name: rows & (known != 1) for name, rows in reasons.items()}
    stay = np.ones(len(scores), dtype=bool)
    if isinstance(options.threshold, float):
        stay = scores.astype(np.float64) >= options.threshold
    for rows in reasons.values():
        stay &= ~rows
    return Selection(reasons, np.flatnonzero(stay | (known == 1)))
