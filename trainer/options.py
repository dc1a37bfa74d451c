"""The options of training, shared and per method; no torch here, so that help costs nothing."""

from dataclasses import dataclass, replace
from typing import Any

from xmine.errors import OptionError, TrainingError
from xmine.options import Options, flag, option


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(Options):
    """What every method needs: data, vocabulary, architecture, optimiser, checks on the way."""

    languages: str = option("en,zh", "Codes of the source and the target language.")
    source_weight: dict[str, float] = option(
        {},
        "NAME=W: visit pairs of origin NAME (third column) W times an epoch; repeatable.",
        min=0,
    )
    default_weight: float = option(1.0, "Visits an epoch of pairs of all other origins.", min=0)
    exclude: list[str] = option(
        [], "Leave out pairs with a side that occurs in this text file; repeatable."
    )
    held_out: int = option(2000, "Pairs kept apart to measure retrieval on.", min=2)

    encoder: str = option(
        "scratch",
        "Encoder to begin with: a folder, a hub name, embedded, or scratch for a new one.",
    )
    architecture: str = option(
        "static", "Kind of a new encoder.", choices=("static", "transformer")
    )
    width: int = option(256, "Width of a new encoder's vectors.", min=8, max=4096)
    layers: int = option(2, "Layers of a new transformer.", min=1, max=48)
    heads: int = option(4, "Attention heads of a new transformer.", min=1, max=64)
    max_pieces: int = option(128, "Pieces after which a transformer cuts a sentence.", min=8)
    dropout: float = option(0.1, "Dropout of a new transformer.", min=0, max=0.9)
    start: str = option(
        "",
        "Static encoder with whose vocabulary and vectors a new transformer begins: a folder, or "
        "embedded.",
    )
    pooling: str = option(
        "",
        "What a transformer makes a sentence vector of.",
        choices=("", "mean", "max", "cls"),
        shown_default="mean, or as the encoder has it",
    )
    vocabulary_size: int = option(32_000, "Pieces of a new vocabulary.", min=16, max=1_000_000)
    vocabulary_sample: int = option(
        1_000_000, "Sentences, half of each side, to train a vocabulary on.", min=2
    )

    epochs: int = option(3, "Passes over the data.", min=1)
    steps: int = option(0, "Steps after which training ends; 0: after all passes.", min=0)
    batch_size: int = option(2048, "Rows per step, of all processes together.", min=2)
    piece_dropout: float = option(
        0.0, "Share of the pieces of each sentence that are left out at random.", min=0, max=0.9
    )
    learning_rate: float = option(
        0.0,
        "Peak learning rate; 0: by the encoder.",
        min=0,
        shown_default="0.01 static, 0.0003 transformer; of a trained one 0.003, 0.00002",
    )
    schedule: str = option(
        "linear", "How the rate falls after its peak.", choices=("linear", "cosine")
    )
    warmup: float = option(0.05, "Share of the steps in which it rises.", min=0, max=1)
    weight_decay: float = option(0.01, "Weight decay of matrices, but for piece vectors.", min=0)
    clip: float = option(0.0, "Longest gradient; longer ones are scaled down; 0: any.", min=0)
    near_batches: int = option(
        0,
        "Fill batches from groups of this many near neighbours after the first pass; 0: random.",
        min=0,
    )
    evaluate_every: int = option(
        0, "Steps between evaluations and checkpoints; 0: at the end of each pass.", min=0
    )
    dev: str = option(
        "",
        "File of pairs with people's scores: the state that agrees with them best is kept. Score, "
        "text, text with tabs between; .csv: text,text,score.",
        shown_default="none: the state that retrieves best",
    )
    seed: int = option(1, "Seed of everything random.", min=0)

    device: str = option("auto", "Where it trains: auto, cpu, cuda, or cuda:1 and so on.")
    dtype: str = option(
        "auto",
        "Number type a transformer multiplies in; auto follows from the hardware.",
        choices=("auto", "float32", "bfloat16", "float16"),
    )
    threads: int = option(
        0,
        "CPU threads; 0: as OMP_NUM_THREADS says, or all. Other counts may change the last bits.",
        min=0,
    )
    rows_at_once: int = option(
        256, "Sentences that go through a transformer's layers together.", min=1
    )
    recompute: bool = option(
        False,
        "Compute a transformer's layers again for the gradients: any batch size in the memory of "
        "--rows-at-once sentences, a third slower.",
    )
    logit_rows: int = option(
        0, "Rows of a batch whose logits are in memory together; 0: all.", min=0
    )

    def __post_init__(self) -> None:
        """Check the limits, and that there are two languages."""
        super().__post_init__()
        if self.learning_rate == 0 and set(self.encoders) == {"scratch"}:
            object.__setattr__(self, "learning_rate", self.rate_of_new)
        if self.start and (self.architecture == "static" or "scratch" not in self.encoders):
            raise OptionError("--start is for --architecture transformer, made from scratch")
        if len(self.languages.split(",")) != 2 or not all(self.languages.split(",")):
            raise OptionError(f"--languages is {self.languages!r}", "give two codes, as in en,zh")

    @property
    def encoders(self) -> tuple[str, ...]:
        """The names of what training begins with."""
        return (self.encoder,)

    @property
    def rate_of_new(self) -> float:
        """The learning rate that suits an encoder from scratch."""
        return 0.01 if self.architecture == "static" else 0.0003

    @property
    def starts_trained(self) -> bool:
        """Whether an encoder knows something before the first step."""
        return bool(self.start) or any(name != "scratch" for name in self.encoders)

    @property
    def stages(self) -> tuple[int, ...]:
        """Count the passes of each stage."""
        return (self.epochs,)

    @property
    def followers(self) -> tuple[str, ...]:
        """Name the encoders that read without gradients: momentum copies, teachers."""
        return ()

    def queues(self, rows: int) -> tuple[int, ...]:
        """Give the sizes of the queues, for so many rows of data."""
        del rows
        return ()

    def candidates(self, rows: int) -> tuple[int, ...]:
        """Give how many candidates a row is compared with, in each loss of a step."""
        return (min(self.batch_size, rows),)


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


@dataclass(frozen=True, kw_only=True)
class QueueOptions(TrainingOptions):
    """What methods with a queue of negatives share."""

    queue_size: int = option(
        0,
        "Keys of earlier batches that serve as negatives (MoCo's K); 0: a quarter of the data, at "
        "most 65,536.",
        min=0,
    )
    queue_init: str = option(
        "mask",
        "Before the queue is full: mask what is empty, fill it at random, or prefill it with keys.",
        choices=("mask", "random", "prefill"),
    )
    in_batch_negatives: bool = option(False, "Take the other rows of the batch as negatives, too.")

    def queue_for(self, rows: int) -> int:
        """Give the size of the queue for so many rows of data.

        Raises:
            TrainingError: it is larger than a quarter of them.
        """
        most = rows // 4
        if self.queue_size > most:
            raise TrainingError(
                f"--queue-size {self.queue_size:,} for {rows:,} rows: a row would meet its own "
                "translation of the pass before",
                f"--queue-size of at most {most:,}",
            )
        return self.queue_size or min(most, 65_536)

    def queues(self, rows: int) -> tuple[int, ...]:
        """Give the size of the one queue."""
        return (self.queue_for(rows),)

    def candidates(self, rows: int) -> tuple[int, ...]:
        """Count the keys of each queue, and the batch where it counts."""
        near = min(self.batch_size, rows) if self.in_batch_negatives else 1
        return tuple(near + size for size in self.queues(rows))


@dataclass(frozen=True, kw_only=True)
class MocoOptions(QueueOptions):
    """Dual momentum contrast: two encoders, two queues."""

    src_encoder: str = option(
        "",
        "Encoder of the source side, where each side has its own: as --encoder.",
        shown_default="one encoder for both sides",
    )
    tgt_encoder: str = option(
        "",
        "Encoder of the target side.",
        shown_default="one encoder for both sides",
    )
    temperature: float = option(0.04, "Temperature of the contrastive loss.", min=0.001)
    momentum: float | str = option(
        "auto",
        "How slowly key encoders follow (MoCo's m): a number from 0 to 1; auto is 1 - 20 / steps, "
        "at most 0.999.",
    )
    key_dropout: bool = option(False, "Leave dropout on in key encoders.")
    nli_weight: float = option(0.1, "Weight of the loss on --nli pairs.", min=0)
    nli_batch: int = option(128, "Labelled pairs per step.", min=1)
    nli_features: str = option(
        "uvd",
        "What a classifier sees of sentences u, v: uv, uvd with |u - v|, uvdm with u * v too.",
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
        if self.momentum != "auto":
            object.__setattr__(self, "momentum", _share("momentum", self.momentum))

    @property
    def encoders(self) -> tuple[str, ...]:
        """One for both sides, or one for each."""
        return (self.src_encoder, self.tgt_encoder) if self.src_encoder else (self.encoder,)

    @property
    def followers(self) -> tuple[str, ...]:
        """Name the key encoders."""
        return self.encoders

    def queues(self, rows: int) -> tuple[int, ...]:
        """Give the size of both queues."""
        return (self.queue_for(rows),) * 2


def _share(name: str, value: float | str) -> float:
    """Read a number from 0 to 1."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise OptionError(f"{flag(name)} is {value!r}", "give auto, or a number from 0 to 1")
    return number


@dataclass(frozen=True, kw_only=True)
class TransaugOptions(QueueOptions):
    """TransAug: a teacher is distilled into the other language and teaches a student from there."""

    stage: str = option(
        "all",
        "Stage to run; all: distil, contrast and, where there are triplets, nli.",
        choices=("all", "distil", "contrast", "nli"),
    )
    teacher: str = option(
        "embedded", "Encoder that is distilled: a folder, a hub name, or embedded."
    )
    teacher_language: str = option(
        "",
        "Language of teacher and student, one of --languages.",
        shown_default="en, or the first of --languages",
    )
    distilled_encoder: str = option(
        "scratch",
        "Encoder of the other language that the teacher is distilled into: as --encoder. --stage "
        "contrast takes it as it is.",
    )
    distil_both: bool = option(
        False, "Let the distilled encoder learn the teacher's own language, too."
    )
    distil_epochs: int = option(0, "Passes of the stage distil; 0: as --epochs.", min=0)
    distil_learning_rate: float = option(
        0.0, "Peak learning rate of the stage distil; 0: by the encoder.", min=0
    )
    temperature: float | str = option(
        "learnable", "Temperature of the stage contrast: a number, or learnable."
    )
    logit_scale_init: float = option(
        0.0, "Where a learnable temperature begins: log(1 / temperature).", min=0, max=4.6
    )
    train_teacher: bool = option(
        False, "Train the distilled encoder in the stage contrast, too, as two towers."
    )
    share_encoder: bool = option(
        False, "One encoder for both languages, in place of a teacher and a student."
    )
    nli_temperature: float = option(0.05, "Temperature of the stage nli.", min=0.001)
    nli_batch_size: int = option(128, "Triplets per step, of all processes together.", min=2)
    nli_epochs: int = option(0, "Passes of the stage nli; 0: as --epochs.", min=0)
    nli_learning_rate: float = option(
        0.0,
        "Peak learning rate of the stage nli; 0: of a trained encoder.",
        min=0,
        shown_default="0.003 static, 0.00002 transformer",
    )

    def __post_init__(self) -> None:
        """Check the limits, and what goes together."""
        super().__post_init__()
        codes = self.languages.split(",")
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
        """One for both languages, or one for each."""
        return (self.encoder,) if self.share_encoder else (self.encoder, self.distilled_encoder)

    @property
    def stages(self) -> tuple[int, ...]:
        """Count the passes of each stage that is run."""
        passes = {
            "distil": 0 if self.share_encoder else self.distil_epochs or self.epochs,
            "contrast": self.epochs,
            "nli": self.nli_epochs or self.epochs,
        }
        both = passes["distil"], passes["contrast"]  # the triplets are few beside the pairs
        return both if self.stage == "all" else (passes[self.stage],)

    @property
    def followers(self) -> tuple[str, ...]:
        """Name the encoders that are frozen: the teacher in distil, what it made in contrast."""
        found = [self.teacher] if self.stage in ("all", "distil") else []
        if self.stage in ("all", "contrast") and not self.train_teacher:
            found.append(self.distilled_encoder)
        return () if self.share_encoder else tuple(found)

    @property
    def teacher_column(self) -> int:
        """Tell which column of the pairs teacher and student read: 0 or 1."""
        codes = self.languages.split(",")
        return codes.index(self.teacher_language or ("en" if "en" in codes else codes[0]))

    def of_distillation(self) -> "TransaugOptions":
        """Give the options of the stage distil, in which the distilled encoder is what learns."""
        return replace(
            self,
            encoder=self.distilled_encoder,
            dev="",  # of which the teacher alone knows the language
            start=self.start if self.distilled_encoder == "scratch" else "",
            epochs=self.distil_epochs or self.epochs,
            learning_rate=self.distil_learning_rate,
        )

    def of_nli(self, learning_rate: float) -> "TransaugOptions":
        """Give the options of the stage nli; the rate is for where none was given."""
        return replace(
            self,
            epochs=self.nli_epochs or self.epochs,
            batch_size=self.nli_batch_size,
            learning_rate=self.nli_learning_rate or learning_rate,
        )


# Options with which the 178 pairs of the examples show all of it in seconds.
TRANSAUG_DEMONSTRATION: dict[str, Any] = {
    "held_out": 40,
    "vocabulary_size": 1400,
    "width": 512,  # of the embedded encoder, the teacher
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
class EmmaXOptions(QueueOptions):
    """Emma-X: a rank classifier and an encoder that teach each other on text without pairs."""

    phase: str = option(
        "both",
        "1 learns from pairs, 2 from text in which nothing is aligned; both, one after the other.",
        choices=("both", "1", "2"),
    )
    queue_size: int = option(
        256,
        "Keys of earlier batches to compare with (the paper's K); 0: a quarter of the data, at "
        "most 65,536.",
        min=0,
    )
    temperature: float = option(0.04, "Temperature of the contrastive loss of phase 1.", min=0.001)
    momentum: float | str = option(
        "auto",
        "How slowly the key encoder follows (MoCo's m): a number from 0 to 1; auto is "
        "1 - 20 / steps, at most 0.999.",
    )
    ranks: int = option(
        4, "Semantic ranks (the paper's N), from paraphrase to irrelevant.", min=2, max=64
    )
    classifier: str = option(
        "gmm",
        "What judges ranks: a Gaussian mixture, or a network of two layers.",
        choices=("gmm", "fcn"),
    )
    gmm_init: str = option(
        "moments",
        "How the mixture begins: moments of each rank over batches, unit (all ranks alike), or "
        "random.",
        choices=("moments", "unit", "random"),
    )
    gmm_learning_rate: float = option(3e-5, "Peak learning rate of the rank classifier.", min=0)
    freeze_gmm: bool = option(False, "Leave the rank classifier as phase 1 made it.")
    interp_rule: str = option(
        "uniform",
        "Rank of a mixture of a translation and another sentence: N equal parts, or the paper's "
        "ceil.",
        choices=("uniform", "ceil"),
    )
    virtual_examples: int = option(
        0, "Such mixtures per sentence in phase 1.", min=0, shown_default="one less than ranks"
    )
    label_smoothing: float = option(
        0.0, "Label smoothing of the rank classifier in phase 1.", min=0, max=0.9
    )
    self_positive: bool = option(
        True, "Count a sentence's own key as a paraphrase in phase 2; the paper does not say."
    )
    parallel_mix: float = option(
        0.0, "Share of the batches of phase 2 that are pairs, known to be of rank 1.", min=0, max=1
    )
    rank_ema: float | str = option(
        "auto",
        "How slowly a rank's similarity follows (the paper's epsilon): a number from 0 to 1; auto "
        "is 0.999, and 0.99 in runs of fewer than 5,000 steps.",
    )
    rank_temperature_low: float = option(0.05, "Temperature of rank 1 in phase 2.", min=0.001)
    rank_temperature_high: float = option(0.1, "Temperature of rank N - 1 in phase 2.", min=0.001)
    em_epochs: int = option(
        0, "Passes of phase 2 over its text.", min=0, shown_default="as --epochs"
    )
    em_learning_rate: float = option(
        0.0,
        "Peak learning rate of the encoder in phase 2.",
        min=0,
        shown_default="as --learning-rate, at most 0.003 static, 0.00002 transformer",
    )

    def __post_init__(self) -> None:
        """Check the limits; a network learns in phase 1 or never."""
        super().__post_init__()
        for name in ("momentum", "rank_ema"):
            value = getattr(self, name)
            if value != "auto":
                object.__setattr__(self, name, _share(name, value))
        if self.phase == "2" and self.classifier == "fcn":
            raise OptionError(
                "--classifier fcn learns in phase 1, which --phase 2 leaves out",
                "give --phase both, or --classifier gmm, which is estimated from the pairs",
            )

    @property
    def stages(self) -> tuple[int, ...]:
        """Count the passes of each phase that is run."""
        first, second = self.epochs, self.em_epochs or self.epochs
        return {"1": (first,), "2": (second,), "both": (first, second)}[self.phase]

    @property
    def followers(self) -> tuple[str, ...]:
        """Name the key encoder."""
        return self.encoders

    @property
    def estimates_ranks(self) -> bool:
        """Whether the rank classifier is one that is estimated, where it is lost."""
        return self.classifier == "gmm" and self.gmm_init == "moments"
