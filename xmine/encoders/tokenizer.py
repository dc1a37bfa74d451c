"""Text -> piece ids: by our own sentencepiece model, or by the `tokenizer.json` of others.

Encoding with ours needs sentencepiece alone. `tokenizer.json` is written beside it for
sentence-transformers and other readers of that format; both give the same ids but for ties between
equal scores.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from xmine.encoders.spans import Span, folded_spans, without_space
from xmine.errors import EncoderError
from xmine.extras import needs
from xmine.files.atomic import replacing
from xmine.hardware import allowed_threads
from xmine.text.folded_blocks import fold_all
from xmine.text.folding import MOST_CHARACTERS

# The unknown piece. Text cannot spell it, since the normaliser folds case.
UNKNOWN = "<UNK>"

# The lists that sentencepiece gives take ten times the room of an array.
_TEXTS_AT_ONCE = 65_536
_CHARACTERS_AT_ONCE = 65_536

MODEL_FILE = "sentencepiece.model"
TOKENIZER_FILE = "tokenizer.json"

# The ids of all texts, int32 [pieces], and where each text starts, int64 [texts + 1].
Ids = tuple[NDArray[np.int32], NDArray[np.int64]]


@lru_cache(maxsize=3)  # of two encoders or packs: a model of 170,000 pieces takes 0.2 s to read
def pieces_of(model: bytes) -> sentencepiece.SentencePieceProcessor:
    """Read a serialised model; a RuntimeError where it is none. Whoever has it leaves it as is."""
    pieces = sentencepiece.SentencePieceProcessor()
    pieces.LoadFromSerializedProto(model)
    return pieces


class Vocabulary:
    """The pieces of an encoder, and how text is cut into them.

    Attributes:
        model: the serialised sentencepiece model, which encoding uses.
    """

    def __init__(self, model: bytes, tokenizer: str | NDArray[np.uint8]) -> None:
        """Take the model, and the same as the text of a `tokenizer.json`, or the bytes of one."""
        self.model = model
        self._tokenizer = tokenizer
        self._pieces = pieces_of(model)
        # A vocabulary that was trained on text as it was written is read so, too.
        self._is_spaced = self._pieces.normalize("a,") != "▁a,"

    @property
    def tokenizer(self) -> str:
        """The text of `tokenizer.json`, for other readers."""
        told = self._tokenizer
        return told if isinstance(told, str) else bytes(told).decode()

    @classmethod
    def load(cls, folder: Path) -> "Vocabulary":
        """Read `sentencepiece.model`, and map `tokenizer.json`, whose text would take 30 MB.

        Raises:
            EncoderError: one is missing, or the first is not a sentencepiece model.
        """
        path, other = folder / MODEL_FILE, folder / TOKENIZER_FILE
        try:
            with other.open(encoding="utf-8") as file:
                deque(iter(partial(file.read, _CHARACTERS_AT_ONCE), ""), 0)
            return cls(path.read_bytes(), np.memmap(other, np.uint8, "r"))
        except OSError as error:
            raise EncoderError(f"{error.filename}: {error.strerror}") from error
        except ValueError as error:
            raise EncoderError(f"{other}: cannot be read: {error}") from error
        except RuntimeError as error:
            raise EncoderError(f"{path}: not a sentencepiece model") from error

    def save(self, folder: Path) -> None:
        """Write the two files into a folder; where the model is, both are whole."""
        with replacing(folder / TOKENIZER_FILE) as partial:
            partial.write_text(self.tokenizer, encoding="utf-8")
        with replacing(folder / MODEL_FILE) as partial:
            partial.write_bytes(self.model)

    def __len__(self) -> int:
        """Count the pieces."""
        return int(self._pieces.get_piece_size())

    def text_of(self, piece: int) -> str:
        """Give the text of a piece, without the mark of the start of a word."""
        return str(self._pieces.id_to_piece(piece)).replace("▁", " ").strip()

    def meaningless(self) -> list[int]:
        """List the pieces that get no vector: the unknown one and the bare start of a word.

        With them at zero, a text of unknown characters alone is a row of zeros, and not a
        neighbour of every other such text.
        """
        start = int(self._pieces.piece_to_id("▁"))
        return sorted({0, start})  # 0, the unknown piece, also where there is no bare start

    def ids(self, texts: Sequence[str]) -> Ids:
        """Cut texts into pieces."""
        return joined([self.cut(folded) for folded in self.folded(texts)])

    def folded(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Fold texts as `cut` takes them, a block at a time."""
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            block = [text[:MOST_CHARACTERS] for text in texts[start : start + _TEXTS_AT_ONCE]]
            yield fold_all(block, spaced=self._is_spaced)

    def cut(self, folded: list[str]) -> Ids:
        """Cut folded texts into pieces."""
        return ragged(self._pieces.encode(folded, out_type=int, num_threads=allowed_threads()))

    def spans(self, text: str) -> list[Span]:
        """Give the span of each piece of a text, in characters of the text, without white space."""
        folded, places = folded_spans(text, spaced=self._is_spaced)
        found = piece_spans(self._pieces, folded)
        return [(places[i][0], places[j - 1][1]) if i < j else (0, 0) for i, j in found]


def piece_spans(pieces: sentencepiece.SentencePieceProcessor, text: str) -> list[Span]:
    """Give the span of each piece of a text without white space; an empty one of white space."""
    offsets = pieces.normalize(text, with_offsets=True)[1]
    spans, begun = [], 0
    for piece in pieces.encode(text, out_type=str):
        start, end = offsets[begun], offsets[begun := begun + len(piece)]
        end = max(end, offsets[begun - 1] + 1)  # a part of what one character became
        spans.append(without_space(text, start, end))
    return spans


class Tokenizer:
    """The pieces of a static encoder that others made."""

    def __init__(self, tokenizer: str) -> None:
        """Take the text of a `tokenizer.json`.

        Raises:
            ValueError: it is none.
        """
        from tokenizers import Tokenizer as Backend

        self.tokenizer = tokenizer
        try:
            self._backend = Backend.from_str(tokenizer)
        except Exception as error:  # its own kind is Exception itself
            raise ValueError(str(error)) from error
        self._backend.no_padding()
        self._count = max(self._backend.get_vocab().values(), default=-1) + 1

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Read `tokenizer.json`.

        Raises:
            EncoderError: it is missing, or is none.
            XmineError: tokenizers is not installed.
        """
        path = folder / TOKENIZER_FILE
        needs(str(path), "tokenizers")
        try:
            return cls(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise EncoderError(f"{path}: {error.strerror}") from error
        except ValueError as error:
            raise EncoderError(f"{path}: cannot be read: {error}") from error

    def save(self, folder: Path) -> None:
        """Write `tokenizer.json`."""
        with replacing(folder / TOKENIZER_FILE) as partial:
            partial.write_text(self.tokenizer, encoding="utf-8")

    def __len__(self) -> int:
        """Count the pieces, up to the last number that one has."""
        return self._count

    def ids(self, texts: Sequence[str]) -> Ids:
        """Cut texts into pieces, without any special ones; see `Vocabulary.ids`.

        Raises:
            EncoderError: a text has an unknown piece, and there is no piece for those.
        """
        some = [text[:MOST_CHARACTERS] for text in texts]
        try:
            found = self._backend.encode_batch_fast(some, add_special_tokens=False)
        except Exception as error:  # its own kind is Exception itself
            raise EncoderError(f"{TOKENIZER_FILE}: cannot cut a text: {error}") from error
        return ragged([encoding.ids for encoding in found])

    def spans(self, text: str) -> list[Span]:
        """Give the span of each piece of a text, see `Vocabulary.spans`."""
        found = self._backend.encode(text, add_special_tokens=False)
        return [without_space(text, *span) for span in found.offsets]


def joined(parts: Sequence[Ids]) -> Ids:
    """Join the results of `ragged`."""
    ids = [np.empty(0, np.int32), *(ids for ids, _ in parts)]
    lengths = [np.zeros(1, np.int64), *(np.diff(starts) for _, starts in parts)]
    return np.concatenate(ids), np.cumsum(np.concatenate(lengths))


def ragged(rows: Sequence[Sequence[int]]) -> Ids:
    """Join rows of ids: int32 [all ids], and where each row starts, int64 [rows + 1]."""
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=starts[1:])
    return np.fromiter(chain.from_iterable(rows), np.int32, int(starts[-1])), starts
