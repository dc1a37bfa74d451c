"""Pairs and an encoder -> hard negatives of each pair: what mining would nearly take for one.

A candidate of a sentence is the other side of a pair near it, and has a score as in mining: by the
margin or, of one static encoder, reranked by tokens. No candidate shares a text with the pair, nor
a near-copy of one (`xmine.mining.kin`), on either side; and none is more likely to be the
translation than the pair's own, by the scores or by a guide (Solatorio, 2024, GISTEmbed).
"""

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.token_files import ReadTokens, compared
from xmine.knn.cosines import exact_cosines
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.mining.kin import Kin
from xmine.progress import Progress, Report
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.margin import margin_scores, pair_scores
from xmine.scoring.probability import PAIRS_AT_ONCE
from xmine.scoring.reranking import Reranker
from xmine.text.packed import picked
from xmine.text.sentences import Sentences

from ..data.rows import Rows, TrainingData
from ..models.static import StaticTower
from ..options.shared import TrainingOptions
from .prepare import load_encoder
from .reranking import match_candidates
from .step import Step

Floats = NDArray[np.floating]
Halves = tuple[NDArray[np.float16], NDArray[np.float16]]
Ids = NDArray[np.int64]

_ROWS = 65_536  # among which negatives are looked for, unless the steps are given
_SPARE = 4  # candidates more than are wanted, in the place of those that are left out
_AT_ONCE = 8192


class Miner:
    """Finds the hard negatives of pairs; `steps` are those from one mining to the next."""

    def __init__(self, step: Step, data: TrainingData, options: TrainingOptions) -> None:
        """Take what is trained, and what on."""
        self.step, self.data, self.count = step, data, options.negatives
        self.steps = options.refresh_negatives or max(1, _ROWS // options.batch_size)
        self._guide = load_encoder(options.guide, options) if options.guide else None

    def mine(self, rows: Ids, report: Report) -> Ids:
        """Mine among some rows, each pair of languages for itself.

        Returns:
            int64 [different rows, 1 + 2 k]: each row, rising; the pairs whose second sentences are
            the k negatives of its first, nearest first; and those whose first are the negatives of
            its second. Where there are fewer, the row itself is in their place.
        """
        rows = np.unique(rows)
        found = np.repeat(rows[:, None], 1 + 2 * self.count, axis=1)
        languages = self.data.languages
        groups = languages.of_rows[rows] if languages else np.zeros(len(rows), np.int64)
        for group in np.unique(groups):
            at = np.flatnonzero(groups == group)
            report(Progress("mining negatives", int(at[0]), len(rows)))
            parts = [
                self.data.rows.take(rows[at[i : i + _AT_ONCE]]) for i in range(0, len(at), _AT_ONCE)
            ]
            sides = zip(*map(self.step.embed, parts), strict=True)
            left, right = (np.concatenate(side).astype(np.float16) for side in sides)
            known = left.any(axis=1) & right.any(axis=1)  # tokens on both sides
            at, vectors = at[known], (left[known], right[known])
            for place, chosen in enumerate(self._chosen(rows[at], vectors) if len(at) > 1 else ()):
                columns = slice(1 + place * self.count, 1 + place * self.count + chosen.shape[1])
                found[at, columns] = np.where(chosen < 0, rows[at, None], rows[at][chosen])
        return found

    def _chosen(self, rows: Ids, vectors: Halves) -> list[Ids]:
        """Choose, from first to second and back: places among the rows [rows, k], -1 for none."""
        assert self.data.texts is not None  # as `takes_negatives` says
        own, batch = np.arange(len(rows)), self.data.rows.take(rows)
        texts = [picked(side, rows) for side in (self.data.texts.sources, self.data.texts.targets)]
        x, y = (Sentences("", side, own, len(own), 0, 0) for side in texts)
        kin = Kin.of(((x, vectors[0]), (y, vectors[1])))
        near = search_exact(*vectors, self.count + _SPARE)
        forward, backward, of_own = self._scores(vectors, near, batch)
        guides = [self._guide.encode_half(side) for side in texts] if self._guide else []
        chosen = []
        for cells, scores, turn in ((near.targets, forward, 1), (near.sources, backward, -1)):
            allowed = scores < of_own
            if guides:
                ours, theirs = guides[::turn]
                of_pairs = exact_cosines(ours, theirs, own[:, None])
                allowed = exact_cosines(ours, theirs, cells) < of_pairs
            both = Neighbours(cells, near.target_cosines, cells, near.source_cosines)
            for some in np.split(own, range(PAIRS_AT_ONCE, len(own), PAIRS_AT_ONCE)):
                allowed[some] &= ~np.logical_or(*kin(some, some, both))
            ranks = np.argsort(np.where(allowed, -scores, np.inf), axis=1, kind="stable")
            kept = np.where(allowed, cells, -1)
            chosen.append(np.take_along_axis(kept, ranks[:, : self.count], axis=1))
        return chosen

    def _scores(
        self, vectors: Halves, near: Neighbours, batch: Rows
    ) -> tuple[Floats, Floats, Floats]:
        """Score the candidates of both sides [rows, k], and the pairs themselves [rows, 1]."""
        own, margins = np.arange(len(batch)), margin_scores(near)
        of_own, _ = pair_scores(own, own, exact_cosines(*vectors, own[:, None])[:, 0], near)
        tower, other = self.step.towers()
        if tower is not other or not isinstance(tower, StaticTower):
            return margins.targets, margins.sources, of_own[:, None]
        body = tower.encoder(EncoderFacts(), "").body
        left, right = (ReadTokens(each.ids[:, None], each.starts) for each in batch.columns)
        tokens = compared(body, left, right)
        weights = tower.reranking or RerankingWeights()
        reranker = Reranker(near, match_candidates(tokens, near, own, own), margins, weights)
        found, matches = reranker.candidates(), match_pairs(*tokens, own, own).astype(np.float32)
        return found.targets, found.sources, reranker.pairs(own, own, matches, of_own)[:, None]
