"""Sentences -> the tokens of each, in files beside the run; killed, reading continues.

A static encoder makes the vectors of a block of sentences from the tokens of the same block.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import unchanged
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
from xmine.vectors.tokens import Body, ReadTokens, compared

_TEXTS_AT_ONCE = 65_536  # that `keep_tokens` copies: about 8 MB of pieces


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
        encoder = self.encoder.load() if self.encoder else None
        body, source = (encoder.body, encoder.source) if encoder else (None, None)
        sides = _opened(body, self.paths[0]), _opened(body, self.paths[1])
        return unchanged(source, compared(body, *sides))


def read_tokens(
    encoder: SentenceEncoder,
    sentences: Sentences,
    path: Path,
    report: Report = silent,
    watch: Watch = NOBODY,
    elsewhere: Elsewhere | None = None,
) -> ReadTokens:
    """Write the tokens of sentences to a file, and where each starts to `PATH.starts`; open both.

    An encoder from a folder continues what it left when it was killed, and reads `elsewhere` if
    that is given. Prompts and heads of the encoder have no part in this.
    """
    if not _are_there(encoder.body, path, len(sentences)):
        tick = ticks(report, "reading tokens", len(sentences))
        _write(encoder, sentences, (path, None), _read, tick, watch, elsewhere)
    return _opened(encoder.body, path)


def encode_and_read(
    encoder: SentenceEncoder,
    sentences: Sentences,
    path: Path,
    tokens: Path,
    report: Report = silent,
    watch: Watch = NOBODY,
    elsewhere: Elsewhere | None = None,
) -> None:
    """Write what `encode_sentences` and `read_tokens` write: each sentence is cut once.

    Args:
        encoder: that `encodes_pieces`.
        path, tokens: the files of the vectors and of the tokens, see those functions.
    """
    tick = ticks(report, "encoding", len(sentences))
    _write(encoder, sentences, (tokens, path), _encode, tick, watch, elsewhere)


def _write(
    encoder: SentenceEncoder,
    sentences: Sentences,
    paths: tuple[Path, Path | None],
    work: Callable[..., Blocks],
    tick: Callable[[int], None],
    watch: Watch,
    elsewhere: Elsewhere | None,
) -> None:
    """Write the tokens of sentences, and perhaps their vectors, as `work` gives them in blocks."""
    (path, beside), body, total = paths, encoder.body, len(sentences)
    mark = vectors_key(encoder, sentences.digest()) or ""
    folder = parts_folder(beside or path, mark)
    tasks = wanted(elsewhere.parts(encoder, total, work) if elsewhere else None, folder)
    width = 1 if isinstance(body, StaticEmbedding) else body.pooling.token_dim + 1
    with ExitStack() as stack:

        def writer(path: Path, width: int, dtype: type[np.generic]) -> MatrixWriter:
            return stack.enter_context(writing_matrix(path, width, dtype, mark, watch))

        # What is opened last is finished first: with the vectors, the tokens are there.
        vectors = [writer(beside, encoder.dim, np.float16)] if beside else []
        tokens = writer(path, width, _dtype(body))
        starts = writer(_starts(path), 1, np.int64)

        def write(*found: NDArray[Any]) -> None:
            *rows, read, numbers = found
            for each, block in zip(vectors, rows, strict=True):
                each.write(block)
            tokens.write(read)
            starts.write(starts.last() + np.cumsum(numbers, dtype=np.int64)[:, None])

        done = _cut(vectors, tokens, starts, tasks.rows if tasks else encoder.texts_at_once)
        if tasks:
            tasks.join(folder, done, total, [*vectors, tokens, starts], write, tick)
        else:
            for found in work(encoder, sentences.texts, done):
                write(*found)
                tick(starts.rows - 1)


def keep_tokens(
    encoder: SentenceEncoder, path: Path, texts: int, rows: Rows, watch: Watch = NOBODY
) -> None:
    """Reduce a file with the tokens of so many texts to those of some rows, if there is one."""
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
        for old in (path, _starts(path)):
            old.unlink()  # so that a kill leaves no old file beside the digest of the new one


def _are_there(body: Body, path: Path, texts: int) -> bool:
    """Tell whether a file has the tokens of so many texts."""
    tokens, starts = open_matrix(path, _dtype(body)), open_matrix(_starts(path), np.int64)
    if tokens is None or starts is None or len(starts) != texts + 1:
        return False
    return bool(starts[-1, 0] == len(tokens))


def _cut(
    vectors: Sequence[MatrixWriter], tokens: MatrixWriter, starts: MatrixWriter, size: int
) -> int:
    """Leave out what is behind whole blocks of texts; give the number of texts that are left."""
    if not starts.rows:
        starts.write(np.zeros((1, 1)))
    done = min([starts.rows - 1, *(each.rows for each in vectors)]) // size * size
    starts.cut(done + 1)
    tokens.cut(int(starts.last()[0]))
    for each in vectors:
        each.cut(done)
    are_whole = starts.rows == done + 1 and tokens.rows == starts.last()[0]
    if are_whole and all(each.rows == done for each in vectors):
        return done
    for each in (*vectors, tokens):
        each.cut(0)
    starts.cut(1)
    return 0


def _read(encoder: SentenceEncoder, texts: Sequence[str], start: int = 0) -> Blocks:
    """Read texts from one of them on, in blocks: tokens, and their number in each text."""
    blocks, body = blocks_of(encoder, texts, start), encoder.body

    def read(block: Sequence[str]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        return unchanged(encoder.source, body.tokens(block))

    return in_threads(blocks, read) if isinstance(body, StaticEmbedding) else map(read, blocks)


def _encode(encoder: SentenceEncoder, texts: Sequence[str], start: int = 0) -> Blocks:
    """Encode and read texts from one of them on, in blocks: vectors, tokens, their numbers."""
    blocks, encode = blocks_of(encoder, texts, start), encoder.encode_with_tokens
    return in_threads(blocks, lambda block: unchanged(encoder.source, encode(block)))


def _dtype(body: Body | None) -> type[np.generic]:
    """Give the type of the numbers of a file of tokens; without a body, of a transformer's."""
    return np.int32 if isinstance(body, StaticEmbedding) else np.int16


def _starts(path: Path) -> Path:
    return path.with_name(f"{path.stem}.starts.npy")  # of SIDE.tokens.npy


def _opened(body: Body | None, path: Path) -> ReadTokens:
    return ReadTokens(opened(path, _dtype(body)), opened(_starts(path), np.int64)[:, 0])
