"""What a round of `adapt` takes of a run: confident pairs to train on and measure by."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from xmine.browsing.opened import Opened
from xmine.display import count
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import TrainingError
from xmine.judging.counts import CODES
from xmine.judging.judgements import Judgements
from xmine.knn.exact import search_exact
from xmine.pairs.io import ParallelText
from xmine.pairs.judgements import ACCEPT, REJECT
from xmine.pairs.known import LabelledPair, LabelledPairs, SettledPairs, labels_of
from xmine.run.folder import JUDGEMENTS_FILE

from .data.rows import drawn
from .models import tower_of
from .options.adapt import FEWEST as FEWEST
from .run.devset import halved

_AMONG, _DRAWS = 20_000, 4  # sentences to retrieve among, and halves of each held-out sentence


class Confident(NamedTuple):
    """Pairs that are all but sure, by their probability or by judgement.

    Attributes:
        texts: of the pairs.
        accepted: the texts of those that were accepted.
        settled: their lines and probabilities.
        wrong: pairs that judgement excludes, of probability 0.
        others: all other pairs.
    """

    texts: ParallelText
    accepted: ParallelText
    settled: SettledPairs
    wrong: SettledPairs
    others: SettledPairs

    @classmethod
    def of(cls, opened: Opened, least: float, judged: LabelledPairs, run: Path) -> "Confident":
        """Take the pairs of at least such a probability, and those that were accepted in `run`."""
        assert opened.probs is not None  # as `_encoder_of` has checked
        lines = np.stack([side.lines[own] for _, side, own in opened.sides], axis=1)
        labels = labels_of(judged.pairs, *lines.T)
        probs = np.where(labels == -1, opened.probs.astype(np.float64).round(4), labels)
        is_sure = (probs >= least) & (opened.allowed | (labels == 1))
        rows = np.flatnonzero(is_sure)
        judgements = Judgements.open(opened, beside=run)  # for what was repaired
        stand = map(judgements.texts, (rows, rows[labels[rows] == 1]))
        texts, accepted = (ParallelText(*each, [""] * len(each[0])) for each in stand)
        wrong, others = np.flatnonzero(labels == 0), np.flatnonzero(~is_sure & (labels != 0))
        settled = (SettledPairs(lines[some], probs[some]) for some in (rows, wrong, others))
        return cls(texts, accepted, *settled)

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.settled.probs)

    def every_settled(self) -> SettledPairs:
        """Give the pairs and those that are wrong; and the others, where nothing tells of these."""
        both = self.settled, self.wrong
        return SettledPairs(
            np.concatenate([each.lines for each in both]),
            np.concatenate([each.probs for each in both]),
            self.others,
        )


def judged_pairs(opened: Opened) -> LabelledPairs:
    """List the accepted and the rejected pairs of a run, by the verdict that stands for each."""
    codes = Judgements.open(opened).codes()
    rows = np.flatnonzero(np.isin(codes, [CODES[ACCEPT], CODES[REJECT]]))
    x, y = opened.source.lines[opened.sources[rows]], opened.target.lines[opened.targets[rows]]
    right = codes[rows] == CODES[ACCEPT]
    pairs = map(LabelledPair, x.tolist(), y.tolist(), right.tolist())
    return LabelledPairs(str(opened.path / JUDGEMENTS_FILE), list(pairs))


def check_enough(run: Path, known: Confident, taught: ParallelText, least: float) -> None:
    """Refuse to train on too few pairs."""
    if len(taught) < FEWEST:
        raise TrainingError(
            f"{run}: {count(len(known), 'pair')} of probability {least:g} or more; "
            f"{len(taught):,} are too few to train on, {FEWEST:,} are needed",
            "mine more text, lower --confidence, or train with other translations: xmine train",
        )


def taught_pairs(known: Confident, accepted: ParallelText, held_out: ParallelText) -> ParallelText:
    """List the pairs to train on: all that have no text of a pair that is held out.

    A later run, whose pairs are `known`, may not have chosen those that were accepted.
    """
    there = set(_texts(known.texts))
    gone = accepted.take(np.flatnonzero([each not in there for each in _texts(accepted)]))
    sources, targets = [*known.texts.sources, *gone.sources], [*known.texts.targets, *gone.targets]
    pairs = ParallelText(sources, targets, [""] * len(sources))
    apart = set(held_out.sources), set(held_out.targets)
    kept = [x not in apart[0] and y not in apart[1] for x, y in _texts(pairs)]
    return pairs.take(np.flatnonzero(kept))


def _texts(pairs: ParallelText) -> Iterator[tuple[str, str]]:
    return zip(pairs.sources, pairs.targets, strict=True)


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
