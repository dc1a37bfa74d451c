"""What can go wrong while ranks teach an encoder and the encoder ranks, and what is done about it.

Emma-X (Guo et al., 2023) has no such guards; the signs and the measures are ours.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

FALL = 0.03  # of retrieval below where phase 2 began
WEAK = 0.25  # retrieval before phase 2: below, what phase 2 adds is not worth its time
TOO_WEAK = (
    "phase 2 began with an encoder that finds {:.1%} of the held-out translations: too weak a "
    "start to rank sentences; give phase 1 more pairs or epochs, or begin with a trained --encoder"
)
_CROWD = 0.5  # share of random pairs that are said to be paraphrases
_AGREED = 0.99
_PATIENCE = 200  # steps that ranks stand in the wrong order before they are sorted
_LOST = 100.0  # nats a pair, of a classifier that explains nothing


class RankCounts(NamedTuple):
    """What a step saw of the pairs of a batch, of all processes together; own keys left out.

    Attributes:
        members: [ranks], how many pairs the classifier put in each.
        sums: [ranks], of their cosines.
        agreed: pairs that encoder and classifier rank alike.
        spread: of exp(-2 distance^2).
    """

    members: Tensor
    sums: Tensor
    agreed: Tensor
    spread: Tensor

    def numbers(self) -> dict[str, float]:
        """Give share of each rank, agreement, mean cosine, and uniformity (Wang & Isola, 2020)."""
        pairs = self.members.sum().clamp(min=1)
        shares = (self.members / pairs).tolist()
        return {
            **{f"share_{rank}": share for rank, share in enumerate(shares, start=1)},
            "agreement": float(self.agreed / pairs),
            "batch_likeness": float(self.sums.sum() / pairs),
            "uniformity": float((self.spread / pairs).log()),
        }


class RankMonitor(nn.Module):
    """Counts what went wrong; everything is a buffer, so that a resumed run counts on.

    Attributes:
        skipped: steps in which no pair was of a rank below N, and the encoder did not learn.
        disordered: steps on end in which a worse rank was more similar.
        sorted: how often ranks were sorted for that.
        refitted: how often the classifier was estimated anew, having lost its way.
        falls: evaluations on end in which retrieval fell.
        cost, steps: nats of the classifier, and steps, of this window.
        last, began: accuracy at the last evaluation, and before the first step.
    """

    def __init__(self, accuracy: float, window: int) -> None:
        """Remember what an encoder retrieved before; `window` is that of `is_lost`."""
        super().__init__()
        self.window = window
        self.skipped, self.disordered, self.sorted, self.refitted, self.falls, self.steps = (
            nn.Buffer(torch.zeros((), dtype=torch.int64)) for _ in range(6)
        )
        self.cost = nn.Buffer(torch.zeros((), dtype=torch.float64))
        self.last, self.began = (
            nn.Buffer(torch.tensor(accuracy, dtype=torch.float64)) for _ in range(2)
        )

    def must_sort(self, similarities: Tensor, distances: list[float]) -> bool:
        """Tell, after each step, whether ranks have been in the wrong order for too long.

        Similarities s_1 ... s_N should fall, and the distances of the ranks rise.
        """
        values = similarities.tolist()
        falls = all(better > worse for better, worse in pairwise(values))
        rises = all(near < far for near, far in pairwise(distances))
        self.disordered.copy_(torch.zeros(()) if falls and rises else self.disordered + 1)
        if self.disordered < _PATIENCE:
            return False
        self.disordered.zero_()
        self.sorted.add_(1)
        return True

    def is_lost(self, nats: float) -> bool:
        """Tell whether the classifier, whom a pair costs so many nats, has been lost for long."""
        self.cost.add_(nats)
        self.steps.add_(1)
        if self.steps < self.window:
            return False
        lost = bool(self.cost > _LOST * self.steps)
        self.cost.zero_()
        self.steps.zero_()
        return lost

    def stops(self, measures: Mapping[str, float], seen: RankCounts) -> str:
        """Say why training should end, if so: a fall, or an echo chamber."""
        accuracy, began = measures["accuracy"], float(self.began)
        self.falls.copy_(self.falls + 1 if accuracy < self.last else torch.zeros(()))
        self.last.fill_(accuracy)
        batch = seen.numbers()
        if accuracy < began - FALL:
            return f"held-out retrieval fell from {began:.1%} to {accuracy:.1%}"
        if batch["share_1"] > _CROWD:
            return f"{batch['share_1']:.0%} of all pairs count as paraphrases"
        if batch["agreement"] > _AGREED and self.falls >= 2:
            return "encoder and classifier agree, and retrieval falls"
        return ""

    def numbers(self) -> dict[str, float]:
        """Give the counts for the log."""
        names = ("skipped", "disordered", "sorted", "refitted")
        return {name: int(getattr(self, name)) for name in names}
