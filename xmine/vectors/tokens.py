"""Sentences -> the tokens of each, in files beside the run; killed, reading continues.

A static encoder needs a piece's number, a transformer the last hidden state of each token.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.tokens import TokenVectors
from xmine.errors import FileError
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import open_matrix, writing_matrix
from xmine.progress import Progress, Report, silent
from xmine.text.sentences import Sentences
from xmine.vectors.encoding import in_threads, vectors_key


def tokens_of(encoder: SentenceEncoder, texts: Sequence[str]) -> TokenVectors:
    """Read the tokens of a few texts into memory."""
    return _token_vectors(encoder, *encoder.body.tokens(texts))


def read_tokens(
    encoder: SentenceEncoder,
    sentences: Sentences,
    path: Path,
    report: Report = silent,
    watch: Watch = NOBODY,
) -> TokenVectors:
    """Write the tokens of sentences to a file, and how many each has to `PATH.lengths`; open both.

    An encoder from a folder continues what it left when it was killed. Prompts and heads of the
    encoder have no part in this.
    """
    body = encoder.body
    read: Callable[[Sequence[str]], tuple[NDArray[Any], NDArray[np.int32]]] = body.tokens
    is_static = isinstance(body, StaticEmbedding)
    width = 1 if isinstance(body, StaticEmbedding) else body.pooling.token_dim + 1
    dtype: type[np.generic] = np.int32 if is_static else np.int16
    counts = path.with_name(f"{path.stem}.lengths.npy")  # of SIDE.tokens.npy
    mark = vectors_key(encoder, sentences.digest()) or ""
    size, total = body.texts_at_once, len(sentences)
    rows, lengths = open_matrix(path, dtype), open_matrix(counts, np.int32)
    if rows is None or lengths is None or len(lengths) != total:
        with (
            writing_matrix(path, width, dtype, mark, watch) as tokens,
            writing_matrix(counts, 1, np.int32, mark, watch) as written,
        ):
            written.cut(written.rows // size * size)
            tokens.cut(int(written.read().sum()))
            if written.rows % size or tokens.rows != written.read().sum():
                tokens.cut(0)
                written.cut(0)
            starts = range(written.rows, total, size)
            blocks = (sentences.texts[start : start + size] for start in starts)
            work = in_threads(blocks, read) if is_static else map(read, blocks)
            for found, counted in work:
                tokens.write(found)
                written.write(counted[:, None])
                report(Progress("reading tokens", written.rows, total))
        rows, lengths = open_matrix(path, dtype), open_matrix(counts, np.int32)
    if rows is None or lengths is None:
        raise FileError(f"{path}: is gone, or was changed by somebody else", "run it again")
    return _token_vectors(encoder, rows, lengths[:, 0])


def _token_vectors(
    encoder: SentenceEncoder, rows: NDArray[Any], lengths: NDArray[np.int32]
) -> TokenVectors:
    """Take the rows of `tokens` of an encoder's body, and the number of each text."""
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if isinstance(encoder.body, StaticEmbedding):
        vectors, weights = encoder.body.whole
        return TokenVectors(starts, vectors, weights, vectors.shape[1], rows[:, 0])
    return TokenVectors(starts, rows, np.array(rows[:, -1]), rows.shape[1] - 1)
