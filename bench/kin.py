"""Files without many near-copies -> the share of their candidates that have kin among their rivals.

    python bench/kin.py EVAL

EVAL is the folder `eval/` with BUCC's sample and pseudo-BUCC. From `xmine.mining.kin.MANY` on,
near-copies are no rivals; clean files should stay below.
"""

import sys
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.evaluation.data import DataFolder
from xmine.evaluation.readers.bucc import find_bucc, find_pseudo_bucc
from xmine.knn.exact import search_exact
from xmine.mining.kin import Kin
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.retrieval import choose_pairs
from xmine.text.sentences import sentence_table


def main(data: DataFolder) -> None:
    """Print the share of each pair of languages."""
    encoder = SentenceEncoder.load()
    pseudo = find_pseudo_bucc(data, [], EncoderFacts())
    sets = {f"pseudo-BUCC {pair}": pseudo.read(pair, "sample") for pair in pseudo.pairs}
    sets["BUCC sample zh-en"] = find_bucc(data).read("zh-en", "sample")
    for name, split in sets.items():
        left, right = (sentence_table("", list(dict(side).values())) for side in split.sides)
        vectors = encoder.encode_half(left.texts), encoder.encode_half(right.texts)
        near = search_exact(*vectors, NEIGHBOURS)
        pairs = choose_pairs(near, margin_scores(near))
        share = Kin.of(((left, vectors[0]), (right, vectors[1]))).share(pairs, near)
        print(f"{name:20} {share:.4f} of {len(pairs):,}")


if __name__ == "__main__":
    main(DataFolder(Path(sys.argv[1])))
