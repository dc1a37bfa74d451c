"""The options of mSimCSE."""

from dataclasses import dataclass

from xmine.options import option

from .shared import TrainingOptions


@dataclass(frozen=True, kw_only=True)
class MsimcseOptions(TrainingOptions):
    """mSimCSE: in-batch contrast of one encoder."""

    temperature: float = option(0.05, "Temperature of the contrastive loss.", min=0.001)
    symmetric: bool = option(False, "Contrast target with source too, not only source with target.")
    training_head: bool = option(
        False, "Put a linear layer and tanh on top in training, as the paper does."
    )
    drop_hard_negatives: bool = option(False, "Leave contradicting sentences of triplets out.")
    hard_negative_weight: float = option(
        0.0, "Added to the logit of a row's own contradicting sentence."
    )
