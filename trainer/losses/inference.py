"""Natural language inference as a second task of an encoder: two sentences -> a label.

Wang et al. (2021), appendix B, eq. 5.
"""

import numpy as np
import torch
from torch import Tensor, nn

from ..data.inference import Labelled
from ..distributed import World
from ..models.towers import Tower


class InferenceHead(nn.Module):
    """What one sentence says of another: entailment, neutral, contradiction.

    Wang et al. (2021), appendix B: Linear(features, 256), ReLU, Dropout(0.1), Linear(256, 3). What
    is put in is not stated there; (u, v, |u - v|) is Sentence-BERT's choice (A-05).
    """

    def __init__(self, dim: int, features: str) -> None:
        """Draw the weights, for `uv`, `uvd` or `uvdm`."""
        super().__init__()
        self.features = features
        self.layers = nn.Sequential(
            nn.Linear(len(features) * dim, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 3)
        )

    def forward(self, premises: Tensor, hypotheses: Tensor) -> Tensor:
        """Score unit rows [pairs, dim] of both: [pairs, 3]."""
        scores: Tensor = self.layers(features_of(premises, hypotheses, self.features))
        return scores


def features_of(u: Tensor, v: Tensor, names: str) -> Tensor:
    """Join u, v, d = |u - v| and m = u * v as the names say: [n, len(names) * dim]."""
    parts = {"u": u, "v": v, "d": (u - v).abs(), "m": u * v}
    return torch.cat([parts[name] for name in names], dim=1)


class InferenceTask(nn.Module):
    """Labelled pairs and the layers that judge them; the vectors are those of an encoder."""

    def __init__(self, tower: Tower, labelled: Labelled, features: str, batch_size: int) -> None:
        """Cut the sentences, and draw the weights."""
        super().__init__()
        self.head = InferenceHead(tower.dim, features).to(tower.device)
        self._premises = tower.cut(labelled.premises)
        self._hypotheses = tower.cut(labelled.hypotheses)
        self._labels = torch.from_numpy(labelled.labels)
        self._batch_size = min(batch_size, len(labelled))

    def loss(self, tower: Tower, random: np.random.Generator) -> Tensor:
        """Draw pairs and give the cross entropy of their labels."""
        world = World.here()
        count = max(1, self._batch_size // world.size) * world.size
        rows = random.choice(len(self._labels), count, replace=count > len(self._labels))
        rows = rows[world.part(count)]
        sides = self._premises.take(rows), self._hypotheses.take(rows)
        premises, hypotheses = tower.embed(*sides).chunk(2)  # [rows, dim] each
        labels = self._labels[rows].to(premises.device)
        return nn.functional.cross_entropy(self.head(premises, hypotheses), labels)
