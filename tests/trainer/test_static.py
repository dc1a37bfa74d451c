"""The optimiser of a static encoder against torch's own, and what training one loads."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer, SparseAdam

from xmine.pairs.io import ParallelText
from xmine.trainer.methods import METHODS
from xmine.trainer.models.static import RowAdam


def test_rows_move_as_torch_moves_them() -> None:
    """Over steps that meet some rows often, some once, some never, and a row twice in a step."""
    steps = [[0, 1], [1, 2], [1, 1, 5], [0, 5], [2]]
    first = torch.from_numpy(np.random.default_rng(1).normal(size=(7, 3)))
    ours, torchs = nn.Parameter(first.clone()), nn.Parameter(first.clone())
    optimizers: list[Optimizer] = [RowAdam([ours], lr=0.1), SparseAdam([torchs], lr=0.1)]
    for seed, rows in enumerate(steps):
        values = torch.from_numpy(np.random.default_rng([2, seed]).normal(size=(len(rows), 3)))
        for vectors, optimizer in zip((ours, torchs), optimizers, strict=True):
            vectors.grad = torch.sparse_coo_tensor(
                torch.tensor([rows]), values, vectors.shape, check_invariants=True
            )
            optimizer.step()
    torch.testing.assert_close(ours, torchs, rtol=1e-12, atol=1e-12)
    assert torch.equal(ours[3:5], first[3:5])
    assert not torch.isclose(ours[0], first[0]).any()


def test_no_method_loads_what_only_transformers_need(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    """Half of the seconds of a short training were spent on loading these."""
    rows = zip(toy_pairs.sources, toy_pairs.targets, strict=True)
    text = "".join("\t".join(row) + "\n" for row in rows)
    (tmp_path / "pairs.tsv").write_text(text, encoding="utf-8")
    script = """
import sys
from xmine.cli import run
for method in sys.argv[1:]:
    words = "xmine train pairs.tsv --steps 3 --batch-size 64 --held-out 100 -q --method"
    sys.argv = [*words.split(), method, "--encoder", "toy", "-o", method]
    try:
        run()
    except SystemExit as ended:
        assert not ended.code
print({"accelerate", "transformers", "torch._dynamo", "torch._inductor"} & set(sys.modules))
"""
    (tmp_path / "toy").symlink_to(toy_folder)
    words = [sys.executable, "-c", script, *METHODS]
    loaded = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert loaded.stdout == "set()\n"
