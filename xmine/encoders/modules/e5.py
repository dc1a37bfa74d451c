"""multilingual-e5-small, a BERT of 12 layers, with weights of 4 bits.

Wang et al., 2024, "Multilingual E5 Text Embeddings". A file has pieces, then tensors: matrices as
blocks of 32 whole numbers with a float16 factor each, all else in float32.
"""

import struct
from itertools import pairwise
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from xmine.encoders.modules.packaged import Packaged, norm, product, sums
from xmine.encoders.tokens import Floats, Rows

_BLOCK = np.dtype([("factor", "<f2"), ("pairs", "u1", 16)])
# Texts that are looked at together, and pieces: what they make stays in the cache.
_TEXTS, _PIECES = 32, 256


class E5(Packaged):
    """The encoder: the mean of the last states."""

    kind = "E5"
    cut_at = 512

    def __init__(self, file: bytes) -> None:
        self.dim, self._layers, self._heads, inner = struct.unpack_from("<4i", file, 8)
        count, first, last, padding, unknown = struct.unpack_from("<5i", file, 44)
        scores, texts = 76 + 4 * count, 76 + 8 * count
        ends = np.frombuffer(file, "<u4", count + 1, 72) + texts
        pieces = [file[start:end] for start, end in pairwise(ends)]
        at = int(ends[-1])
        at += 8 + struct.unpack_from("<I", file, at + 4)[0]  # sentencepiece has the normal forms
        tensors: dict[str, NDArray[Any]] = {}
        (left,) = struct.unpack_from("<i", file, at)
        at += 4
        for _ in range(left):
            end = at + 2 + struct.unpack_from("<H", file, at)[0]
            is_packed, _, start, size = struct.unpack_from("<BIQQ", file, end)
            kind = _BLOCK if is_packed else np.dtype("<f4")
            found = np.frombuffer(file, kind, size // kind.itemsize, start)
            name, at = file[at + 2 : end].decode(), end + 21
            width = inner if name.endswith("fo.w") else self.dim
            tensors[name] = found.reshape(-1, width // 32) if is_packed else found
        self._words = tensors.pop("emb.word")
        self._of = {
            name: np.ascontiguousarray(_floats(each).T) if each.dtype == _BLOCK else each
            for name, each in tensors.items()
        }
        parameters = 32 * self._words.size + sum(each.size for each in self._of.values())
        kinds = dict.fromkeys((first, last, padding, count - 1), 3) | {unknown: 2}
        parts = [
            _field(piece)
            + b"\x15"
            + file[scores + 4 * n : scores + 4 * n + 4]
            + bytes([24, kinds.get(n, 1)])
            for n, piece in enumerate(pieces)
        ]
        rules = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_model_proto()
        model = b"".join(map(_field, parts)) + rules
        facts = {"parameters": parameters, "bytes": len(file)}
        super().__init__(model, {"architecture": "bert", **facts})

    def states(self, ids: NDArray[np.int32], starts: Rows) -> Floats:
        """Give the last state of each piece, float32 [pieces, dim]."""
        of, lengths = self._of, np.diff(starts)
        used, piece = np.unique(ids, return_inverse=True)
        place = np.arange(len(ids)) - np.repeat(starts[:-1], lengths)
        states = _floats(self._words[used])[piece] + of["emb.type"][: self.dim]
        states += of["emb.pos"].reshape(-1, self.dim)[place]
        states = norm(states, of["emb.ln.w"], of["emb.ln.b"])
        alike = [
            starts[rows[at : at + _TEXTS], None] + np.arange(length)
            for length in np.unique(lengths)
            for rows in [np.flatnonzero(lengths == length)]
            for at in range(0, len(rows), _TEXTS)
        ]
        for layer in range(self._layers):
            states = self._layer(f"l{layer}.", states, alike)
        return states

    def _layer(self, layer: str, states: Floats, alike: list[Rows]) -> Floats:
        """Pass a layer: `alike` are the places of texts of one length, [texts, pieces] each."""

        def dense(rows: Floats, name: str) -> Floats:
            return product(rows, self._of[f"{layer}{name}.w"], self._of[f"{layer}{name}.b"])

        def normed(rows: Floats, name: str) -> Floats:
            return norm(rows, self._of[f"{layer}{name}.w"], self._of[f"{layer}{name}.b"])

        query, key, value = (dense(states, name) for name in "qkv")
        query *= np.float32((self.dim / self._heads) ** -0.5)
        seen = np.empty_like(states)
        for at in alike:
            shape = (*at.shape, self._heads, -1)
            q, k, v = (each[at].reshape(shape).swapaxes(1, 2) for each in (query, key, value))
            shares = q @ k.swapaxes(2, 3)  # [texts, heads, pieces, pieces]
            shares = np.exp(shares - shares.max(axis=-1, keepdims=True))
            shares /= shares.sum(axis=-1, keepdims=True)
            seen[at] = (shares @ v).swapaxes(1, 2).reshape(*at.shape, -1)
        states = normed(dense(seen, "ao") + states, "aln")
        found = np.empty_like(states)
        for start in range(0, len(states), _PIECES):
            block = slice(start, start + _PIECES)
            found[block] = dense(_gelu(dense(states[block], "fi")), "fo")
        return normed(found + states, "oln")

    def pooled(self, states: Floats, starts: Rows) -> Floats:
        """Average the states of each text."""
        return sums(states, starts) / np.diff(starts).astype(np.float32)[:, None]


def _gelu(rows: Floats) -> Floats:
    """Give GELU by its form with tanh, within .0005: numpy has no erf, and 4 bits err by more."""
    inner = np.float32(0.7978846) * (rows + np.float32(0.044715) * rows * rows * rows)
    passed: Floats = np.float32(0.5) * rows * (1 + np.tanh(inner))
    return passed


def _floats(blocks: NDArray[Any]) -> Floats:
    """Unpack matrices [n, blocks of 32] -> float32 [n, width]."""
    pairs, factors = blocks["pairs"], blocks["factor"].astype(np.float32)
    numbers = np.concatenate([pairs & 15, pairs >> 4], axis=-1).astype(np.float32) - 8
    rows: Floats = (numbers * factors[..., None]).reshape(len(blocks), -1)
    return rows


def _field(content: bytes) -> bytes:
    """Write field 1 of a message of sentencepiece's model: the length has 14 bits."""
    return bytes([10, len(content) & 127 | 128, len(content) >> 7]) + content
