"""The options that training methods share; no torch here, so that help costs nothing."""

from dataclasses import dataclass, replace
from typing import Self

from xmine.errors import OptionError
from xmine.options import Options, flag, option

SCRATCH = "scratch"
POOLINGS = ("", "mean", "max", "cls", "cls_mlp")
# Of options that may be 0 for what follows from data (`fitting.py`) or encoder, the least given.
_LEAST = {"held_out": 2, "max_pieces": 8, "vocabulary_size": 16, "batch_size": 2}


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(Options):
    """What every method needs: data, vocabulary, architecture, optimiser, checks on the way."""

    languages: str = option("en,zh", "Codes of the languages, those of the pairs' columns first.")
    source_weight: dict[str, float] = option(
        {},
        "NAME=W: visit pairs of origin NAME (third column) W times an epoch; repeatable.",
        min=0,
    )
    default_weight: float = option(1.0, "Visits an epoch of pairs of all other origins.", min=0)
    exclude: list[str] = option(
        [], "Leave out pairs with a side that occurs in this text file; repeatable."
    )
    limit_pairs: int = option(
        0,
        "Train on this many pairs, drawn by the seed; fewer are among more; 0: all.",
        min=0,
    )
    held_out: int = option(
        0,
        "Pairs kept apart to measure retrieval on; 0: by the data.",
        min=0,
        shown_default="2,000, or a sixth of fewer than 12,000 pairs",
    )

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
    max_pieces: int = option(
        0,
        "Pieces after which a transformer cuts a sentence, in training and in what is saved; 0: by "
        "the encoder.",
        min=0,
        shown_default="128, or as the encoder has it",
    )
    dropout: float | None = option(
        None,
        "Dropout of a transformer.",
        min=0,
        max=0.9,
        shown_default="0.1, or as the encoder has it",
    )
    start: str = option(
        "",
        "Static encoder with whose vocabulary and vectors a new transformer begins: a folder, or "
        "embedded.",
    )
    pooling: str = option(
        "",
        "What a transformer makes a sentence vector of; cls_mlp: cls, then the tanh layer (pooler) "
        "of a BERT checkpoint.",
        choices=POOLINGS,
        shown_default="mean, or as the encoder has it",
    )
    vocabulary_size: int = option(
        0,
        "Pieces of a new vocabulary; 0: by the data.",
        min=0,
        max=1_000_000,
        shown_default="a third of the pairs, from 2,500 to 32,000",
    )
    vocabulary_sample: int = option(
        1_000_000, "Sentences, half of each side, to train a vocabulary on.", min=2
    )

    epochs: int = option(
        0,
        "Passes over the data; 0: by the data.",
        min=0,
        shown_default="3; of a new encoder as many as make 300 steps",
    )
    steps: int = option(0, "Steps after which training ends; 0: after all passes.", min=0)
    batch_size: int = option(
        0,
        "Rows per step, of all processes together; 0: by the data.",
        min=0,
        shown_default="2,048, or an eighth of fewer than 16,384 rows",
    )
    piece_dropout: float | None = option(
        None,
        "Share of the pieces of each sentence that are left out at random.",
        min=0,
        max=0.9,
        shown_default="none; by msimcse half, of --texts, for an encoder without dropout",
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
    pieces_at_once: int = option(
        0,
        "Pieces, with padding, that go through a transformer's layers together; 0: by the device.",
        min=0,
        shown_default="1,024 on a processor, 32,768 on a GPU",
    )
    recompute: bool = option(
        False,
        "Compute a transformer's layers again for the gradients: any batch size in the memory of "
        "--pieces-at-once, but slower.",
    )
    logit_rows: int = option(
        0, "Rows of a batch whose logits are in memory together; 0: all.", min=0
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
        return replace(self, pooling="", max_pieces=0, dropout=None, piece_dropout=0.0)

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
