"""Two text inputs -> pairs: the walk of mining, one step a line.

A step is a function of what the steps before gave. `Stages` wraps those that take long, so that a
killed run resumes.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import EncoderPair, as_pair, with_packs
from xmine.encoders.rescorer import Rescorer
from xmine.errors import OptionError
from xmine.files.cache import Warn
from xmine.flags.beside import fits_beside
from xmine.mining.again import keep_result
from xmine.mining.candidates import (
    Candidates,
    estimate_probabilities,
    flag,
    read_candidates,
    retrieve,
)
from xmine.mining.kin import Kin
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.phrases import unknown_figures
from xmine.mining.reranking import SINGLE_WORDS, TOO_FEW, judging_encoders
from xmine.mining.rescoring import by_documents, by_model, by_order, is_in_stretches, rescore
from xmine.mining.results import write_results
from xmine.mining.run_facts import check_arrays, run_facts, vector_facts
from xmine.mining.selection import select
from xmine.mining.stages import SharedWork, open_stages
from xmine.pairs.known import (
    NOTHING_KNOWN,
    NOTHING_SETTLED,
    LabelledPairs,
    SettledPairs,
    known_pairs,
)
from xmine.progress import Report, silent
from xmine.run.task import Engine
from xmine.scoring.rescoring import Rows
from xmine.text.identification import check_both, check_sides, check_spelling, guess_language
from xmine.text.inputs import Texts, text_input
from xmine.text.segmentation import check_chapters
from xmine.text.sentences import Sentences

UNMERGED = "--merge: no pair is merged, for want of a static encoder of both sides"


def mine(
    source: Texts,
    target: Texts,
    encoder: SentenceEncoder | EncoderPair | None = None,
    options: MiningOptions | None = None,
    report: Report = silent,
    *,
    vectors: tuple[NDArray[Any], NDArray[Any]] | None = None,
    seeds: LabelledPairs | str | Path = NOTHING_KNOWN,
    gold: LabelledPairs | str | Path = NOTHING_KNOWN,
    settled: SettledPairs = NOTHING_SETTLED,
    rescorer: Rescorer | None = None,
    run: str | Path | None = None,
    force: bool = False,
    engine: Engine | None = None,
    shared: SharedWork | None = None,
    mark: str = "",
) -> Mined:
    """Mine the parallel sentences of two text files.

    Args:
        source: a text input, see `text.inputs`: a file with a sentence per line, `path:column`,
            `-` for standard input, or a list of sentences.
        target: the same in the other language.
        encoder: one for both sides, or one for each; by default the embedded encoder.
        options: see MiningOptions.
        report: called while reading, encoding and searching.
        vectors: in place of an encoder: a matrix [lines, dim] for each side, with a row for every
            line of the file, as `xmine.encoders.vector_files.read_vectors` opens it.
        seeds: some pairs that are known to be right or wrong, or their file; they sharpen the
            probabilities.
        gold: all right pairs, or their file; `threshold="gold"` is chosen by them, nothing else.
        settled: pairs whose probability a run before has told, see `xmine.trainer.adapt`.
        rescorer: a second model that judges the candidates, see
            `xmine.encoders.rescorer.load_rescorer`.
        run: a folder that keeps every result, and that resumes after a kill; see
            docs/reference/runs.md. Without a run, vectors and neighbours are in a temporary folder.
        force: replace the pairs in `run` that were made of other text inputs.
        engine: where the work of a `run` goes on, here by default; see `xmine.run.ray` for a
            cluster, on which every node needs to see `run`. No result depends on the engine.
        shared: what several runs share; who gives the steps sweeps them.
        mark: names all that the pairs are made of, see `xmine.mining.again`.

    Raises:
        FileError: a file cannot be read as text, none of the lines can be encoded, or the numbers
            of lines and vectors differ; a known pair has a line that is not there; or the run
            cannot be written.
        OptionError: vectors come with an encoder or with `segment`; `threshold="gold"` has no
            gold pairs; or `run` was made of other text inputs.
        TypeError: an argument is of another type.
        XmineError: a node of the cluster cannot work in `run`, or a task failed there.
    """
    options = options or MiningOptions()
    if not isinstance(options, MiningOptions):
        raise TypeError(f"{type(options).__name__} in place of MiningOptions")
    seeds, gold = known_pairs(seeds), known_pairs(gold)
    _check_known(options, seeds, gold)
    if vectors is not None:
        reason = "no line can be cut" * (encoder is not None or options.segment)
        check_arrays(vectors, reason, "leave out --segment and --model, or the vectors")
    parsed = partial(text_input, join=options.join)
    inputs = parsed(source, "source"), parsed(target, "target")
    vectorizer = as_pair(encoder or SentenceEncoder.load()) if vectors is None else vectors
    readable = vectorizer.facts.languages if isinstance(vectorizer, EncoderPair) else ()
    judging, by_margin = judging_encoders(vectorizer, options)
    also = {"seed_pairs": bool(seeds.pairs), "gold": bool(gold.pairs), "rescore": bool(rescorer)}
    facts = partial(run_facts, inputs, vectorizer, options, also)
    told: list[str] = []  # of this process alone, such as files that were made again
    opened = open_stages(
        run, facts, options, report, told.append, force=force, engine=engine, shared=shared
    )
    with opened as stages:
        sentences = stages.read(inputs)
        seeds, gold = seeds.resolved(*sentences), gold.resolved(*sentences)
        _check_known(options, seeds, gold)  # resolving leaves out judged pairs of other texts
        if isinstance(vectorizer, EncoderPair) and any(x.packs for x in vectorizer.sides.values()):
            given = zip((options.src_lang, options.tgt_lang), sentences, strict=True)
            read_as = [code or guess_language(side.texts, readable) for code, side in given]
            vectorizer = with_packs(vectorizer, *read_as)
            judging = judging and vectorizer
        encoded = stages.encode(sentences, vectorizer, judging)
        (left, _), (right, _) = encoded  # without lines that the encoder does not know
        stated = options.src_lang, options.tgt_lang
        doubts = check_both((left.name, right.name), (left.texts, right.texts), readable, stated)
        warnings = [*inputs[0].warnings, *inputs[1].warnings]
        warnings += [*_doubts((left, right), options, seeds, gold), *filter(None, doubts)]
        kin = Kin.of(encoded, steps=stages.steps)
        neighbours = stages.search(encoded, kin.depth())
        judge = stages.rerank(encoded, neighbours, judging)
        candidates = retrieve(encoded, neighbours, options, judge, seeds, kin)
        if judging and candidates.weights is None:
            by_margin = TOO_FEW if judge else SINGLE_WORDS
        asked = partial(stages.rescore, encoded, rescorer) if rescorer else None
        candidates = _with_evidence(candidates, options, asked, seeds, warnings.append)
        candidates = read_candidates(candidates, options, readable, report, stages.steps)
        stages.run.note(f"judging {len(candidates.chosen):,} candidates")
        estimated = estimate_probabilities(
            candidates, seeds, settled, keep_copies=options.keep_copies
        )
        probable = estimated.candidates.chosen, estimated.confidence
        loose = stages.stretches(encoded, *probable, judging)
        adds_up = judging is not None and isinstance(judging.source.body, StaticEmbedding)
        vectors_of_lines = (encoded[0][1], encoded[1][1]) if adds_up else None
        flags = flag(estimated, options, loose, vectors_of_lines)
        assert candidates.read is not None
        codes = candidates.read.languages
        names = left.name, right.name
        unknown = unknown_figures(doubts, names, codes, readable, ("mine", *names))
        beside = None
        if options.merge and vectors_of_lines and estimated.confidence is not None:
            lines = candidates.read.source.characters, candidates.read.target.characters
            beside = fits_beside(probable[0], estimated.confidence.probs, vectors_of_lines, lines)
        elif options.merge:
            warnings.append(UNMERGED)
        mined = select(estimated, flags, options, seeds, gold, warnings, unknown, beside)
        mined = replace(mined, by_margin=by_margin, vectors=vector_facts(vectorizer, rescorer))
        mined = write_results(stages.run, mined, (left, right))
        if shared is None:
            stages.steps.sweep()
            said = replace(mined, changes=None).report().lines()
            keep_result(stages.run.folder, mark, said)
        return replace(mined, warnings=told + mined.warnings)


def _with_evidence(
    candidates: Candidates,
    options: MiningOptions,
    read: Callable[[Rows, Rows], NDArray[np.float32]] | None,
    seeds: LabelledPairs,
    warn: Warn,
) -> Candidates:
    """Choose again by the figures of a second model, by documents, and by the order of lines."""
    if read:
        candidates = rescore(candidates, options, partial(by_model, read), seeds, warn)
    if options.documents != "off":
        weigh = partial(by_documents, candidates)
        candidates = rescore(candidates, options, weigh, seeds, warn, "--documents")
    if is_in_stretches(candidates):
        candidates = rescore(candidates, options, by_order, seeds)
    return candidates


def find_candidates(
    sentences: tuple[Sentences, Sentences],
    encoder: SentenceEncoder | EncoderPair,
    options: MiningOptions,
    report: Report = silent,
) -> tuple[Candidates, Candidates | None]:
    """Encode both sides, search both ways exactly, and retrieve, in a temporary folder.

    Returns:
        the candidates by their margins; and by their tokens, None where these are not reranked.
    """
    exact, pair = replace(options, index="exact", cache=False), as_pair(encoder)
    with open_stages(None, dict, exact, report) as stages:
        judging, _ = judging_encoders(pair, options)
        encoded = stages.encode(sentences, pair, judging)
        kin = Kin.of(encoded)
        neighbours = stages.search(encoded, kin.depth())
        judge = stages.rerank(encoded, neighbours, judging)
        plain = retrieve(encoded, neighbours, options, kin=kin)
        reranked = retrieve(encoded, neighbours, options, judge, kin=kin) if judge else plain
        if reranked.weights is None:
            return plain, None
        return plain, read_candidates(reranked, options, pair.facts.languages)


def _check_known(options: MiningOptions, seeds: LabelledPairs, gold: LabelledPairs) -> None:
    if options.threshold == "gold" and not any(pair.right for pair in gold.pairs):
        raise OptionError("--threshold gold without gold pairs", "give them with --gold FILE")
    if options.segment and (seeds.pairs or options.threshold == "gold"):
        raise OptionError(
            "--segment and known pairs of lines: a line may hold several sentences",
            "leave out --seed-pairs and --threshold gold, or --segment",
        )


def _doubts(
    sentences: tuple[Sentences, Sentences],
    options: MiningOptions,
    seeds: LabelledPairs,
    gold: LabelledPairs,
) -> list[str]:
    """Warn of labelled pairs that are of no use, and of sides in a language that was not given."""
    left, right = sentences
    given = options.src_lang, options.tgt_lang
    found = list(dict.fromkeys(each.warning for each in (seeds, gold)))
    if gold.pairs and not any(pair.right for pair in gold.pairs):
        found.append("--gold: no pair in it is right (1), so there is nothing to measure recall by")
    found += check_sides((left.name, right.name), (left.texts, right.texts), given)
    found += check_spelling(left.name, left.texts) + check_spelling(right.name, right.texts)
    found += check_chapters(left.name, left.texts) + check_chapters(right.name, right.texts)
    return [each for each in found if each]
