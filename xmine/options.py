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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

from xmine.errors import FileError, OptionError
from xmine.extras import plugin_names


def option(
    default: Any,  # noqa: ANN401 - whatever the field's type is
    help: str,
    group: str = "",
    *,
    min: float | None = None,
    max: float | None = None,
    choices: tuple[str, ...] = (),
    short: str = "",
    shown_default: str = "",
    words: tuple[str, ...] = (),
    commas: bool = True,
    only_if: str = "",
    plugins: str = "",
    preset: bool = False,
) -> Any:  # noqa: ANN401
    """Declare one option: a dataclass field with its help, limits and one-letter flag.

    `cli/found_options.toml` says what it may do in a file that nobody named, and
    `python tests/keywords.py` tells type checkers of it.

    Args:
        default: the value of the field; a dict or a list is copied.
        help: one sentence.
        group: title of the group in the help of the command, see `cli/from_options.py`.
        min: lowest number.
        max: highest number.
        choices: all values, of a list all that it may hold, which a shell completes.
        short: the one-letter flag.
        shown_default: how the help names an empty default; otherwise the help names none.
        words: that may stand in place of a number.
        commas: whether a text of a list may be several, with commas between.
        only_if: where the option has an effect, for `without_effect`.
        plugins: what other packages add to the choices, see `xmine.extras`.
        preset: whether files of options and presets have it, and the command line has not: it is
            for those who repeat a paper.
    """
    metadata = dict(locals())
    if isinstance(default, (dict, list)):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


class Options:
    """What every options dataclass inherits: its limits hold from the moment it exists."""

    # Of options whose value the command took from a file or variable: which one.
    origins: typing.ClassVar[Mapping[str, str]] = {}
    # Those that the command line, a file, a preset, or a variable gave, be it the default.
    given: typing.ClassVar[frozenset[str]] = frozenset()
    # Those of other classes that are no flag of this one, see `preset` of `option`.
    no_flags: typing.ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        """Add the help of each option to the docstring, for `help`."""
        inherited = {
            name: item
            for base in reversed(cls.__mro__[1:])
            for name, item in getattr(base, "__dataclass_fields__", {}).items()
        }
        own = {name: x for name, x in vars(cls).items() if isinstance(x, dataclasses.Field)}
        every = own | inherited | own  # its own first, and instead of those that it overrides
        said = [f"    {name}: {item.metadata['help']}" for name, item in every.items()]
        cls.__doc__ = "\n".join([f"{cls.__doc__ or ''}\n", "Attributes:", *said])

    @classmethod
    def merged(cls, file: dict[str, Any], flags: dict[str, Any]) -> dict[str, Any]:
        """Put options of the command line over those of a file."""
        return {**file, **flags}

    def __post_init__(self) -> None:
        """Check every field against its type and its limits."""
        hints = typing.get_type_hints(type(self))
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if hints[item.name] == float | str and not isinstance(value, bool):
                value = _number_or_word(called(item), value, item.metadata["words"])
                object.__setattr__(self, item.name, value)
            if not _fits(value, hints[item.name]):
                raise OptionError(
                    f"{called(item)} is {value!r}", f"give {in_words(hints[item.name])}"
                )
            if isinstance(value, list) and item.metadata["commas"]:
                names = [name for each in value for name in map(str.strip, each.split(",")) if name]
                if value and not names:
                    raise OptionError(f"{called(item)} is empty", "name something, or leave it out")
                object.__setattr__(self, item.name, value := names)
            _check(called(item), value, item.metadata)


def called(item: Any) -> str:  # noqa: ANN401 - a field of a dataclass
    """Name an option as users write it: the flag, or the key of a file where there is no flag."""
    return item.name if item.metadata["preset"] else flag(item.name)


def flag(name: str) -> str:
    """The command-line name of an option: `batch_size` is `--batch-size`."""
    return "--" + name.replace("_", "-")


def _number_or_word(name: str, text: Any, words: tuple[str, ...]) -> float | str:  # noqa: ANN401
    try:
        return text if text in words else float(text)
    except (OverflowError, TypeError, ValueError):
        hint = f"give a number, or {' or '.join(words)}"
        raise OptionError(f"{name} is {text!r}", hint) from None


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


def in_words(hint: Any) -> str:  # noqa: ANN401
    """Say what a value of a type is."""
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind is UnionType:
        return " or ".join(in_words(part) for part in parts if part is not NoneType)
    if kind is dict:
        return f"names, each with {in_words(parts[1])}, as in NAME=1"
    return "a list of texts" if kind is list else names[hint]


def check_choice(name: str, value: object, known: Iterable[str]) -> None:
    """Refuse a value that is none of those that are known."""
    if value not in (every := list(known)):
        raise OptionError(f"{name} is {value!r}", f"choose from {', '.join(every)}")


def _check(name: str, value: Any, metadata: Mapping[str, Any]) -> None:  # noqa: ANN401
    low, high, choices = metadata["min"], metadata["max"], metadata["choices"]
    for each in value if isinstance(value, list) else [value]:
        if (choices or metadata["plugins"]) and each not in choices:
            others = plugin_names(metadata["plugins"]) if metadata["plugins"] else []
            if each not in others:
                every = ", ".join([*choices, *others]) or "those of packages; none is installed"
                raise OptionError(f"{name} is {each!r}", f"choose from {every}")
    for each in value.values() if isinstance(value, dict) else ():
        _check(name, each, metadata)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if (low is not None or high is not None) and not math.isfinite(value):
            raise OptionError(f"{name} is {value}; it must be finite")
        if math.isnan(value):
            raise OptionError(f"{name} is nan", "give a number")
        if low is not None and not value >= low:
            raise OptionError(f"{name} is {value:g}; it must be at least {low:g}")
        if high is not None and not value <= high:
            percent = high == 1 and 10 <= value <= 100
            hint = f"did you mean {value / 100:g}?" if percent else ""
            raise OptionError(f"{name} is {value:g}; it must be at most {high:g}", hint)


def without_effect(options: Options, facts: Mapping[str, bool] | None = None) -> list[str]:
    """Name the changed options that have no effect, a text for each reason.

    An option declares its conditions, with ` & ` between: `only_if="stage=all|contrast"`,
    `only_if="ranks!=2 & phase!=1"`, `only_if="start!="` (a start is given). What is no field is a
    fact that the caller knows, in the words of the warning: with `only_if="--nli"` and
    `without_effect(options, {"--nli": False})` the text is `--nli-weight: no effect without
    --nli`. A fact that the caller does not name holds.
    """
    found: dict[str, list[str]] = {}
    usual = type(options)()
    for item in dataclasses.fields(options):  # type: ignore[arg-type]
        if getattr(options, item.name) == getattr(usual, item.name):
            continue
        conditions = filter(None, item.metadata["only_if"].split(" & "))
        reasons = (_unmet(options, each, facts or {}) for each in conditions)
        if reason := next(filter(None, reasons), ""):
            found.setdefault(reason, []).append(called(item))
    return [f"{', '.join(names)}: no effect {reason}" for reason, names in found.items()]


def _unmet(options: Options, condition: str, facts: Mapping[str, bool]) -> str:
    name, sign, words = re.fullmatch("(.*?)(?:(!?=)(.*))?", condition).groups()  # type: ignore[union-attr]
    if not sign:
        return "" if facts.get(name, True) else f"without {name}"
    item = next(each for each in dataclasses.fields(options) if each.name == name)  # type: ignore[arg-type]
    value, shown = getattr(options, name), called(item)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if (text in words.split("|")) == (sign == "="):
        return ""
    if isinstance(value, bool) or not text:
        return f"{'with' if value else 'without'} {shown}"
    return f"with {shown} {text}"


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


def check_names(values: Mapping[str, Any], known: set[str], where: Path) -> None:
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

    device: str = option(
        "auto",
        "Where the encoder runs: auto, cpu, cuda, or cuda:1 and so on.",
        "Speed and memory",
        only_if="a transformer",
    )
    dtype: str = option(
        "auto",
        "Number type of a transformer; auto: by the hardware and the model.",
        "Speed and memory",
        choices=("auto", "float32", "bfloat16", "float16"),
        only_if="a transformer",
    )
    batch_size: int = option(
        0,
        "Sentences of similar length that a transformer reads at once.",
        "Speed and memory",
        min=0,
        shown_default="32; on a GPU 512",
        only_if="a transformer",
    )
    max_length: int = option(
        0,
        "Cut sentences after this many tokens; 0: the limit of the encoder.",
        "Advanced",
        min=0,
        only_if="a transformer",
    )


@dataclass(frozen=True, kw_only=True)
class PromptOptions(Options):
    """What stands before the sentences of each side."""

    src_prompt: str = option(
        "",
        "Text before each source sentence, or the name of a prompt of the encoder.",
        "Advanced",
        shown_default="the encoder's default, if it has one",
        only_if="an encoder",
    )
    tgt_prompt: str = option(
        "",
        "Text before each target sentence, or the name of a prompt.",
        "Advanced",
        shown_default="the encoder's default, if it has one",
        only_if="an encoder",
    )

    @property
    def prompts(self) -> tuple[str, str]:
        """The prompts of the source and of the target."""
        return self.src_prompt, self.tgt_prompt
