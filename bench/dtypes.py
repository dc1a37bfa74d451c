"""What a number type does to an encoder's vectors: cosine to float32, neighbours, batch, speed.

    python bench/dtypes.py FILE... --model ENCODER [--types bfloat16 float16 int8] [--json OUT.json]

int8 is torch's dynamic quantisation, and `throughout` a model that is bfloat16 in all its parts;
xmine offers neither, and they stand here to show why. float16, which it offers on GPUs alone, can
be judged on a processor too; its speed there tells nothing of a GPU's.
A neighbour is the nearest other line of all files. Speed is lines per second of this process, all
types taking turns, so that only their ratio to float32 should be read.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.hardware import choose_batch_size
from xmine.knn.exact import search_exact
from xmine.options import EncodingOptions

TYPES = ("bfloat16", "float16", "int8", "throughout")
ON_CPU = ("bfloat16", "int8")
OTHER_BATCH = 7


def main() -> None:
    """Encode with every type, compare with float32, print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--model", required=True)
    parser.add_argument("--types", nargs="+", default=ON_CPU, choices=TYPES)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch-size", default=0, type=int, help="0: by the device")
    parser.add_argument("--repeats", default=3, type=int)
    parser.add_argument("--name", help="what to call the encoder; else its folder's name")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    lines = [line for file in arguments.files for line in read_lines(file) if line.strip()]
    names = ["float32", *arguments.types]
    size = choose_batch_size(arguments.batch_size, arguments.device)
    encoders = {name: load(arguments.model, name, arguments.device, size) for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    vectors: dict[str, NDArray[np.float32]] = {}
    for _ in range(arguments.repeats):
        for name, encoder in encoders.items():
            started = time.perf_counter()
            vectors[name] = encoder.encode(lines)
            seconds[name].append(time.perf_counter() - started)
    rows = {}
    for name, encoder in encoders.items():
        encoder.body.batch_size = OTHER_BATCH  # type: ignore[union-attr]
        rows[name] = {
            **compare(vectors["float32"], vectors[name]),
            "lowest_cosine_between_batch_sizes": lowest(vectors[name], encoder.encode(lines)),
            "speed_to_float32": round(min(seconds["float32"]) / min(seconds[name]), 2),
            "lines_per_second": round(len(lines) / min(seconds[name])),
        }
    called = arguments.name or Path(arguments.model).name
    facts = {"lines": len(lines), "batch_size": size, "device": arguments.device}
    facts["torch"] = torch.__version__
    about = encoders["float32"].describe()
    kept = {name: about[name] for name in ("architecture", "layers", "dim", "parameters")}
    result = record({"model": called, **kept, **facts, "types": rows})
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


def load(model: str, name: str, device: str, size: int) -> SentenceEncoder:
    """Load the encoder in a number type, to read so many sentences at once."""
    offered = name in ("float32", "bfloat16") or (name == "float16" and device != "cpu")
    dtype = name if offered else "float32"
    encoder = SentenceEncoder.load(
        model, EncodingOptions(device=device, dtype=dtype, batch_size=size)
    )
    body: Any = encoder.body
    if name == "float16":
        body.dtype = name
    if name == "throughout":
        body.model.to(torch.bfloat16)
    if name == "int8":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body.model = torch.ao.quantization.quantize_dynamic(  # type: ignore[no-untyped-call]
                body.model, {torch.nn.Linear}, dtype=torch.qint8
            )
    return encoder


def compare(exact: NDArray[np.float32], rounded: NDArray[np.float32]) -> dict[str, float]:
    """Compare unit rows [lines, dim] with those of float32."""
    cosines = (exact * rounded).sum(axis=1)
    same = neighbour(exact) == neighbour(rounded)
    return {
        "mean_cosine": round(float(cosines.mean()), 6),
        "lowest_cosine": round(float(cosines.min()), 6),
        "same_neighbour": round(float(same.mean()), 4),
    }


def neighbour(vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """Find the nearest other row of each: int64 [lines]."""
    half = vectors.astype(np.float16)  # as mining has them
    found = search_exact(half, half, k=2).targets  # [lines, 2]; the row is first or second
    own = np.arange(len(half))
    rows: NDArray[np.int64] = np.where(found[:, 0] == own, found[:, 1], found[:, 0])
    return rows


def lowest(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The lowest cosine between the rows of two encodings of the same lines."""
    return round(float((one * other).sum(axis=1).min()), 6)


if __name__ == "__main__":
    main()
