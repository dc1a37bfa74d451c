"""Texts and a corpus -> the nearest sentences of the corpus, in either language."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import as_pair
from xmine.knn.exact import search_exact
from xmine.mining.hits import HitChoice
from xmine.mining.reranking import token_encoder
from xmine.progress import Progress, Report, silent
from xmine.text.sentences import Sentences, folded
from xmine.vectors.encoding import knows_nothing


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
        rerank: `auto`, `tokens` or `off`; see `xmine.mining.reranking.token_encoder`.
        report: called while encoding, searching and matching tokens.
        prompt: put before queries and sentences alike; see `SentenceEncoder.encode`.

    Raises:
        FileError: the encoder knows no token of the corpus.
    """
    choice = HitChoice(k, token_encoder(as_pair(encoder), rerank), exclude_exact)
    left = encoder.encode_half(queries, prompt=prompt)  # [queries, dim]
    right = encoder.encode_half(corpus.texts, report, prompt)  # [rows, dim]
    rows = np.flatnonzero(right.any(axis=1))  # the others have no token that the encoder knows
    if len(right) and not len(rows):
        raise knows_nothing(corpus.name)
    if len(rows) < len(right):
        corpus, right = corpus.known(rows), right[rows]
    spare = max(_copies(queries, corpus).values(), default=0) if exclude_exact else 0
    found = search_exact(left, right, choice.nearest + spare, report=report)
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
        if choice.encoder:
            report(Progress("matching tokens", query + 1, len(queries)))
    return hits


def _copies(queries: Sequence[str], corpus: Sentences) -> dict[str, int]:
    """Count how often each query stands in the corpus itself."""
    copies = dict.fromkeys(map(folded, queries), 0)
    for text in corpus.texts:
        key = folded(text)
        if key in copies:
            copies[key] += 1
    return copies
