"""A vector per piece; a sentence is their mean. Runs on numpy alone.

Our own folders cut text with sentencepiece, four times as fast as `tokenizers`; those of others
have a `tokenizer.json`. Vectors are int8 rows with a factor each, or plain floats.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from xmine.encoders.modules.token_table import TokenTable
from xmine.encoders.packs import PackedPieces
from xmine.encoders.spans import Span
from xmine.encoders.table import Table as Table
from xmine.encoders.table import give_back, means_of, read_table
from xmine.encoders.tokenizer import MODEL_FILE, TOKENIZER_FILE, Ids, Tokenizer, Vocabulary
from xmine.encoders.tokens import TOKEN_DIM, lengths_of, weightiest, whole_weights
from xmine.errors import EncoderError

WEIGHTS_FILE = "model.safetensors"

_ROWS_AT_ONCE = 512  # so many that their sums stay in the cache
_ROWS_HELD = 16_384  # a multiple of it


class StaticEmbedding:
    """The module that reads text without looking at the order of its words."""

    kind = "StaticEmbedding"
    parts: tuple[()] = ()
    texts_at_once = 8192  # 8 MB of vectors: any number would do

    def __init__(
        self,
        pieces: Vocabulary | Tokenizer | PackedPieces,
        table: Table,
        as_tokens: Table | None = None,
    ) -> None:
        """Take the vectors of pieces in a sentence and, where others compare better, as tokens."""
        self.pieces = pieces
        self.table = table
        self.as_tokens = as_tokens or table
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
            bags = self.bags([prompt + text for text in block] if prompt else block)
            yield slice(start, start + len(block)), self.means(bags)

    def sums(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Add up the vectors of each text's pieces: those of texts put together add up, too."""
        bags = self.bags(texts)
        sizes = sum(np.diff(starts) for _, starts in bags)
        found: NDArray[np.float32] = self.means(bags) * np.asarray(sizes)[:, None]
        return found.astype(np.float32)

    def bags(self, texts: Sequence[str]) -> tuple[Ids, ...]:
        """Cut texts into pieces; with a pack into letter n-grams, too."""
        if isinstance(self.pieces, Vocabulary | Tokenizer):
            return (self.pieces.ids(texts),)
        return self.pieces.bags(texts)

    def means(self, bags: tuple[Ids, ...]) -> NDArray[np.float32]:
        """Average the vectors of each text's pieces and n-grams: float32 [texts, dim]."""
        if isinstance(self.pieces, Vocabulary | Tokenizer):
            return means_of(self.table, *bags[0])
        texts = len(bags[0][1]) - 1
        sums, sizes = np.zeros((texts, self.dim), np.float32), np.zeros(texts, np.int64)
        for ids, starts in bags:
            first = 0
            for table in self.table.parts():
                inside = (ids >= first) & (ids < first + len(table.rows))
                ends = np.concatenate([[0], np.cumsum(inside)])[starts]
                each = np.diff(ends).astype(np.float32)[:, None]
                sums += means_of(table, ids[inside] - first, ends) * each
                first += len(table.rows)
            sizes += np.diff(starts)
        sums /= np.maximum(sizes, 1).astype(np.float32)[:, None]
        return sums

    @cached_property
    def token_weights(self) -> NDArray[np.float32]:
        """The weight of each piece as a token, float32 [pieces], see `xmine.encoders.tokens`."""
        lengths = []
        for at in range(0, len(self.as_tokens), _ROWS_AT_ONCE):
            lengths.append(lengths_of(self.as_tokens.vectors(slice(at, at + _ROWS_AT_ONCE))))
            if not at % _ROWS_HELD:  # of 54 MB few rows are read again
                give_back(self.as_tokens.rows)
        return whole_weights(np.concatenate(lengths))

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
        if made is None or not all(map(np.array_equal, made.decided, (rows, weights))):
            made = self._made = TokenTable(self.as_tokens, rows, weights)
        return made.filled(ids)

    def tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Cut texts into pieces that have a vector.

        Returns:
            Int32 [pieces, 1], those of all texts; and their number in each, int64 [texts].
        """
        return self.known(*self.pieces.ids(texts))

    def known(
        self, ids: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Leave out pieces without a vector; see `tokens`."""
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
        table = read_table(folder / WEIGHTS_FILE)
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
        assert isinstance(self.pieces, Vocabulary | Tokenizer)
        self.pieces.save(folder)
