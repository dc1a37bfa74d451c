"""An encoder and held-out pairs -> the weights that rerank its candidates."""

import numpy as np

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.reranking import RerankingWeights
from xmine.knn.exact import search_exact
from xmine.pairs.io import ParallelText
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.margin import margin_scores
from xmine.scoring.reranking import Rows, Singles, TokenMatches
from xmine.scoring.reranking_fit import KnownCandidates, fit_weights
from xmine.vectors.tokens import tokens_of

from ..data.rows import drawn

# The share of the sentences of a mixture that have a translation on the other side. With mixtures
# of 60 % as well, the weights ranked poorer mixtures worse, and mixtures of 60 % no better.
_SHARES = (0.05, 0.1, 0.2, 0.3)
_DRAWS = 3  # of each share; weights of one draw differ more from each other
_NEAREST = 4
_LEAST_PAIRS = 300
# A transformer reads so many pairs in a minute on a processor.
_MOST_PAIRS_OF_TRANSFORMER = 1000


def fitted_weights(
    encoder: SentenceEncoder, pairs: ParallelText, seed: int
) -> RerankingWeights | None:
    """Fit the weights of an encoder on mixtures of pairs that the encoder was not trained on.

    A mixture has some pairs whole, of others the source and of yet others the target.

    Args:
        encoder: of both sides.
        pairs: held out, no sentence twice.
        seed: of what is drawn.

    Returns:
        None where pairs are too few, or the encoder finds too few of them.
    """
    if not isinstance(encoder.body, StaticEmbedding):
        pairs = pairs.take(drawn(len(pairs), _MOST_PAIRS_OF_TRANSFORMER, seed))
    if len(pairs) < _LEAST_PAIRS:
        return None
    left, right = pairs.sources, pairs.targets
    vectors = encoder.encode_half(left), encoder.encode_half(right)
    tokens = tokens_of(encoder, left), tokens_of(encoder, right)
    random = np.random.default_rng([seed, 7])

    def mixed(share: float) -> KnownCandidates:
        count = int(len(pairs) / (2 - share))  # sentences of a side
        whole = int(share * count)
        order = random.permutation(len(pairs))
        both, alone, others, _ = np.split(order, [whole, count, 2 * count - whole])
        x, y = np.sort(np.append(both, alone)), np.sort(np.append(both, others))
        near = search_exact(vectors[0][x], vectors[1][y], _NEAREST)

        def match(sources: Rows, targets: Rows) -> Singles:
            sources, targets = np.broadcast_arrays(sources, targets)
            found = match_pairs(*tokens, x[sources.ravel()], y[targets.ravel()])
            return found.reshape(*sources.shape, 3).astype(np.float32)

        rows = np.arange(count)[:, None]
        lengths = (tokens[0].lengths[x], tokens[1].lengths[y])
        matches = TokenMatches(
            match(rows, near.targets),
            match(near.sources, rows),
            *(each.astype(np.float32) for each in lengths),
        )
        places = np.full(len(pairs), -1)
        places[y] = rows[:, 0]
        return KnownCandidates(near, matches, margin_scores(near), places[x])

    return fit_weights([mixed(share) for share in _SHARES * _DRAWS])
