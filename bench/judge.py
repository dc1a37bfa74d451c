"""Fit the weights by which the embedded encoder, with its packs, judges candidates.

    python bench/judge.py TRAIN_FOLDER --work FOLDER [--packs FOLDER] [-o reranking.json]

The pairs are of sources that nothing was trained on, so that they are as strange to the encoder as
a user's: the two that its training held out, in languages that it was trained on, read with the
packs; and in further languages one of HELD_OUT each, read with a pack of --work that is trained
without that source. Packs that are there already are not trained again.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from packs import OPTIONS, options_of, read_chosen

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.packs import PACKS, packs_in
from xmine.files.reading import read_lines
from xmine.options import load_toml
from xmine.pairs.io import ParallelText
from xmine.pairs.language_pairs import LanguagePairs
from xmine.trainer.extend import extend
from xmine.trainer.options.extend import ExtendOptions
from xmine.trainer.run.reranking import fitted_weights

OF_THE_ENCODER = "debian-handbook", "wmt24-refs"
HELD_OUT = {
    "tico19": "bn fa mr ms ne sw tl ur",
    "wmt-newstest": "et fi hu lt ro ta",
    "evbnews": "vi",
}
Rows = list[tuple[str, str]]  # English, the other language


def main() -> None:
    """Train what is missing, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--packs", type=Path, default=EMBEDDED / PACKS)
    parser.add_argument("-o", "--output", type=Path, default=EMBEDDED)
    given = parser.parse_args()
    torch.set_num_threads(1)
    encoder = replace(SentenceEncoder.load(), packs={})
    given.work.mkdir(parents=True, exist_ok=True)
    held = {
        language: _held_out(encoder, given.train, given.work, language, source)
        for source, languages in HELD_OUT.items()
        for language in languages.split()
    }
    for language in encoder.facts.languages:
        if language != "en" and language not in held:
            held[language] = _rows(given.train, language, OF_THE_ENCODER)
    encoder = replace(encoder, packs=packs_in(given.packs) | packs_in(given.work))
    print({language: len(rows) for language, rows in held.items()}, flush=True)
    every = [(row, place) for place, rows in enumerate(held.values()) for row in rows]
    english, others = ([row[side] for row, _ in every] for side in (0, 1))
    of_rows = np.array([place for _, place in every])
    languages = LanguagePairs(tuple(("en", language) for language in held), of_rows)
    pairs = ParallelText(english, others, [""] * len(every), languages=languages)
    weights = fitted_weights(encoder, pairs, seed=1)
    assert weights
    weights.save(given.output)


def _held_out(
    encoder: SentenceEncoder, train: Path, work: Path, language: str, source: str
) -> Rows:
    """Give the pairs of a source, for which a pack is trained without them."""
    rows, path = _rows(train, language, [source]), work / f"{language}.pack"
    if not path.exists():
        texts = [{pair[side] for pair in rows} for side in (0, 1)]
        chosen = options_of(load_toml(OPTIONS), language, [source], 1)
        pairs, _ = read_chosen(train, language, **chosen)
        sides = zip(pairs.sources, pairs.targets, pairs.origins, strict=True)
        left = [row for row in sides if row[0] not in texts[0] and row[1] not in texts[1]]
        known = ParallelText(*map(list, zip(*left, strict=True)), said=("en", language))
        weights = {x: y for x, y in chosen["weights"].items() if x in {*known.origins}}
        options = ExtendOptions(**chosen["more"], language=language, source_weight=weights)
        extend(encoder, known, options).write(path)
    return rows


def _rows(train: Path, language: str, sources: Sequence[str]) -> Rows:
    """Read the pairs of some sources, no text twice."""
    found, seen = list[tuple[str, str]](), set[str]()
    for path in sorted(train.glob(f"en-{language}.*tsv.gz")):
        for english, other, source, _ in (line.split("\t") for line in read_lines(path)):
            if source in sources and not seen & {english, other}:
                found.append((english, other))
                seen |= {english, other}
    return found


if __name__ == "__main__":
    main()
