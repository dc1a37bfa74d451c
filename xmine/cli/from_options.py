"""Options dataclass -> command-line flags: a decorator that adds one flag per field.

Flags beat the file given with `--options`, the file beats the defaults. In the help each stands
under the title of its group, which is declared with it: `option(..., group="Output")` in the
dataclass, or `typer.Option(..., rich_help_panel="Output")` in a command.
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

METHOD = "The method"  # of the options of one training method, which name no group
GENERAL = "General"  # of the options that every command has
GROUPS: tuple[str, ...] = ("Most used", "Input", METHOD, "Encoder", "Quality", "Output")
GROUPS += ("Speed and memory", "Advanced", GENERAL)
_CONSOLE = {  # parameter -> names and help of its flag
    "quiet": ("-q --quiet", "Say nothing but warnings and errors."),
    "verbose": ("-v --verbose", "Say more."),
    "as_json": ("--json", "Print the summary or result as JSON."),
    "debug": ("--debug", "Show a traceback with an error."),
}
_OPTIONS = Annotated[
    Path | None, value("Read options from a TOML file; flags beat the file.", group="Advanced")
]


def with_console(command: Callable[..., None]) -> Callable[..., None]:
    """Add `-q`, `-v`, `--json` and `--debug`; the command gets them as `console`."""

    @functools.wraps(command)
    def wrapper(*, quiet: bool, verbose: bool, as_json: bool, debug: bool, **rest: Any) -> None:  # noqa: ANN401
        command(console=Console(quiet, verbose, as_json), **rest)

    flags = [
        _parameter(name, Annotated[bool, switch(names, help, group=GENERAL)], False)
        for name, (names, help) in _CONSOLE.items()
    ]
    return _with_signature(wrapper, command, "console", flags)


def with_given(kind: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a flag per field of a dataclass that declares flags; the command gets it as `given`."""
    hints = typing.get_type_hints(kind, include_extras=True)
    flags = [_parameter(name, hint, getattr(kind, name)) for name, hint in hints.items()]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapper(**rest: Any) -> None:  # noqa: ANN401
            command(given=kind(**{name: rest.pop(name) for name in hints}), **rest)

        return _with_signature(wrapper, command, "given", flags)

    return decorate


def with_options(
    kind: type[Options],
    refuse: Callable[[str], None] = lambda name: None,
    presets: Mapping[str, Path] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a flag per field of an options dataclass; the command gets one object, `options`.

    `refuse` is called with each name in `--options FILE` first: it may say more of a wrong one.
    `presets` are files that `--preset NAME` chooses; `--options FILE` beats them.
    """
    own = inspect.get_annotations(kind)
    every = dataclasses.fields(kind)  # type: ignore[arg-type]
    fields = sorted(every, key=lambda field: field.name not in own)
    hints = typing.get_type_hints(kind)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapper(*, context: typer.Context, options: Path | None, **given: Any) -> None:  # noqa: ANN401
            flags = {field.name: given.pop(field.name) for field in fields}
            asked, values = {}, dict[str, Any]()
            preset = None if presets is None else _preset(given.pop("preset"), presets)
            for file in filter(None, (preset, options)):
                values = kind.merged(values, _from_file(kind, file, refuse, given))
            for name, given_value in flags.items():
                source = context.get_parameter_source(name)
                if source is not None and source.name != "DEFAULT":
                    is_table = hints[name] == dict[str, float]
                    asked[name] = _table(name, given_value) if is_table else given_value
            command(options=kind(**kind.merged(values, asked)), **given)

        flags = [
            _parameter("context", typer.Context, inspect.Parameter.empty),
            _parameter("options", _OPTIONS, None),
            *([] if presets is None else [_parameter("preset", _preset_flag(presets), None)]),
            *(_flag(field, hints[field.name]) for field in fields),
        ]
        return _with_signature(wrapper, command, "options", flags)

    return decorate


def _preset_flag(presets: Mapping[str, Path]) -> Any:  # noqa: ANN401 - an annotation
    names = list(presets)
    flag = typer.Option(
        help=f"Method and options of a paper: {', '.join(names)}; --options and flags beat them.",
        metavar="NAME",
        rich_help_panel="Most used",
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


def _flag(field: dataclasses.Field[Any], hint: Any) -> inspect.Parameter:  # noqa: ANN401
    """Make the flag of a field."""
    name, about = field.name, field.metadata
    names = [flag(name), *filter(None, [about["short"]])]
    default: Any = field.default
    details: dict[str, Any] = {}
    help = about["help"]
    if NoneType in typing.get_args(hint):  # an option without a value of its own
        hint = next(part for part in typing.get_args(hint) if part is not NoneType)
        details = {"show_default": about["shown_default"] or "none"}
    if typing.get_origin(hint) in (dict, list):
        hint, default = list[str], []
        details = {"metavar": "<text>", "show_default": "none"}
        if about["choices"]:
            details["autocompletion"] = _completer(about["choices"])
    elif about["choices"]:
        hint = Literal[about["choices"]]
    elif hint in (int, float):
        details |= {"metavar": f"<{hint.__name__}>"}
        if about["max"] == 1:  # of a share the dataclass tells percent from nonsense
            help += f"  [{about['min']:g}<=x<=1]"
        else:
            details |= {"min": about["min"], "max": about["max"]}
    elif hint is bool:
        names = [f"{flag(name)}/--no-{name.replace('_', '-')}"]
    else:
        hint, details = str, {"metavar": "<text>"}
    details["rich_help_panel"] = about["group"]
    if default == "" or about["shown_default"]:
        details["show_default"] = about["shown_default"] or "none"
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


def _with_signature(
    wrapper: Callable[..., None],
    command: Callable[..., None],
    replaced: str,
    flags: list[inspect.Parameter],
) -> Callable[..., None]:
    """Show the wrapper to Typer as the command with `flags` in the place of one parameter."""
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(command).parameters.items()
        if name != replaced
    ]
    signature = inspect.Signature([*own, *flags])
    setattr(wrapper, "__signature__", signature)  # noqa: B010 - mypy knows no such attribute
    return wrapper


def group_of(parameter: Any) -> str:  # noqa: ANN401 - Typer's own, as everywhere here
    """Name the group of a parameter of a command."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    if parameter.name == "help":
        return GENERAL
    return getattr(parameter, "rich_help_panel", "") or METHOD


def write_groups(ctx: Any, formatter: Any, parameters: Iterable[Any]) -> None:  # noqa: ANN401
    """Write the help of parameters: arguments, then the groups in their order."""
    shown: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", *GROUPS)}
    for parameter in parameters:
        if row := parameter.get_help_record(ctx):  # None for a hidden one
            shown[group_of(parameter)].append(row)
    for title, rows in shown.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


class Grouped(typer.core.TyperCommand):
    """A command that shows its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write arguments, then groups."""
        write_groups(ctx, formatter, self.get_params(ctx))
