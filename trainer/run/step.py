"""What the loop needs of a method: one step of it, as a module with everything that is trained."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from xmine.evaluation.retrieval.aligned import retrieval_accuracy

from ..data.rows import Rows, TokenizedSide, TrainingData
from ..distributed import random_of_rank
from ..models.towers import Tower
from .devset import OF_LANGUAGE, halved, measure

Vectors = NDArray[np.float32]


def linear(step: int, total: int, warmup: float) -> float:
    """Give the share of the peak rate after `step` of `total` steps: up over a share, then down."""
    rising = warmup * total
    if step < rising:
        return min(1.0, (step + 1) / rising)
    return (total - step) / max(1.0, total - rising)


def cosine(step: int, total: int, warmup: float) -> float:
    """Give the share of the peak rate at a step, from 0: falling as half a cosine (G-07)."""
    rising, now = warmup * total, step + 1
    if now <= rising:
        return now / rising
    return 0.5 * (1 + math.cos(math.pi * (now - rising) / max(1.0, total - rising)))


# How the learning rate goes over a run: up over the warm-up, then down to zero.
SCHEDULES = {"linear": linear, "cosine": cosine}


class Embedder(Protocol):
    """What makes unit rows of sentences: a tower, alone or with something on top."""

    def embed(self, *sides: TokenizedSide) -> Tensor:
        """Embed the sentences of one side after the other: unit rows [sentences, dim]."""
        ...


def drop_tokens(
    sides: Sequence[TokenizedSide],
    share: float | NDArray[np.float64] | None,
    random: np.random.Generator,
) -> Sequence[TokenizedSide]:
    """Leave out a share of the pieces of all sentences, or of each; no process drops as another."""
    if share is None or not np.any(share):
        return sides
    random = random_of_rank(random)
    return [each.without_some(share, random) for each in sides]


class Step(nn.Module, ABC):
    """One training step of a method; the loop knows nothing else of it.

    Its parameters and buffers are what a checkpoint holds: encoders, queues, temperatures.

    Attributes:
        decides: the measure that tells which state is the best.
        takes_negatives: whether the losses read the hard negatives of a batch.
        tower: the encoder of both columns of rows, of a step that has one.
    """

    decides: ClassVar[str] = "accuracy"
    takes_negatives: ClassVar[bool] = False
    tower: Tower

    @abstractmethod
    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        """Make the optimisers of everything that is trained; the loop schedules all their rates."""

    @abstractmethod
    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        """Compute the losses by name; the loop adds them up.

        `random` is seeded by the step, so that a resumed run draws the same numbers.
        """

    def clipped(self) -> list[nn.Parameter]:
        """List the parameters whose gradients are as long together as `clip` allows."""
        return list(self.parameters())

    def begin(self) -> None:
        """Do what comes before the losses of a step: let key encoders follow."""
        return

    def finish(self) -> None:
        """Do what comes after a part of a batch, and after the optimisers: fill queues, clamp."""
        return

    def towers(self) -> tuple[Tower, Tower]:
        """Give the encoders of the first and the second column of rows: `tower` if it is one."""
        return self.tower, self.tower

    def embedders(self) -> tuple[Embedder, Embedder]:
        """Give what embeds the two columns: the towers, or more on top of them in training."""
        return self.towers()

    def judged(self) -> Tower:
        """Give the encoder that is measured with the pairs of `--dev`."""
        return self.towers()[0]

    @torch.no_grad()
    def embed(self, rows: Rows) -> tuple[Vectors, Vectors]:
        """Embed the first two columns as they will be mined: unit rows [rows, dim] each."""
        source, target = self._embedded(rows.columns[:2])
        return source, target

    @torch.no_grad()
    def _embedded(self, columns: Sequence[TokenizedSide]) -> list[Vectors]:
        was_training = self.training
        self.eval()
        found = [
            embedder.embed(column).float().cpu().numpy()
            for embedder, column in zip(self.embedders(), columns, strict=False)
        ]
        self.train(was_training)
        return found

    def measure(self, held_out: Rows) -> dict[str, float]:
        """Measure how it goes by `of_vectors` and, what is harder, by `halves`.

        `halves` is the share of sources that retrieve their translation without half of their
        tokens: whole ones are often all found, before training as after. It is not measured where
        the vector of a sentence is that of one token.
        """
        source, target = self.embed(held_out)
        found = self.of_vectors(source, target)
        if self.towers()[0].pools_all:
            (halves,) = self._embedded([halved(held_out.columns[0])])
            found["halves"] = retrieval_accuracy(halves, target)[0]
        return found

    def of_vectors(self, source: Vectors, target: Vectors) -> dict[str, float]:
        """Measure unit rows of held-out pairs [pairs, dim]; see `xmine.trainer.run.devset`."""
        return measure(source, target)

    def measured(self, data: TrainingData) -> dict[str, float]:
        """Measure how it goes; of several pairs of languages each among its own pairs.

        Returns:
            What `measure` gives, or its means over the pairs of languages, with the accuracy of
            each under a name such as `accuracy_en-de`. Empty where nothing is held out.
        """
        held_out, languages = data.held_out, data.held_out_languages
        if held_out is None or not languages:
            return self.measure(held_out) if held_out else {}
        each = [self.measure(held_out.take(rows)) for rows in languages.rows()]
        means = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
        named = zip(languages.names, each, strict=True)
        return means | {f"{OF_LANGUAGE}{name}": one["accuracy"] for name, one in named}

    def numbers(self) -> dict[str, float]:
        """Give what is to be logged besides the losses."""
        return {}

    def stops(self, measures: Mapping[str, float], decides: str) -> str:
        """Say why training should end here, if so; the best state is the one by `decides`."""
        del measures, decides
        return ""
