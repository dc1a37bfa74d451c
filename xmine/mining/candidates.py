"""Sentences, vectors and neighbours -> candidates: retrieved, given a probability, flagged."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.vectors import Encoded
from xmine.files.scratch import slices, taken
from xmine.flags.beside import Vectors
from xmine.flags.flag_set import Flags
from xmine.flags.near_copies import same_texts
from xmine.flags.plugged import with_plugins
from xmine.flags.reading import PAIR, ReadLines, compared, read_lines
from xmine.flags.rules import flag_pairs
from xmine.knn.cosines import pair_cosines
from xmine.knn.neighbours import Neighbours
from xmine.mining.kin import MANY, Kin
from xmine.mining.options import MiningOptions
from xmine.mining.reranking import Judge
from xmine.pairs.known import NOTHING_KNOWN, NOTHING_SETTLED, LabelledPairs, SettledPairs, labels_of
from xmine.progress import Report, silent
from xmine.run.local import LocalEngine
from xmine.run.pair_steps import Rows, look_at
from xmine.run.steps import Steps
from xmine.scoring.alignment import Looseness
from xmine.scoring.decoys import POWER, as_odds, estimate_by_decoys, joined
from xmine.scoring.margin import MarginScores, margin_scores, pair_scores
from xmine.scoring.probability import PAIRS_AT_ONCE, Confidence, Floats, Kindred, estimate, sigmoid
from xmine.scoring.retrieval import ChosenPairs, choose_pairs
from xmine.scoring.threshold import choose_threshold
from xmine.text.identification import guess_language
from xmine.text.packed import PickedTexts
from xmine.text.sentences import Sentences


@dataclass(frozen=True, slots=True)
class Candidates:
    """All pairs that the retrieval mode chooses, before the threshold.

    Attributes:
        chosen: pairs of rows of `source` and `target`, best first.
        neighbours: the nearest rows both ways, as many as margin and probabilities need.
        scores: margin scores of the first k neighbours, k being `--neighborhood`; where candidates
            are reranked, log-odds of the first RERANKED.
        source, target: the sentences that were searched, without those unknown to the encoder.
        weights: of the reranking; None where the scores are margins.
        read: of the lines of both sides and of the chosen pairs, if they are read yet.
        copies: bool [chosen], which pairs are untranslated: the same text on both sides, or nearly
            so and in the wrong language; None where that is not known yet.
        kin: tells which neighbours are near-copies of a pair's own sentence.
        decoys: see `xmine.scoring.decoys`; None of too few lines.
    """

    chosen: ChosenPairs
    neighbours: Neighbours
    scores: MarginScores
    source: Sentences
    target: Sentences
    weights: RerankingWeights | None = None
    read: ReadLines | None = None
    copies: NDArray[np.bool_] | None = None
    kin: Kindred | None = None
    decoys: ChosenPairs | None = None

    def with_pairs(self, chosen: ChosenPairs, order: NDArray[np.intp]) -> "Candidates":
        """Put pairs in another order, which `chosen` has already."""
        read, copies = self.read, self.copies
        return replace(
            self,
            chosen=chosen,
            read=None if read is None else read.take(order),
            copies=None if copies is None else copies[order],
        )

    def texts(self) -> tuple[PickedTexts, PickedTexts]:
        """Look up the texts of the chosen pairs."""
        return (
            PickedTexts(self.source.texts, self.chosen.sources),
            PickedTexts(self.target.texts, self.chosen.targets),
        )

    def lines(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Look up the 1-based lines of the chosen pairs, int64 [pairs] twice."""
        chosen = self.chosen
        return taken(self.source.lines, chosen.sources), taken(self.target.lines, chosen.targets)


@dataclass(frozen=True, slots=True)
class Estimated:
    """Candidates in the order of their probability.

    Attributes:
        candidates: the most probable pair first; equal probabilities by score, then by rows.
            Without an estimate the order is that of the scores.
        confidence: the probability of each pair; None where too few pairs were there to estimate.
        copies: bool [pairs], which pairs are untranslated, see `Candidates`.
    """

    candidates: Candidates
    confidence: Confidence | None
    copies: NDArray[np.bool_]

    @property
    def ranks(self) -> NDArray[np.floating]:
        """The numbers that the pairs are ordered by, [pairs]: probabilities, or else scores."""
        chosen = self.candidates.chosen
        return chosen.scores if self.confidence is None else self.confidence.probs


def retrieve(
    encoded: tuple[Encoded, Encoded],
    neighbours: Neighbours,
    options: MiningOptions,
    judge: Judge | None = None,
    seeds: LabelledPairs = NOTHING_KNOWN,
    kin: Kin | None = None,
) -> Candidates:
    """Choose pairs among the neighbours by margin scores, or by those of a judge.

    Seed pairs that are right are added. Kin is left out where few pairs have any.
    """
    (source, left), (target, right) = encoded
    few, weights = neighbours.first(options.neighborhood), None
    if judge is not None and judge.encoders.source.reranking is None:
        scores = margin_scores(few, options.margin)
        first = Candidates(choose_pairs(few, scores), neighbours, scores, source, target)
        known = known_pairs(first, seeds)[1]
        kin = kin if kin and kin.share(first.chosen, neighbours) >= MANY else None
        judge = judge.learned(first.chosen, neighbours, known, options, kin)
    if judge is not None:
        near, weights = judge.reranker.neighbours, judge.reranker.weights
        scores = judge.reranker.candidates()
    else:
        near, scores = few, margin_scores(few, options.margin)
    chosen = choose_pairs(near, scores, options.retrieval)
    alone = chosen if options.retrieval == "max" else choose_pairs(near, scores)
    has_rivals = min(neighbours.targets.shape[1], neighbours.sources.shape[1]) > 1
    decoys = _decoys(alone, neighbours, options, judge, kin) if has_rivals else None
    if judge is not None:
        margins = pair_scores(chosen.sources, chosen.targets, chosen.cosines, few)[0]
        chosen = replace(chosen, margins=margins)
    kin = kin if kin and kin.share(chosen, neighbours) >= MANY else None
    found = chosen, neighbours, scores, source, target, weights
    candidates = Candidates(*found, kin=kin, decoys=decoys)
    x, y = _missing(candidates, seeds)
    if not len(x):
        return candidates
    cosines = pair_cosines(left, right, x, y)
    margins = pair_scores(x, y, cosines, few, options.margin)[0]
    more = ChosenPairs(x, y, margins, cosines)
    if judge is not None:
        matches = judge.match_texts((source.texts, target.texts), x, y)
        more = replace(more, scores=judge.reranker.pairs(x, y, matches, margins), margins=margins)
    return replace(candidates, chosen=candidates.chosen.joined(more))


def read_candidates(
    candidates: Candidates,
    options: MiningOptions,
    known: tuple[str, ...] = (),
    report: Report = silent,
    steps: Steps | None = None,
) -> Candidates:
    """Read the lines of both sides and the chosen pairs, for the flags and for the reranked score.

    Something is taken off the reranked score of some pairs, which are sorted again: those whose
    numbers or last marks differ, and those with a line in another language than its side.

    `known` are the languages of the encoder; `steps` make the files of what is read.
    """
    chosen, weights = candidates.chosen, candidates.weights
    sides, pairs = (candidates.source, candidates.target), (chosen.sources, chosen.targets)

    def texts(x: Rows, y: Rows) -> tuple[PickedTexts, PickedTexts]:
        return PickedTexts(sides[0].texts, x), PickedTexts(sides[1].texts, y)

    looked = partial(look_at, steps=steps, size=PAIRS_AT_ONCE, engine=LocalEngine())
    copies = looked(pairs, lambda x, y: same_texts(*texts(x, y)), "?", name="same", made_of=())
    languages = (
        options.src_lang or _language(sides[0], pairs[0], copies, known),
        options.tgt_lang or _language(sides[1], pairs[1], copies, known),
    )
    read = read_lines(sides, pairs, languages, report, steps)
    copies |= read.untranslated[1:].all(axis=0)
    candidates = replace(candidates, read=read, copies=copies)
    if weights is None:
        return candidates
    lower = (chosen.scores - read.against(pairs, weights)).astype(np.float32)
    order = np.lexsort((chosen.targets, chosen.sources, -lower))
    chosen = replace(chosen, scores=lower)
    if (decoys := candidates.decoys) is not None:
        pairs = decoys.sources, decoys.targets

        def number(x: Rows, y: Rows) -> NDArray[Any]:
            return compared(texts(x, y), languages, ["number"])

        differ = replace(read, pairs=looked(pairs, number, PAIR, name="decoys", made_of=languages))
        less = differ.against(pairs, replace(weights, other_language=0))
        decoys = replace(decoys, scores=(decoys.scores - less).astype(np.float32))
        candidates = replace(candidates, decoys=decoys)
    return candidates.with_pairs(chosen.take(order), order)


def _decoys(
    alone: ChosenPairs,
    near: Neighbours,
    options: MiningOptions,
    judge: Judge | None,
    kin: Kin | None,
) -> ChosenPairs:
    """Choose pairs as if the cells of others, `alone` in their rows and columns, did not exist.

    A near-copy of a sentence that was chosen is a translation, and no decoy.
    """
    if judge is not None:
        decoys = judge.reranker.decoys(alone)
    else:
        left = near.first(options.neighborhood + 1).without(alone.sources, alone.targets)[0]
        decoys = choose_pairs(left, margin_scores(left, options.margin))
    if kin is None:
        return decoys
    width, codes = len(near.sources), [np.empty(0, np.int64)]
    for some in slices(len(alone), PAIRS_AT_ONCE):
        x, y = alone.sources[some], alone.targets[some]
        row, column = kin(x, y, near)
        codes.append((x[:, None] * width + near.targets[x])[row])
        codes.append((near.sources[y] * width + y[:, None])[column])
    copies = np.isin(decoys.sources * width + decoys.targets, np.concatenate(codes))
    return decoys.take(~copies)


def _missing(
    candidates: Candidates, seeds: LabelledPairs
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the rows of seed pairs that are right and that are not among the candidates."""
    chosen, sides = candidates.chosen, (candidates.source, candidates.target)
    right = np.array(sorted({each[:2] for each in seeds.pairs if each.right}), dtype=np.int64)
    rows = []
    for lines, side in zip(right.reshape(-1, 2).T, sides, strict=True):
        at = np.minimum(np.searchsorted(side.lines, lines), len(side) - 1)
        rows.append(np.where(side.lines[at] == lines, at, -1))
    x, y = rows
    some = np.flatnonzero(np.isin(chosen.sources, x))
    there = set(zip(chosen.sources[some].tolist(), chosen.targets[some].tolist(), strict=True))
    missing = [pair not in there for pair in zip(x.tolist(), y.tolist(), strict=True)]
    # A line may be blank, or unknown to the encoder.
    more = np.array(missing, dtype=bool) & (x >= 0) & (y >= 0)
    return x[more], y[more]


def estimate_probabilities(
    candidates: Candidates,
    seeds: LabelledPairs = NOTHING_KNOWN,
    settled: SettledPairs = NOTHING_SETTLED,
    *,
    keep_copies: bool = False,
) -> Estimated:
    """Estimate how probable each candidate is a translation, and order the candidates by that.

    Pairs that are `settled` keep their probability, unless they are known or copies; that of the
    others is estimated without them. Where the estimate finds no translation among these, they keep
    the probability of the run before, too: few are left, or hardly stand out.

    `seeds` are known by the lines that stand for repeated ones; `keep_copies`: whether pairs with
    the same text on both sides are translations.
    """
    copies, known = known_pairs(candidates, seeds)
    chosen, lines = candidates.chosen, candidates.lines()
    labels, is_open = labels_of(seeds.pairs, *lines), known == -1
    probs = np.where(is_open, settled.probs_of(*lines), np.nan)
    confidence = first_estimate(candidates, seeds, probs)
    if confidence is None:
        return Estimated(candidates, None, copies)
    left = np.isnan(probs)
    if settled.others is not None and confidence.probs[left & is_open].sum() < 1:
        probs = np.where(left & is_open, settled.others.probs_of(*lines), probs)
    confidence = confidence.where_known(probs)
    if keep_copies:
        confidence = confidence.where_known(np.where(copies & (labels != 0), 1.0, np.nan))
    most = min(len(candidates.source), len(candidates.target))
    confidence = replace(confidence, translations=min(confidence.translations, most))
    order = np.lexsort((chosen.targets, chosen.sources, -chosen.scores, -confidence.probs))
    ordered = replace(candidates, copies=copies).with_pairs(chosen.take(order), order)
    return Estimated(ordered, confidence.of(order), copies[order])


def first_estimate(
    candidates: Candidates, seeds: LabelledPairs, given: Floats | None = None
) -> Confidence | None:
    """Estimate how probable each candidate is: by decoys, and without fitted weights by gaps, too.

    `given` are the probabilities of pairs that take no part, float64 [pairs], NaN for the others.
    None where there are too few lines to compare.
    """
    chosen, decoys, weights = candidates.chosen, candidates.decoys, candidates.weights
    copies, known = known_pairs(candidates, seeds)
    given = np.full(len(chosen), np.nan) if given is None else given
    labels = labels_of(seeds.pairs, *candidates.lines())
    apart = np.where(copies & (labels == -1), 0.0, given)
    if chosen.evidence is not None:  # with which scores are log-odds
        probs: Floats = np.where(np.isnan(apart), sigmoid(chosen.scores.astype(np.float64)), apart)
        probs = np.where(labels >= 0, labels, np.round(probs, 4)).astype(np.float64)
        return Confidence(probs, round(float(probs.sum()), 4))
    second, none = None, np.zeros(len(chosen))
    if decoys is not None and len(decoys) and weights:
        # Lines of another language are few or one part of a file, and must not tell how scores are.
        rows, read = (chosen.sources, chosen.targets), candidates.read
        less = read.against(rows, replace(weights, other_numbers=0, other_mark=0)) if read else none
        second = estimate_by_decoys(chosen, less, decoys, weights.decoy_power, labels, apart)
        if weights.trees:  # fitted to known translations
            return second
    elif decoys is not None and len(decoys):
        own, theirs = as_odds(chosen, decoys), as_odds(decoys, decoys)
        second = estimate_by_decoys(own, none, theirs, POWER, labels, apart)
    known[~np.isnan(apart)] = 0  # which leaves them out of the fit
    first = estimate(chosen, candidates.neighbours, known, candidates.kin)
    return joined(first, second) if first and second else first


def known_pairs(
    candidates: Candidates, seeds: LabelledPairs
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """Find copies, bool [pairs], and pairs known to be right (1) or wrong (0; others: -1)."""
    copies = candidates.copies
    copies = same_texts(*candidates.texts()) if copies is None else copies
    labels = labels_of(seeds.pairs, *candidates.lines())
    # Copies stand out more than any translation: they take no part in the fit.
    return copies, np.where(copies & (labels == -1), 0, labels).astype(np.int8)


def best_without_gold(candidates: Candidates) -> tuple[float, ChosenPairs]:
    """Choose as `auto` does: the threshold, and the pairs at or above it."""
    estimated = estimate_probabilities(candidates)
    chosen, confidence = estimated.candidates.chosen, estimated.confidence
    rows = np.flatnonzero(~estimated.copies)
    some = None if confidence is None else confidence.of(rows)
    found = choose_threshold(chosen.scores[rows], some)
    return found.value, chosen.take(rows[: found.kept.pairs])


def flag(
    estimated: Estimated,
    options: MiningOptions,
    loose: Looseness | None = None,
    vectors: Vectors | None = None,
) -> Flags:
    """Name the flags of each candidate.

    `loose` are the loosest stretches of the candidates; None where no tokens were compared;
    `vectors` are those of `flag_pairs`.
    """
    candidates, confidence = estimated.candidates, estimated.confidence
    assert candidates.read is not None
    probs: Floats = np.zeros(len(candidates.chosen)) if confidence is None else confidence.probs
    near = candidates.neighbours.first(options.neighborhood)
    sides = candidates.source, candidates.target
    found = flag_pairs(candidates.chosen, probs, near, *sides, candidates.read, loose, vectors)
    return with_plugins(found, options.drop, candidates.texts(), candidates.read.languages)


def _language(
    side: Sentences, rows: NDArray[np.int64], copies: NDArray[np.bool_], known: tuple[str, ...]
) -> str:
    """Guess the language of a side by the lines that are not copies."""
    left = np.ones(len(side), dtype=bool)
    left[rows[copies]] = False
    others = np.flatnonzero(left)
    return guess_language(PickedTexts(side.texts, others) if len(others) else side.texts, known)
