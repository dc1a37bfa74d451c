"""The optimiser of a static encoder against torch's own, which changes the same rows."""

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer, SparseAdam

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
