"""A copy of an encoder that follows it slowly: the keys of momentum contrast (He et al., 2020)."""

import copy

import torch
from torch import nn

from .towers import Tower


class MomentumTower(nn.Module):
    """The key encoder E' of an encoder E: theta' <- m theta' + (1 - m) theta.

    Attributes:
        tower: the copy; it has no gradients, and is never an optimiser's.
    """

    def __init__(self, query: Tower) -> None:
        """Begin exactly where the encoder stands, its heads included."""
        super().__init__()
        self.tower = copy.deepcopy(query).requires_grad_(False)

    @torch.no_grad()
    def follow(self, query: Tower, momentum: float) -> None:
        """Move towards the encoder, at the beginning of a step; 1 stays, 0 is the encoder itself.

        Weights are float32 whatever type they are multiplied in, or a step of a thousandth would
        vanish.
        """
        own: list[torch.Tensor] = list(self.tower.parameters())
        theirs: list[torch.Tensor] = list(query.parameters())
        torch._foreach_lerp_(own, theirs, 1 - momentum)  # few kernels for all tensors
