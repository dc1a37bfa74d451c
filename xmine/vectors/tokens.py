"""Sentences -> the tokens of each, in files beside the run; killed, reading continues.

A static encoder needs a piece's number, a transformer the last hidden state of each token. Of a
static encoder only those dimensions are compared in which the texts of both sides differ most.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.recipe import Recipe
from xmine.encoders.tokens import Rows, TokenVectors
from xmine.engines.parts import Blocks, wanted
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import MatrixWriter, open_matrix, opened, parts_folder, writing_matrix
from xmine.progress import Report, silent, ticks
from xmine.text.sentences import Sentences
from xmine.vectors.elsewhere import Elsewhere
from xmine.vectors.encoding import blocks_of, in_threads, vectors_key

if TYPE_CHECKING:
    from xmine.encoders.modules.transformer import Transformer

_Body = Union[StaticEmbedding, "Transformer"]

# Texts of a side whose tokens tell which dimensions are compared.
_TEXTS_FOR_AXES = 10_000
_TEXTS_AT_ONCE = 65_536  # that are kept of a file: 8 MB of pieces


@dataclass(frozen=True, slots=True, eq=False)
class ReadTokens:
    """The tokens of texts, as the body of an encoder gives them.

    Attributes:
        rows: the piece of each token, int32 [tokens, 1]; or vectors and weights, int16 [tokens,
            dim + 1].
        starts: int64 [texts + 1], where each text starts among the tokens.
    """

    rows: NDArray[Any]
    starts: Rows

    @property
    def lengths(self) -> Rows:
        """The number of tokens of each text, int64 [texts]."""
        return np.diff(self.starts)

    def take(self, texts: Rows) -> "ReadTokens":
        """Keep some texts, in the order given."""
        lengths = self.starts[texts + 1] - self.starts[texts]  # no look at the other texts
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.starts[texts] - starts[:-1], lengths) + np.arange(starts[-1])
        return ReadTokens(self.rows[places], starts)

    def shares(self, pieces: int) -> NDArray[np.float64]:
        """Count the pieces of some texts, evenly spread: shares of all their tokens, [pieces]."""
        some = self.take(np.arange(0, len(self.starts) - 1, _step(len(self.starts) - 1)))
        shares = np.bincount(some.rows[:, 0], minlength=pieces).astype(np.float64)
        shares /= max(1, len(some.rows))
        return shares


@dataclass(frozen=True, slots=True)
class TokenFiles:
    """Where the tokens of both sides are, as a task has them.

    Attributes:
        paths: of the tokens of both sides.
        encoder: that has the vectors of the tokens; None where the files have them.
    """

    paths: tuple[Path, Path]
    encoder: Recipe | None

    @classmethod
    def of(cls, encoder: SentenceEncoder, paths: tuple[Path, Path]) -> "TokenFiles | None":
        """Name the tokens that an encoder reads; None where a task cannot load the encoder."""
        if not isinstance(encoder.body, StaticEmbedding):
            return cls(paths, None)
        recipe = Recipe.of(encoder)
        return cls(paths, recipe) if recipe else None

    def open(self) -> tuple[TokenVectors, TokenVectors]:
        """Open the tokens of both sides."""
        body = self.encoder.load().body if self.encoder else None
        return compared(body, _opened(body, self.paths[0]), _opened(body, self.paths[1]))


def texts_read(encoder: SentenceEncoder, texts: Sequence[str]) -> ReadTokens:
    """Read the tokens of texts into memory."""
    rows, numbers = encoder.body.tokens(texts)
    return ReadTokens(rows, np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)]))


def tokens_of(encoder: SentenceEncoder, texts: Sequence[str]) -> TokenVectors:
    """Read the tokens of a few texts, with all dimensions of their vectors."""
    return _token_vectors(encoder.body, texts_read(encoder, texts))


def compared(
    body: _Body | None,
    left: ReadTokens,
    right: ReadTokens,
    whole: tuple[ReadTokens, ReadTokens] | None = None,
) -> tuple[TokenVectors, TokenVectors]:
    """Give the vectors of the tokens of two sides, in the dimensions in which they differ most.

    Args:
        body: of the encoder; None for the tokens of a transformer, which keep all dimensions.
        left, right: the tokens.
        whole: of all texts, or of some as `shares` takes them, where `left` and `right` are few.
    """
    shares = None
    if isinstance(body, StaticEmbedding):
        pieces = len(body.table.rows)
        first, second = whole or (left, right)
        shares = first.shares(pieces) + second.shares(pieces)
    return _token_vectors(body, left, shares), _token_vectors(body, right, shares)


def tokens_of_both(
    encoder: SentenceEncoder, sources: Sequence[str], targets: Sequence[str]
) -> tuple[TokenVectors, TokenVectors]:
    """Read the tokens of the texts of two sides into memory, see `compared`."""
    return compared(encoder.body, texts_read(encoder, sources), texts_read(encoder, targets))


def tokens_of_pairs(
    encoder: SentenceEncoder, sides: tuple[Sequence[str], Sequence[str]], x: Rows, y: Rows
) -> tuple[TokenVectors, TokenVectors]:
    """Read the tokens of the texts x and y of two sides, as `compared` gives them for all texts."""
    rows = zip(sides, (x, y), strict=True)
    left, right = (texts_read(encoder, [side[row] for row in some.tolist()]) for side, some in rows)
    whole = left, right
    if isinstance(encoder.body, StaticEmbedding):
        whole = texts_read(encoder, _spread(sides[0])), texts_read(encoder, _spread(sides[1]))
    return compared(encoder.body, left, right, whole)


def _step(texts: int) -> int:
    return max(1, -(-texts // _TEXTS_FOR_AXES))


def _spread(texts: Sequence[str]) -> Sequence[str]:
    return texts[:: _step(len(texts))]


def read_tokens(
    encoder: SentenceEncoder,
    sentences: Sentences,
    path: Path,
    report: Report = silent,
    watch: Watch = NOBODY,
    elsewhere: Elsewhere | None = None,
    vectors: Path | None = None,
) -> ReadTokens:
    """Write the tokens of sentences to a file, and where each starts to `PATH.starts`; open both.

    An encoder from a folder continues what it left when it was killed, and reads `elsewhere` if
    that is given. Prompts and heads of the encoder have no part in this.

    Args:
        vectors: a file for the vectors, too, see `encode_sentences`: the encoder, which
            `encodes_pieces`, then cuts each sentence once. Without it, tokens that are there stay.
    """
    body, total = encoder.body, len(sentences)
    if vectors or not _are_there(body, path, total):
        mark = vectors_key(encoder, sentences.digest()) or ""
        folder = parts_folder(vectors or path, mark)
        work = _encode if vectors else _read
        parts = elsewhere.parts(encoder, total, work) if elsewhere else None
        tasks = wanted(parts, folder)
        width = 1 if isinstance(body, StaticEmbedding) else body.pooling.token_dim + 1
        with ExitStack() as stack:

            def writer(path: Path, width: int, dtype: type[np.generic]) -> MatrixWriter:
                return stack.enter_context(writing_matrix(path, width, dtype, mark, watch))

            rows = [writer(vectors, encoder.dim, np.float16)] if vectors else []
            tokens = writer(path, width, _dtype(body))
            starts = writer(_starts(path), 1, np.int64)

            def write(*found: NDArray[Any]) -> None:
                *some, read, numbers = found
                for matrix, block in zip(rows, some, strict=True):
                    matrix.write(block)
                tokens.write(read)
                starts.write(starts.last() + np.cumsum(numbers, dtype=np.int64)[:, None])

            tick = ticks(report, "encoding" if vectors else "reading tokens", total)
            done = _cut(rows, tokens, starts, tasks.rows if tasks else body.texts_at_once)
            if tasks:
                tasks.join(folder, done, total, [*rows, tokens, starts], write, tick)
            else:
                for found in work(encoder, sentences.texts, done):
                    write(*found)
                    tick(starts.rows - 1)
    return _opened(body, path)


def keep_tokens(
    encoder: SentenceEncoder, path: Path, texts: int, rows: Rows, watch: Watch = NOBODY
) -> None:
    """Keep some rows of so many texts in a file of their tokens, if there is one."""
    if not _are_there(encoder.body, path, texts):
        return
    read = _opened(encoder.body, path)
    width, dtype = read.rows.shape[1], _dtype(encoder.body)
    with (
        writing_matrix(path, width, dtype, watch=watch) as tokens,
        writing_matrix(_starts(path), 1, np.int64, watch=watch) as starts,
    ):
        starts.write(np.zeros((1, 1)))
        for at in range(0, len(rows), _TEXTS_AT_ONCE):
            some = read.take(rows[at : at + _TEXTS_AT_ONCE])
            starts.write(starts.last() + some.starts[1:, None])
            tokens.write(some.rows)


def _are_there(body: _Body, path: Path, texts: int) -> bool:
    """Tell whether a file has the tokens of so many texts."""
    tokens, starts = open_matrix(path, _dtype(body)), open_matrix(_starts(path), np.int64)
    if tokens is None or starts is None or len(starts) != texts + 1:
        return False
    return bool(starts[-1, 0] == len(tokens))


def _cut(
    rows: Sequence[MatrixWriter], tokens: MatrixWriter, starts: MatrixWriter, size: int
) -> int:
    """Leave out what is behind whole blocks of texts; give the number of texts that are left."""
    if not starts.rows:
        starts.write(np.zeros((1, 1)))
    done = min([starts.rows - 1, *(each.rows for each in rows)]) // size * size
    starts.cut(done + 1)
    tokens.cut(int(starts.last()[0]))
    for each in rows:
        each.cut(done)
    are_whole = starts.rows == done + 1 and tokens.rows == starts.last()[0]
    if are_whole and all(each.rows == done for each in rows):
        return done
    for each in (*rows, tokens):
        each.cut(0)
    starts.cut(1)
    return 0


def _read(encoder: SentenceEncoder, texts: Sequence[str], start: int = 0) -> Blocks:
    """Read texts from one of them on, in blocks: tokens, and their number in each text."""
    blocks, read = blocks_of(encoder, texts, start), encoder.body.tokens
    return in_threads(blocks, read) if encoder.encodes_pieces else map(read, blocks)


def _encode(encoder: SentenceEncoder, texts: Sequence[str], start: int = 0) -> Blocks:
    """Encode and read texts from one of them on, in blocks: vectors, tokens, their numbers."""
    return in_threads(blocks_of(encoder, texts, start), encoder.encode_with_tokens)


def _dtype(body: _Body | None) -> type[np.generic]:
    """Give the type of the numbers of a file of tokens; without a body, of a transformer's."""
    return np.int32 if isinstance(body, StaticEmbedding) else np.int16


def _starts(path: Path) -> Path:
    return path.with_name(f"{path.stem}.starts.npy")  # of SIDE.tokens.npy


def _opened(body: _Body | None, path: Path) -> ReadTokens:
    return ReadTokens(opened(path, _dtype(body)), opened(_starts(path), np.int64)[:, 0])


def _token_vectors(
    body: _Body | None, read: ReadTokens, shares: NDArray[np.float64] | None = None
) -> TokenVectors:
    rows, starts = read.rows, read.starts
    if isinstance(body, StaticEmbedding):
        vectors = body.token_vectors(rows[:, 0], shares)
        return TokenVectors(starts, vectors, body.token_weights, vectors.shape[1], rows[:, 0])
    return TokenVectors(starts, rows, rows[:, -1], rows.shape[1] - 1)
