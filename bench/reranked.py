"""A mining set -> the pairs that `xmine mine` chooses by reranked scores."""

from dataclasses import replace

import numpy as np
from mixtures import Corpus, Mixture
from numpy.typing import NDArray

from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.tokens import TokenVectors
from xmine.flags.reading import other_numbers
from xmine.knn.neighbours import Neighbours
from xmine.mining.reranking import are_single_words
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.margin import margin_scores
from xmine.scoring.reranking import RERANKED, Reranker, TokenMatches
from xmine.scoring.retrieval import ChosenPairs, choose_pairs

Rows = NDArray[np.int64]
Tokens = tuple[TokenVectors, TokenVectors]


def rerank(
    corpus: Corpus,
    mixture: Mixture,
    neighbours: Neighbours,
    tokens: Tokens,
    weights: RerankingWeights,
) -> ChosenPairs | None:
    """Choose pairs by their tokens, and weigh their numbers; None for single words."""
    margins = margin_scores(neighbours).first(RERANKED)
    neighbours = neighbours.first(RERANKED)
    rows = mixture.english, corpus.chinese_rows(mixture)

    def match(x: Rows, y: Rows) -> NDArray[np.float32]:
        x, y = np.broadcast_arrays(x, y)
        found = match_pairs(*tokens, rows[0][x.ravel()], rows[1][y.ravel()])
        return found.reshape(*x.shape, 3).astype(np.float32)

    left, right = (
        each.lengths[at].astype(np.float32) for each, at in zip(tokens, rows, strict=True)
    )
    matches = TokenMatches(
        match(np.arange(len(rows[0]))[:, None], neighbours.targets),
        match(neighbours.sources, np.arange(len(rows[1]))[:, None]),
        left,
        right,
    )
    if are_single_words(matches):
        return None
    reranker = Reranker(neighbours, matches, margins, weights)
    pairs = choose_pairs(neighbours, reranker.candidates())
    texts = (
        [corpus.english[row] for row in rows[0][pairs.sources].tolist()],
        [corpus.chinese[row] for row in rows[1][pairs.targets].tolist()],
    )
    differ = other_numbers(texts, ("en", corpus.language))
    lower = (pairs.scores - weights.other_numbers * differ).astype(np.float32)
    return replace(pairs, scores=lower)
