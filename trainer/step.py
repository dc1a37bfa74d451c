"""What the loop needs of a method: parameters, named losses of a batch, and what follows."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.optim import Optimizer

from xmine.trainer.data import TrainingPairs


class Step(Protocol):
    """One training step of a method; the loop knows nothing else of it."""

    def optimizer(self, learning_rate: float) -> Optimizer:
        """Make the optimiser of everything that is trained."""
        ...

    def losses(self, batch: TrainingPairs, random: np.random.Generator) -> dict[str, Tensor]:
        """Compute the losses by name; the loop adds them up.

        `random` is seeded by the step, so that a resumed run draws the same numbers.
        """
        ...

    def embed(self, pairs: TrainingPairs) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Embed both sides without gradients: unit rows [pairs, dim] each."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything trained, by name; the tensors themselves, for saving and restoring."""
        ...
