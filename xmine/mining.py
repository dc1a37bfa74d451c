"""Two sentence files -> pairs: the whole walk, one call per line."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from xmine.candidates import rows_of, score_pairs, score_vectors
from xmine.encoder import SentenceEncoder
from xmine.errors import OptionError
from xmine.keeping import Mined, keep
from xmine.known import NOTHING_KNOWN, KnownPairs
from xmine.languages import check_language
from xmine.options import MiningOptions
from xmine.progress import Report, silent
from xmine.sentences import read_sentences


def mine(
    source: str | Path,
    target: str | Path,
    encoder: SentenceEncoder | None = None,
    options: MiningOptions | None = None,
    report: Report = silent,
    *,
    vectors: tuple[NDArray[Any], NDArray[Any]] | None = None,
    seeds: KnownPairs = NOTHING_KNOWN,
    gold: KnownPairs = NOTHING_KNOWN,
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
            are not as many as its vectors; or a known pair has a line that is not there.
        OptionError: vectors come with an encoder or with `segment`; or a threshold is wanted that
            is best for gold pairs, and there are none.
    """
    options = options or MiningOptions()
    if options.threshold == "gold" and not any(pair.right for pair in gold.pairs):
        raise OptionError("--threshold gold without gold pairs", "give them with --gold FILE")
    if options.segment and (seeds.pairs or options.threshold == "gold"):
        raise OptionError(
            "--segment and known pairs of lines: a line may hold several sentences",
            "leave out --seed-pairs and --threshold gold, or --segment",
        )
    if vectors is not None and (encoder is not None or options.segment):
        raise OptionError(
            "vectors of lines are given: no encoder is needed, and no line can be cut",
            "leave out --segment and --model, or the vectors",
        )
    dedup, segment = options.dedup, options.segment
    left = read_sentences(source, dedup=dedup, segment=segment, report=report)
    right = read_sentences(target, dedup=dedup, segment=segment, report=report)
    seeds, gold = seeds.resolved(left, right), gold.resolved(left, right)
    if vectors is not None:
        known: tuple[str, ...] = ()
        scored = score_vectors(*rows_of(left, right, vectors), options, report)
    else:
        encoder = encoder or SentenceEncoder.load()
        known = encoder.facts.languages
        scored = score_pairs(left, right, encoder, options, report)
    warnings = [check_language(side.name, side.texts, known) for side in (left, right)]
    return keep(scored, options, known, list(filter(None, warnings)), seeds, gold)
