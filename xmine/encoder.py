"""Sentences -> unit vectors: load, encode and save a sentence encoder.

A static encoder is a vector per piece; a sentence is the mean of its pieces' vectors, scaled to
length one. It runs on numpy and sentencepiece alone. Its folder has the layout of a
sentence-transformers StaticEmbedding: int8 rows in `embeddings`, one fp32 factor per row in
`weights`.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from xmine.errors import EncoderError
from xmine.files import replacing_folder
from xmine.progress import Progress, Report, silent
from xmine.vocabulary import MODEL_FILE, Vocabulary

EMBEDDED = Path(__file__).parent / "embedded"

_MODULES = [
    ("", "sentence_transformers.models.StaticEmbedding"),
    ("1_Normalize", "sentence_transformers.models.Normalize"),
]
# The lowest version that opens int8 rows; 5.0 to 6.1 were tried and fail on them.
_SENTENCE_TRANSFORMERS = "6.2.0"

_TEXTS_AT_ONCE = 8192
_ROWS_AT_ONCE = 512  # so many that their sums stay in the cache


@dataclass(frozen=True, slots=True)
class EncoderFacts:
    """What is known of an encoder besides its weights; `xmine.json` in its folder.

    Attributes:
        languages: ISO 639-1 codes of the languages it was made for; empty if unknown.
        method: the training method.
    """

    languages: tuple[str, ...] = ()
    method: str = ""


class SentenceEncoder:
    """A static sentence encoder."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        embeddings: NDArray[np.int8],
        weights: NDArray[np.float32],
        facts: EncoderFacts | None = None,
        card: str = "",
    ) -> None:
        """Join a vocabulary, its int8 rows [pieces, dim] and their factors [pieces]."""
        self.vocabulary = vocabulary
        self.embeddings = embeddings
        self.weights = weights
        self.facts = facts or EncoderFacts()
        self.card = card
        self._table = embeddings * weights[:, None]  # float32 [pieces, dim]

    @property
    def dim(self) -> int:
        """The width of the vectors."""
        return int(self.embeddings.shape[1])

    @classmethod
    def from_vectors(
        cls,
        vocabulary: Vocabulary,
        vectors: NDArray[np.float32],
        facts: EncoderFacts | None = None,
        card: str = "",
    ) -> "SentenceEncoder":
        """Round one float vector per piece [pieces, dim] to int8 with a factor per row."""
        weights = (np.abs(vectors).max(axis=1) / 127).astype(np.float32)
        rows = vectors / np.maximum(weights, np.finfo(np.float32).tiny)[:, None]
        return cls(vocabulary, np.rint(rows).astype(np.int8), weights, facts, card)

    @classmethod
    def load(cls, folder: str | Path = EMBEDDED) -> "SentenceEncoder":
        """Load an encoder; without a folder, the English-Chinese one that ships with xmine.

        Raises:
            EncoderError: the folder is missing or holds something else; the message names it.
        """
        folder = Path(folder)
        _check_modules(folder)
        vocabulary = Vocabulary.load(folder)
        embeddings, weights = _read_tensors(folder / "model.safetensors")
        if len(embeddings) != len(vocabulary):
            raise EncoderError(
                f"{folder}: {len(embeddings):,} vectors for {len(vocabulary):,} pieces",
                f"model.safetensors and {MODEL_FILE} are not of the same encoder",
            )
        card = folder / "README.md"
        text = card.read_text(encoding="utf-8") if card.exists() else ""
        return cls(vocabulary, embeddings, weights, _read_facts(folder / "xmine.json"), text)

    def encode(self, texts: Sequence[str], report: Report = silent) -> NDArray[np.float32]:
        """Encode sentences.

        Returns:
            float32 [texts, dim], rows of length one; a text without a known piece is a row of
            zeros. A row depends on its text alone, to the last bit.

        Raises:
            TypeError: a single text is given in place of a list.
        """
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        self._encode_into(vectors, texts, report)
        return vectors

    def encode_half(self, texts: Sequence[str], report: Report = silent) -> NDArray[np.float16]:
        """Encode to the precision in which vectors are searched, in half the memory."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float16)
        self._encode_into(vectors, texts, report)
        return vectors

    def _encode_into(
        self,
        vectors: NDArray[np.float32] | NDArray[np.float16],
        texts: Sequence[str],
        report: Report,
    ) -> None:
        if isinstance(texts, str):
            raise TypeError("give a list of texts, not a text")
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            stop = min(start + _TEXTS_AT_ONCE, len(texts))
            ids, starts = self.vocabulary.ids(texts[start:stop])
            vectors[start:stop] = normalised(_sum_pieces(self._table, ids, starts))
            report(Progress("encoding", stop, len(texts)))

    def save(self, folder: str | Path, beside: Iterable[Path] = ()) -> None:
        """Write a folder that `load` and sentence-transformers open; an old one is replaced.

        Args:
            folder: appears whole or not at all.
            beside: files to copy into it, such as the options it was trained with.
        """
        with replacing_folder(Path(folder)) as partial:
            tensors: dict[str, NDArray[Any]] = {
                "embeddings": self.embeddings,
                "weights": self.weights,
            }
            (partial / "model.safetensors").write_bytes(save(tensors))
            self.vocabulary.save(partial)
            _write_json(partial / "modules.json", _modules_json())
            _write_json(partial / "config_sentence_transformers.json", _config_json())
            (partial / "1_Normalize").mkdir()
            _write_json(partial / "1_Normalize" / "config.json", {})
            facts = {"languages": list(self.facts.languages), "method": self.facts.method}
            _write_json(partial / "xmine.json", facts)
            if self.card:
                (partial / "README.md").write_text(self.card, encoding="utf-8")
            for path in beside:
                shutil.copy(path, partial)


def normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to length one, in place; rows of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    vectors /= np.where(lengths > 0, lengths, 1).astype(np.float32)[:, None]
    return vectors


def _sum_pieces(
    table: NDArray[np.float32],  # [pieces, dim]
    ids: NDArray[np.int32],  # [all pieces of all texts]
    starts: NDArray[np.int64],  # [texts + 1]
) -> NDArray[np.float32]:
    """Sum the vectors of each text, position by position over texts of falling length.

    Adding the first pieces of all texts, then the second ones, is many times as fast as
    `np.add.reduceat`, and each text's sum has the same order whatever stands beside it.
    """
    lengths = np.diff(starts)
    sums = np.zeros((len(lengths), table.shape[1]), dtype=np.float32)
    order = np.argsort(-lengths, kind="stable")
    for chunk in range(0, len(order), _ROWS_AT_ONCE):
        rows = order[chunk : chunk + _ROWS_AT_ONCE]
        first, falling = starts[rows], -lengths[rows]
        block = np.zeros((len(rows), table.shape[1]), dtype=np.float32)
        for position in range(-int(falling[0])):
            open_rows = int(np.searchsorted(falling, -position))  # those with a piece here
            block[:open_rows] += table[ids[first[:open_rows] + position]]
        sums[rows] = block
    return sums


def _check_modules(folder: Path) -> None:
    if not folder.is_dir():
        raise EncoderError(
            f"{folder}: no such encoder folder", "names of a model hub are not read yet"
        )
    path = folder / "modules.json"
    try:
        found = [module["type"] for module in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        raise EncoderError(f"{folder}: not an encoder: it has no modules.json") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EncoderError(f"{path}: cannot be read: {error}") from error
    names = [name.rsplit(".", 1)[-1] for name in found]
    if names != ["StaticEmbedding", "Normalize"]:
        raise EncoderError(
            f"{path}: asks for {' + '.join(names) or 'nothing'}",
            "this version reads static encoders (StaticEmbedding + Normalize), as it trains them",
        )


def _read_tensors(path: Path) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    try:
        tensors = load_file(path)
        embeddings, weights = tensors["embeddings"], tensors["weights"]
    except FileNotFoundError:
        raise EncoderError(f"{path}: no such file") from None
    except (OSError, safetensors.SafetensorError) as error:
        raise EncoderError(f"{path}: cannot be read: {error}") from error
    except KeyError as error:
        raise EncoderError(f"{path}: has no tensor {error}") from None
    if embeddings.dtype != np.int8 or weights.dtype != np.float32 or embeddings.ndim != 2:
        raise EncoderError(
            f"{path}: {embeddings.dtype} embeddings with {weights.dtype} weights",
            "expected int8 embeddings [pieces, dim] with float32 weights [pieces]",
        )
    if weights.shape != embeddings.shape[:1]:
        raise EncoderError(f"{path}: {len(weights):,} weights for {len(embeddings):,} rows")
    return embeddings, weights


def _read_facts(path: Path) -> EncoderFacts:
    if not path.exists():
        return EncoderFacts()
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        return EncoderFacts(tuple(facts["languages"]), facts["method"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EncoderError(f"{path}: cannot be read: {error}") from error


def _modules_json() -> list[dict[str, Any]]:
    return [
        {"idx": index, "name": str(index), "path": path, "type": kind}
        for index, (path, kind) in enumerate(_MODULES)
    ]


def _config_json() -> dict[str, Any]:
    return {
        "__version__": {"sentence_transformers": _SENTENCE_TRANSFORMERS},
        "prompts": {},
        "default_prompt_name": None,
        "similarity_fn_name": "cosine",
    }


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
