"""The options of training, shared and per method; no torch here, so that help costs nothing."""

from dataclasses import dataclass

from xmine.errors import OptionError
from xmine.options import Options, option


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

    architecture: str = option("static", "Kind of encoder.", choices=("static", "transformer"))
    width: int = option(256, "Width of the vectors.", min=8, max=4096)
    layers: int = option(2, "Layers of a transformer.", min=1, max=48)
    heads: int = option(4, "Attention heads of a transformer.", min=1, max=64)
    max_pieces: int = option(128, "Pieces after which a transformer cuts a sentence.", min=8)
    dropout: float = option(0.1, "Dropout of a transformer.", min=0, max=0.9)
    start: str = option(
        "",
        "Static encoder with whose vocabulary and vectors a transformer begins: a folder, or "
        "embedded.",
    )
    dtype: str = option(
        "auto",
        "Number type a transformer multiplies in; auto follows from the hardware.",
        choices=("auto", "float32", "bfloat16"),
    )
    vocabulary_size: int = option(32_000, "Pieces of the vocabulary.", min=16, max=1_000_000)
    vocabulary_sample: int = option(
        1_000_000, "Sentences, half of each side, to train the vocabulary on.", min=2
    )

    epochs: int = option(3, "Passes over the data.", min=1)
    batch_size: int = option(2048, "Pairs per step.", min=2)
    piece_dropout: float = option(
        0.0, "Share of the pieces of each sentence that are left out at random.", min=0, max=0.9
    )
    learning_rate: float = option(
        0.0,
        "Peak learning rate; 0: by architecture.",
        min=0,
        shown_default="0.01 static, 0.0003 transformer",
    )
    warmup: float = option(0.05, "Share of the steps in which it rises.", min=0, max=1)
    near_batches: int = option(
        0,
        "Fill batches from groups of this many near neighbours after the first pass; 0: random.",
        min=0,
    )
    evaluate_every: int = option(
        0, "Steps between evaluations and checkpoints; 0: at the end of each pass.", min=0
    )
    seed: int = option(1, "Seed of everything random.", min=0)
    threads: int = option(
        0,
        "CPU threads; 0: as OMP_NUM_THREADS says, or all. Other counts may change the last bits.",
        min=0,
    )

    def __post_init__(self) -> None:
        """Check the limits, and that there are two languages."""
        super().__post_init__()
        if self.learning_rate == 0:
            rate = 0.01 if self.architecture == "static" else 0.0003
            object.__setattr__(self, "learning_rate", rate)
        if self.start and self.architecture == "static":
            raise OptionError("--start is for --architecture transformer")
        if len(self.languages.split(",")) != 2 or not all(self.languages.split(",")):
            raise OptionError(f"--languages is {self.languages!r}", "give two codes, as in en,zh")


@dataclass(frozen=True, kw_only=True)
class MsimcseOptions(TrainingOptions):
    """mSimCSE with parallel pairs (its supervised strategy)."""

    temperature: float = option(0.05, "Temperature of the contrastive loss.", min=0.001)
    symmetric: bool = option(False, "Contrast target with source too, not only source with target.")
