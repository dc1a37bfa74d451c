"""The options of dual momentum contrast."""

from dataclasses import dataclass

from xmine.errors import OptionError
from xmine.options import option

from .queue import MomentumOptions
from .shared import AUTO, SCRATCH


@dataclass(frozen=True, kw_only=True)
class MocoOptions(MomentumOptions):
    """Dual momentum contrast: two encoders, two queues."""

    src_encoder: str = option(
        "",
        "Encoder of the source side, if each side has its own; see --encoder.",
        shown_default="one encoder for both sides",
    )
    tgt_encoder: str = option(
        "",
        "Encoder of the target side.",
        shown_default="one encoder for both sides",
    )
    temperature: float = option(0.04, "Temperature of the contrastive loss.", min=0.001)
    key_dropout: bool = option(False, "Keep dropout on in the key encoders.")
    nli_weight: float = option(0.1, "Weight of the loss on --nli pairs.", min=0, only_if="--nli")
    nli_batch: int = option(128, "Labelled pairs per step.", min=1, only_if="--nli")
    nli_features: str = option(
        "uvd",
        "Input of the classifier, of sentence vectors u, v: uv; uvd adds |u - v|; uvdm adds "
        "u * v, too.",
        choices=("uv", "uvd", "uvdm"),
        only_if="--nli",
    )

    def __post_init__(self) -> None:
        """Check the limits; a side's encoder needs that of the other."""
        super().__post_init__()
        if bool(self.src_encoder) != bool(self.tgt_encoder):
            raise OptionError(
                "--src-encoder and --tgt-encoder go together", "give both, or --encoder for both"
            )
        if self.src_encoder and self.encoder not in (AUTO, SCRATCH):
            raise OptionError(
                "--encoder is for both sides, --src-encoder and --tgt-encoder are for one each",
                "give one or the others",
            )

    @property
    def encoders(self) -> tuple[str, ...]:
        """One for both sides, or one for each."""
        return (self.src_encoder, self.tgt_encoder) if self.src_encoder else (self.encoder,)
