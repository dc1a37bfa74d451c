"""An encoder and held-out pairs -> the weights that rerank its candidates."""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.token_files import compared, texts_read
from xmine.encoders.tokens import TokenVectors
from xmine.knn.cosines import Vectors
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.pairs.io import ParallelText
from xmine.pairs.pair import Languages
from xmine.scoring.late_interaction import Rows, match_pairs
from xmine.scoring.margin import margin_scores
from xmine.scoring.reranking import RERANKED, TokenMatches
from xmine.scoring.reranking_fit import KnownCandidates, fit_weights
from xmine.text.packed import picked

from ..data.rows import drawn, keys_of

# The share of the sentences of a mixture that have a translation on the other side.
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.6)
_DRAWS = 3  # of each share; weights of a single draw differ more from each other
_NEAREST = 4  # that the margin averages
# Pairs of a dictionary are no sentences; weights from those ranked sentences worse.
_LEAST_TOKENS = 5
_LEAST_PAIRS = 300
# Of two languages; each side of a mixture has half.
_LEAST_OF_LANGUAGES, _MOST_OF_LANGUAGES = 50, 2000
# A transformer reads so many pairs in a minute on a processor.
_MOST_PAIRS_OF_TRANSFORMER = 1000

_Tokens = tuple[TokenVectors, TokenVectors]


def fitted_weights(
    encoder: SentenceEncoder,
    pairs: ParallelText,
    seed: int,
    prompts: tuple[str, str] = ("", ""),
    apart: ParallelText | None = None,
) -> RerankingWeights | None:
    """Fit the weights of an encoder on mixtures of pairs that the encoder was not trained on.

    A mixture is of one pair of languages, and of one origin of those held out whole, as the two
    files of a user are. Both its sides have the sentences of some pairs; beside these, the source
    side has those of other pairs, and the target side those of yet others.

    `pairs` are held out at random, `apart` are all those of origins that nothing was trained on.

    Returns:
        Those that the encoder has, where there are too few pairs of sentences, or the encoder finds
        too few of them; None if it has none.
    """
    pools = [pairs]
    if apart:
        origins = np.array(apart.origins)
        pools += [apart.take(np.flatnonzero(origins == each)) for each in sorted({*origins})]
    if not isinstance(encoder.body, StaticEmbedding):
        most = _MOST_PAIRS_OF_TRANSFORMER // len(pools)
        pools = [pool.take(drawn(len(pool), most, seed)) for pool in pools]
    random, mixtures, fitted_to = np.random.default_rng([seed, 7]), list[KnownCandidates](), 0
    for part, codes in chain.from_iterable(map(_by_languages, pools)):
        sides, readers = (part.sources, part.targets), encoder.readers(codes)
        one, other = readers
        read = texts_read(one, sides[0]), texts_read(other, sides[1])
        rows = np.flatnonzero(np.minimum(read[0].lengths, read[1].lengths) >= _LEAST_TOKENS)
        rows = rows[drawn(len(rows), _MOST_OF_LANGUAGES, seed)]
        if len(rows) < _LEAST_OF_LANGUAGES:
            continue
        source, target = (
            reader.encode_half(picked(texts, rows), prompt=prompt)
            for reader, texts, prompt in zip(readers, sides, prompts, strict=True)
        )
        tokens = compared(one.body, read[0].take(rows), read[1].take(rows))
        mixtures += [_mixed((source, target), tokens, each, random) for each in _SHARES * _DRAWS]
        fitted_to += len(rows)
    if fitted_to < _LEAST_PAIRS:
        return encoder.reranking
    return fit_weights(mixtures) or encoder.reranking


def _by_languages(pairs: ParallelText) -> Iterator[tuple[ParallelText, Languages]]:
    """Part pairs by their languages, no sentence twice: a second one would count as wrong."""
    whole = [(pairs.said or ("", ""), np.arange(len(pairs)))]
    of = pairs.languages
    for codes, rows in zip(of.codes, of.rows(), strict=True) if of else whole:
        part = pairs.take(rows)
        sides = part.sources, part.targets
        one, other = (np.unique(keys_of(side), return_index=True)[1] for side in sides)
        yield part.take(np.intersect1d(one, other)), codes


def _mixed(
    vectors: tuple[Vectors, Vectors], tokens: _Tokens, share: float, random: np.random.Generator
) -> KnownCandidates:
    """Draw a mixture of pairs whose vectors and tokens are given."""
    pairs = len(vectors[0])
    count = int(pairs / (2 - share))  # sentences of a side
    whole = int(share * count)
    both, one, other, _ = np.split(random.permutation(pairs), [whole, count, 2 * count - whole])
    x, y = np.sort(np.append(both, one)), np.sort(np.append(both, other))
    wide = search_exact(vectors[0][x], vectors[1][y], _NEAREST + 1)
    margins = margin_scores(wide, k=_NEAREST).first(RERANKED)
    matches = match_candidates(tokens, wide.first(RERANKED + 1), x, y)
    places = np.full(pairs, -1)
    places[y] = np.arange(count)
    few = wide.first(RERANKED), matches.first(RERANKED)
    return KnownCandidates(*few, margins, places[x], (wide, matches))


def match_candidates(tokens: _Tokens, near: Neighbours, x: Rows, y: Rows) -> TokenMatches:
    """Compare the candidates of sentences x of the sources and y of the targets."""
    forward = np.arange(len(x))[:, None] * len(y) + near.targets
    backward = near.sources * len(y) + np.arange(len(y))[:, None]
    cells, places = np.unique(np.append(forward, backward), return_inverse=True)
    found = match_pairs(*tokens, x[cells // len(y)], y[cells % len(y)]).astype(np.float32)
    return TokenMatches(
        found[places[: forward.size]].reshape(*forward.shape, -1),
        found[places[forward.size :]].reshape(*backward.shape, -1),
        tokens[0].lengths[x].astype(np.float32),
        tokens[1].lengths[y].astype(np.float32),
    )
