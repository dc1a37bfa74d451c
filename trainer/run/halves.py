"""Retrieval of whole sentences by halves of their translations: a measure that is not saturated."""

import numpy as np
import torch

from xmine.browsing.opened import Opened
from xmine.encoders.encoder import SentenceEncoder
from xmine.knn.exact import search_exact
from xmine.pairs.io import ParallelText

from ..data.rows import drawn
from ..models.loading import tower_of
from .devset import halved

_AMONG, _DRAWS = 20_000, 4  # sentences to retrieve among, and halves of each held-out sentence


def retrieval_by_halves(
    encoder: SentenceEncoder,
    pairs: ParallelText,
    others: tuple[list[str], list[str]],
    prompts: tuple[str, str] = ("", ""),
) -> float:
    """Measure how often a sentence without half of its tokens retrieves its translation.

    Whole sentences are nearly all retrieved, before training as after.

    Args:
        encoder: of both sides. Where the vector of one token is the sentence's, all tokens stay.
        pairs: translations.
        others: sentences of each side that a translation is retrieved among.
        prompts: of each side.

    Returns:
        the mean of both directions, 0 to 1.
    """
    tower = tower_of(encoder, prompts).eval()
    texts, found = (list(pairs.sources), list(pairs.targets)), []
    for side, other in ((0, 1), (1, 0)):
        among = encoder.encode(texts[other] + others[other], prompt=prompts[other])
        cut = tower.cut(texts[side] * _DRAWS, side)
        with torch.no_grad():
            half = halved(cut) if tower.pools_all else cut
            halves = tower.embed(half).float().cpu().numpy()
        nearest = search_exact(halves, among, 1).targets[:, 0]
        found.append(float((nearest == np.tile(np.arange(len(pairs)), _DRAWS)).mean()))
    return sum(found) / 2


def sentences_among(
    opened: Opened, held_out: ParallelText, seed: int
) -> tuple[list[str], list[str]]:
    """Draw sentences of both sides that are not held out."""
    found = []
    for side, texts in ((opened.source, held_out.sources), (opened.target, held_out.targets)):
        apart = set(texts)
        rows = drawn(len(side.texts), _AMONG, seed)
        found.append([text for text in side.texts.take(rows) if text not in apart])
    return found[0], found[1]
