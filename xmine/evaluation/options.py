"""What each benchmark can be told, besides how the encoder runs. No numpy here: the command's help
is made of these.
"""

from dataclasses import dataclass
from pathlib import Path

from xmine.errors import OptionError
from xmine.options import EncodingOptions, option

MARGINS = ("ratio", "distance", "absolute")
STS_TASKS = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sickr")


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions(EncodingOptions):
    """What all benchmarks take."""

    prompt: str = option(
        "",
        "Text before each sentence, or the name of a prompt of the encoder.",
        shown_default="the encoder's default, if it has one",
    )
    pooling: str = option(
        "",
        "How a transformer pools token vectors; cls_mlp: cls, then its pooler; first_last: the "
        "mean of its first and last layers.",
        choices=("", "mean", "max", "cls", "cls_mlp", "first_last"),
        shown_default="as its folder says",
    )


@dataclass(frozen=True, kw_only=True)
class RerankingOptions(EvaluationOptions):
    """Rows of our own behind those of the papers."""

    rerank: str = option(
        "auto",
        "auto: measure a second time, with candidates reranked by their tokens as xmine mine does; "
        "off: only what papers measure.",
        choices=("auto", "off"),
    )


@dataclass(frozen=True, kw_only=True)
class LinesOptions(RerankingOptions):
    """When the line that was chosen is right."""

    textual: bool = option(False, "Count a line as found if the chosen line has the same text.")


@dataclass(frozen=True, kw_only=True)
class LanguageOptions(EvaluationOptions):
    """Which languages of a benchmark."""

    language: list[str] = option(
        [],
        "Measure only these languages, such as de,fr; all: whatever there is.",
        shown_default="those that the encoder was made for",
    )


@dataclass(frozen=True, kw_only=True)
class TatoebaOptions(LinesOptions, LanguageOptions):
    """Accuracy on Tatoeba."""


@dataclass(frozen=True, kw_only=True)
class FilesOptions(EvaluationOptions):
    """Which aligned files: two, or one for each language, or those of the data folder."""

    src: str = option("", "A text file; its line N is the translation of line N of --tgt.")
    tgt: str = option("", "The other text file.")
    files: str = option(
        "",
        "Aligned files of many languages, {} for the language: 'flores/dev/{}.dev'.",
        shown_default="those in the data folder",
    )

    @property
    def names_files(self) -> bool:
        """Whether files are named, which are then read in place of those of the data folder."""
        return bool(self.src or self.files)

    def __post_init__(self) -> None:
        """Check that the files are named in one way."""
        super().__post_init__()
        if bool(self.src) != bool(self.tgt):
            raise OptionError("--src and --tgt belong together", "give both")
        if self.src and self.files:
            raise OptionError("--files stands in the place of --src and --tgt", "give one of them")
        if self.files and (self.files.count("{}") != 1 or "{}" not in Path(self.files).name):
            raise OptionError(
                f"--files is {self.files!r}",
                "write {} once, in the name of the file, where the language stands",
            )


@dataclass(frozen=True, kw_only=True)
class AlignedOptions(FilesOptions, LanguageOptions):
    """Aligned files whose languages are compared with one of them."""

    pivot: str = option(
        "", "Language to compare all others with.", shown_default="English, or the first"
    )


@dataclass(frozen=True, kw_only=True)
class BitextOptions(LinesOptions, AlignedOptions):
    """Retrieval accuracy on aligned files."""


@dataclass(frozen=True, kw_only=True)
class BuccOptions(RerankingOptions):
    """F1 of mining on BUCC. What is left empty is as the protocol has it."""

    pair: list[str] = option(
        [],
        "Measure only these language pairs, such as zh-en,de-en; all: whatever there is.",
        shown_default="those that the encoder was made for",
    )
    protocol: str = option(
        "heldout",
        "Protocol to compare figures with: fixes margin, k, retrieval, repeated texts and "
        "threshold.",
        choices=("heldout", "laser", "st", "xtreme", "msimcse", "moco"),
    )
    margin: str = option(
        "",
        "How a cosine is compared with its neighbourhood.",
        choices=(*MARGINS, ""),
        shown_default="as the protocol has it",
    )
    neighborhood: int = option(
        0,
        "Nearest neighbours per sentence.",
        min=0,
        max=1024,
        short="-k",
        shown_default="as the protocol has it",
    )
    retrieval: str = option(
        "",
        "Which pairs are kept.",
        choices=("max", "fwd", "bwd", "intersect", ""),
        shown_default="as the protocol has it",
    )
    threshold_from: str = option(
        "",
        "What sets the threshold: gold pairs of training (F1 is on test), one hashed half of "
        "the ids (hash), or the measured pairs (oracle).",
        choices=("training", "hash", "oracle", ""),
        shown_default="as the protocol has it",
    )


@dataclass(frozen=True, kw_only=True)
class MarginOptions(EvaluationOptions):
    """How the line with the best margin score is found."""

    margin: str = option(
        "ratio",
        "How a cosine is compared with its neighbourhood; absolute is the nearest alone.",
        choices=MARGINS,
    )
    neighborhood: int = option(4, "Nearest neighbours per sentence.", min=1, max=1024, short="-k")


@dataclass(frozen=True, kw_only=True)
class XsimOptions(LinesOptions, MarginOptions, AlignedOptions):
    """Error rate of margin-based search on aligned files."""


@dataclass(frozen=True, kw_only=True)
class StsOptions(EvaluationOptions):
    """Semantic textual similarity."""

    task: list[str] = option(
        [],
        f"Measure only some of these sets: {', '.join(STS_TASKS)}.",
        choices=STS_TASKS,
        shown_default="all there are",
    )


@dataclass(frozen=True, kw_only=True)
class ReportOptions(EvaluationOptions):
    """A table of encoders."""

    benchmark: list[str] = option(
        [], "Only these benchmarks, such as tatoeba,bucc,sts.", shown_default="all there are"
    )
    resamples: int = option(1000, "Number of bootstrap resamples for intervals.", min=100)
    seed: int = option(1, "Seed of the resamples.", min=0, max=2**63 - 1)
