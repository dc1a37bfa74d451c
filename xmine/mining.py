"""Two sentence files -> pairs: the whole walk, one call per line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.agreement import best_threshold
from xmine.candidates import Scored, rows_of, score_pairs, score_vectors
from xmine.confidence import Confidence, Floats, estimate
from xmine.encoder import SentenceEncoder
from xmine.errors import OptionError
from xmine.known import KnownPair, labels_of
from xmine.languages import check_language, guess_language
from xmine.options import MiningOptions
from xmine.pairs import Pairs
from xmine.progress import Report, silent
from xmine.selection import select
from xmine.sentences import Sentences, folded, read_sentences
from xmine.threshold import Kept, Threshold, choose_threshold, precision_of


@dataclass(frozen=True, slots=True)
class Mined:
    """What mining two files gave.

    Attributes:
        pairs: those at or above the threshold that were not dropped for another reason.
        kept: how many they are, and how precise they are expected to be.
        threshold: the cut, how it was found, and what it and its neighbours keep.
        scored: where the pairs come from.
        confidence: how likely each pair of `scored.chosen` is; None if there was too little to see.
        dropped: how many pairs above the threshold were dropped, for each reason.
        warnings: what the user should know before trusting the pairs.
        languages: codes of source and target, as given or guessed; `und` where that failed.
    """

    pairs: Pairs
    kept: Kept
    threshold: Threshold
    scored: Scored
    confidence: Confidence | None
    dropped: dict[str, int]
    warnings: list[str]
    languages: tuple[str, str]

    def curve(self) -> tuple[NDArray[np.float32], Floats | None, float]:
        """Give what a picture of the scores shows: all scores, the chances of all, the cut."""
        chances = None if self.confidence is None else self.confidence.chances
        return self.scored.chosen.scores, chances, self.threshold.value


def mine(
    source: str | Path,
    target: str | Path,
    encoder: SentenceEncoder | None = None,
    options: MiningOptions | None = None,
    report: Report = silent,
    *,
    vectors: tuple[NDArray[Any], NDArray[Any]] | None = None,
    seeds: Sequence[KnownPair] = (),
    gold: Sequence[KnownPair] = (),
) -> Mined:
    """Mine the parallel sentences of two text files.

    Args:
        source: a text input, see `xmine.texts`: a file with a sentence per line, `path:column`, or
            `-` for standard input.
        target: the same in the other language.
        encoder: the English-Chinese one that ships with xmine if left out.
        options: see MiningOptions.
        report: called while cutting lines, encoding and searching.
        vectors: in place of an encoder: a matrix [lines, dim] for each side, a row for every line
            of its file, as `xmine.vectors.read_vectors` opens it.
        seeds: some pairs known to be right or wrong, which sharpen the estimate.
        gold: all right pairs, which `threshold="gold"` is chosen by; they change nothing else.

    Raises:
        FileError: a file cannot be read as text, none of its lines can be encoded, or its lines
            are not as many as its vectors.
        OptionError: vectors come with an encoder or with `segment`; or a threshold is wanted that
            is best for gold pairs, and there are none.
    """
    options = options or MiningOptions()
    if options.threshold == "gold" and not gold:
        raise OptionError("--threshold gold without gold pairs", "give them with --gold FILE")
    if vectors is not None and (encoder is not None or options.segment):
        raise OptionError(
            "vectors of lines are given: no encoder is needed, and no line can be cut",
            "leave out --segment and --model, or the vectors",
        )
    dedup, segment = options.dedup, options.segment
    left = read_sentences(source, dedup=dedup, segment=segment, report=report)
    right = read_sentences(target, dedup=dedup, segment=segment, report=report)
    if vectors is not None:
        known: tuple[str, ...] = ()
        scored = score_vectors(*rows_of(left, right, vectors), options, report)
    else:
        encoder = encoder or SentenceEncoder.load()
        known = encoder.facts.languages
        scored = score_pairs(left, right, encoder, options, report)
    warnings = [check_language(side.name, side.texts, known) for side in (left, right)]
    languages = (
        options.src_lang or guess_language(left.texts, known),
        options.tgt_lang or guess_language(right.texts, known),
    )
    confidence = estimate(scored.chosen, scored.neighbours, _labels(scored, seeds))
    threshold = _threshold(scored, confidence, options, gold)
    selected = select(scored, confidence, threshold.kept.pairs, options, languages)
    rows = selected.rows
    if options.top is not None and len(rows):
        lowest = float(scored.chosen.scores[rows[-1]])
        threshold = replace(threshold, value=lowest, how=f"the best {len(rows):,}")
    chances = None if confidence is None else confidence.chances[rows]
    return Mined(
        replace(_with_text(scored, rows), probs=chances, flags=selected.flags),
        Kept(threshold.value, len(rows), *precision_of(chances)),
        threshold,
        scored,
        confidence,
        selected.dropped,
        list(filter(None, warnings)),
        languages,
    )


def cut_without_gold(scored: Scored) -> float:
    """Choose the threshold as `auto` does."""
    confidence = estimate(scored.chosen, scored.neighbours, _labels(scored, ()))
    return choose_threshold(scored.chosen.scores, confidence).value


def _labels(scored: Scored, seeds: Sequence[KnownPair]) -> NDArray[np.int8]:
    """Tell what is known of the candidates, see `labels_of`: a copy is no translation either."""
    labels = labels_of(seeds, *scored.lines())
    left, right = scored.source.texts, scored.target.texts
    rows = zip(scored.chosen.sources.tolist(), scored.chosen.targets.tolist(), strict=True)
    copies = np.array([folded(left[x]) == folded(right[y]) for x, y in rows], dtype=bool)
    labels[copies & (labels == -1)] = 0
    return labels


def _threshold(
    scored: Scored,
    confidence: Confidence | None,
    options: MiningOptions,
    gold: Sequence[KnownPair],
) -> Threshold:
    """Choose the cut that the options ask for; with `top` alone there is none."""
    scores, wanted = scored.chosen.scores, options.threshold
    if wanted == "gold":
        lines = (each.tolist() for each in scored.lines())
        best = best_threshold(
            scores.tolist(), list(zip(*lines, strict=True)), {pair[:2] for pair in gold}
        )
        chosen = choose_threshold(scores, confidence, best.threshold)
        return replace(chosen, how="best for the gold pairs")
    if options.top is not None and wanted == "auto" and options.precision is None:
        wanted = -np.inf
    return choose_threshold(scores, confidence, wanted, options.precision)


def _with_text(scored: Scored, rows: NDArray[np.intp]) -> Pairs:
    chosen, (source, target) = scored.chosen.take(rows), (scored.source, scored.target)
    return Pairs(
        scores=chosen.scores,
        sources=[source.texts[row] for row in chosen.sources.tolist()],
        targets=[target.texts[row] for row in chosen.targets.tolist()],
        source_lines=source.lines[chosen.sources],
        target_lines=target.lines[chosen.targets],
        cosines=chosen.cosines,
        source_offsets=_offsets(source, chosen.sources),
        target_offsets=_offsets(target, chosen.targets),
    )


def _offsets(side: Sentences, rows: NDArray[np.intp]) -> NDArray[np.int64] | None:
    return None if side.offsets is None else side.offsets[rows]
