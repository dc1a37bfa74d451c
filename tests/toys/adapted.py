"""A run of toy sentences, mined with an encoder that has something to learn, for `xmine adapt`."""

from pathlib import Path

import numpy as np

from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine


def worn(encoder: SentenceEncoder, noise: float) -> SentenceEncoder:
    """Blur an encoder, so that there is something to learn."""
    body = encoder.body
    assert isinstance(body, StaticEmbedding)
    random = np.random.default_rng(2)
    vectors = body.vectors + noise * random.standard_normal(body.vectors.shape, dtype=np.float32)
    return SentenceEncoder(
        StaticEmbedding(body.pieces, Table.rounded(vectors)), facts=encoder.facts
    )


def write_texts(folder: Path, lines: int, shared: int) -> None:
    """Write en.txt and zh.txt: so many lines each, the first `shared` of one in the other."""
    english, chinese, _ = toy_sentences(2 * lines - shared, seed=11)
    mixed = [*chinese[:shared], *chinese[lines:]]
    order = np.random.default_rng(5).permutation(lines)
    for name, texts in (("en", english[:lines]), ("zh", [mixed[row] for row in order])):
        (folder / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")


def mine_toys(
    folder: Path, encoder: SentenceEncoder, lines: int = 480, shared: int = 400, noise: float = 0.7
) -> Mined:
    """Mine such texts into run/, with the encoder start/."""
    write_texts(folder, lines, shared)
    worn(encoder, noise).save(folder / "start")
    start = SentenceEncoder.load(folder / "start")
    return mine(folder / "en.txt", folder / "zh.txt", start, MiningOptions(), run=folder / "run")
