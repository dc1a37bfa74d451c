"""Pairs of a batch -> pairs of every rank, which a rank classifier begins with.

Emma-X (Guo et al., 2023), section 3.2, eq. 3 and 4.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xmine.encoders.modules.heads import on_device

from ..distributed import all_sum, processes
from ..options.emma_x import EmmaXOptions
from .ranks import Moments, RankClassifier, moments_of

WINDOW = 50  # batches whose moments, or losses, are looked at together


def virtual_ranks(shares: NDArray[np.float64], ranks: int, rule: str) -> NDArray[np.int64]:
    """Give the rank of (x, (1 - l) y + l y'), y the translation of x and y' another sentence.

    Args:
        shares: l, from 0 to 1.
        ranks: N.
        rule: `uniform` has N equal bins of l; `ceil` is the paper's ceil((1 - l) 1 + l N), by which
            nothing but y itself has rank 1 (A-16).
    """
    if rule == "ceil":
        return np.ceil(1 + shares * (ranks - 1)).astype(np.int64)
    return np.minimum(ranks, np.floor(shares * ranks).astype(np.int64) + 1)


@dataclass(frozen=True, slots=True)
class Mixing:
    """What is drawn for a batch, for both directions.

    Attributes:
        others: int64 [2, batch, 1 + mixtures], pairs whose sentences are the y'; the first is
            taken as it is.
        shares: float64 [2, batch, mixtures], the l.
        ranks: int64 [2, batch, 2 + mixtures], of y, of the first y', of the mixtures.
    """

    others: NDArray[np.int64]
    shares: NDArray[np.float64]
    ranks: NDArray[np.int64]

    @classmethod
    def drawn(cls, batch: int, options: EmmaXOptions, random: np.random.Generator) -> "Mixing":
        """Draw for a batch of all processes."""
        mixtures = options.virtual_examples or options.ranks - 1
        steps = random.integers(1, max(2, batch), size=(2, batch, 1 + mixtures))
        shares = random.random((2, batch, mixtures))
        ends = np.broadcast_to([1, options.ranks], (2, batch, 2))
        between = virtual_ranks(shares, options.ranks, options.interp_rule)
        ranks = np.concatenate([ends, between], axis=2)
        return cls((np.arange(batch)[:, None] + steps) % batch, shares, ranks)


def ranked_pairs(
    anchors: tuple[Tensor, Tensor],
    keys: tuple[Tensor, Tensor],
    texts: Tensor,
    mixing: Mixing,
    own: slice,
    *,
    across: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Make pairs of known rank: translations, strangers, and mixtures of both.

    Mixtures are not scaled to length one. A stranger that shares a text with the pair is none.

    Args:
        anchors: sources and targets of this process's part `own`, [rows, dim] each.
        keys: sources and targets of the whole batch, [batch, dim] each.
        texts, across: int64 [batch, 2], as in `KeyQueue`.

    Returns:
        x and y [pairs, dim], ranks [pairs] from 1.
    """
    found = []
    for direction in range(2):
        x, y = anchors[direction], keys[1 - direction]
        device = x.device
        others = on_device(mixing.others[direction, own], device)
        shares = on_device(mixing.shares[direction, own], device).to(x.dtype)
        ranks = on_device(mixing.ranks[direction, own].copy(), device)
        near, far = y[own][:, None], y[others]  # [rows, 1, dim], [rows, 1 + mixtures, dim]
        between = torch.lerp(near, far[:, 1:], shares[..., None])  # eq. 3
        made = torch.cat([near, far[:, :1], between], dim=1)  # [rows, 2 + mixtures, dim]
        shared = (texts[others] == texts[own][:, None]).any(dim=2)  # [rows, 1 + mixtures]
        if across:
            shared |= (texts[others].flip(2) == texts[own][:, None]).any(dim=2)
        ranks[:, 1:][shared] = 0
        kept = ranks > 0
        found.append((x[:, None].expand_as(made)[kept], made[kept], ranks[kept]))
    x, y, ranks = (torch.cat(each) for each in zip(*found, strict=True))
    return x, y, ranks


class ClassifierWarmUp(nn.Module):
    """Phase 1 of G: the likelihood of known ranks (eq. 4), from the moments of the first batches.

    Attributes:
        ready: whether G has been estimated; before that it does not learn (A-14).
        accuracy: of the ranks of the last batch, a tensor, so that no step waits for a number.
        nats: what a pair of the last batch cost, a tensor.
    """

    def __init__(self, options: EmmaXOptions, dim: int, steps: int, device: torch.device) -> None:
        """Begin with nothing seen; what is counted stays on the processor, see `KeyQueue`."""
        super().__init__()
        self.options = options
        self.window = window_size(steps)
        self.count = nn.Buffer(torch.zeros(options.ranks, device=device))
        self.total = nn.Buffer(torch.zeros(options.ranks, dim, device=device))
        self.squares = nn.Buffer(torch.zeros(options.ranks, dim, device=device))
        self.batches = nn.Buffer(torch.zeros((), dtype=torch.int64))
        self.ready = nn.Buffer(torch.tensor(False))
        self.accuracy = self.nats = torch.zeros(())

    def loss(self, classifier: RankClassifier, x: Tensor, y: Tensor, ranks: Tensor) -> Tensor:
        """Eq. 4, mean over the pairs of all processes: x and y [pairs, dim], ranks [pairs]."""
        log_p = classifier.of_pairs(x, y)  # [pairs, ranks]
        cost = nn.functional.nll_loss(log_p, ranks - 1, reduction="sum")
        right = (log_p.argmax(dim=1) + 1 == ranks).sum()
        own = torch.stack([cost.new_full((), len(ranks)), cost.detach(), right.to(cost)])
        told = all_sum(own)
        self.nats, self.accuracy = told[1:] / told[0]
        if not self.ready:
            moments = moments_of(x - y, ranks, self.options.ranks)
            for sums, more in zip((self.count, self.total, self.squares), moments, strict=True):
                sums.add_(all_sum(more))
        return cost * processes() / told[0]

    def finish(self, classifier: RankClassifier) -> None:
        """Come to the end of a step, and perhaps of those that G is estimated from."""
        self.batches.add_(1)
        if not self.ready and self.batches >= self.window:
            classifier.fit(Moments(self.count, self.total, self.squares))
            self.ready.fill_(True)


def window_size(steps: int) -> int:
    """Tell how many batches of a run are looked at together."""
    return min(WINDOW, max(1, steps // 10))
