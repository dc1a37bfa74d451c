"""Two sentence files -> pairs: the whole walk, one call per line."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, as_pair
from xmine.errors import OptionError
from xmine.mining.candidates import score_neighbours, with_known
from xmine.mining.options import MiningOptions
from xmine.mining.selection import Mined, keep
from xmine.mining.stages import (
    asked_of,
    encode_side,
    find_neighbours,
    read_side,
    take_vectors,
    write_results,
)
from xmine.pairs.known import NOTHING_KNOWN, KnownPairs
from xmine.progress import Report, silent
from xmine.run.folder import TRAITS, open_run, temporary_run
from xmine.text.languages import check_language, check_sides


def mine(
    source: str | Path,
    target: str | Path,
    encoder: SentenceEncoder | EncoderPair | None = None,
    options: MiningOptions | None = None,
    report: Report = silent,
    *,
    vectors: tuple[NDArray[Any], NDArray[Any]] | None = None,
    seeds: KnownPairs = NOTHING_KNOWN,
    gold: KnownPairs = NOTHING_KNOWN,
    run: str | Path | None = None,
    force: bool = False,
) -> Mined:
    """Mine the parallel sentences of two text files.

    Args:
        source: a text input, see `text.inputs`: a file with a sentence per line, `path:column`, or
            `-` for standard input.
        target: the same in the other language.
        encoder: one for both sides, or one for each; the English-Chinese one that ships with
            xmine if left out.
        options: see MiningOptions.
        report: called while reading, encoding and searching.
        vectors: in place of an encoder: a matrix [lines, dim] for each side, a row for every line
            of its file, as `xmine.vectors.vector_files.read_vectors` opens it.
        seeds: some pairs known to be right or wrong, which sharpen the estimate.
        gold: all right pairs, which `threshold="gold"` is chosen by; they change nothing else.
        run: a folder that keeps everything, and that goes on where it was killed; see docs/runs.md.
            Without one, vectors and neighbours are in a temporary folder.
        force: replace what in `run` was made with other options.

    Raises:
        FileError: a file cannot be read as text, none of its lines can be encoded, or its lines
            are not as many as its vectors; or a known pair has a line that is not there; or the
            run cannot be written.
        OptionError: vectors come with an encoder or with `segment`; or a threshold is wanted that
            is best for gold pairs, and there are none; or `run` was made with other options.
    """
    options = options or MiningOptions()
    _check(encoder, options, vectors is not None, seeds, gold)
    warnings: list[str] = []
    made_by = vectors or as_pair(encoder or SentenceEncoder.load())
    with ExitStack() as stack:
        if run is None:
            here = stack.enter_context(temporary_run())
        else:
            asked = asked_of((source, target), made_by, options, seeds, gold)
            here = stack.enter_context(
                open_run(Path(run), asked, force=force, warn=warnings.append)
            )
        left = read_side(here, "source", source, options, report)
        right = read_side(here, "target", target, options, report)
        seeds, gold = seeds.resolved(left, right), gold.resolved(left, right)
        known: tuple[str, ...] = ()
        _check(encoder, options, vectors is not None, seeds, gold)  # of what is left of them
        warnings += dict.fromkeys(each.warning for each in (seeds, gold))
        warnings += check_sides(
            (left.name, right.name), (left.texts, right.texts), (options.src_lang, options.tgt_lang)
        )
        if isinstance(made_by, EncoderPair):
            known = made_by.languages
            warnings += [check_language(side.name, side.texts, known) for side in (left, right)]
            x, y = made_by.source, made_by.target
            sides = (
                encode_side(here, "source", left, x, options, report, warnings.append),
                encode_side(here, "target", right, y, options, report, warnings.append),
            )
        else:
            sides = take_vectors(here, left, right, made_by, report)
        (left, left_vectors), (right, right_vectors) = sides
        neighbours = find_neighbours(here, left_vectors, right_vectors, options, report)
        scored = score_neighbours(left, right, neighbours, options)
        scored = with_known(scored, seeds.pairs, (left_vectors, right_vectors), options)
        here.note(f"judging {len(scored.chosen):,} candidates")
        mined = keep(
            scored,
            options,
            known,
            list(filter(None, warnings)),
            seeds,
            gold,
            report,
            here.path(TRAITS) if here.kept else None,
            here,
        )
        if here.kept:
            write_results(here, mined)
        return mined


def _check(
    encoder: SentenceEncoder | EncoderPair | None,
    options: MiningOptions,
    has_vectors: bool,
    seeds: KnownPairs,
    gold: KnownPairs,
) -> None:
    if options.threshold == "gold" and not any(pair.right for pair in gold.pairs):
        raise OptionError("--threshold gold without gold pairs", "give them with --gold FILE")
    if options.segment and (seeds.pairs or options.threshold == "gold"):
        raise OptionError(
            "--segment and known pairs of lines: a line may hold several sentences",
            "leave out --seed-pairs and --threshold gold, or --segment",
        )
    if has_vectors and (encoder is not None or options.segment):
        raise OptionError(
            "vectors of lines are given: no encoder is needed, and no line can be cut",
            "leave out --segment and --model, or the vectors",
        )
