"""The options of Emma-X, and what follows from them for each phase."""

from dataclasses import dataclass

from xmine.options import option

from .contrast import MomentumOptions
from .shared import MOST_RATE


@dataclass(frozen=True, kw_only=True)
class EmmaXOptions(MomentumOptions):
    """Emma-X: a rank classifier and an encoder that teach each other on text without pairs."""

    largest_queue = 256  # the paper's K
    of_static = 0.5, 0.5

    phase: str = option(
        "both",
        "1 learns from pairs, 2 from texts that are not aligned; both: one after the other.",
        choices=("both", "1", "2"),
    )
    queue_size: int = option(
        0,
        "Keys of earlier batches to compare with (the paper's K); 0: 256, or a quarter of "
        "fewer than 1,024 rows.",
        min=0,
    )
    in_batch_negatives: bool = option(
        True, "Use the other rows of the batch as negatives in phase 1, too."
    )
    temperature: float = option(
        0.04, "Temperature of the contrastive loss of phase 1.", min=0.001, only_if="phase!=2"
    )
    ranks: int = option(
        2, "Semantic ranks (the paper's N), from paraphrase to irrelevant.", min=2, max=64
    )
    gmm_learning_rate: float = option(
        3e-5,
        "Peak learning rate of the rank classifier in phase 2; 0: it stays as phase 1 left it.",
        min=0,
        max=MOST_RATE,
        only_if="phase!=1",
        preset=True,
    )
    em_epochs: int = option(
        0, "Epochs of phase 2.", min=0, shown_default="as --epochs", only_if="phase!=1"
    )
    em_learning_rate: float = option(
        0.0,
        "Peak learning rate of the encoder in phase 2.",
        min=0,
        max=MOST_RATE,
        shown_default="0.0005 static, 0.0000033 transformer; at most --learning-rate",
        only_if="phase!=1",
        preset=True,
    )

    @property
    def learns_from(self) -> str:
        """Phase 2 learns from texts."""
        return "texts" if self.phase == "2" else "pairs"
