"""The options that training methods share; no torch here, so that help costs nothing."""

from dataclasses import dataclass, replace
from typing import Self

from xmine.errors import OptionError, TrainingError
from xmine.options import Options, flag, option

SCRATCH = "scratch"
POOLINGS = ("", "mean", "max", "cls", "cls_mlp")
# Of options that may be 0 for what follows from data (`fitting.py`) or encoder, the least given.
_LEAST = {"held_out": 2, "max_tokens": 8, "vocabulary_size": 16, "batch_size": 2}


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(Options):
    """What every method needs: data, vocabulary, architecture, optimiser, checks on the way."""

    languages: str = option(
        "en,zh", "Codes of the languages, those of the pairs' columns first.", "Input"
    )
    source_weight: dict[str, float] = option(
        {},
        "NAME=W: visit pairs of origin NAME (third column) W times an epoch; repeatable.",
        "Input",
        min=0,
    )
    default_weight: float = option(
        1.0, "Visits an epoch of pairs of all other origins.", "Input", min=0
    )
    exclude: list[str] = option(
        [], "Leave out pairs with a side that occurs in this text file; repeatable.", "Input"
    )
    limit_pairs: int = option(
        0,
        "Train on this many pairs, drawn by the seed; fewer are among more; 0: all.",
        "Input",
        min=0,
    )
    held_out: int = option(
        0,
        "Pairs kept apart to measure retrieval on; 0: by the data.",
        "Input",
        min=0,
        shown_default="2,000, or a sixth of fewer than 12,000 pairs",
    )

    encoder: str = option(
        "scratch",
        "Encoder to begin with: a folder, a hub name, embedded, or scratch for a new one.",
        "Most used",
    )
    architecture: str = option(
        "static", "Kind of a new encoder.", "Most used", choices=("static", "transformer")
    )
    dim: int = option(
        256, "Dimension of a new encoder's vectors.", "Encoder", min=8, max=4096, formerly="width"
    )
    layers: int = option(2, "Layers of a new transformer.", "Encoder", min=1, max=48)
    heads: int = option(4, "Attention heads of a new transformer.", "Encoder", min=1, max=64)
    max_tokens: int = option(
        0,
        "Tokens after which a transformer cuts a sentence, in training and in the saved encoder; "
        "0: by the encoder.",
        "Encoder",
        min=0,
        shown_default="128, or as the encoder has it",
        formerly="max_pieces",
    )
    dropout: float | None = option(
        None,
        "Dropout of a transformer.",
        "Encoder",
        min=0,
        max=0.9,
        shown_default="0.1, or as the encoder has it",
    )
    start: str = option(
        "",
        "Static encoder with whose vocabulary and vectors a new transformer begins: a folder, or "
        "embedded.",
        "Encoder",
    )
    pooling: str = option(
        "",
        "What a transformer makes a sentence vector of; cls_mlp: cls, then the tanh layer (pooler) "
        "of a BERT checkpoint.",
        "Encoder",
        choices=POOLINGS,
        shown_default="mean, or as the encoder has it",
    )
    vocabulary_size: int = option(
        0,
        "Pieces of a new vocabulary; 0: by the data.",
        "Encoder",
        min=0,
        max=1_000_000,
        shown_default="a third of the pairs, from 2,500 to 32,000",
    )
    vocabulary_sample: int = option(
        1_000_000, "Sentences, half of each side, to train a vocabulary on.", "Encoder", min=2
    )

    epochs: int = option(
        0,
        "Passes over the data; 0: by the data.",
        "Most used",
        min=0,
        shown_default="3; of a new encoder as many as make 300 steps",
    )
    steps: int = option(
        0, "Steps after which training ends; 0: after all passes.", "Quality", min=0
    )
    batch_size: int = option(
        0,
        "Rows per step, of all processes together; 0: by the data.",
        "Quality",
        min=0,
        shown_default="2,048, or an eighth of fewer than 16,384 rows",
    )
    token_dropout: float | None = option(
        None,
        "Share of the tokens of each sentence that are left out at random.",
        "Advanced",
        min=0,
        max=0.9,
        shown_default="none; by msimcse half, of --texts, for an encoder without dropout",
        formerly="piece_dropout",
    )
    learning_rate: float = option(
        0.0,
        "Peak learning rate; 0: by the encoder.",
        "Quality",
        min=0,
        shown_default="0.01 static, 0.0003 transformer; of a trained one 0.003, 0.00002",
    )
    schedule: str = option(
        "linear", "How the rate falls after its peak.", "Advanced", choices=("linear", "cosine")
    )
    warmup: float = option(0.05, "Share of the steps in which it rises.", "Advanced", min=0, max=1)
    weight_decay: float = option(
        0.01, "Weight decay of matrices, but for piece vectors.", "Advanced", min=0
    )
    clip: float = option(
        0.0, "Longest gradient; longer ones are scaled down; 0: any.", "Advanced", min=0
    )
    near_batches: int = option(
        0,
        "Fill batches from groups of this many near neighbours after the first pass; 0: random.",
        "Advanced",
        min=0,
    )
    evaluate_every: int = option(
        0,
        "Steps between evaluations and checkpoints; 0: at the end of each pass.",
        "Advanced",
        min=0,
    )
    dev: str = option(
        "",
        "File of pairs with people's scores: the state that agrees with them best is kept. Score, "
        "text, text with tabs between; .csv: text,text,score.",
        "Quality",
        shown_default="none: the state that retrieves best",
    )
    seed: int = option(1, "Seed of everything random.", "Advanced", min=0)

    device: str = option(
        "auto", "Where it trains: auto, cpu, cuda, or cuda:1 and so on.", "Speed and memory"
    )
    dtype: str = option(
        "auto",
        "Number type a transformer multiplies in; auto follows from the hardware.",
        "Speed and memory",
        choices=("auto", "float32", "bfloat16", "float16"),
    )
    threads: int = option(
        0,
        "CPU threads; 0: as OMP_NUM_THREADS says, or all. Other counts may change the last bits.",
        "Speed and memory",
        min=0,
    )
    tokens_at_once: int = option(
        0,
        "Tokens, with padding, that go through a transformer's layers together; 0: by the device.",
        "Speed and memory",
        min=0,
        shown_default="1,024 on a processor, 32,768 on a GPU",
        formerly="pieces_at_once",
    )
    recompute: bool = option(
        False,
        "Compute a transformer's layers again for the gradients: any batch size in the memory of "
        "--tokens-at-once, but slower.",
        "Speed and memory",
    )
    logit_rows: int = option(
        0, "Rows of a batch whose logits are in memory together; 0: all.", "Speed and memory", min=0
    )

    def __post_init__(self) -> None:
        """Check the limits, and that there are two languages or more."""
        super().__post_init__()
        for name, least in _LEAST.items():
            if 0 < (value := getattr(self, name)) < least:
                raise OptionError(f"{flag(name)} is {value}; it must be at least {least}")
        if self.learning_rate == 0 and set(self.encoders) == {SCRATCH}:
            object.__setattr__(self, "learning_rate", self.rate_of_new)
        if self.start and (self.architecture == "static" or SCRATCH not in self.encoders):
            raise OptionError("--start is for --architecture transformer, made from scratch")
        if len(self.codes) < 2 or not all(self.codes):
            raise OptionError(
                f"--languages is {self.languages!r}", "give two codes or more, as in en,zh"
            )

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the languages, those of the pairs' columns first."""
        return tuple(self.languages.split(","))

    @property
    def encoders(self) -> tuple[str, ...]:
        """The names of what training begins with."""
        return (self.encoder,)

    @property
    def learning(self) -> tuple[bool, ...]:
        """Tell of each of `encoders` whether it is trained."""
        return (True,) * len(self.encoders)

    @property
    def unread(self) -> tuple[str, ...]:
        """Name the options that choose an encoder which this run does not have."""
        return ()

    @property
    def unsaid_pooling(self) -> tuple[str, ...]:
        """Name the encoders that teach, where no option says how their vectors are pooled."""
        return ()

    def of_frozen(self) -> Self:
        """Give the options under which an encoder is read as it is."""
        return replace(self, pooling="", max_tokens=0, dropout=None, token_dropout=0.0)

    @property
    def rate_of_new(self) -> float:
        """The learning rate that suits an encoder from scratch."""
        return 0.01 if self.architecture == "static" else 0.0003

    @property
    def starts_trained(self) -> bool:
        """Whether an encoder knows something before the first step."""
        return bool(self.start) or any(name != SCRATCH for name in self.encoders)

    @property
    def judged_column(self) -> int:
        """Tell which side reads what is in one language, `--dev` and `--nli`: 0 or 1.

        The side of English; where neither is English, the first.
        """
        codes = self.codes[:2]
        return codes.index("en") if "en" in codes else 0

    @property
    def retrieves(self) -> bool:
        """Whether retrieval on what is held out is measured with the encoders that are trained."""
        return True

    @property
    def stages(self) -> "tuple[Stage, ...]":
        """Tell what each stage learns from, and how."""
        return (Stage("all", self),)

    @property
    def followers(self) -> tuple[str, ...]:
        """Name the encoders that read without gradients: momentum copies, teachers."""
        return ()

    def remembered(self, rows: int, dim: int, processes: int) -> int:
        """Count the numbers of a teacher's vectors that each process keeps."""
        del rows, dim, processes
        return 0


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a method, or all of a method that has none.

    Attributes:
        data: what a pass goes through: `pairs`, `triplets`, `texts` in which nothing is aligned,
            or `all` that there is.
        options: of the stage: passes, steps, batch.
    """

    data: str
    options: TrainingOptions


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

    @property
    def largest_queue(self) -> int:
        """Count the keys at most, where no size is given."""
        return 65_536

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
        return self.queue_size or min(most, self.largest_queue)


@dataclass(frozen=True, kw_only=True)
class MomentumOptions(QueueOptions):
    """What methods share whose keys come from a copy that follows the encoder slowly."""

    momentum: float | str = option(
        "auto",
        "How slowly key encoders follow (MoCo's m): a number from 0 to 1; auto is 1 - 20 / steps, "
        "at most 0.999.",
    )

    def __post_init__(self) -> None:
        """Check the limits, and turn a number that is given as text into one."""
        super().__post_init__()
        object.__setattr__(self, "momentum", share_or_auto("momentum", self.momentum))

    @property
    def followers(self) -> tuple[str, ...]:
        """Name the key encoders."""
        return self.encoders

    def momentum_over(self, steps: int) -> float:
        """Give the momentum of a run: what a key encoder follows is forgotten within 5 % of it.

        The rule of `auto` is ours: at 0.999 a run of 1,000 steps would end with keys of which a
        third are those of the untrained encoder.
        """
        if self.momentum == "auto":
            return min(0.999, max(0.0, 1 - 20 / max(1, steps)))
        return float(self.momentum)


def share_or_auto(name: str, value: float | str) -> float | str:
    """Read a number from 0 to 1, or auto.

    Raises:
        OptionError: it is neither; the message names the option.
    """
    if value == "auto":
        return value
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise OptionError(f"{flag(name)} is {value!r}", "give auto, or a number from 0 to 1")
    return number
