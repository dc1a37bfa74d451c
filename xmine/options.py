"""Options, declared once: a frozen dataclass field carries its default, help and limits.

The library takes the dataclass, the command makes flags of it (`cli/from_options.py`), a TOML
file holds it. Limits are checked when the object is made, whoever makes it.
"""

import dataclasses
import difflib
import json
import math
import numbers
import re
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

from xmine.errors import FileError, OptionError
from xmine.languages import CODES, is_language


def option(
    default: Any,  # noqa: ANN401 - whatever the field's type is
    help: str,
    *,
    min: float | None = None,
    max: float | None = None,
    choices: tuple[str, ...] = (),
    short: str = "",
    shown_default: str = "",
    words: tuple[str, ...] = (),
) -> Any:  # noqa: ANN401
    """Declare one option: a dataclass field with its help, limits and one-letter flag.

    `shown_default` is what the help says of a default that is empty; otherwise it says `none`.
    `words` are what a list may hold, with commas between or one by one; a shell completes them.
    """
    metadata = {
        "help": help,
        "min": min,
        "max": max,
        "choices": choices,
        "short": short,
        "shown_default": shown_default,
        "words": words,
    }
    if isinstance(default, (dict, list)):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


class Options:
    """What every options dataclass inherits: its limits hold from the moment it exists."""

    def __post_init__(self) -> None:
        """Check every field against its type and its limits."""
        hints = typing.get_type_hints(type(self))
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if not _fits(value, hints[item.name]):
                raise OptionError(
                    f"{flag(item.name)} is {value!r}", f"give {_in_words(hints[item.name])}"
                )
            _check(item.name, value, item.metadata)


def flag(name: str) -> str:
    """The command-line name of an option: `batch_size` is `--batch-size`."""
    return "--" + name.replace("_", "-")


def _fits(value: Any, hint: Any) -> bool:  # noqa: ANN401
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind is UnionType:
        return any(_fits(value, part) for part in parts)
    if kind is dict:
        return isinstance(value, dict) and all(_fits(each, parts[1]) for each in value.values())
    if kind is list:
        return isinstance(value, list) and all(_fits(each, parts[0]) for each in value)
    if hint in (int, float):  # numbers of numpy are as good as those of Python
        wanted = numbers.Integral if hint is int else numbers.Real
        return isinstance(value, wanted) and not isinstance(value, bool)
    return isinstance(value, hint)


def _in_words(hint: Any) -> str:  # noqa: ANN401
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind is UnionType:
        return " or ".join(_in_words(part) for part in parts if part is not NoneType)
    if kind is dict:
        return f"names, each with {_in_words(parts[1])}"
    return "a list of texts" if kind is list else names[hint]


def _check(name: str, value: Any, metadata: Mapping[str, Any]) -> None:  # noqa: ANN401
    low, high, choices = metadata["min"], metadata["max"], metadata["choices"]
    if choices and value not in choices:
        raise OptionError(f"{flag(name)} is {value!r}", f"choose from {', '.join(choices)}")
    for each in value.values() if isinstance(value, dict) else ():
        _check(name, each, metadata)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if (low is not None or high is not None) and not math.isfinite(value):
            raise OptionError(f"{flag(name)} is {value}; it must be finite")
        if low is not None and not value >= low:
            raise OptionError(f"{flag(name)} is {value:g}; it must be at least {low:g}")
        if high is not None and not value <= high:
            percent = high == 1 and 2 <= value <= 100
            hint = f"did you mean {value / 100:g}?" if percent else ""
            raise OptionError(f"{flag(name)} is {value:g}; it must be at most {high:g}", hint)


def load_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file of options.

    Raises:
        FileError: the file is missing or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # also numbers and brackets beyond its limits
        raise FileError(f"{path}: not a TOML file: {error}") from error


def check_names(values: dict[str, Any], known: set[str], where: Path) -> None:
    """Refuse an option that does not exist, and name the nearest that does."""
    for name in values:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
            raise FileError(f"{where}: there is no option {name!r}", hint)


def dump_toml(options: Any) -> str:  # noqa: ANN401 - any options dataclass
    """Write an options dataclass as TOML; fields that are None are left out."""
    values = {item.name: getattr(options, item.name) for item in dataclasses.fields(options)}
    tables = {name: value for name, value in values.items() if isinstance(value, dict)}
    plain = {name: value for name, value in values.items() if name not in tables}
    return "\n".join(filter(None, [_rows(plain), dump_tables(tables)]))


def dump_tables(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Write tables of names and values as TOML; what is None is left out."""
    return "\n".join(f"[{name}]\n{_rows(table)}" for name, table in tables.items())


def _rows(values: Mapping[str, Any]) -> str:
    given = {name: value for name, value in values.items() if value is not None}
    return "".join(f"{_key(name)} = {_in_toml(value)}\n" for name, value in given.items())


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _in_toml(value: Any) -> str:  # noqa: ANN401 - a number, a text, a list of them
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf, -inf, nan
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class EncodingOptions(Options):
    """How an encoder runs; a static one needs none of it."""

    device: str = option("auto", "Where it runs: auto, cpu, cuda, or cuda:1 and so on.")
    dtype: str = option(
        "auto",
        "Number type of a transformer; auto follows from hardware and model.",
        choices=("auto", "float32", "bfloat16", "float16"),
    )
    batch_size: int = option(
        32, "Sentences of like length that a transformer reads at once.", min=1
    )
    max_length: int = option(
        0, "Cut sentences after this many pieces; 0: as the encoder has it.", min=0
    )


# What makes a pair suspicious (xmine/flags.py), in the order of the column.
FLAGS = ("hub", "copy", "near-copy", "script", "length", "number", "high", "duplicate")


@dataclass(frozen=True, kw_only=True)
class MiningOptions(EncodingOptions):
    """How two sentence files become pairs."""

    threshold: float | str = option(
        "auto",
        "Where to cut: auto; gold, the best for --gold; or a number, the lowest score to keep.",
    )
    min_prob: float | None = option(
        None, "Lowest probability to keep, in place of auto.", min=0.0, max=1.0
    )
    precision: float | None = option(
        None,
        "In place of auto: 0.95 keeps as many pairs as it can with 95 % expected right; "
        "--min-prob asks it of each pair.",
        min=0.0,
        max=1.0,
    )
    top: int | None = option(
        None, "Keep the N most probable pairs; with another option that cuts, N at most.", min=1
    )
    score_max: float | None = option(None, "Highest score to keep.")
    keep_copies: bool = option(
        False, "Take pairs with the same text on both sides for translations; else they go."
    )
    drop: list[str] = option(
        [], f"Drop pairs with any of these flags: {', '.join(FLAGS)}.", words=FLAGS
    )
    neighborhood: int = option(4, "Nearest neighbours per sentence.", min=1, max=1024, short="-k")
    margin: str = option(
        "ratio",
        "How a cosine is compared with its neighbourhood.",
        choices=("ratio", "distance", "absolute"),
    )
    retrieval: str = option(
        "max",
        "Which pairs: best of either side first, best target, best source, best both ways.",
        choices=("max", "fwd", "bwd", "intersect"),
    )
    dedup: bool = option(True, "Fold repeated lines to their first occurrence before mining.")
    src_prompt: str = option(
        "",
        "Text before each source sentence, or a name of the encoder's own.",
        shown_default="the encoder's default, if it has one",
    )
    tgt_prompt: str = option(
        "", "The same for the target.", shown_default="the encoder's default, if it has one"
    )
    segment: bool = option(False, "Cut lines into sentences, English and Chinese, before mining.")
    index: str = option(
        "auto",
        "How neighbours are found: exact, auto, or a FAISS factory string such as "
        "IVF4096,SQfp16; auto is exact up to a fixed size.",
    )
    recall: float = option(
        0.98,
        "Share of the nearest neighbours that an index other than exact is to find.",
        min=0.5,
        max=1.0,
    )
    cache: bool = option(
        True, "Find vectors that were made before, and keep new ones: see xmine cache."
    )
    max_memory: str = option(
        "",
        "Memory to use at most, such as 4G or 500M; files that are mapped do not count.",
        shown_default="three quarters of what is free",
    )
    src_lang: str = option(
        "",
        "Code of the source language, for formats that name it and for the flag script.",
        shown_default="guessed",
    )
    tgt_lang: str = option("", "The same of the target language.", shown_default="guessed")

    def __post_init__(self) -> None:
        """Check the limits, and turn a threshold given as text into its number."""
        super().__post_init__()
        for name in ("src_lang", "tgt_lang"):
            code = getattr(self, name)
            if code and not is_language(code):
                raise OptionError(f"{flag(name)} is {code!r}", CODES)
        if self.threshold not in ("auto", "gold"):
            object.__setattr__(self, "threshold", _threshold(self.threshold))
        cuts = {"--precision": self.precision is not None, "--min-prob": self.min_prob is not None}
        cuts["--threshold"] = self.threshold != "auto"
        if isinstance(self.threshold, float):  # a score, below which a probability may cut further
            cuts["--min-prob"] = False
        if len(given := [name for name, is_given in cuts.items() if is_given]) > 1:
            raise OptionError(" and ".join(given), "both choose where to cut: give one of them")
        bytes_of(self.max_memory)
        if self.score_max is not None and math.isnan(self.score_max):
            raise OptionError("--score-max is nan", "give a number")
        for name in sorted(self.dropped_flags() - set(FLAGS)):
            raise OptionError(
                f"--drop: there is no flag {name!r}", f"choose from {', '.join(FLAGS)}"
            )

    def dropped_flags(self) -> set[str]:
        """Give the names in `drop`."""
        return {name.strip() for names in self.drop for name in names.split(",")} - {""}


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def bytes_of(size: str) -> int | None:
    """Read a size in bytes, such as 4G, 1.5GiB or 500M; None if it is empty.

    Raises:
        OptionError: it is no size.
    """
    if not size:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?", size.strip().upper())
    if not found or not float(found[1]):
        raise OptionError(f"--max-memory is {size!r}", "give a size such as 4G or 500M")
    return int(float(found[1]) * _UNITS[found[2]])


def _threshold(value: float | str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise OptionError(
            f"--threshold is {value!r}", "give a number such as 1.3, auto, or gold with --gold FILE"
        )
    return number


_OF_MINING = {each.name: each for each in dataclasses.fields(MiningOptions)}


def _as_in_mining(name: str) -> Any:  # noqa: ANN401 - whatever the field's type is
    """Declare an option as mining has it: default, help, limits and one-letter flag."""
    of_mining = _OF_MINING[name]
    return field(default=of_mining.default, metadata=of_mining.metadata)


@dataclass(frozen=True, kw_only=True)
class ScoringOptions(EncodingOptions):
    """How pairs that are aligned already are scored."""

    neighborhood: int = _as_in_mining("neighborhood")
    margin: str = _as_in_mining("margin")
    src_prompt: str = _as_in_mining("src_prompt")
    tgt_prompt: str = _as_in_mining("tgt_prompt")
    src_lang: str = _as_in_mining("src_lang")
    tgt_lang: str = _as_in_mining("tgt_lang")

    def __post_init__(self) -> None:
        """Check every field as mining does."""
        MiningOptions(**dataclasses.asdict(self))
