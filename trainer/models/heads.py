"""A layer on top of an encoder that exists in training only."""

from torch import Tensor, nn
from torch.optim import Optimizer

from ..data.rows import Side
from .towers import Tower, adamw, unit_rows


class Projected(nn.Module):
    """An encoder whose vectors a matrix leads to another width (TransAug; A-09), if it is another.

    What is mined is the encoder without the matrix.
    """

    def __init__(self, tower: Tower, width: int) -> None:
        """Draw the matrix; without a bias, so that a blank sentence stays zeros."""
        super().__init__()
        self.tower = tower
        self.matrix: nn.Module = nn.Identity()
        if tower.dim != width:
            self.matrix = nn.Linear(tower.dim, width, bias=False).to(tower.device)

    def forward(self, *sides: Side) -> Tensor:
        """Read sentences: [sentences, width], before they are scaled to length one."""
        rows: Tensor = self.matrix(self.tower(*sides))
        return rows

    def embed(self, *sides: Side) -> Tensor:
        """Embed sentences: unit rows [sentences, width]."""
        return unit_rows(self(*sides))

    def optimizers(self, learning_rate: float, weight_decay: float) -> list[Optimizer]:
        """Make those of the encoder, and one for the matrix."""
        found = self.tower.optimizers(learning_rate, weight_decay)
        if isinstance(self.matrix, nn.Linear):
            found.append(adamw(self.matrix, learning_rate, weight_decay))
        return found
