"""Dataclasses of options -> command-line flags: a decorator adds a flag for each field.

In the help each flag stands under the title of its group, which is declared with it:
`option(..., group="Output")` in the dataclass, or `typer.Option(..., rich_help_panel="Output")` in
a command. A command of many options shows the first group, and all with `--help-all`.
"""

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal

import typer
import typer.core

from xmine.cli.arguments import switch, value
from xmine.cli.console import Console
from xmine.errors import OptionError
from xmine.options import Options, check_names, flag, load_toml

MOST_USED = "Most used"
OTHER = "Options"  # that name no group
METHOD = "The method"  # of the options of one training method, which name no group
GENERAL = "General"  # of the options that every command has
GROUPS: tuple[str, ...] = (MOST_USED, OTHER, "Input", METHOD, "Encoder", "Quality", "Output")
GROUPS += ("Speed and memory", "Advanced", GENERAL)
# How the help names values of a kind, where the option does not say more.
_METAVARS = {"str": "<text>", "int range": "<int>", "float range": "<float>"}
_METAVARS |= dict.fromkeys("output triplets nli texts repair align exclude dev".split(), "<path>")
_METAVARS |= dict.fromkeys("model rescore encoder teacher start".split(), "<model>")
_MANY = 20  # options that a help shows; of more it shows those that are most used
HELP_ALL = "xmine.help_all"


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[HELP_ALL] = True
        print(context.get_help())
        raise typer.Exit


_CONSOLE: dict[str, Any] = {  # parameter -> its flag
    "quiet": switch("-q --quiet", "Say nothing but warnings and errors.", group=GENERAL),
    "verbose": switch("-v --verbose", "Say more.", group=GENERAL),
    "as_json": switch("--json", "Print the summary or result as JSON.", group=GENERAL),
    "debug": switch("--debug", "Show a traceback with an error.", group=GENERAL),
    "help_all": typer.Option(
        "--help-all",
        help="Show all options and exit.",
        is_eager=True,
        callback=_show_all,
        rich_help_panel=GENERAL,
    ),
}
_OPTIONS = Annotated[
    Path | None, value("Read options from a TOML file; flags beat the file.", group="Advanced")
]


def with_flags(
    command: Callable[..., None],
    kind: type[Options] | None = None,
    refuse: Callable[[str], None] = lambda name: None,
    presets: Mapping[str, Path] | None = None,
) -> Callable[..., None]:
    """Give a command the flags of its parameters `options`, `given` and `console`.

    `options` is of a class of Options, `given` of a dataclass that declares flags, and `console`
    stands for those that every command has.

    Args:
        command: the function.
        kind: the class of `options`, where the annotation does not say it.
        refuse: is called with each name in `--options FILE` first: may say more of a wrong one.
        presets: files that `--preset NAME` chooses; `--options FILE` beats them.
    """
    own, flags = [], list[inspect.Parameter]()
    given_kind: Any = None
    for name, parameter in inspect.signature(command).parameters.items():
        if name == "options":
            kind = kind or parameter.annotation
        elif name == "given":
            given_kind = parameter.annotation
        elif name != "console":
            own.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    given_hints = typing.get_type_hints(given_kind, include_extras=True) if given_kind else {}
    flags += [_parameter(*each, getattr(given_kind, each[0])) for each in given_hints.items()]
    hints = typing.get_type_hints(kind) if kind else {}
    if kind:
        first = inspect.get_annotations(kind)  # then what it inherits
        every = dataclasses.fields(kind)  # type: ignore[arg-type]
        fields = sorted(every, key=lambda each: each.name not in first)
        flags += [
            _parameter("context", typer.Context, inspect.Parameter.empty),
            _parameter("options", _OPTIONS, None),
            *([] if presets is None else [_parameter("preset", _preset_flag(presets), None)]),
            *(_flag(each, hints[each.name], METHOD if presets else OTHER) for each in fields),
        ]
    flags += [_parameter(name, Annotated[bool, each], False) for name, each in _CONSOLE.items()]

    @functools.wraps(command)
    def wrapper(*, quiet: bool, verbose: bool, as_json: bool, **values: Any) -> None:  # noqa: ANN401
        made: dict[str, Any] = {"console": Console(quiet, verbose, as_json)}
        del values["debug"], values["help_all"]
        if given_kind:
            made["given"] = given_kind(**{name: values.pop(name) for name in given_hints})
        if kind:
            made["options"] = _made(kind, hints, values, refuse, presets)
        command(**made, **values)

    signature = inspect.Signature([*own, *flags])
    setattr(wrapper, "__signature__", signature)  # noqa: B010 - mypy knows no such attribute
    return wrapper


def _made(
    kind: type[Options],
    hints: Mapping[str, Any],
    values: dict[str, Any],
    refuse: Callable[[str], None],
    presets: Mapping[str, Path] | None,
) -> Options:
    """Take the options out of the values of a command line, and put them over those of files."""
    context, options = values.pop("context"), values.pop("options")
    flags = {name: values.pop(name) for name in hints}
    asked, from_files = {}, dict[str, Any]()
    preset = None if presets is None else _preset(values.pop("preset"), presets)
    for file in filter(None, (preset, options)):
        from_files = kind.merged(from_files, _from_file(kind, file, refuse, values))
    for name, given_value in flags.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            is_table = hints[name] == dict[str, float]
            asked[name] = _table(name, given_value) if is_table else given_value
    return kind(**kind.merged(from_files, asked))


def _preset_flag(presets: Mapping[str, Path]) -> Any:  # noqa: ANN401 - an annotation
    names = list(presets)
    flag = typer.Option(
        help=f"Method and options of a paper: {', '.join(names)}; --options and flags beat them.",
        rich_help_panel=MOST_USED,
        show_default=False,
        autocompletion=lambda: names,
    )
    return Annotated[str | None, flag]


def _preset(name: str | None, presets: Mapping[str, Path]) -> Path | None:
    if name is not None and name not in presets:
        raise OptionError(f"--preset is {name!r}", f"choose from {', '.join(presets)}")
    return None if name is None else presets[name]


def _from_file(
    kind: type, path: Path, refuse: Callable[[str], None], own: Mapping[str, Any]
) -> dict[str, Any]:
    """Read options from a TOML file and check them, so that a message can name the file.

    `own` are the command's other parameters: files and the like, which no file of options names,
    but for the method that the options are for.
    """
    values, hints = load_toml(path), typing.get_type_hints(kind)
    try:
        method = values.pop("method", None) if "method" in own else None
        if method not in (None, own.get("method")):
            raise OptionError(
                f"is for --method {method}, and --method is {own['method']}", "give one of them"
            )
        for name, value in values.items():
            refuse(name)
            if name in own:
                raise OptionError(f"{name!r} is no option of a file", "give it on the command line")
            if hints.get(name) == list[str] and isinstance(value, str):
                values[name] = [value]  # as one flag is
        check_names(values, {field.name for field in dataclasses.fields(kind)}, path)
        kind(**values)
    except OptionError as error:
        raise OptionError(f"{path}: {error.message}", error.hint) from None
    return values


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:  # noqa: ANN401
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _flag(field: dataclasses.Field[Any], hint: Any, group: str) -> inspect.Parameter:  # noqa: ANN401
    """Make the flag of a field; `group` is that of a field that names none."""
    name, about = field.name, field.metadata
    names = [flag(name), *filter(None, [about["short"]])]
    default: Any = field.default
    details: dict[str, Any] = {}
    help = about["help"]
    if NoneType in typing.get_args(hint):  # an option without a value of its own
        hint = next(part for part in typing.get_args(hint) if part is not NoneType)
        details = {"show_default": about["shown_default"] or False}
    if typing.get_origin(hint) in (dict, list):
        hint, default = list[str], []
        details = {"show_default": False}
        if about["choices"]:
            details["autocompletion"] = _completer(about["choices"])
    elif about["choices"]:
        hint = Literal[about["choices"]]
    elif hint in (int, float):
        if about["max"] == 1:  # of a share the dataclass tells percent from nonsense
            help += f"  [{about['min']:g}<=x<=1]"
        else:
            details |= {"min": about["min"], "max": about["max"]}
    elif hint is bool:
        names = [f"{flag(name)}/--no-{name.replace('_', '-')}"]
    else:
        hint = str
        if about["words"]:
            details["autocompletion"] = _completer(about["words"])
    details["rich_help_panel"] = about["group"] or group
    if default == "" or about["shown_default"]:
        details["show_default"] = about["shown_default"] or False
    option = typer.Option(*names, help=help, **details)
    return _parameter(
        name, Annotated[hint if default is not None else hint | None, option], default
    )


def _completer(words: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Make what completes the last of some words with commas between."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [before + comma + word for word in words if word not in before.split(",")]

    return complete


def _table(name: str, items: list[str]) -> dict[str, float]:
    """Turn repeated `NAME=NUMBER` into a dict."""
    table = {}
    for item in items:
        key, _, number = item.rpartition("=")
        try:
            table[key] = float(number)
        except ValueError:
            key = ""
        if not key:
            raise OptionError(f"{flag(name)} is {item!r}", "write NAME=NUMBER")
    return table


def group_of(parameter: Any) -> str:  # noqa: ANN401 - Typer's own, as everywhere here
    """Name the group of a parameter of a command."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    if parameter.name == "help":
        return GENERAL
    return getattr(parameter, "rich_help_panel", "") or OTHER


def write_groups(ctx: Any, formatter: Any, parameters: Iterable[Any]) -> None:  # noqa: ANN401
    """Write the help of parameters: arguments, then the groups in their order."""
    shown: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", *GROUPS)}
    for parameter in parameters:
        if row := parameter.get_help_record(ctx):  # None for a hidden one
            shown[group_of(parameter)].append(row)
    every = sum(map(len, shown.values())) - len(shown["Arguments"]) - 1  # which shows the others
    if every > _MANY and shown[MOST_USED] and HELP_ALL not in ctx.meta:
        helps = [("--help-all", f"Show all {every} options and exit."), shown[GENERAL][-1]]
        shown = {name: shown[name] for name in ("Arguments", MOST_USED, METHOD)}
        shown[MOST_USED] += helps
    else:
        shown[GENERAL] = [row for row in shown[GENERAL] if row[0] != "--help-all"]
    for title, rows in ((title, rows) for title, rows in shown.items() if rows):
        with formatter.section(title):
            formatter.write_dl(rows)


class Command(typer.core.TyperCommand):
    """A command that shows its options in groups, and names alike what they take alike."""

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401
        """Name the kinds of values."""
        super().__init__(*args, **more)
        for each in self.params:
            if each.param_type_name == "option" and each.metavar is None:
                each.metavar = _METAVARS.get(each.name or "") or _METAVARS.get(each.type.name)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write arguments, then groups."""
        write_groups(ctx, formatter, self.get_params(ctx))
