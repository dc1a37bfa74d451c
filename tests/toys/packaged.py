"""Packages that bring weights, made small, and the encoders' folders that name them."""

import hashlib
import io
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TEXTS = ["ab ba cab", "bade ba", "a", "dab dab dab dab dab dab dab", "ba ☃ da", "é ｂａ", ""]


def encoder_folder(folder: Path, kind: str, files: dict[str, bytes]) -> Path:
    """Write a package of some files, and a folder beside it that has their digests."""
    package = folder / f"toy_{kind.lower()}"
    encoder = folder / f"encoder_{kind.lower()}"
    for each in (package, encoder):
        each.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('the code of a package ran')")
    for name, content in files.items():
        (package / name).write_bytes(content)
    known = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    config = {"package": "toy==1.0", "module": package.name, "files": known}
    (encoder / "config.json").write_text(json.dumps(config))
    (encoder / "modules.json").write_text(json.dumps([{"type": f"xmine.{kind}", "path": ""}]))
    return encoder


def zipped(weights: Mapping[str, Any]) -> bytes:
    written = io.BytesIO()
    np.savez(written, allow_pickle=True, **weights)
    return written.getvalue()


def universal_model() -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS[:4] * 20),
        model_writer=written,
        vocab_size=16,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return written.getvalue()


def universal_weights(pieces: int) -> dict[str, NDArray[Any]]:
    """Draw weights of the names and shapes that the package has, with 8 and 4 for 512 and 256."""
    random = np.random.default_rng(3)
    shapes: dict[str, int | tuple[int, int]] = dict(ln_g=20, ln_b=20, cnn_W=(20, 8), cnn_b=8)
    shapes |= dict(d0=(8, 6), p1=(8, 6))
    shapes |= {"d1": (6, 6), "d2": (6, 8), "p3": (6, 8), "d3": (8, 8), "lo": 3, "scale": 3}
    for n in (2, 3, 5):
        shapes |= {f"proj{n}": (8, 4), f"proj_b{n}": 4, f"ln_g{n}": 4, f"ln_b{n}": 4}
        shapes |= {f"w1_{n}": (4 * n, 4), f"b1_{n}": 4, f"w2_{n}": (4 * n, 4), f"b2_{n}": 4}
    weights = {name: random.normal(0, 0.5, shape) for name, shape in shapes.items()}
    found: dict[str, NDArray[Any]] = {
        name: each.astype(np.float32) for name, each in weights.items()
    }
    found["scale"] = np.abs(found["scale"]) / 32
    for part in (1, 2, 3):
        found[f"q{part}"] = random.integers(0, 64, (-(-pieces // 3), 8), dtype=np.uint8)
    return {**found, "eps": np.array(1e-12)}


def universal_vector(weights: dict[str, NDArray[Any]], ids: list[int]) -> Floats:
    """The encoder, piece by piece."""
    w = {name: each.astype(float) for name, each in weights.items()}
    own = [w[f"q{i % 3 + 1}"][i // 3] * w["scale"][i % 3] + w["lo"][i % 3] for i in ids]
    states = [[each] for each in own]
    for span, before in ((2, 0), (3, 1), (5, 2)):
        row = [normed(x @ w[f"proj{span}"] + w[f"proj_b{span}"], w, str(span)) for x in own]
        for layer in (1, 2):
            matrix = w[f"w{layer}_{span}"].reshape(span, 4, 4)
            after = []
            for place, x in enumerate(row):
                total = w[f"b{layer}_{span}"].copy()
                for j in range(span):
                    if 0 <= place - before + j < len(row):
                        total += row[place - before + j] @ matrix[j]
                after.append(x + np.maximum(total, 0))
            row = after
        for state, x in zip(states, row, strict=True):
            state.append(x)
    total = sum(normed(np.concatenate(x), w, "") @ w["cnn_W"] + w["cnn_b"] for x in states)
    mean = total / len(ids) ** 0.5
    first = np.maximum(mean @ w["d0"], 0)
    second = np.maximum(mean @ w["p1"] + first @ w["d1"], 0)
    third = np.maximum(second @ w["d2"], 0)
    last: Floats = np.tanh(second @ w["p3"] + third @ w["d3"])
    return last / np.linalg.norm(last)


def normed(x: Floats, w: dict[str, NDArray[Any]], name: str) -> Floats:
    centred = (x - x.mean()) / np.sqrt(x.var() + 1e-12)
    scaled: Floats = centred * w[f"ln_g{name}"] + w[f"ln_b{name}"]
    return scaled


PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", *"abcdfgquery:", "▁b", "ba", "<mask>"]
DIM, INNER, HEADS, LAYERS = 32, 64, 2, 2


def e5_tensors() -> dict[str, NDArray[Any]]:
    """Draw tensors: matrices [out, in] of 4 bits as uint8 behind float16 factors, and floats."""
    random = np.random.default_rng(4)
    shapes: dict[str, tuple[int, ...]] = {"emb.word": (len(PIECES), DIM)}
    floats = {"emb.pos": 512 * DIM, "emb.type": 2 * DIM, "emb.ln.w": DIM, "emb.ln.b": DIM}
    for n in range(LAYERS):
        shapes |= {f"l{n}.{name}.w": (DIM, DIM) for name in ("q", "k", "v", "ao")}
        shapes |= {f"l{n}.fi.w": (INNER, DIM), f"l{n}.fo.w": (DIM, INNER)}
        floats |= dict.fromkeys((f"l{n}.{name}.b" for name in ("q", "k", "v", "ao", "fo")), DIM)
        floats |= dict.fromkeys((f"l{n}.{name}" for name in ("aln.w", "aln.b", "oln.w")), DIM)
        floats |= {f"l{n}.oln.b": DIM, f"l{n}.fi.b": INNER}
    block = np.dtype([("factor", "<f2"), ("pairs", "u1", 16)])
    found: dict[str, NDArray[Any]] = {}
    for name, (rows, width) in shapes.items():
        found[name] = np.empty((rows, width // 32), block)
        found[name]["factor"] = random.uniform(0.05, 0.15, found[name].shape)
        found[name]["pairs"] = random.integers(0, 256, (*found[name].shape, 16))
    return found | {
        name: random.normal(0, 0.4, size).astype(np.float32) for name, size in floats.items()
    }


def e5_file(tensors: dict[str, NDArray[Any]]) -> bytes:
    head = b"E5S1" + struct.pack("<I7ifi", 1, DIM, LAYERS, HEADS, INNER, 99, 512, 2, 1e-12, 32)
    texts = [each.encode() for each in PIECES]
    head += struct.pack("<5iQ", len(texts), 0, 2, 1, 3, sum(map(len, texts)))
    head += np.cumsum([0, *map(len, texts)]).astype("<u4").tobytes()
    head += np.array([-len(each) / 4 - 1 for each in PIECES], "<f4").tobytes() + b"".join(texts)
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0xC0, 1, 65)  # a normal form
    start = len(head) + 4 + sum(23 + len(name) for name in tensors)
    entries, data = struct.pack("<i", len(tensors)), b""
    for name, each in tensors.items():
        content = each.tobytes()
        entries += struct.pack("<H", len(name)) + name.encode()
        facts = int(each.dtype != np.float32), each.size, start + len(data), len(content)
        entries += struct.pack("<BIQQ", *facts)
        data += content
    return head + entries + data


def unpacked(blocks: NDArray[Any]) -> Floats:
    """Number j of a block is the lower half of byte j, number j + 16 the upper half."""
    rows = [
        [
            factor * ((int(byte) >> 4 * upper & 15) - 8)
            for factor, pairs in zip(row["factor"].astype(float), row["pairs"], strict=True)
            for upper in (0, 1)
            for byte in pairs
        ]
        for row in blocks
    ]
    return np.array(rows)


def e5_vector(tensors: dict[str, NDArray[Any]], ids: list[int]) -> Floats:
    """A BERT, as the papers have it."""
    w = {name: unpacked(x) if x.ndim == 2 else x.astype(float) for name, x in tensors.items()}

    def dense(x: Floats, name: str) -> Floats:
        found: Floats = x @ w[f"{name}.w"].T + w[f"{name}.b"]
        return found

    def norm(rows: Floats, name: str) -> Floats:
        w["ln_g"], w["ln_b"] = w[f"{name}.w"], w[f"{name}.b"]
        return np.stack([normed(x, w, "") for x in rows])

    x = np.stack([w["emb.word"][i] for i in ids]) + w["emb.type"][:DIM]
    x = norm(x + w["emb.pos"].reshape(-1, DIM)[: len(ids)], "emb.ln")
    for n in range(LAYERS):
        q, k, v = (dense(x, f"l{n}.{name}") for name in "qkv")
        seen = np.zeros_like(x)
        for head in range(HEADS):
            part = slice(head * DIM // HEADS, (head + 1) * DIM // HEADS)
            shares = np.exp(q[:, part] @ k[:, part].T / (DIM / HEADS) ** 0.5)
            seen[:, part] = shares / shares.sum(axis=1, keepdims=True) @ v[:, part]
        x = norm(x + dense(seen, f"l{n}.ao"), f"l{n}.aln")
        inner = dense(x, f"l{n}.fi")
        inner = inner * 0.5 * (1 + np.vectorize(__import__("math").erf)(inner / 2**0.5))
        x = norm(x + dense(inner, f"l{n}.fo"), f"l{n}.oln")
    mean: Floats = x.mean(axis=0)
    return mean / np.linalg.norm(mean)
