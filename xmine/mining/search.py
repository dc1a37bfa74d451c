"""Texts and a corpus -> the nearest sentences of the corpus, in either language, in their order.

The order is that of the cosines. Where an encoder compares tokens, a hit's score is its cosine plus
a tenth of the order of counterparts, less four times what the sentences miss of each other
(`xmine.scoring.late_interaction`). The text itself then comes first: the order of a text with
repeated words is below that of others.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, as_pair, with_packs
from xmine.encoders.token_files import tokens_of
from xmine.encoders.vectors import knows_nothing
from xmine.files.scratch import slices
from xmine.knn.exact import search_exact
from xmine.mining.reranking import token_encoders
from xmine.progress import Progress, Report, silent
from xmine.scoring.late_interaction import FIGURES, Rows, Singles, match_pairs
from xmine.text.identification import guess_language
from xmine.text.sentences import Sentences, folded

# Nearest sentences that are reranked, where fewer hits are asked for.
NEAREST = 10
# Of order and missing.
_WEIGHTS = 0.1, -4
# The tokens of their nearest sentences are in memory together.
_TEXTS_AT_ONCE = 1024


class Ranked(NamedTuple):
    """A row of the corpus, its cosine, and its score where hits are reranked."""

    row: int
    cosine: float
    score: float | None


@dataclass(frozen=True, slots=True)
class HitChoice:
    """Which of the nearest sentences are hits, and in which order.

    Attributes:
        k: hits per text.
        encoders: of the texts and of the corpus, whose tokens are compared; None for the order of
            the cosines.
        exclude_exact: leave out the text itself, as `xmine.text.sentences.folded` tells it.
    """

    k: int
    encoders: EncoderPair | None = None
    exclude_exact: bool = False

    @property
    def nearest(self) -> int:
        """Count the nearest sentences that are looked at, without those that are left out."""
        return max(self.k, NEAREST) if self.encoders else self.k

    def depth(self, texts: Sequence[str], corpus: Sequence[str]) -> int:
        """Count the nearest sentences to look for: more where the corpus has a text itself."""
        if not self.exclude_exact:
            return self.nearest
        keys = set(map(folded, texts))
        copies = Counter(key for key in map(folded, corpus) if key in keys)
        return self.nearest + max(copies.values(), default=0)

    def choose(
        self, texts: Sequence[str], corpus: Sequence[str], rows: Rows, cosines: Singles
    ) -> Iterator[list[Ranked]]:
        """Choose the hits of each text, best first; equal scores keep the order of the cosines.

        `rows`, int64 [texts, depth], are those of the corpus, nearest first, with float32
        `cosines`.
        """
        for some in slices(len(texts), _TEXTS_AT_ONCE):
            few, ids, near_by = texts[some], rows[some], cosines[some]
            distinct, places = np.unique(ids, return_inverse=True)  # each is read once
            near, places = [corpus[row] for row in distinct.tolist()], places.reshape(ids.shape)
            copies = left_out = np.zeros(ids.shape, dtype=bool)
            scores = np.zeros(ids.shape)  # equal: the order stays
            if self.encoders or self.exclude_exact:
                copies = _keys(near)[places] == _keys(few)[:, None]
            if self.exclude_exact:
                left_out = copies | (np.cumsum(~copies, axis=1) > self.nearest)
            if self.encoders:
                one, other = self.encoders.source, self.encoders.target
                tokens = tokens_of(one, few), tokens_of(other, near)
                x, y = np.broadcast_arrays(np.arange(len(few))[:, None], places)
                matches = match_pairs(*tokens, x.ravel(), y.ravel())
                matches = matches.reshape(*places.shape, len(FIGURES))
                scores = near_by + matches[..., 1:3] @ _WEIGHTS
            order = np.lexsort((-scores, ~copies, left_out))[:, : self.k]
            columns = (
                np.take_along_axis(each, order, axis=1).tolist()
                for each in (ids, near_by, scores, ~left_out)
            )
            for hits in zip(*columns, strict=True):
                yield [
                    Ranked(row, cosine, score if self.encoders else None)
                    for row, cosine, score, is_hit in zip(*hits, strict=True)
                    if is_hit
                ]


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence near a text, with its rank from 1.

    `line` counts from 1; `score` orders the hits of a text, None where the cosine does. Of a run,
    `side`, `row` and `offset` tell the place of the sentence; no offset where lines were not cut.
    """

    rank: int
    cosine: float
    text: str
    line: int
    score: float | None = None
    side: str = ""
    row: int = -1
    offset: int | None = None

    def facts(self) -> dict[str, object]:
        """Give what the command prints of it."""
        offset = {"offset": self.offset} if self.side else {}
        score = {} if self.score is None else {"score": round(self.score, 4)}
        found = {"cosine": round(self.cosine, 4), "text": self.text, "line": self.line}
        return {**found, **offset, **score}


def search(
    queries: Sequence[str],
    corpus: Sentences,
    encoder: SentenceEncoder,
    k: int = 3,
    *,
    exclude_exact: bool = False,
    rerank: str = "auto",
    report: Report = silent,
    prompt: str = "",
) -> list[list[Hit]]:
    """Find the nearest sentences of each query, best first.

    A query without a known token has no hits; a sentence without one is no hit.

    Args:
        queries: texts.
        corpus: the sentences to search.
        encoder: for both.
        k: hits per query.
        exclude_exact: leave out the query itself, as `xmine.text.sentences.folded` tells it.
        rerank: `auto`, `tokens` or `off`; see `xmine.mining.reranking.token_encoders`.
        report: called while encoding, searching and matching tokens.
        prompt: put before queries and sentences alike; see `SentenceEncoder.encode`.

    Raises:
        FileError: the encoder knows no token of the corpus.
    """
    codes = [guess_language(each, encoder.facts.languages) for each in (queries, corpus.texts)]
    pair = with_packs(encoder, *codes) if encoder.packs else as_pair(encoder)
    choice = HitChoice(k, token_encoders(pair, rerank), exclude_exact)
    left = pair.source.encode_half(queries, prompt=prompt)  # [queries, dim]
    right = pair.target.encode_half(corpus.texts, report, prompt)  # [rows, dim]
    rows = np.flatnonzero(right.any(axis=1))  # the others have no token that the encoder knows
    if len(right) and not len(rows):
        raise knows_nothing(corpus.name)
    if len(rows) < len(right):
        corpus, right = corpus.known(rows), right[rows]
    found = search_exact(left, right, choice.depth(queries, corpus.texts), report=report)
    chosen = choice.choose(queries, corpus.texts, found.targets, found.target_cosines)
    hits: list[list[Hit]] = []
    for query, near in enumerate(chosen):
        known = near if left[query].any() else []
        hits.append(
            [
                Hit(rank, cosine, corpus.texts[row], int(corpus.lines[row]), score)
                for rank, (row, cosine, score) in enumerate(known, start=1)
            ]
        )
        if choice.encoders:
            report(Progress("matching tokens", query + 1, len(queries)))
    return hits


def _keys(texts: Sequence[str]) -> NDArray[np.object_]:
    """Make the keys by which texts repeat each other."""
    return np.array([folded(text) for text in texts], dtype=object)
