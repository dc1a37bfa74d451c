"""Options of mining and of scoring aligned files, declared once."""

from dataclasses import dataclass
from typing import Any

from xmine.errors import OptionError
from xmine.flags.names import FLAGS
from xmine.hardware import bytes_of
from xmine.knn.index_name import count_lists
from xmine.options import EncodingOptions, Options, PromptOptions, flag, option
from xmine.pairs.pair import COLUMNS
from xmine.text.languages import check_code


@dataclass(frozen=True, kw_only=True)
class SideOptions(PromptOptions, EncodingOptions):
    """How two sides are encoded, and their languages."""

    no_flags = frozenset({"src_prompt", "tgt_prompt", "max_length"})

    src_lang: str = option(
        "",
        "Language code of the source, for flags, for cutting lines into sentences, and for file "
        "formats that name the language.",
        "Most used",
        shown_default="guessed",
    )
    tgt_lang: str = option("", "Language code of the target.", "Most used", shown_default="guessed")

    def __post_init__(self) -> None:
        """Check the limits, and the codes of languages."""
        super().__post_init__()
        for name in ("src_lang", "tgt_lang"):
            if code := getattr(self, name):
                check_code(code, flag(name))


@dataclass(frozen=True, kw_only=True)
class ScoringOptions(SideOptions):
    """How pairs are scored."""

    neighborhood: int = option(
        4, "Nearest neighbours per sentence.", "Advanced", min=1, max=1024, short="-k"
    )
    margin: str = option(
        "ratio",
        "How the margin score compares a cosine with the neighbourhood.",
        "Advanced",
        choices=("ratio", "distance", "absolute"),
    )
    rerank: str = option(
        "auto",
        "Rank candidates by how well their tokens match (tokens), or by the margin (off); auto: "
        "tokens, where one encoder reads both sides, lines have several words, and the margin is "
        "ratio.",
        "Quality",
        choices=("auto", "tokens", "off"),
    )


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(Options):
    """How text becomes the lines and sentences of a side."""

    segment: bool = option(False, "Cut lines into sentences first.", "Most used")
    join: bool = option(
        True, "Put the lines of paragraphs together where text is hard-wrapped.", "Input"
    )


_CUTS = {"threshold", "precision", "min_prob"}  # options that say where to cut


@dataclass(frozen=True, kw_only=True)
class MiningOptions(ReadingOptions, ScoringOptions):
    """How two sentence files become pairs."""

    threshold: float | str = option(
        "auto",
        "Pairs to keep: auto (for the highest expected F1), a lowest score, or gold (the best "
        "score for --gold).",
        "Most used",
        words=("auto", "gold"),
    )
    min_prob: float | None = option(
        None,
        "Keep pairs of this probability or more, instead of --threshold auto.",
        "Most used",
        min=0.0,
        max=1.0,
    )
    precision: float | None = option(
        None,
        "Expected precision, instead of --threshold auto: 0.99 keeps as many pairs as "
        "possible with 99 % of them expected to be right, none below a probability of 0.5.",
        "Most used",
        min=0.0,
        max=1.0,
    )
    top: int | None = option(
        None, "Keep the N most probable pairs; with another cut, N at most.", "Most used", min=1
    )
    keep_copies: bool = option(False, "Keep pairs with the same text on both sides.", "Quality")
    drop: list[str] = option(
        [],
        f"Drop pairs with any of these flags: {', '.join(FLAGS)}, or those of other packages.",
        "Most used",
        choices=FLAGS,
        plugins="flags",
    )
    merge: bool = option(
        False,
        "Merge pairs with the flag partial with the line beside that completes them, and give the "
        "lines of each pair (12-13); with a static encoder.",
        "Quality",
    )
    retrieval: str = option(
        "max",
        "max: greedy over both directions; fwd: best target per source; bwd: best source per "
        "target; intersect: mutual best.",
        "Advanced",
        choices=("max", "fwd", "bwd", "intersect"),
    )
    documents: str = option(
        "off",
        "Use documents as evidence for their pairs: auto (each file is a document), or the name of "
        "a column that has the document of each line.",
        "Quality",
        words=("auto", "off"),
    )
    keep: list[str] = option(
        [],
        "Columns of the inputs, such as url,id, that the pairs keep as source_url, target_url and "
        "so on.",
        "Input",
    )
    index: str = option(
        "auto",
        "How neighbours are searched: exact, auto (exact up to a fixed size), or by inverted "
        "lists, such as IVF4096,SQfp16.",
        "Speed and memory",
    )
    cache: bool = option(
        True,
        "Reuse cached sentence vectors, and cache new ones (see xmine cache).",
        "Speed and memory",
    )
    max_memory: str = option(
        "",
        "Memory limit, such as 4G or 500M; memory-mapped files are not counted.",
        "Speed and memory",
        shown_default="three quarters of what is free",
    )

    @classmethod
    def merged(cls, file: dict[str, Any], flags: dict[str, Any]) -> dict[str, Any]:
        """Put options of the command line over those of a file.

        A flag that says where to cut takes the place of what the file says of that; a score and a
        probability go together.
        """
        if given := _CUTS & flags.keys():
            score = flags.get("threshold", file.get("threshold", "auto"))
            if "precision" not in given and score not in ("auto", "gold"):
                given |= {"threshold", "min_prob"}
            file = {name: each for name, each in file.items() if name not in _CUTS - given}
        return {**file, **flags}

    def __post_init__(self) -> None:
        """Check the limits, and what goes together."""
        super().__post_init__()
        cuts = {"--precision": self.precision is not None, "--min-prob": self.min_prob is not None}
        cuts["--threshold"] = self.threshold != "auto"
        if isinstance(self.threshold, float):  # a score, below which a probability may cut further
            cuts["--min-prob"] = False
        if len(given := [name for name, is_given in cuts.items() if is_given]) > 1:
            raise OptionError(" and ".join(given), "both choose where to cut: give one of them")
        if self.merge and self.segment:
            raise OptionError("--merge and --segment", "xmine align --segment merges sentences")
        if taken := [name for name in self.keep if f"source_{name}" in COLUMNS]:
            raise OptionError(
                f"--keep {taken[0]}: pairs have a source_{taken[0]} of their own",
                "give the column another name",
            )
        if self.index != "auto":
            count_lists(self.index)
        bytes_of(self.max_memory)
