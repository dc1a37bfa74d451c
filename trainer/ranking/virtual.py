"""Pairs of a batch -> pairs of every rank, from which a rank classifier is estimated.

Emma-X (Guo et al., 2023), section 3.2, eq. 3.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xmine.encoders.modules.heads import on_device


def virtual_ranks(shares: NDArray[np.float64], ranks: int) -> NDArray[np.int64]:
    """Give the rank of (x, (1 - l) y + l y'), y the translation of x and y' another sentence.

    The shares l, from 0 to 1, fall into N equal parts; by the paper's ceil((1 - l) 1 + l N) nothing
    but y itself would have rank 1 (A-16).
    """
    return np.minimum(ranks, np.floor(shares * ranks).astype(np.int64) + 1)


def ranked_pairs(
    anchors: Tensor,
    keys: Tensor,
    texts: Tensor,
    ranks: int,
    random: np.random.Generator,
    *,
    across: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Make pairs of known rank, both ways: translations, strangers, N - 1 mixtures of both.

    Mixtures are not scaled to length one. A stranger that shares a text with the pair is none.

    Args:
        anchors, keys: sources, then targets of a batch: [2 * batch, dim].
        texts, across: int64 [batch, 2], as in `KeyQueue`.
        ranks: N.
        random: draws the strangers and the shares.

    Returns:
        x and y [pairs, dim], ranks [pairs] from 1.
    """
    found = []
    for x, y in zip(anchors.chunk(2), reversed(keys.chunk(2)), strict=True):
        count = len(x)
        steps = random.integers(1, max(2, count), size=(count, ranks))
        others = on_device((np.arange(count)[:, None] + steps) % count, y.device)  # the first as is
        drawn = random.random((count, ranks - 1))
        whole = np.ones((count, 1))
        shares = on_device(np.concatenate([0 * whole, whole, drawn], axis=1), y.device)
        rank = on_device(
            np.concatenate([whole, ranks * whole, virtual_ranks(drawn, ranks)], axis=1), y.device
        ).long()
        far = y[torch.cat([others[:, :1], others], dim=1)]  # [batch, 1 + ranks, dim]
        made = torch.lerp(y[:, None].expand_as(far), far, shares[..., None].to(y.dtype))  # eq. 3
        shared = (texts[others] == texts[:, None]).any(dim=2)  # [batch, ranks]
        if across:
            shared |= (texts[others].flip(2) == texts[:, None]).any(dim=2)
        rank[:, 1:][shared] = 0
        kept = rank > 0
        found.append((x[:, None].expand_as(made)[kept], made[kept], rank[kept]))
    x, y, rank = (torch.cat(each) for each in zip(*found, strict=True))
    return x, y, rank
