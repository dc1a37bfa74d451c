"""A vector per piece; a sentence is their mean. Runs on numpy alone.

Our own folders cut text with sentencepiece, four times as fast as `tokenizers`; those of others
have a `tokenizer.json`. Vectors are int8 rows with a factor each, or plain floats.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from xmine import native
from xmine.encoders.layout import first_line
from xmine.encoders.modules.token_table import TokenTable, used_rows
from xmine.encoders.spans import Span
from xmine.encoders.tokenizer import MODEL_FILE, TOKENIZER_FILE, Tokenizer, Vocabulary
from xmine.encoders.tokens import TOKEN_DIM, lengths_of, weightiest, whole_weights
from xmine.errors import EncoderError

WEIGHTS_FILE = "model.safetensors"

# The types of safetensors that a table or a mapping may have.
_TYPES = {
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "I8": np.int8,
    "I32": np.int32,
    "I64": np.int64,
}
_ROWS_AT_ONCE = 512  # so many that their sums stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A vector per piece as it is stored.

    Attributes:
        rows: int8 or floats [pieces, dim].
        factors: float32 [pieces], by which the rows are multiplied; None: by one.
    """

    rows: NDArray[Any]
    factors: NDArray[np.float32] | None

    @classmethod
    def rounded(cls, vectors: NDArray[np.float32]) -> "Table":
        """Round float vectors [pieces, dim] to int8 with a factor per row."""
        factors = (np.abs(vectors).max(axis=1) / 127).astype(np.float32)
        rows = vectors / np.maximum(factors, np.finfo(np.float32).tiny)[:, None]
        return cls(np.rint(rows).astype(np.int8), factors)

    def vectors(self, pieces: Any = slice(None)) -> NDArray[np.float32]:  # noqa: ANN401
        """Multiply out some rows, or all: float32 [pieces, dim]."""
        rows: NDArray[Any] = self.rows[pieces]
        if self.factors is None:
            return rows.astype(np.float32, copy=False)
        vectors: NDArray[np.float32] = rows * self.factors[pieces][:, None]
        return vectors


class StaticEmbedding:
    """The module that reads text without looking at the order of its words."""

    kind = "StaticEmbedding"
    parts: tuple[()] = ()
    texts_at_once = 8192  # 8 MB of vectors: any number would do

    def __init__(self, pieces: Vocabulary | Tokenizer, table: Table) -> None:
        self.pieces = pieces
        self.table = table
        self._made: TokenTable | None = None

    @property
    def dim(self) -> int:
        """The width of the vectors."""
        return int(self.table.rows.shape[1])

    @property
    def vectors(self) -> NDArray[np.float32]:
        """Multiply out the whole table: float32 [pieces, dim]."""
        return self.table.vectors()

    def describe(self) -> dict[str, object]:
        """Describe the module, for people."""
        return {
            "architecture": "static",
            "pooling": "mean",
            "vocabulary": len(self.pieces),
            "max_length": None,
            "parameters": self.table.rows.size,
        }

    def embed(
        self, texts: Sequence[str], prompt: str = ""
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Add up the vectors of each text's pieces.

        Yields:
            Which texts, and float32 [texts, dim], a block at a time. A row depends on its text
            alone, to the last bit; a text without a known piece is a row of zeros.
        """
        for start in range(0, len(texts), self.texts_at_once):
            block = texts[start : start + self.texts_at_once]
            ids, starts = self.pieces.ids([prompt + text for text in block] if prompt else block)
            yield slice(start, start + len(block)), self._means(ids, starts)

    def sums(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Add up the vectors of each text's pieces: those of texts put together add up, too."""
        ids, starts = self.pieces.ids(texts)
        found: NDArray[np.float32] = self._means(ids, starts) * np.diff(starts)[:, None]
        return found.astype(np.float32)

    def means_and_tokens(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]:
        """Cut texts once: give their vectors, float32 [texts, dim], and what `tokens` gives."""
        ids, starts = self.pieces.ids(texts)
        return self._means(ids, starts), *self._known(ids, starts)

    def _means(self, ids: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.float32]:
        """Average the vectors of each text's pieces: float32 [texts, dim]."""
        table, kernels = self.table, native.kernels
        if kernels and table.rows.dtype == np.int8 and table.factors is not None:
            means = np.empty((len(starts) - 1, self.dim), np.float32)
            kernels.means(table.rows, table.factors, self.dim, ids, starts, means)
            return means
        used = used_rows(ids, len(self.table.rows))  # a small part of a table of many languages
        places = np.zeros(len(self.table.rows), dtype=np.int32)
        places[used] = np.arange(len(used))
        return _mean_of_pieces(self.table.vectors(used), places[ids], starts)

    @cached_property
    def token_weights(self) -> NDArray[np.float32]:
        """The weight of each piece as a token, float32 [pieces], see `xmine.encoders.tokens`."""
        blocks = range(0, len(self.table.rows), _ROWS_AT_ONCE)
        rows = (self.table.vectors(slice(at, at + _ROWS_AT_ONCE)) for at in blocks)
        return whole_weights(np.concatenate([lengths_of(each) for each in rows]))

    def token_vectors(
        self, ids: NDArray[np.int32], shares: NDArray[np.float64] | None = None
    ) -> NDArray[np.int16]:
        """Give the vectors of pieces as tokens, see `xmine.encoders.tokens`.

        `shares`, float64 [all pieces], are those of the pieces in the texts that are compared; None
        for all dimensions. Kept are those in which the figures of the texts differ most: a piece
        counts as often as it occurs, by the square of its weight.

        Returns:
            int16 [all pieces, token dim], in which the rows of `ids` are filled in.
        """
        rows, weights = np.zeros(0, np.int64), np.zeros(0)
        if shares is not None and self.dim > TOKEN_DIM:
            rows, weights = weightiest(shares * self.token_weights.astype(np.float64) ** 2)
        made = self._made
        if made is None or not made.is_of(rows, weights):
            shape = self.table.rows.shape
            made = self._made = TokenTable.empty(rows, weights, self.table.vectors, shape)
        return made.filled(ids)

    def tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Cut texts into pieces that have a vector.

        Returns:
            Int32 [pieces, 1], those of all texts; and their number in each, int64 [texts].
        """
        return self._known(*self.pieces.ids(texts))

    def _known(
        self, ids: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        known = self.token_weights[ids] != 0
        before = np.concatenate([[0], np.cumsum(known)])
        return ids[known][:, None], np.diff(before[starts])

    def spans(self, text: str) -> list[Span]:
        """Give the span in a text of each of its `tokens`."""
        known = self.token_weights[self.pieces.ids([text])[0]] != 0
        return list(compress(self.pieces.spans(text), known))

    @classmethod
    def load(cls, folder: Path) -> "StaticEmbedding":
        """Read a folder.

        Raises:
            EncoderError: a file is missing or does not fit the others; the message names it.
        """
        is_ours = (folder / MODEL_FILE).exists()
        pieces = Vocabulary.load(folder) if is_ours else Tokenizer.load(folder)
        table = _read_table(folder / WEIGHTS_FILE)
        enough = len(table.rows) == len(pieces) if is_ours else len(table.rows) >= len(pieces)
        if not enough:
            raise EncoderError(
                f"{folder}: {len(table.rows):,} vectors for {len(pieces):,} tokens",
                f"{WEIGHTS_FILE} and {MODEL_FILE if is_ours else TOKENIZER_FILE} "
                "are not of the same encoder",
            )
        return cls(pieces, table)

    def save(self, folder: Path) -> None:
        """Write vectors and vocabulary as sentence-transformers reads them (6.2 if int8)."""
        if self.table.factors is None:
            tensors = {"embedding.weight": self.vectors}  # in float16 a blank line would be NaN
        else:
            tensors = {"embeddings": self.table.rows, "weights": self.table.factors}
        (folder / WEIGHTS_FILE).write_bytes(save(tensors))
        self.pieces.save(folder)


def added(
    vectors: NDArray[np.float32],
    rows: NDArray[Any],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    by: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Add up vectors of stretches of `rows`, [stretches, dim]; `by` has the weights of rows.

    Adding the first rows of all stretches, then the second ones, is many times as fast as
    `np.add.reduceat`, and each sum has the same order whatever stands beside it.
    """
    found = np.zeros((len(sizes), vectors.shape[1]), np.float32)
    order = np.argsort(-sizes, kind="stable")
    for at in range(0, len(order), _ROWS_AT_ONCE):
        some = order[at : at + _ROWS_AT_ONCE]
        first, falling = starts[some], -sizes[some]
        sums = np.zeros((len(some), vectors.shape[1]), np.float32)
        for place in range(-int(falling[0])):
            places = first[: np.searchsorted(falling, -place)] + place  # of those with a row here
            more = vectors.take(rows[places], axis=0)
            sums[: len(places)] += more if by is None else more * by[places, None]
        found[some] = sums
    return found


def _mean_of_pieces(
    vectors: NDArray[np.float32], ids: NDArray[np.int32], starts: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Average the vectors of each text's pieces, of `ids` from one of `starts` to the next."""
    sizes = np.diff(starts)
    means = added(vectors, ids, starts[:-1], sizes)
    means /= np.maximum(sizes, 1).astype(np.float32)[:, None]
    return means


def _mapped(rows: NDArray[Any], mapping: NDArray[Any], path: Path) -> NDArray[Any]:
    fits = rows.ndim == 2 and mapping.ndim == 1 and mapping.dtype.kind in "iu"
    if not fits or (len(mapping) and not 0 <= mapping.min() <= mapping.max() < len(rows)):
        raise EncoderError(f"{path}: 'mapping' names rows that 'embeddings' has not")
    mapped: NDArray[Any] = rows[mapping]
    return mapped


def _map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Map the tensors of a safetensors file: pieces that no text has need no memory."""
    with safe_open(path, "numpy") as checked:  # so that the header below is sound
        kinds = {name: checked.get_slice(name).get_dtype() for name in checked.keys()}  # noqa: SIM118
    if other := set(kinds.values()) - _TYPES.keys():
        known = ", ".join(_TYPES)
        raise EncoderError(f"{path}: numbers of type {', '.join(other)}", f"xmine reads {known}")
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    tensors = {}
    for name, kind in kinds.items():
        start, end = header[name]["data_offsets"]
        data = np.memmap(path, np.uint8, "c")[8 + size + start : 8 + size + end]
        tensors[name] = data.view(_TYPES[kind]).reshape(header[name]["shape"])
    return tensors


def _read_table(path: Path) -> Table:
    try:
        tensors = _map_tensors(path)
    except FileNotFoundError:
        hint = "open it with sentence-transformers and save it again, which writes one"
        raise EncoderError(f"{path}: no such file", hint) from None
    except EncoderError:
        raise
    except Exception as error:
        raise EncoderError(f"{path}: cannot be read: {first_line(error)}") from error
    if "embedding.weight" in tensors:
        rows, factors = tensors.pop("embedding.weight"), None
    elif "embeddings" in tensors:
        rows, factors = tensors.pop("embeddings"), tensors.pop("weights", None)
        mapping = tensors.pop("mapping", None)  # of model2vec: several pieces share a row
        rows = rows if mapping is None else _mapped(rows, mapping, path)
    else:
        raise EncoderError(f"{path}: has no tensor 'embeddings' or 'embedding.weight'")
    if tensors:
        raise EncoderError(f"{path}: has tensors of no known use: {', '.join(tensors)}")
    is_float = rows.dtype in (np.float16, np.float32, np.float64)
    if (
        rows.ndim != 2
        or not rows.size
        or not (is_float or (rows.dtype == np.int8 and factors is not None))
    ):
        raise EncoderError(
            f"{path}: {rows.dtype} embeddings {list(rows.shape)}",
            "expected floats [pieces, dim], or int8 with float32 weights [pieces]",
        )
    if factors is not None and factors.shape != rows.shape[:1]:
        raise EncoderError(f"{path}: weights {list(factors.shape)} for {len(rows):,} rows")
    return Table(rows, None if factors is None else factors.astype(np.float32, copy=False))
