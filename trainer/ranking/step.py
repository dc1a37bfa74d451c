"""What both phases of Emma-X have: an encoder, its slow copy, a rank classifier, a queue of keys.

Guo et al. (2023), "Emma-X: An EM-like Multilingual Pre-training Algorithm for Cross-lingual
Representation Learning", section 3.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from ..data.rows import Rows, TokenizedSide
from ..models.queue import MomentumTower, drawn_batches, new_queue, text_numbers
from ..models.towers import Tower
from ..options.emma_x import EmmaXOptions
from ..run.step import Step, drop_tokens
from .ranks import RankClassifier, first_similarities


class RankStep(Step):
    """What both phases have.

    Attributes:
        tower: M, the encoder of all languages.
        key: M', which follows it.
        classifier: G.
        classifies: whether G learns.
        queue: keys of earlier batches, of all languages.
        ids: how many numbers of texts a key has.
        key_dropout: whether the keys of a step have dropout (A-04: none).
        similarities: s_1 ... s_N, the cosine that stands for each rank: [ranks].
    """

    ids: ClassVar[int]
    key_dropout = False

    def __init__(
        self, tower: Tower, classifier: RankClassifier, options: EmmaXOptions, rows: int, steps: int
    ) -> None:
        """Begin with an encoder and a classifier; `rows` and `steps` are those of the phase."""
        super().__init__()
        self.tower, self.classifier, self.options = tower, classifier, options
        self.momentum = options.momentum_over(steps)
        self.key = MomentumTower(tower)
        self.queue = new_queue(options, options.queue_for(rows), tower, self.ids)
        self.similarities = nn.Buffer(first_similarities(options.ranks).to(tower.device))
        self.classifies = True

    def begin(self) -> None:
        """Let M' follow M."""
        self.key.follow(self.tower, self.momentum)

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        """Make one for M and one for G (eq. 8); G does not decay."""
        found = self.tower.optimizers(learning_rate, self.options.weight_decay)
        if not self.classifies:
            return found
        self.of_classifier = Adam(self.classifier.parameters(), lr=self.options.gmm_learning_rate)
        return [*found, self.of_classifier]

    def clipped(self) -> list[nn.Parameter]:
        """Those of the encoder: gradients of a classifier are a thousand times as long."""
        return list(self.tower.parameters())

    @torch.no_grad()
    def keys_of(self, columns: tuple[TokenizedSide, ...]) -> Tensor:
        """Embed columns one after the other with M': unit rows [columns * rows, dim]."""
        return self.key.tower.embed(*columns)

    def queries_of(self, columns: tuple[TokenizedSide, ...], random: np.random.Generator) -> Tensor:
        """Embed columns one after the other with M: unit rows [columns * rows, dim]."""
        return self.tower.embed(*drop_tokens(columns, self.options.token_dropout, random))

    def train(self, mode: bool = True) -> "RankStep":
        """Leave dropout off in the keys, unless the phase wants it there."""
        super().train(mode)
        self.key.train(mode and self.key_dropout)
        return self

    def prefill(self, rows: Rows) -> None:
        """Fill the queue with keys of rows drawn at random."""
        self.eval()
        for some in drawn_batches(rows, len(self.queue.rows), self.options):
            keys = self.keys_of(some.columns)
            self.put(keys, text_numbers(some, keys.device))

    def put(self, keys: Tensor, texts: Tensor) -> None:
        """Put keys [columns * batch, dim] of texts [batch, columns] in, the columns in turn."""
        columns = texts.shape[1]
        turned = keys.reshape(columns, -1, keys.shape[1]).transpose(0, 1).flatten(0, 1)
        of_all = texts.repeat_interleave(columns, dim=0)  # [batch * columns, columns]
        self.queue.put(turned, of_all if self.ids > 1 else texts.reshape(-1, 1))
