"""Texts and a corpus -> the nearest sentences of the corpus, in either language."""

from collections.abc import Sequence
from dataclasses import dataclass

from xmine.encoders.encoder import SentenceEncoder
from xmine.knn.exact import search_exact
from xmine.progress import Report, silent
from xmine.text.sentences import Sentences, folded


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence of the corpus near a query, which is named by its index; `line` counts from 1."""

    query: int
    cosine: float
    text: str
    line: int

    def facts(self) -> dict[str, object]:
        """Give what the command prints of it."""
        return {"cosine": round(self.cosine, 4), "text": self.text, "line": self.line}


def search(
    queries: Sequence[str],
    corpus: Sentences,
    encoder: SentenceEncoder,
    k: int = 3,
    *,
    exclude_exact: bool = False,
    report: Report = silent,
    prompt: str = "",
) -> list[list[Hit]]:
    """Find the k nearest sentences of each query by cosine, nearest first.

    A query without a known token has no hits.

    Args:
        queries: texts.
        corpus: the sentences to search.
        encoder: for both.
        k: hits per query.
        exclude_exact: leave out the query itself, as `xmine.text.sentences.folded` tells it.
        report: called while encoding and searching.
        prompt: put before queries and sentences alike; see `SentenceEncoder.encode`.
    """
    left = encoder.encode_half(queries, prompt=prompt)  # [queries, dim]
    right = encoder.encode_half(corpus.texts, report, prompt)  # [rows, dim]
    spare = max(_copies(queries, corpus).values(), default=0) if exclude_exact else 0
    found = search_exact(left, right, k + spare, report=report)
    hits: list[list[Hit]] = []
    for query, text in enumerate(queries):
        key = folded(text)
        rows = zip(found.targets[query].tolist(), found.target_cosines[query].tolist(), strict=True)
        near = [
            Hit(query, cosine, corpus.texts[row], int(corpus.lines[row]))
            for row, cosine in rows
            if not (exclude_exact and folded(corpus.texts[row]) == key)
        ]
        hits.append(near[:k] if left[query].any() else [])
    return hits


def _copies(queries: Sequence[str], corpus: Sentences) -> dict[str, int]:
    """Count how often each query stands in the corpus itself."""
    copies = dict.fromkeys(map(folded, queries), 0)
    for text in corpus.texts:
        key = folded(text)
        if key in copies:
            copies[key] += 1
    return copies
