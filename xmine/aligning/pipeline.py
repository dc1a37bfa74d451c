"""Two text inputs in order -> beads: the walk of alignment, one step a line."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from xmine.aligning.aligned import Aligned
from xmine.aligning.band import Corners
from xmine.aligning.evidence import MOST, Floats, windows_of_sums
from xmine.aligning.levels import expected_lines, is_mixed, line_beads, sentence_corners, within
from xmine.aligning.lines import Alignment, OrderedLines, align_lines
from xmine.aligning.options import AligningOptions
from xmine.aligning.times import Timed
from xmine.encoders.encoder import SentenceEncoder, normalised
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import EncoderPair, as_pair, with_packs
from xmine.encoders.vectors import encode_sentences
from xmine.errors import OptionError
from xmine.files.atomic import remove, replacing
from xmine.files.cache import PARTS, Cache
from xmine.files.records import json_row
from xmine.files.scratch import scratch_in
from xmine.flags.reading import read_lines
from xmine.flags.rules import flag_pairs
from xmine.mining.run_facts import run_facts, vector_facts
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Languages, Pair
from xmine.progress import Report, silent
from xmine.run.folder import (
    ALIGNED,
    CANDIDATES_FILE,
    PAIRS_FILE,
    RESULTS,
    SUMMARY_FILE,
    open_run,
    temporary_run,
)
from xmine.run.steps import Steps
from xmine.scoring.alignment import Looseness
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.identification import check_both, check_sides, check_spelling, guess_language
from xmine.text.inputs import Texts, text_input
from xmine.text.segmentation import WITHOUT_MARKS, check_chapters, join
from xmine.text.sentences import Sentences, read_sentences, sentence_table

_LARGEST = 1000.0  # of a sum in a half
_UNLIKE = 1.4  # times the sentences that a line of the other side has


def align(
    source: Texts,
    target: Texts,
    encoder: SentenceEncoder | EncoderPair | None = None,
    options: AligningOptions | None = None,
    report: Report = silent,
    *,
    run: str | Path | None = None,
    force: bool = False,
) -> Aligned:
    """Align the lines of two texts that are in the same order: two versions of one document.

    Args:
        source: a text input, see `xmine.mine`.
        target: the same in the other language.
        encoder: one for both sides, or one for each; by default the embedded encoder.
        options: see AligningOptions.
        report: called meanwhile.
        run: a folder that keeps the beads, and the vectors of a transformer.
        force: replace the beads in `run` that were made of other text inputs.

    Raises:
        FileError: a file cannot be read as text, or has none; or the run cannot be written.
        OptionError: `run` was made of other text inputs; or an input is several files.
    """
    options = options or AligningOptions()
    parsed = partial(text_input, join=options.join)
    inputs = parsed(source, "source"), parsed(target, "target")
    if several := [each.name for each in inputs if each.files]:
        raise OptionError(
            f"{several[0]}: several files, not one document",
            "name the file, or let xmine documents SOURCE TARGET --align FILE pair the files",
        )
    pair = as_pair(encoder or SentenceEncoder.load())
    asked = partial(run_facts, inputs, pair, options, {ALIGNED: True})
    warnings: list[str] = []
    here = temporary_run() if run is None else open_run(Path(run), asked(), force, warnings.append)
    with here as opened, scratch_in(opened.folder):
        steps = Steps(opened.path(PARTS), changed=opened.changed, kept=opened.kept)
        codes = options.src_lang, options.tgt_lang
        read = partial(read_sentences, dedup=False, segment=options.segment, report=report)
        left, right = (read(each, language=code) for each, code in zip(inputs, codes, strict=True))
        known = pair.facts.languages
        languages = (
            codes[0] or guess_language(left.texts, known),
            codes[1] or guess_language(right.texts, known),
        )
        pair = with_packs(pair, *languages)

        def align_both(both: Sequence[Sentences], corners: Corners | None = None) -> Alignment:
            known = zip((pair.source, pair.target), both, options.prompts, strict=True)
            ours, theirs = (_side(*each, steps, report) for each in known)
            return align_lines(ours, theirs, report, corners)

        alignment = _aligned(align_both, (left, right), languages, segment=options.segment)
        warnings += [*inputs[0].warnings, *inputs[1].warnings]
        names, texts = (left.name, right.name), (left.texts, right.texts)
        warnings += check_sides(names, texts, codes)
        doubts = check_both(names, texts, known, codes)
        unknown = [name for name, doubt in zip(names, doubts, strict=True) if doubt]
        warnings += check_spelling(left.name, left.texts) + check_spelling(right.name, right.texts)
        warnings += check_chapters(left.name, left.texts) + check_chapters(right.name, right.texts)
        facts = vector_facts(pair)
        aligned = Aligned(left, right, alignment, languages, options, (), warnings, unknown, facts)
        beads = [bead for bead in aligned.beads() if bead.source and bead.target]
        aligned = replace(aligned, flags=flags_of(beads, languages))
        if opened.kept:
            for name in RESULTS:  # of mined pairs, which --force replaces
                remove(opened.path(name))
            write_pairs(aligned.beads(), str(opened.path(CANDIDATES_FILE)), languages)
            found = aligned.report()
            write_pairs(found.kept, str(opened.path(PAIRS_FILE)), languages)
            with replacing(opened.path(SUMMARY_FILE)) as file:
                file.write_text(json_row(found.facts()), encoding="utf-8")
            opened.finish()
        steps.sweep()
    return aligned


def _aligned(
    align_both: Callable[..., Alignment],
    sides: Sequence[Sentences],
    languages: tuple[str, str],
    *,
    segment: bool,
) -> Alignment:
    """Align lines, and their sentences where these are asked for, or tell more than lines."""
    cut, lines = sides, [_lines_of(each) for each in sides] if segment else sides
    found = align_both(lines)
    is_timed = found.timing is not None and found.timing.fits
    if not (segment or is_timed) and is_mixed(found) and not {*languages} & {*WITHOUT_MARKS}:
        table = partial(sentence_table, dedup=False, segment=True)
        pairs = zip(lines, languages, strict=True)
        cut = [table(each.name, each.texts, language=code) for each, code in pairs]
    if list(map(len, cut)) == list(map(len, lines)):
        return found
    rows = [np.unique(each.lines, return_inverse=True)[1] for each in cut]
    ratios = [len(of) / len(each) for of, each in zip(cut, lines, strict=True)]
    if max(ratios) > _UNLIKE * min(ratios):
        free = align_both(cut)
        if expected_lines(beads := line_beads(free, rows)) > expected_lines(found):
            return replace(free if segment else beads, timing=found.timing)
    near = within(found, align_both(cut, sentence_corners(found, rows)), rows)
    return replace(near if segment else line_beads(near, rows), timing=found.timing)


def _lines_of(sentences: Sentences) -> Sentences:
    """Put the sentences of each line together."""
    rows = groupby(zip(sentences.lines.tolist(), sentences.texts, strict=True), itemgetter(0))
    return sentence_table("", (join(text for _, text in row) for _, row in rows), dedup=False)


def _side(
    encoder: SentenceEncoder, sentences: Sentences, prompt: str, steps: Steps, report: Report
) -> OrderedLines:
    """Encode lines and lines together; a static encoder adds up the vectors of tokens."""
    texts = list(sentences.texts)
    times = Timed.of(sentences.places, texts)
    prompted = encoder.settings.choose(prompt)
    if encoder.encodes_pieces and isinstance(encoder.body, StaticEmbedding) and not prompted:
        sums = encoder.body.sums(texts)[:, : encoder.dim]
        halves = (sums / max(1.0, float(np.abs(sums).max()) / _LARGEST)).astype(np.float16)
        return OrderedLines(
            texts, normalised(sums).astype(np.float16), windows_of_sums(halves), times
        )
    tables = []
    for n in range(1, min(MOST, len(texts)) + 1):
        joined = [join(texts[at : at + n]) for at in range(len(texts) - n + 1)]
        table = sentence_table("", joined, dedup=False)
        files = encode_sentences(encoder, table, steps, report, prompt, cache=Cache())
        tables.append(files.every())

    def windows(start: int, stop: int) -> Floats:
        found = np.zeros((MOST, stop - start, tables[0].shape[1]), np.float32)
        for n, table in enumerate(tables, start=1):
            first = max(start, n)
            found[n - 1, first - start :] = table[first - n : max(first, stop) - n]
        return found

    return OrderedLines(texts, tables[0], windows, times)


def flags_of(pairs: Sequence[Pair], codes: Languages, loose: Looseness | None = None) -> list[str]:
    """Flag pairs by their texts, none of them blank, and by their loosest stretches, if given."""
    if not pairs:
        return []
    texts = [row.source for row in pairs], [row.target for row in pairs]
    source, target = (sentence_table("", each, dedup=False) for each in texts)
    every, probs = np.arange(len(pairs)), np.array([row.prob or 0.0 for row in pairs])
    chosen = ChosenPairs(every, every, probs.astype(np.float32), np.zeros(len(pairs), np.float32))
    read = read_lines((source, target), (every, every), codes)
    return list(flag_pairs(chosen, probs, None, source, target, read, loose))
