"""Sentences -> the tokens of each, in memory, and their vectors, which two sides compare.

A static encoder needs a piece's number, a transformer the last hidden state of each token. Of a
static encoder only those dimensions are compared in which the texts of both sides differ most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import unchanged
from xmine.encoders.modules.parts import Body
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import EncoderPair
from xmine.encoders.recipe import Recipe
from xmine.encoders.tokens import Rows, Stacked, TokenVectors
from xmine.files import scratch
from xmine.files.sealed_arrays import opened_sealed
from xmine.run.steps import Files, joined, parts_of

# Texts of a side whose tokens tell which dimensions are compared.
_TEXTS_FOR_AXES = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class ReadTokens:
    """The tokens of texts, as the body of an encoder gives them.

    Attributes:
        rows: the piece of each token, int32 [tokens, 1]; or vectors and weights, int16 [tokens,
            dim + 1].
        starts: int64 [texts + 1], where each text starts among the tokens.
    """

    rows: Any  # or `Stacked`
    starts: Rows

    @classmethod
    def of(cls, files: Files, *, pieces: bool) -> "ReadTokens":
        """Open the tokens that a step has left: the last two arrays of the files."""
        numbers = [opened_sealed(paths[-1], np.int64) for paths in files]
        starts = scratch.stored(np.concatenate([[0], np.cumsum(np.concatenate(numbers))]))
        if pieces:
            return cls(joined(files, -2, np.int32), starts)
        return cls(Stacked(parts_of(files, -2, np.int16)), starts)

    @property
    def lengths(self) -> Rows:
        """The number of tokens of each text, int64 [texts]."""
        return np.diff(self.starts)

    def take(self, texts: Rows) -> "ReadTokens":
        """Keep some texts, in the order given."""
        lengths = self.starts[texts + 1] - self.starts[texts]  # no look at the other texts
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.starts[texts] - starts[:-1], lengths) + np.arange(starts[-1])
        return ReadTokens(self.rows.take(places, axis=0), starts)

    def shares(self, pieces: int) -> NDArray[np.float64]:
        """Count the pieces of some texts, evenly spread: shares of all their tokens, [pieces]."""
        texts = len(self.starts) - 1
        some = self.take(np.arange(0, texts, _step(texts)))
        shares = np.bincount(some.rows[:, 0], minlength=pieces).astype(np.float64)
        shares /= max(1, len(some.rows))
        return shares


@dataclass(frozen=True, slots=True)
class TokenFiles:
    """Where the tokens of both sides are, as a task has them.

    Attributes:
        sides: the files of sources and targets.
        encoder: that has the vectors of the tokens; None where the files have them.
        base: so many first texts of both sides tell which dimensions are compared.
    """

    sides: tuple[tuple[tuple[Path, ...], ...], ...]
    encoder: Recipe | None
    base: tuple[int, int]

    def open(self) -> tuple[TokenVectors, TokenVectors]:
        """Open the tokens of both sides, once in a process."""
        return _opened(self)


@lru_cache(maxsize=1)
def _opened(given: TokenFiles) -> tuple[TokenVectors, TokenVectors]:
    encoder = given.encoder.load() if given.encoder else None
    return open_tokens(encoder, given.sides, given.base)


def open_tokens(
    encoder: SentenceEncoder | None,
    sides: Sequence[Sequence[tuple[Path, ...]]],
    base: tuple[int, int] | None = None,
) -> tuple[TokenVectors, TokenVectors]:
    """Open the tokens of both sides; a transformer's files need no encoder."""
    body = encoder.body if encoder else None
    pieces = isinstance(body, StaticEmbedding)
    left, right = (ReadTokens.of(list(files), pieces=pieces) for files in sides)
    n, m = base or (len(left.starts), len(right.starts))
    first = (
        ReadTokens(left.rows, left.starts[: n + 1]),
        ReadTokens(right.rows, right.starts[: m + 1]),
    )
    vectors = compared(body, left, right, first)
    return unchanged(encoder.source if encoder else None, vectors)


def texts_read(encoder: SentenceEncoder, texts: Sequence[str]) -> ReadTokens:
    """Read the tokens of texts into memory."""
    rows, numbers = encoder.body.tokens(texts)
    return ReadTokens(rows, np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)]))


def tokens_of(encoder: SentenceEncoder, texts: Sequence[str]) -> TokenVectors:
    """Read the tokens of a few texts, with all dimensions of their vectors."""
    return _token_vectors(encoder.body, texts_read(encoder, texts))


def compared(
    body: Body | None,
    left: ReadTokens,
    right: ReadTokens,
    whole: tuple[ReadTokens, ReadTokens] | None = None,
) -> tuple[TokenVectors, TokenVectors]:
    """Give the vectors of the tokens of two sides, in the dimensions in which they differ most.

    `whole` are the tokens of the texts that tell the dimensions, or of some as `shares` takes them.
    Without a body the tokens are those of a transformer, which keep all dimensions.
    """
    shares = None
    if isinstance(body, StaticEmbedding):
        first, second = (each.shares(len(body.table)) for each in whole or (left, right))
        shares = first + second
    return _token_vectors(body, left, shares), _token_vectors(body, right, shares)


def tokens_of_pairs(
    encoders: EncoderPair,
    sides: tuple[Sequence[str], Sequence[str]],
    x: Rows,
    y: Rows,
    base: tuple[int, int],
) -> tuple[TokenVectors, TokenVectors]:
    """Read the tokens of texts x and y of two sides, as `open_tokens` gives them for a base."""
    one, other = encoders.source, encoders.target
    left, right = (
        texts_read(encoder, [side[row] for row in some.tolist()])
        for encoder, side, some in zip((one, other), sides, (x, y), strict=True)
    )
    whole = left, right
    if isinstance(one.body, StaticEmbedding):
        n, m = base
        some = sides[0][: n : _step(n)], sides[1][: m : _step(m)]
        whole = texts_read(one, some[0]), texts_read(other, some[1])
    return compared(one.body, left, right, whole)


def _step(texts: int) -> int:
    return max(1, -(-texts // _TEXTS_FOR_AXES))


def _token_vectors(
    body: Body | None, read: ReadTokens, shares: NDArray[np.float64] | None = None
) -> TokenVectors:
    rows, starts = read.rows, read.starts
    if isinstance(body, StaticEmbedding):
        vectors = body.token_vectors(rows[:, 0], shares)
        return TokenVectors(starts, vectors, body.token_weights, vectors.shape[1], rows[:, 0])
    return TokenVectors(starts, rows, None, rows.shape[1] - 1)
