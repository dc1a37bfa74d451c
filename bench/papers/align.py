"""Alignment and uniformity: how close positives are, and how evenly all sentences are spread.

Wang & Isola (2020), as SimCSE measures them on STS-B, where positives are pairs with a score above
4; and on aligned text, where they are translations. Both are distances: lower is better.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from papers.uniformity import MOST, alignment, uniformity
from xmine.display import count
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import AlignedOptions
from xmine.evaluation.result import Metric, Result, Row
from xmine.evaluation.retrieval.parallel import aligned_sets
from xmine.evaluation.similarity.sts import read_stsb_split
from xmine.progress import Report, silent

POSITIVE = 4  # STS-B pairs with a higher score are positives
_WHAT = "stsb/stsb-en-test.csv, newstest2019/ref.*, un-devset/, flores101/, or files you name"

Vectors = NDArray[np.float32]


def evaluate_align(
    encoder: Encoders, data: DataFolder, options: AlignedOptions, report: Report = silent
) -> Result:
    """Measure alignment and uniformity on STS-B and on aligned files, or on those named alone."""
    parts = () if options.names_files else ("test", "dev")
    splits = {split: read_stsb_split(data, split) for split in parts}
    scored = {f"STS-B {split}": pairs for split, pairs in splits.items() if pairs}
    rows, blank = [], 0
    try:
        aligned, notes = aligned_sets(data, options, encoder.facts)
    except MissingData as error:
        if not scored:
            raise data.missing(_WHAT) from None
        aligned, notes = [], [f"No aligned files are measured: {error.message}."]

    def add(name: str, first: Vectors, second: Vectors, positive: NDArray[np.bool_]) -> None:
        """Measure pairs; a sentence without a vector lies nowhere: left out and counted."""
        nonlocal blank
        known = first.any(axis=1), second.any(axis=1)
        whole = positive & known[0] & known[1]
        everything = np.concatenate([first[known[0]], second[known[1]]])
        if not whole.any():
            raise FileError(f"{name}: no pair of positives (score > {POSITIVE}) with two vectors")
        figures = {
            "align": alignment(first[whole], second[whole]),
            "uniform": uniformity(everything, report),
            "sentences": float(len(everything)),
        }
        rows.append(Row(name, int(whole.sum()), figures))
        blank += 2 * len(whole) - len(everything)

    def encode(reader: SentenceEncoder, texts: Sequence[str]) -> Vectors:
        return reader.encode(texts, report, options.prompt)

    english = encoder.reading("en")

    for name, pairs in scored.items():
        sides = encode(english, pairs.first), encode(english, pairs.second)
        add(name, *sides, pairs.gold > POSITIVE)
    for each in aligned:
        vectors = {
            language: encode(each.reader(encoder, language), texts)
            for language, texts in each.texts.items()
        }
        for source, target in each.pairs:
            sides = vectors[source], vectors[target]
            add(each.titled(f"{source}-{target}"), *sides, np.ones(len(sides[0]), dtype=bool))
    if blank:
        notes.append(f"Left out, for want of a vector: {count(blank, 'sentence')}.")
    return Result(
        benchmark="align",
        protocol=f"squared distance of positives (score > {POSITIVE}, or aligned lines), and "
        "log mean exp(-2 distance²) of all pairs of sentences",
        split=", ".join([*scored, *(each.name for each in aligned)]),
        metrics=(
            Metric("align", "align", "mean squared distance of positives", 1, 3, "lower"),
            Metric("uniform", "uniform", "log mean exp(-2 distance²) of pairs", 1, 3, "lower"),
            Metric("sentences", "sentences", "sentences with a vector, both sides", 1, 0, ""),
        ),
        rows=rows,
        headline=(rows[0].name, "align"),
        settings={"positives_above": POSITIVE, "most_sentences": MOST},
        unit="positives",
        notes=notes,
    )
