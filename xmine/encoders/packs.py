"""A pack: the vectors by which an encoder reads one more language, in one sealed file.

A pack replaces vectors of pieces of that language, and brings own pieces and letter n-grams, whose
vectors are added to those of the pieces (Bojanowski et al., 2017, have n-grams of a word). The file
is a safetensors file in a zstandard frame, whose checksum seals it.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray
from safetensors.numpy import load, save

from xmine.encoders.layout import first_line
from xmine.encoders.letter_grams import LetterGrams
from xmine.encoders.spans import Span
from xmine.encoders.table import Table, added
from xmine.encoders.tokenizer import Ids, Vocabulary, joined
from xmine.errors import EncoderError
from xmine.files.atomic import replacing

SUFFIX = ".pack"
PACKS = "packs"  # the folder of an encoder that has them
_FORMAT, _MOST = 1, 2**28  # bytes: 100 times those of a pack
# Its arrays: their types and numbers of dimensions.
_KINDS = {"embeddings": ("i1", 2), "weights": ("f4", 1), "changed": ("i4", 1)}
_KINDS |= {"pieces": ("u1", 1), "grams": ("u1", 1)}


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """What a pack holds.

    Attributes:
        facts: `language`, `encoder` (the digest of the weights it was made for), `letters` that are
            read as others, such as those of a script that the encoder knows, and what its card
            says: pairs, sources, figures.
        pieces: further pieces as sentencepiece writes them; behind a model they extend it.
        changed: int32 [changed], the pieces of the encoder whose vectors it replaces.
        grams: letter n-grams; a space is the edge of a word.
        table: the vectors of the changed pieces, then of its own ones, then of the n-grams.
        digest: of the file; empty for a pack that has none.
    """

    facts: Mapping[str, Any]
    pieces: bytes
    changed: NDArray[np.int32]
    grams: Sequence[str]
    table: Table
    digest: str = ""

    @classmethod
    def read(cls, path: Path) -> "Pack":
        """Read a file.

        Raises:
            EncoderError: it is damaged, or no pack that this version reads.
        """
        try:
            frame = path.read_bytes()
            if zstandard.frame_content_size(frame) > _MOST:
                raise EncoderError(
                    f"{path}: unpacks to more than {_MOST:,} bytes: no pack of xmine"
                )
            data = zstandard.ZstdDecompressor().decompress(frame)
            header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
            facts, found = json.loads(header["__metadata__"]["pack"]), load(data)
            if facts["format"] != _FORMAT:
                raise EncoderError(f"{path}: a pack of a later version", "install a newer xmine")
            kinds = {name: (found[name].dtype.str[1:], found[name].ndim) for name in _KINDS}
            if kinds != _KINDS or len(found["embeddings"]) != len(found["weights"]):
                raise EncoderError(f"{path}: not a whole pack: its arrays do not fit together")
            grams = found["grams"].tobytes().decode().split("\n") if found["grams"].size else []
            table = Table(found["embeddings"], found["weights"])
            digest = hashlib.sha256(frame).hexdigest()
            return cls(facts, found["pieces"].tobytes(), found["changed"], grams, table, digest)
        except OSError as error:
            raise EncoderError(f"{path}: {error.strerror}") from error
        except (KeyError, TypeError, ValueError, zstandard.ZstdError) as error:
            raise EncoderError(f"{path}: not a whole pack: {first_line(error)}") from error

    def write(self, path: Path) -> None:
        """Write a file, which appears whole or not at all."""
        assert self.table.factors is not None
        tensors: dict[str, NDArray[Any]] = {
            "embeddings": self.table.rows,
            "weights": self.table.factors,
            "changed": self.changed,
            "pieces": np.frombuffer(self.pieces, np.uint8),
            "grams": np.frombuffer("\n".join(self.grams).encode(), np.uint8),
        }
        facts = json.dumps({"format": _FORMAT, **self.facts}, sort_keys=True, ensure_ascii=False)
        frame = zstandard.ZstdCompressor(level=19, write_checksum=True)
        with replacing(path) as partial:
            partial.write_bytes(frame.compress(save(tensors, {"pack": facts})))


def own_packs() -> Path:
    """Name the folder of the packs that a user adds to the embedded encoder."""
    from platformdirs import user_data_dir  # 0.02 s

    return Path(os.environ.get("XMINE_PACKS") or user_data_dir("xmine", appauthor=False), PACKS)


def packs_in(folder: Path) -> dict[str, Path]:
    """Find the packs in a folder, by language: the names of the files."""
    return {path.stem: path for path in sorted(folder.glob(f"*{SUFFIX}"))}


class PackedPieces:
    """Text -> the pieces and letter n-grams of a language that has a pack, as rows of a table."""

    def __init__(self, known: Vocabulary, pack: Pack, first: int) -> None:
        """Take the encoder's vocabulary; the table has the vectors of the pack from row `first`."""
        self._own = Vocabulary(known.model + pack.pieces, "") if pack.pieces else known
        changed, new = len(pack.changed), len(self._own) - len(known)
        outside = changed and not 0 <= pack.changed.min() <= pack.changed.max() < len(known)
        if outside or len(pack.table) != changed + new + len(pack.grams):
            raise EncoderError(f"pack of {pack.facts['language']}: its rows are not those it needs")
        self._places = np.arange(len(self._own), dtype=np.int32)
        self._places[pack.changed] = first + np.arange(changed)
        self._places[len(known) :] = first + changed + np.arange(new)
        self._grams = LetterGrams(pack.grams)
        self._first, self._first_gram = first, first + changed + new
        self._letters = str.maketrans(pack.facts.get("letters", {}))
        self.digest, self.marks = pack.digest, [pack.digest, first]

    def tokens(self, table: Table) -> Table:
        """Give the rows of a pack as tokens: a piece, compared alone, has its n-grams added."""
        vectors, own = table.vectors(), np.flatnonzero(self._places >= self._first)
        texts = [self._own.text_of(piece) for piece in own.tolist()]
        ids, starts = self._grams.find(texts)
        grams = vectors[self._first_gram - self._first :]
        vectors[self._places[own] - self._first] += added(grams, ids, starts[:-1], np.diff(starts))
        return Table(vectors, None)

    def __len__(self) -> int:
        """Count the pieces."""
        return len(self._own)

    def ids(self, texts: Sequence[str]) -> Ids:
        """Cut texts into pieces: their rows."""
        ids, starts = self._own.ids(self._read(texts))
        return self._places[ids], starts

    def _read(self, texts: Sequence[str]) -> Sequence[str]:
        return [text.translate(self._letters) for text in texts] if self._letters else texts

    def bags(self, texts: Sequence[str]) -> tuple[Ids, Ids]:
        """Cut texts into pieces, and find their n-grams: the rows of both."""
        pieces, grams = [], []
        for folded in self._own.folded(self._read(texts)):
            pieces.append(self._own.cut(folded))
            grams.append(self._grams.find(folded))
        (ids, starts), (found, ends) = joined(pieces), joined(grams)
        return (self._places[ids], starts), (found + np.int32(self._first_gram), ends)

    def spans(self, text: str) -> list[Span]:
        """Give the span of each piece of a text, see `Vocabulary.spans`."""
        (read,) = self._read([text])
        places = [at for at, letter in enumerate(text) for _ in letter.translate(self._letters)]
        spans = self._own.spans(read)
        return [(places[a], places[b - 1] + 1) if a < b else (0, 0) for a, b in spans]
