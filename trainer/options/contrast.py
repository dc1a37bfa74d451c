"""The options of mSimCSE, of dual momentum contrast, and of what has a queue or momentum beside."""

from dataclasses import dataclass

from xmine.errors import OptionError, TrainingError
from xmine.options import option

from .shared import AUTO, SCRATCH, TrainingOptions


@dataclass(frozen=True, kw_only=True)
class MsimcseOptions(TrainingOptions):
    """mSimCSE: in-batch contrast of one encoder."""

    temperature: float = option(0.05, "Temperature of the contrastive loss.", min=0.001)
    symmetric: bool = option(
        False, "Add the loss from target to source to the loss from source to target."
    )
    teacher: str = option(
        "",
        "Encoder that a new static encoder starts from and learns from beside the pairs: a folder, "
        "a Hugging Face name, use or e5.",
        only_if="a new encoder",
    )
    teacher_weight: float = option(
        1.0, "Weight of the loss against the teacher's vectors.", min=0, only_if="--teacher"
    )
    matryoshka: list[str] = option(
        [],
        "Dimensions, as in 64,128: as many first numbers of a vector learn to tell sentences apart "
        "alone (Kusupati et al., 2022).",
    )
    training_head: bool = option(
        False, "Train with a linear layer and tanh on top, as the paper does.", preset=True
    )
    drop_hard_negatives: bool = option(
        False, "Ignore the contradicting sentences of triplets.", only_if="--triplets", preset=True
    )
    hard_negative_weight: float = option(
        0.0,
        "Number to add to the logit of a row's own contradicting sentence.",
        only_if="drop_hard_negatives=false & --triplets",
    )

    def __post_init__(self) -> None:
        """Check the limits, and that dimensions are numbers."""
        super().__post_init__()
        if wrong := [each for each in self.matryoshka if not each.isdecimal() or int(each) < 2]:
            raise OptionError(
                f"--matryoshka {wrong[0]}", "give whole numbers from 2 on, as in 64,128"
            )


@dataclass(frozen=True, kw_only=True)
class QueueOptions(TrainingOptions):
    """What methods with a queue of negatives share."""

    largest_queue = 65_536  # keys, where no size is given

    queue_size: int = option(
        0,
        "Keys of earlier batches that serve as negatives (MoCo's K); 0: a quarter of the "
        "data, at most 65,536.",
        min=0,
        only_if="a queue",
    )
    in_batch_negatives: bool = option(
        False, "Use the other rows of the batch as negatives, too.", only_if="a queue"
    )

    def queue_for(self, rows: int) -> int:
        """Give the size of the queue for so many rows of data.

        Raises:
            TrainingError: it is larger than a quarter of them, or a quarter is none.
        """
        most = rows // 4
        if not most:
            raise TrainingError(
                f"{rows:,} rows are too few for a queue of negatives: it holds a quarter of them",
                "give more pairs: after some are held out, 4 have to be left",
            )
        if self.queue_size > most:
            raise TrainingError(
                f"--queue-size {self.queue_size:,} for {rows:,} rows: a row would meet its own "
                "translation of the epoch before",
                f"--queue-size of at most {most:,}",
            )
        return self.queue_size or min(most, self.largest_queue)


@dataclass(frozen=True, kw_only=True)
class MomentumOptions(QueueOptions):
    """What methods share whose keys come from a copy that follows the encoder slowly."""

    of_static = 0.9, 0.999  # the momentum of a new static encoder, and of a trained one

    momentum: float | str = option(
        "auto",
        "Momentum of the key encoders (MoCo's m): a number from 0 to 1; auto: 0.999; for a new "
        "transformer 1 - 20 / steps, from 0.99 on; a new static encoder 0.9; emma-x, static 0.5.",
        min=0,
        max=1,
        words=("auto",),
    )

    def momentum_over(self, steps: int, *, is_static: bool) -> float:
        """Give the momentum of a run; the rule of `auto` is ours.

        A static encoder flees keys that do not keep up with it, a transformer collapses where they
        follow fast (`bench/defaults.py --set momentum=0.99` and `0.9`).
        """
        if self.momentum != "auto":
            return float(self.momentum)
        if is_static:
            return self.of_static[self.starts_trained]
        return 0.999 if self.starts_trained else min(0.999, max(0.99, 1 - 20 / max(1, steps)))


@dataclass(frozen=True, kw_only=True)
class MocoOptions(MomentumOptions):
    """Dual momentum contrast: two encoders, two queues."""

    src_encoder: str = option(
        "",
        "Encoder of the source side, if each side has its own; see --encoder.",
        shown_default="one encoder for both sides",
    )
    tgt_encoder: str = option(
        "", "Encoder of the target side.", shown_default="one encoder for both sides"
    )
    temperature: float = option(0.04, "Temperature of the contrastive loss.", min=0.001)
    nli_weight: float = option(0.1, "Weight of the loss on --nli pairs.", min=0, only_if="--nli")
    nli_batch: int = option(128, "Labelled pairs per step.", min=1, only_if="--nli", preset=True)

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
