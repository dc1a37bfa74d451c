"""The options of each training method, beside those that it shares; no torch here."""

from dataclasses import dataclass, replace
from typing import Any

from xmine.errors import OptionError
from xmine.options import option

from .queue import MomentumOptions, QueueOptions, share_or_auto
from .shared import POOLINGS, Stage, TrainingOptions

_MOST_REMEMBERED = 2**27  # numbers of 4 bytes


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
    drop_hard_negatives: bool = option(False, "Ignore the contradicting sentences of triplets.")
    hard_negative_weight: float = option(
        0.0, "Number to add to the logit of a row's own contradicting sentence."
    )


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
    nli_weight: float = option(0.1, "Weight of the loss on --nli pairs.", min=0)
    nli_batch: int = option(128, "Labelled pairs per step.", min=1)
    nli_features: str = option(
        "uvd",
        "Input of the classifier, of sentence vectors u, v: uv; uvd adds |u - v|; uvdm adds "
        "u * v, too.",
        choices=("uv", "uvd", "uvdm"),
    )

    def __post_init__(self) -> None:
        """Check the limits; a side's encoder needs that of the other."""
        super().__post_init__()
        if bool(self.src_encoder) != bool(self.tgt_encoder):
            raise OptionError(
                "--src-encoder and --tgt-encoder go together", "give both, or --encoder for both"
            )
        if self.src_encoder and self.encoder != "scratch":
            raise OptionError(
                "--encoder is for both sides, --src-encoder and --tgt-encoder are for one each",
                "give one or the others",
            )

    @property
    def encoders(self) -> tuple[str, ...]:
        """One for both sides, or one for each."""
        return (self.src_encoder, self.tgt_encoder) if self.src_encoder else (self.encoder,)


@dataclass(frozen=True, kw_only=True)
class TransaugOptions(QueueOptions):
    """TransAug: a teacher is distilled into the other language and teaches a student from there."""

    stage: str = option(
        "all",
        "Stage to run; all: distil, contrast and, where there are triplets, nli.",
        choices=("all", "distil", "contrast", "nli"),
    )
    teacher: str = option("embedded", "Encoder to distil: a folder, a hub name, or embedded.")
    teacher_pooling: str = option(
        "",
        "How the teacher pools token vectors, see --pooling; cls_mlp is for a supervised SimCSE.",
        choices=POOLINGS,
        shown_default="as its folder says",
    )
    teacher_language: str = option(
        "",
        "Language of the teacher and the student, one of --languages.",
        shown_default="en, or the first of --languages",
    )
    distilled_encoder: str = option(
        "scratch",
        "Encoder of the other language, which learns from the teacher; see --encoder. "
        "--stage contrast reads it as it is.",
    )
    distil_both: bool = option(False, "Train the distilled encoder on the teacher's language, too.")
    distil_epochs: int = option(0, "Epochs of the stage distil; 0: as --epochs.", min=0)
    distil_learning_rate: float = option(
        0.0, "Peak learning rate of the stage distil; 0: by the encoder.", min=0
    )
    temperature: float | str = option(
        "learnable", "Temperature of the stage contrast: a number, or learnable."
    )
    logit_scale_init: float = option(
        0.0, "First value of a learnable temperature: log(1 / temperature).", min=0, max=4.6
    )
    train_teacher: bool = option(
        False, "Train the distilled encoder in the stage contrast, too: two towers."
    )
    share_encoder: bool = option(
        False, "Use one encoder for both languages, instead of a teacher and a student."
    )
    nli_temperature: float = option(0.05, "Temperature of the stage nli.", min=0.001)
    nli_batch_size: int = option(128, "Triplets per step, over all processes.", min=2)
    nli_epochs: int = option(0, "Epochs of the stage nli; 0: as --epochs.", min=0)
    nli_learning_rate: float = option(
        0.0,
        "Peak learning rate of the stage nli; 0: that of a trained encoder.",
        min=0,
        shown_default="0.003 static, 0.00002 transformer",
    )

    def __post_init__(self) -> None:
        """Check the limits, and what goes together."""
        super().__post_init__()
        codes = self.codes
        if self.teacher_language and self.teacher_language not in codes:
            raise OptionError(
                f"--teacher-language {self.teacher_language}: not one of --languages",
                f"choose from {', '.join(codes)}",
            )
        if self.teacher == "scratch":
            raise OptionError("--teacher scratch: it would have nothing to teach", "give a folder")
        if self.share_encoder and self.stage == "distil":
            raise OptionError(
                "--stage distil and --share-encoder: one encoder has no teacher to be distilled",
                "give one of them",
            )
        is_scratch = self.distilled_encoder == "scratch" and not self.share_encoder
        if self.stage == "contrast" and is_scratch and not self.train_teacher:
            raise OptionError(
                "--stage contrast: a new --distilled-encoder has nothing to teach",
                "give the folder that --stage distil made",
            )
        if self.temperature != "learnable":
            object.__setattr__(self, "temperature", _temperature(self.temperature))

    @property
    def encoders(self) -> tuple[str, ...]:
        """One for both languages, or one for each; in distil and nli that which learns."""
        if self.share_encoder or self.stage == "nli":
            return (self.encoder,)
        if self.stage == "distil":
            return (self.distilled_encoder,)
        return self.encoder, self.distilled_encoder

    @property
    def learning(self) -> tuple[bool, ...]:
        """Tell of each of `encoders` whether it is trained: contrast freezes the second."""
        frozen = self.stage == "contrast" and not self.train_teacher
        return tuple(at == 0 or not frozen for at in range(len(self.encoders)))

    @property
    def _distils(self) -> bool:
        return self.stage in ("all", "distil") and not self.share_encoder

    @property
    def unsaid_pooling(self) -> tuple[str, ...]:
        """Name the teacher, where its folder alone can say how its vectors are pooled."""
        return (self.teacher,) if self._distils and not self.teacher_pooling else ()

    @property
    def unread(self) -> tuple[str, ...]:
        """Name the options of encoders that the stage does not have."""
        found = () if self._distils else ("teacher", "teacher_pooling")
        if self.stage == "distil":
            return ("encoder",)
        has_other = self.stage != "nli" and not self.share_encoder
        return found if has_other else (*found, "distilled_encoder")

    @property
    def retrieves(self) -> bool:
        """Whether that is so: distil retrieves with the teacher, nli measures something else."""
        return self.stage in ("all", "contrast")

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Tell of each stage that is run; nli is run where there are triplets."""
        each = {
            "distil": Stage("pairs", self.of_distillation()),
            "contrast": Stage("pairs", self),
            "nli": Stage("triplets", self.of_nli(self.learning_rate)),
        }
        if self.share_encoder:
            del each["distil"]
        return tuple(each.values()) if self.stage == "all" else (each[self.stage],)

    @property
    def followers(self) -> tuple[str, ...]:
        """Name the encoders that are frozen: the teacher in distil, what it made in contrast."""
        found = [self.teacher] if self.stage in ("all", "distil") else []
        if self.stage in ("all", "contrast") and not self.train_teacher:
            found.append(self.distilled_encoder)
        return () if self.share_encoder else tuple(found)

    def remembered(self, rows: int, dim: int, processes: int) -> int:
        """Count what is kept of the teacher: all, if a process would read it more than once.

        More than 512 MB is not kept, but read in every pass.
        """
        if self.share_encoder or self.stage not in ("all", "distil"):
            return 0
        read = (self.distil_epochs or self.epochs) * rows
        if self.steps:
            read = min(read, self.steps * self.batch_size)
        is_worth_it = read / processes > rows and rows * dim <= _MOST_REMEMBERED
        return rows * dim if is_worth_it else 0

    @property
    def teacher_column(self) -> int:
        """Tell which column of the pairs teacher and student read: 0 or 1."""
        if not self.teacher_language:
            return super().judged_column
        return self.codes.index(self.teacher_language)

    @property
    def judged_column(self) -> int:
        """Give the column of the student, which is what is judged."""
        return self.teacher_column

    def of_distillation(self) -> "TransaugOptions":
        """Give the options of the stage distil, in which the distilled encoder is what learns."""
        changed: dict[str, Any] = {
            "encoder": self.distilled_encoder,
            "dev": "",  # of which the teacher alone knows the language
            "start": self.start if self.distilled_encoder == "scratch" else "",
            "epochs": self.distil_epochs or self.epochs,
            "learning_rate": self.distil_learning_rate,
        }
        return replace(self, **changed)

    def of_nli(self, learning_rate: float) -> "TransaugOptions":
        """Give the options of the stage nli; the rate is for where none was given."""
        changed: dict[str, Any] = {
            "epochs": self.nli_epochs or self.epochs,
            "batch_size": self.nli_batch_size,
            "learning_rate": self.nli_learning_rate or learning_rate,
        }
        return replace(self, **changed)


# Options with which the 178 pairs of the examples show all of it in seconds.
TRANSAUG_DEMONSTRATION: dict[str, Any] = {
    "held_out": 40,
    "vocabulary_size": 1400,
    "dim": 512,  # of the embedded encoder, the teacher
    "batch_size": 69,
    "epochs": 30,
}


def _temperature(value: float | str) -> float:
    """Read a temperature."""
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0.001 <= number <= 1:
        raise OptionError(
            f"--temperature is {value!r}", "give learnable, or a number from 0.001 to 1"
        )
    return number


@dataclass(frozen=True, kw_only=True)
class EmmaXOptions(MomentumOptions):
    """Emma-X: a rank classifier and an encoder that teach each other on text without pairs."""

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
    temperature: float = option(0.04, "Temperature of the contrastive loss of phase 1.", min=0.001)
    ranks: int = option(
        2, "Semantic ranks (the paper's N), from paraphrase to irrelevant.", min=2, max=64
    )
    classifier: str = option(
        "gmm",
        "Rank classifier: a Gaussian mixture, or a network of two layers.",
        choices=("gmm", "fcn"),
    )
    gmm_init: str = option(
        "moments",
        "How the mixture starts: moments of each rank over batches, unit (all ranks alike), "
        "or random.",
        choices=("moments", "unit", "random"),
    )
    gmm_learning_rate: float = option(3e-5, "Peak learning rate of the rank classifier.", min=0)
    freeze_gmm: bool = option(False, "Do not train the rank classifier in phase 2.")
    interp_rule: str = option(
        "uniform",
        "Rank of a mixture of a translation and another sentence: uniform, N equal parts; "
        "ceil, as in the paper.",
        choices=("uniform", "ceil"),
    )
    virtual_examples: int = option(
        0, "Mixtures per sentence in phase 1.", min=0, shown_default="one less than ranks"
    )
    self_positive: bool = option(
        True, "Count a sentence's own key as a paraphrase in phase 2; the paper does not say."
    )
    parallel_mix: float = option(
        0.0,
        "Share of the batches of phase 2 that are pairs, of rank 1 by definition.",
        min=0,
        max=1,
    )
    rank_ema: float | str = option(
        "auto",
        "Momentum of the average similarity of each rank (the paper's epsilon): a number "
        "from 0 to 1; auto: 0.999, and 0.99 in runs of fewer than 5,000 steps.",
    )
    rank_temperature_low: float = option(0.05, "Temperature of rank 1 in phase 2.", min=0.001)
    rank_temperature_high: float = option(0.1, "Temperature of rank N - 1 in phase 2.", min=0.001)
    em_epochs: int = option(0, "Epochs of phase 2.", min=0, shown_default="as --epochs")
    em_learning_rate: float = option(
        0.0,
        "Peak learning rate of the encoder in phase 2.",
        min=0,
        shown_default="0.0005 static, 0.0000033 transformer; at most --learning-rate",
    )

    def __post_init__(self) -> None:
        """Check the limits; a network learns in phase 1 or never."""
        super().__post_init__()
        object.__setattr__(self, "rank_ema", share_or_auto("rank_ema", self.rank_ema))
        if self.phase == "2" and self.classifier == "fcn":
            raise OptionError(
                "--classifier fcn learns in phase 1, which --phase 2 leaves out",
                "give --phase both, or --classifier gmm, which is estimated from the pairs",
            )

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Tell of each phase that is run."""
        second: dict[str, Any] = {"epochs": self.em_epochs or self.epochs}
        both = Stage("pairs", self), Stage("texts", replace(self, **second))
        return {"1": both[:1], "2": both[1:], "both": both}[self.phase]

    @property
    def largest_queue(self) -> int:
        """Count the keys at most, where no size is given: the paper's K."""
        return 256

    @property
    def estimates_ranks(self) -> bool:
        """Whether the rank classifier is one that is estimated, where it is lost."""
        return self.classifier == "gmm" and self.gmm_init == "moments"
