"""Lines that are aligned already -> a score for each pair, against the neighbourhoods of its lines.

A pair's cosine is compared with those of the k nearest lines on both sides, as mining does it, but
the pair is given and not looked for: the scoring mode of LASER's margin-based mining (Artetxe &
Schwenk, 2019, "Margin-based parallel corpus mining with multilingual sentence embeddings").
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, as_pair, with_packs
from xmine.encoders.tokens import TokenVectors
from xmine.encoders.vectors import Encoded
from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.scratch import slices
from xmine.files.suffixes import kind_of
from xmine.knn.cosines import pair_cosines
from xmine.knn.neighbours import Neighbours
from xmine.mining.aligned_scores import AlignedScores
from xmine.mining.candidates import Candidates, Estimated, flag, known_pairs, read_candidates
from xmine.mining.kin import Kin
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.phrases import unknown_figures
from xmine.mining.reranking import SINGLE_WORDS, TOO_FEW, Judge, judging_encoders
from xmine.mining.run_facts import check_arrays, vector_facts
from xmine.mining.stages import open_stages
from xmine.pairs.io import languages_of, read_pairs
from xmine.pairs.known import NOTHING_KNOWN
from xmine.pairs.pair import Pair
from xmine.progress import Report, silent
from xmine.scoring.alignment import loosest_stretches
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.margin import margin_scores, pair_scores
from xmine.scoring.order import exchanged, right_rows
from xmine.scoring.probability import PAIRS_AT_ONCE, Confidence
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.folding import MOST_CHARACTERS
from xmine.text.identification import check_both, check_sides, check_spelling, guess_language
from xmine.text.inputs import Texts, read_texts, text_input
from xmine.text.sentences import Sentences, folded, sentence_table


def score_aligned(
    source: Texts,
    target: Texts | None = None,
    encoder: SentenceEncoder | EncoderPair | None = None,
    options: ScoringOptions | None = None,
    report: Report = silent,
    *,
    pool: tuple[Texts, Texts] | None = None,
    vectors: tuple[NDArray[Any], NDArray[Any]] | None = None,
    pairs: Sequence[Pair] | None = None,
) -> AlignedScores:
    """Score every line of one file with the same line of the other.

    Neighbours are looked for in the distinct lines of the other side, so that a line's copies do
    not fill its neighbourhood; a repeated line has the neighbours of its first occurrence. The
    partner counts as a neighbour if it is among the k nearest.

    Args:
        source: a text input, see `xmine.text.inputs`; or, without `target`, a file of pairs, see
            `xmine.pairs.io.read_pairs`.
        target: the translations, line by line.
        encoder: one for both sides, or one for each; the one that ships with xmine
            if left out.
        options: see ScoringOptions.
        report: called while encoding and searching.
        pool: more lines to look for neighbours in: a text input of the source's language and one
            of the target's. They are not scored.
        vectors: in place of an encoder: a matrix [lines, dim] for each side, a row for every line.
        pairs: pairs of texts of the two inputs, in place of each line with the same one.

    Raises:
        FileError: an input cannot be read, the lines are not as many on both sides, or none of
            one side has text that the encoder knows.
        OptionError: vectors come with an encoder or with a pool.
    """
    options = options or ScoringOptions()
    if isinstance(options, MiningOptions):
        raise TypeError("MiningOptions in place of ScoringOptions: nothing is cut or dropped here")
    if vectors is not None:
        reason = "a pool would have none" * (encoder is not None or pool is not None)
        check_arrays(vectors, reason, "leave out --model and --pool, or the vectors")
    if target is not None:
        read = partial(text_input, join=False)  # a line is a translation of that of its number
        source, target = read(source, "source"), read(target, "target")
    given, names, said = _read(source, target, pairs)
    more = [read_texts(each) for each in pool] if pool else [[], []]
    table = partial(sentence_table, longest=MOST_CHARACTERS)
    left = table(names[0], [pair.source for pair in given] + more[0])
    right = table(names[1], [pair.target for pair in given] + more[1])
    vectorizer = as_pair(encoder or SentenceEncoder.load()) if vectors is None else vectors
    known = vectorizer.facts.languages if isinstance(vectorizer, EncoderPair) else ()
    codes = options.src_lang or said[0], options.tgt_lang or said[1]
    languages = (
        codes[0] or guess_language(left.texts, known),
        codes[1] or guess_language(right.texts, known),
    )
    if isinstance(vectorizer, EncoderPair):
        vectorizer = with_packs(vectorizer, *languages)
    doubts = check_both(names, (left.texts, right.texts), known, codes)
    by = (
        "--src-lang" if options.src_lang else "source",
        "--tgt-lang" if options.tgt_lang else "target",
    )
    warnings = [said for side in (source, target) for said in getattr(side, "warnings", ())]
    warnings += filter(None, doubts)
    warnings += check_sides(names, (left.texts, right.texts), codes, by)
    warnings += check_spelling(left.name, left.texts) + check_spelling(right.name, right.texts)
    mining = MiningOptions(**asdict(options), index="exact", cache=False)
    judging, by_margin = judging_encoders(vectorizer, mining)
    with open_stages(None, dict, mining, report) as stages:
        encoded = stages.encode((left, right), vectorizer, judging)
        sources = _rows([pair.source for pair in given], encoded[0][0])  # [given]
        targets = _rows([pair.target for pair in given], encoded[1][0])
        rows = sources, targets
        kin = Kin.of(encoded, rows)
        neighbours = stages.search(encoded, kin.depth())
        judge = stages.rerank(encoded, neighbours, judging)
        if judging and not judge:
            by_margin = SINGLE_WORDS
        tokens = stages.tokens(encoded, judge.encoders) if judge else None
        again = ("score", *([str(source)] if target is None else names))
        unknown = unknown_figures(doubts, names, languages, known, again)
        found = given, rows, encoded, neighbours, languages, options, [*filter(None, warnings)]
        scored = _scored(*found, judge, kin, by_margin, tokens, unknown)
        return replace(scored, vectors=vector_facts(vectorizer))


def _read(
    source: Texts, target: Texts | None, pairs: Sequence[Pair] | None
) -> tuple[list[Pair], tuple[str, str], tuple[str, str]]:
    """Read the pairs; name the sides; tell the languages that a file says."""
    if target is None:
        if not isinstance(source, (str, Path)):
            raise TypeError("one text input is given: give both sides, or a file of pairs")
        given, name = list(read_pairs(source)), name_of(source)
        if not given:
            raise FileError(f"{name}: no pairs in it")
        return given, (f"source of {name}", f"target of {name}"), languages_of(source) or ("", "")
    sides = text_input(source), text_input(target)
    names = sides[0].name, sides[1].name
    if pairs is not None:
        return list(pairs), names, ("", "")
    left, right = (list(side.texts()) for side in sides)
    if len(left) != len(right):
        hint = "the same line of both must be a translation; where no order is known, xmine mine"
        if any(kind_of(side.path) in ("csv", "tsv") for side in sides):
            hint += "; the line of a table that names the columns counts"
        lines = count(len(left), "line")
        raise FileError(f"{names[0]} has {lines}, {names[1]} {len(right):,}", hint)
    return list(map(Pair, left, right)), names, ("", "")


def _scored(
    given: list[Pair],
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    encoded: tuple[Encoded, Encoded],
    neighbours: Neighbours,
    languages: tuple[str, str],
    options: ScoringOptions,
    warnings: list[str],
    judge: Judge | None,
    kin: Kin,
    by_margin: str,
    tokens: tuple[TokenVectors, TokenVectors] | None,
    unknown: str,
) -> AlignedScores:
    """Score the pairs whose sides both have a vector, estimate probabilities, and flag them.

    Repeated pairs count once, at their first row: they are one piece of evidence. Copies do not.
    """
    (left, left_vectors), (right, right_vectors) = encoded
    near = neighbours.first(options.neighborhood)
    numbers = np.flatnonzero((rows[0] >= 0) & (rows[1] >= 0))
    x, y = rows[0][numbers], rows[1][numbers]
    cosines = _cosines(x, y, neighbours, left_vectors, right_vectors)
    scores, clamped = pair_scores(x, y, cosines, near, options.margin)
    cells = x * len(right) + y
    first = np.sort(np.unique(cells, return_index=True)[1])
    pairs = ChosenPairs(x, y, scores, cosines).take(first)
    margins = margin_scores(near, options.margin)
    candidates = Candidates(pairs, neighbours, margins, left, right, kin=kin)
    if judge and judge.encoders.source.reranking is None:
        known = known_pairs(candidates, NOTHING_KNOWN)[1]
        judge = judge.learned(pairs, neighbours, known, options, kin)
        by_margin = by_margin if judge else TOO_FEW
    others = exchanged(pairs.sources, pairs.targets, len(right))
    cosines = _cosines(*others, neighbours, left_vectors, right_vectors)
    more = pair_scores(*others, cosines, near, options.margin)[0]
    pairs = pairs.joined(ChosenPairs(*others, more, cosines))
    if judge and tokens:
        reranker = replace(judge.reranker, kin=kin)
        matches = match_pairs(*tokens, pairs.sources, pairs.targets).astype(np.float32)
        better = reranker.pairs(pairs.sources, pairs.targets, matches, pairs.scores)
        pairs = replace(pairs, scores=better, margins=pairs.scores)
        candidates = replace(candidates, weights=reranker.weights)
    said = {"src_lang": languages[0], "tgt_lang": languages[1]}
    mining = MiningOptions(**(asdict(options) | said))
    candidates = read_candidates(replace(candidates, chosen=pairs), mining)
    pairs, copies = candidates.chosen, known_pairs(candidates, NOTHING_KNOWN)[0]
    codes = pairs.sources * len(right) + pairs.targets
    by_code = np.argsort(codes)
    place = by_code[np.searchsorted(codes, cells, sorter=by_code)]  # of each row
    once, wrong = place[first], ~copies
    once, wrong[place] = once[~copies[once]], False
    values, probs = pairs.scores.astype(np.float64), np.zeros(len(pairs))
    order = np.lexsort((numbers, y, x, -values[place]))
    place, confidence = place[order], None
    found = right_rows(values[once], values[wrong], known=not unknown)
    if found is not None:
        probs[once] = found
        confidence = Confidence(probs[place], float(found.sum()))
    chosen, copies = pairs.take(place), copies[place]
    judged = Estimated(candidates.with_pairs(chosen, place), confidence, copies)
    loose = loosest_stretches(*tokens, chosen.sources, chosen.targets).looseness if tokens else None
    flags = flag(judged, mining, loose)
    every = given, chosen, numbers[order], copies, confidence, flags, neighbours, left, right
    return AlignedScores(*every, clamped, languages, options, warnings, by_margin, unknown)


def _rows(texts: list[str], side: Sentences) -> NDArray[np.int64]:
    """Find the row that stands for each text; -1 for one that is blank or unknown."""
    known = {folded(text): row for row, text in enumerate(side.texts)}
    rows = (known.get(folded(text[: MOST_CHARACTERS + 1]), -1) for text in texts)
    return np.fromiter(rows, dtype=np.int64, count=len(texts))


def _cosines(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    neighbours: Neighbours,
    left: NDArray[np.float16],
    right: NDArray[np.float16],
) -> NDArray[np.float32]:
    """Take a pair's cosine from its neighbourhoods or, where it is in neither, from its vectors.

    The one that the search found may differ in the last bit, and mining would score that one.
    """
    cosines = np.empty(len(sources), dtype=np.float32)
    for some in slices(len(sources), PAIRS_AT_ONCE):
        cosines[some] = pair_cosines(left, right, sources[some], targets[some])
    for rows, others, ids, values in (
        (sources, targets, neighbours.targets, neighbours.target_cosines),
        (targets, sources, neighbours.sources, neighbours.source_cosines),
    ):
        pairs, places = np.nonzero(ids[rows] == others[:, None])
        cosines[pairs] = values[rows[pairs], places]
    return cosines
