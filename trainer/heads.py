"""Layers on top of an encoder that exist in training only."""

import torch
from torch import Tensor, nn

from xmine.trainer.towers import Tower


class TanhHead(nn.Module):
    """A linear layer and tanh, over the vector that is mined (SimCSE's `mlp_only_train`)."""

    def __init__(self, tower: Tower) -> None:
        """Draw the weights."""
        super().__init__()
        self.linear = nn.Linear(tower.dim, tower.dim).to(tower.device)

    def forward(self, vectors: Tensor) -> Tensor:
        """Map [n, dim] to [n, dim]."""
        return torch.tanh(self.linear(vectors))
