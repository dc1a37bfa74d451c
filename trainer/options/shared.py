"""The options that training methods share; no torch here, so that help costs nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from xmine.errors import OptionError
from xmine.options import PromptOptions, flag, option

SCRATCH, AUTO, EMBEDDED = "scratch", "auto", "embedded"
MOST_RATE = 1e37  # of learning; ten times that, a step of Adam, is a float32
POOLINGS = ("", "mean", "max", "cls", "cls_mlp")
# Of options that may be 0 for what follows from data (`fitting.py`) or encoder, the least given.
_LEAST = {"held_out": 2, "max_tokens": 8, "vocabulary_size": 16, "batch_size": 2}


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(PromptOptions):
    """What every method needs: data, vocabulary, architecture, optimiser, checks on the way."""

    no_flags = frozenset({"src_prompt", "tgt_prompt"})

    languages: str = option(
        "en,zh",
        "Language codes; the first two are those of the columns of PAIRS, unless a file says its "
        "own; of several files of PAIRS, the names of the files say them.",
        "Most used",
    )
    source_weight: dict[str, float] = option(
        {},
        "NAME=W: take pairs of origin NAME (third column) W times per epoch; repeatable.",
        "Input",
        min=0,
        max=1000,
    )
    default_weight: float = option(
        1.0,
        "How often an epoch takes pairs of all other origins.",
        "Input",
        min=0,
        max=1000,
        preset=True,
    )
    exclude: list[str] = option(
        [],
        "Leave out pairs if this file, of text or of pairs, has one of their sides; repeatable.",
        "Input",
        commas=False,
    )
    language_alpha: float = option(
        0.5,
        "Sampling weight of each of several files of PAIRS: a file with a share p of the pairs is "
        "sampled in proportion to p^alpha, for training and for a new vocabulary; 1: keep the "
        "shares, 0: all files equal.",
        "Input",
        min=0,
        max=1,
        only_if="several files of PAIRS",
        preset=True,
    )
    limit_pairs: int = option(
        0,
        "Train on a random sample of this many pairs; a larger sample contains the smaller "
        "ones; 0: all.",
        "Input",
        min=0,
        preset=True,
    )
    held_out: int = option(
        0,
        "Pairs (or texts, cut in two) held out to measure retrieval; 0: by the size of the data.",
        "Input",
        min=0,
        shown_default="2,000, or a sixth of fewer than 12,000 different pairs; of several files "
        "2,000 together, but 500 of each of more than four, and at most a sixth of a file",
    )

    held_out_origins: list[str] = option(
        [],
        "Fit what reranks candidates to pairs of this origin (third column), too, and train on "
        "none of them; repeatable.",
        "Input",
        preset=True,
    )

    encoder: str = option(
        AUTO,
        "Encoder to start from: a folder, a Hugging Face name, embedded, or scratch for a new one; "
        "auto: embedded for fewer than 100,000 pairs, unless an option asks for a new one.",
        "Most used",
        only_if="a student",
    )
    architecture: str = option(
        "static",
        "Architecture of a new encoder.",
        "Most used",
        choices=("static", "transformer"),
        only_if="a new encoder",
    )
    dim: int = option(
        256,
        "Dimension of a new encoder's vectors.",
        "Encoder",
        min=8,
        max=4096,
        only_if="a new encoder",
    )
    layers: int = option(
        2, "Layers of a new transformer.", "Encoder", min=1, max=48, only_if="a new transformer"
    )
    heads: int = option(
        4,
        "Attention heads of a new transformer.",
        "Encoder",
        min=1,
        max=64,
        only_if="a new transformer",
        preset=True,
    )
    max_tokens: int = option(
        0,
        "Tokens after which a transformer cuts a sentence, in training and in the saved "
        "encoder; 0: by the encoder.",
        "Encoder",
        min=0,
        shown_default="128, or as the encoder has it",
        only_if="a transformer that learns",
    )
    dropout: float | None = option(
        None,
        "Dropout of a transformer.",
        "Encoder",
        min=0,
        max=0.9,
        shown_default="0.1, or as the encoder has it",
        only_if="a transformer that learns",
        preset=True,
    )
    start: str = option(
        "",
        "Static encoder whose vocabulary and vectors initialize a new transformer: a folder, "
        "or embedded.",
        "Encoder",
        only_if="a new transformer",
    )
    pooling: str = option(
        "",
        "How a transformer pools token vectors into a sentence vector; cls_mlp: cls, then "
        "the tanh layer (pooler) of a BERT checkpoint.",
        "Encoder",
        choices=POOLINGS,
        shown_default="mean, or as the encoder has it",
        only_if="a transformer that learns",
        preset=True,
    )
    vocabulary_size: int = option(
        0,
        "Tokens of a new vocabulary; 0: by the size of the data.",
        "Encoder",
        min=0,
        max=1_000_000,
        shown_default="a third of the pairs, but at least 2,500 and 1.5 times the characters, and "
        "at most 16,000 for each language",
        only_if="a new vocabulary",
    )
    vocabulary_sample: int = option(
        1_000_000,
        "Sentences to train a vocabulary on, half of them from each side; of several files of "
        "PAIRS see language_alpha.",
        "Encoder",
        min=2,
        only_if="a new vocabulary",
        preset=True,
    )

    epochs: int = option(
        0,
        "Epochs: passes over the data; 0: by the size of the data.",
        "Most used",
        min=0,
        shown_default="3; of a new encoder as many as make 300 steps, of a trained static one 100",
    )
    steps: int = option(0, "Stop after this many steps; 0: after all epochs.", "Quality", min=0)
    batch_size: int = option(
        0,
        "Rows per step, over all processes; 0: by the size of the data.",
        "Quality",
        min=0,
        shown_default="2,048, or for fewer than 16,384 rows the largest power of two in an eighth",
        only_if="another stage than nli",
    )
    token_dropout: float | None = option(
        None,
        "Share of the tokens of each sentence to leave out at random.",
        "Advanced",
        min=0,
        max=0.9,
        shown_default="none; of few pairs for a trained static encoder 0.2; by msimcse half, of "
        "--texts, for an encoder without dropout",
        preset=True,
    )
    learning_rate: float = option(
        0.0,
        "Peak learning rate; 0: by the encoder.",
        "Quality",
        min=0,
        max=MOST_RATE,
        shown_default="0.01 static, 0.0003 transformer; of a trained one 0.003, 0.00002",
    )
    schedule: str = option(
        "linear",
        "How the learning rate falls after the peak.",
        "Advanced",
        choices=("linear", "cosine"),
        preset=True,
    )
    warmup: float = option(
        0.05,
        "Share of the steps in which the learning rate rises.",
        "Advanced",
        min=0,
        max=1,
        preset=True,
    )
    weight_decay: float = option(
        0.01, "Weight decay of matrices; token vectors have none.", "Advanced", min=0, preset=True
    )
    clip: float = option(
        0.0,
        "Largest norm of the gradient; a larger gradient is scaled down; 0: no limit.",
        "Advanced",
        min=0,
        preset=True,
    )
    batches: str = option(
        "mixed",
        "Of several files of PAIRS: batches of all of them mixed, or of one each.",
        "Advanced",
        choices=("mixed", "language"),
        only_if="several files of PAIRS",
        preset=True,
    )
    near_batches: int = option(
        0,
        "After the first epoch fill batches with groups of this many near neighbours; 0: "
        "random batches.",
        "Advanced",
        min=0,
        preset=True,
    )
    negatives: int = option(
        0,
        "Hard negatives of each pair: so many near sentences of other pairs that are probably no "
        "translations, mined with the encoder as it is; with a new one after 20 steps, or half of "
        "its first epoch.",
        "Quality",
        min=0,
        max=64,
        only_if="a contrast of pairs",
    )
    refresh_negatives: int = option(
        0,
        "Steps after which hard negatives are mined anew, among the pairs of as many steps.",
        "Advanced",
        min=0,
        shown_default="those of an epoch, or of 65,536 pairs",
        only_if="negatives!=0",
        preset=True,
    )
    guide: str = option(
        "",
        "Encoder that tells which hard negatives may be translations; see --encoder.",
        "Advanced",
        shown_default="the one that learns",
        only_if="negatives!=0",
        preset=True,
    )
    evaluate_every: int = option(
        0,
        "Steps between evaluations and checkpoints; 0: one epoch.",
        "Advanced",
        min=0,
        preset=True,
    )
    dev: str = option(
        "",
        "File of pairs with human scores; training keeps the checkpoint that agrees best. "
        "Columns: score, text, text, with tabs between; in a .csv: text,text,score.",
        "Quality",
        shown_default="none: the state that retrieves best",
        only_if="a student",
    )
    log_with: str = option(
        "",
        "Send what metrics.jsonl gets to an experiment tracker, too, as project xmine.",
        "Advanced",
        choices=("", "trackio", "wandb"),
    )
    seed: int = option(1, "Seed of all random numbers.", "Advanced", min=0, max=2**63 - 1)

    device: str = option(
        "auto", "Where training runs: auto, cpu, cuda, or cuda:1 and so on.", "Speed and memory"
    )
    dtype: str = option(
        "auto",
        "Number type of a transformer's matrix products; auto: by the hardware.",
        "Speed and memory",
        choices=("auto", "float32", "bfloat16", "float16"),
    )
    threads: int = option(
        0,
        "CPU threads; 0: OMP_NUM_THREADS, or all. The number may change the last bits of results.",
        "Speed and memory",
        min=0,
    )
    tokens_at_once: int = option(
        0,
        "Tokens, with padding, that a transformer reads at once; 0: by the device.",
        "Speed and memory",
        min=0,
        shown_default="1,024 on a processor, 32,768 on a GPU",
        preset=True,
    )
    gradient_accumulation: int = option(
        1,
        "Parts in which a process reads its rows of a batch, each with its own negatives in the "
        "batch; recompute needs as little memory and keeps those of the whole batch.",
        "Speed and memory",
        min=1,
    )
    lora: int = option(
        0,
        "Rank of LoRA: train two thin matrices beside each linear layer of a trained transformer, "
        "which are merged into it at the end; 0: train all weights.",
        "Encoder",
        min=0,
        only_if="a transformer that learns",
    )
    compile: bool = option(
        False,
        "Compile a transformer by torch.compile: slow to begin, then faster on a GPU.",
        "Speed and memory",
        only_if="a transformer that learns",
        preset=True,
    )
    recompute: bool = option(
        False,
        "Compute the activations of a transformer twice: any batch size fits the memory of "
        "tokens_at_once, but training is slower.",
        "Speed and memory",
        only_if="a transformer that learns",
        preset=True,
    )
    attention: str = option(
        "",
        "Attention of a transformer, as transformers has it; flash_attention_2 skips padding, and "
        "needs a GPU and the package flash-attn.",
        "Speed and memory",
        choices=("", "eager", "sdpa", "flash_attention_2", "flash_attention_3"),
        only_if="a transformer that learns",
        preset=True,
    )
    deterministic: bool = option(
        False,
        "On a GPU, too, give the same bits each time: slower, but a resumed run ends as an "
        "unbroken one.",
        "Speed and memory",
        only_if="a transformer that learns",
        preset=True,
    )

    def __post_init__(self) -> None:
        """Check the limits, and that there are two languages or more."""
        super().__post_init__()
        for name, least in _LEAST.items():
            if 0 < (value := getattr(self, name)) < least:
                raise OptionError(f"{flag(name)} is {value}; it must be at least {least}")
        if self.learning_rate == 0 and set(self.encoders) == {SCRATCH}:
            object.__setattr__(self, "learning_rate", self.rate_of_new)
        if self.start and (
            self.architecture == "static" or {SCRATCH, AUTO}.isdisjoint(self.encoders)
        ):
            raise OptionError("--start is for --architecture transformer, made from scratch")
        codes = [each.strip() for each in self.languages.split(",")]
        object.__setattr__(self, "languages", ",".join(codes))
        if len(set(codes)) < max(2, len(codes)) or not all(codes):
            raise OptionError(
                f"--languages is {self.languages!r}",
                "give two different codes or more, as in en,zh",
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

    def of_frozen(self) -> Self:
        """Give the options under which an encoder is read as it is."""
        return replace(self, pooling="", max_tokens=0, dropout=None, token_dropout=0.0, lora=0)

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

    def taught_language(self, languages: Sequence[str]) -> str:
        """Tell which of the languages of pairs all pairs must have; empty: none."""
        del languages
        return ""

    @property
    def learns_from(self) -> str:
        """Tell what the first pass goes through: pairs, triplets, texts, or all that there is."""
        return "all"
