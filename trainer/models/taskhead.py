"""Vectors of texts -> scores of answers, and how wrong they are: a linear layer for each kind.

class, document: from the vector u. pair, choice: from u, v and |u - v| of two texts (Reimers and
Gurevych, 2019), of a premise with each of its choices; joined pairs are one vector. number: from u.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xmine.evaluation.transfer.tasks import Task

# What one score is given to: a text, or two.
Candidate = tuple[str, ...]


class TaskHead(nn.Module):
    """The layer on top of an encoder that answers one task."""

    def __init__(self, task: Task, dim: int, *, joined: bool) -> None:
        """Draw the weights; numbers are learned as distances from their mean on train."""
        super().__init__()
        self.kind = task.kind
        self.doubles = task.kind in ("pair", "choice")
        self.joined = joined and self.doubles
        outputs = 1 if task.kind in ("choice", "number") else len(task.classes)
        self.linear = nn.Linear(dim * (3 if self.doubles and not self.joined else 1), outputs)
        answers = task.train.answers
        self.middle, self.spread = float(answers.mean()), float(answers.std()) or 1.0

    def candidates(self, texts: Sequence[str]) -> list[Candidate]:
        """List what is scored in an example: itself, or its premise with each of its choices."""
        if self.kind == "choice":
            return [(texts[0], choice) for choice in texts[1:]]
        return [tuple(texts)]

    def forward(self, vectors: Tensor, counts: NDArray[np.int64]) -> Tensor:
        """Score examples.

        Args:
            vectors: [texts, dim] of all candidates, one after the other.
            counts: int64 [examples], how many candidates each has.

        Returns:
            [examples, classes], [examples, most choices] with -inf where there are fewer,
            [examples, labels], or [examples] for numbers.
        """
        if self.doubles and not self.joined:
            first, second = vectors[0::2], vectors[1::2]
            vectors = torch.cat([first, second, (first - second).abs()], dim=1)
        scores: Tensor = self.linear(vectors)  # [candidates, outputs]
        if self.kind == "number":
            return scores[:, 0] * self.spread + self.middle
        if self.kind != "choice":
            return scores
        there = np.arange(counts.max()) < counts[:, None]  # [examples, most choices]
        table = scores.new_full(there.shape, float("-inf"))
        table[torch.from_numpy(there).to(scores.device)] = scores[:, 0]
        return table

    def loss(self, scores: Tensor, answers: Tensor) -> Tensor:
        """Cross entropy; of each label apart for documents; the absolute error of numbers."""
        if self.kind == "document":
            return nn.functional.binary_cross_entropy_with_logits(scores, answers)
        if self.kind == "number":
            return nn.functional.l1_loss(scores, answers)
        return nn.functional.cross_entropy(scores, answers.long())
