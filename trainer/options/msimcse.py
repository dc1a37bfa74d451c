"""The options of mSimCSE."""

from dataclasses import dataclass

from xmine.options import option

from .shared import TrainingOptions


@dataclass(frozen=True, kw_only=True)
class MsimcseOptions(TrainingOptions):
    """mSimCSE: in-batch contrast of one encoder."""

    temperature: float = option(0.05, "Temperature of the contrastive loss.", min=0.001)
    symmetric: bool = option(
        False, "Add the loss from target to source to the loss from source to target."
    )
    training_head: bool = option(
        False, "Train with a linear layer and tanh on top, as the paper does."
    )
    drop_hard_negatives: bool = option(
        False, "Ignore the contradicting sentences of triplets.", only_if="--triplets"
    )
    hard_negative_weight: float = option(
        0.0,
        "Number to add to the logit of a row's own contradicting sentence.",
        only_if="drop_hard_negatives=false & --triplets",
    )
