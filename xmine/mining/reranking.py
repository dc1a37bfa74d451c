"""Encoders and options -> whether candidates are reranked, and with which weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import EncoderPair
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.token_files import tokens_of_pairs
from xmine.encoders.tokens import Rows
from xmine.errors import OptionError
from xmine.knn.neighbours import Neighbours
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.probability import Kindred, estimate
from xmine.scoring.reranking import Reranker
from xmine.scoring.reranking_fit import learn_weights
from xmine.scoring.retrieval import ChosenPairs
from xmine.scoring.threshold import FEW


@dataclass(frozen=True, slots=True)
class Judge:
    """Reranks candidates by the tokens of both sides; `base`: of the run, see `Steps`."""

    encoders: EncoderPair
    reranker: Reranker
    base: tuple[int, int]

    def learned(
        self,
        pairs: ChosenPairs,
        neighbours: Neighbours,
        known: NDArray[np.int8],
        options: ScoringOptions,
        kin: Kindred | None = None,
    ) -> "Judge | None":
        """Give a judge with weights that the files teach, for an encoder that has none.

        Token vectors of one encoder are alike for all words, those of another are not: the weights
        of one encoder can be worse for another than no reranking.

        `pairs` are chosen by the margin; `known`, [pairs], is 1 for those known to be right, 0 for
        wrong ones and copies, else -1. None where there are too few to learn from, unless `rerank`
        is `tokens`: then the weights stay.
        """
        first, weights = estimate(pairs, neighbours, known, kin), None
        if first is not None and first.translations >= FEW:
            weights = learn_weights(self.reranker, pairs, first.probs, known)
        if weights is None:
            return self if options.rerank == "tokens" else None
        return replace(self, reranker=replace(self.reranker, weights=weights))

    def match_texts(
        self, sides: tuple[Sequence[str], Sequence[str]], x: Rows, y: Rows
    ) -> NDArray[np.float32]:
        """Compare the texts x and y of two sides, as `match_pairs`: float32 [pairs, 5]."""
        pairs = np.arange(len(x))
        tokens = tokens_of_pairs(self.encoders, sides, x, y, self.base)
        return match_pairs(*tokens, pairs, pairs).astype(np.float32)


# What vectors come from: an encoder for each side, or the vectors of all lines [lines, dim].
Vectorizer = EncoderPair | tuple[NDArray[Any], NDArray[Any]]

SINGLE_WORDS = "most lines of a side have one or two tokens that the encoder knows"
TOO_FEW = "too few translations stand out to learn how the tokens of this encoder weigh"
# Median of a side too low to compare tokens, as in a glossary. On Chinese entries, 2, the F1
# of `auto` halves by reranking; on strings of interfaces and titles, 4, reranking gains.
FEW_TOKENS = 2
_ADVICE = "leave out --rerank: auto ranks without tokens here"


def judging_encoders(
    vectorizer: Vectorizer, options: MiningOptions
) -> tuple[EncoderPair | None, str]:
    """Give the encoders whose tokens rerank the candidates.

    Returns:
        the encoders, and an empty text; or None, and why candidates are not reranked.

    Raises:
        OptionError: `rerank` is `tokens`, and there are no tokens to compare.
    """
    if options.rerank == "off":
        return None, "--rerank off"
    if not isinstance(vectorizer, EncoderPair):
        reason = "given vectors have no tokens"
    elif not vectorizer.shares_tokens:
        reason = "tokens of two encoders cannot be compared"
    elif options.margin != "ratio":
        reason = f"reranking weighs the ratio margin, not --margin {options.margin}"
    else:
        return vectorizer, ""
    if options.rerank == "tokens":
        raise OptionError(f"--rerank tokens: {reason}", _ADVICE)
    return None, reason


def token_encoders(pair: EncoderPair, rerank: str) -> EncoderPair | None:
    """Give the encoders whose tokens rerank the hits of a search; None where cosines order them.

    `auto` reranks with a static encoder: the tokens of a transformer are alike, and gain little.

    Raises:
        OptionError: `rerank` is no such word, or `tokens`, and there are two encoders.
    """
    encoders, _ = judging_encoders(pair, MiningOptions(rerank=rerank))
    is_static = encoders is not None and isinstance(encoders.source.body, StaticEmbedding)
    return encoders if rerank == "tokens" or is_static else None


def weights_of(encoders: EncoderPair) -> RerankingWeights:
    """Give the weights of encoders, or the defaults."""
    return encoders.source.reranking or RerankingWeights()
