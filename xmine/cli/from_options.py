"""Dataclasses of options -> command-line flags: a decorator adds a flag for each field.

In the help each flag stands under the title of its group, which is declared with it:
`option(..., group="Output")` in the dataclass, or `typer.Option(..., rich_help_panel="Output")` in
a command. A command of many options shows the first group, and all with `--help-all`.
"""

import dataclasses
import functools
import inspect
import re
import shlex
import typing
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal

import typer
import typer.core

from xmine.cli.arguments import switch
from xmine.cli.console import Console
from xmine.cli.settings import NAME, Settings, key_of, read_settings, variable_of
from xmine.errors import OptionError
from xmine.files.reading import exists
from xmine.options import Options, check_choice, flag, load_toml

MOST_USED = "Most used"
OTHER = "Options"  # that name no group
METHOD = "The method"  # of the options of one training method, which name no group
GENERAL = "General"  # of the options that every command has
GROUPS: tuple[str, ...] = (MOST_USED, OTHER, "Input", METHOD, "Encoder", "Quality", "Output")
GROUPS += ("Speed and memory", "Advanced", GENERAL)
# How the help names values of a kind, where the option does not say more.
_METAVARS = {"str": "<text>", "int range": "<int>", "float range": "<float>"}
_METAVARS |= dict.fromkeys("output triplets nli texts repair align exclude dev".split(), "<path>")
_METAVARS |= dict.fromkeys("model rescore encoder teacher start extend".split(), "<model>")
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_SHOWN = 3  # arguments that are too many
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


def with_flags(
    command: Callable[..., None],
    kind: type[Options] | None = None,
    refuse: Callable[[str], None] = lambda name: None,
    presets: Mapping[str, Path] | None = None,
) -> Callable[..., None]:
    """Give a command the flags of its parameters, of the fields of `options`, and of `console`.

    `options` is of a class of Options, `kind` where the annotation does not say it; `console`
    stands for the flags that every command has. `refuse`: see `read_settings`; `presets` are files
    that `--preset NAME` chooses; other files beat them.
    """
    flags, helps = list[inspect.Parameter](), _documented(getattr(command, "func", command))
    for name, parameter in inspect.signature(command).parameters.items():
        if name == "options":
            kind = kind or parameter.annotation
        elif name != "console":
            flags.append(
                _parameter(name, parameter.annotation, parameter.default, helps.get(name, ""))
            )
    fields = _own_first(kind) if kind else {}
    if presets:
        choice = typer.Option(
            help=f"Method and options of a paper: {', '.join(presets)}; --options and flags beat "
            "them.",
            rich_help_panel=MOST_USED,
            show_default=False,
            autocompletion=lambda: list(presets),
        )
        flags.append(_parameter("preset", Annotated[str | None, choice], None))
    no_flags: frozenset[str] = getattr(kind, "no_flags", frozenset())
    group = METHOD if presets else OTHER
    flags += [_flag(*each, group, name in no_flags) for name, each in fields.items()]

    def read(context: typer.Context, file: Path | None) -> Path | None:
        if not context.resilient_parsing:
            merged = kind.merged if kind else dict[str, Any].__or__
            context.meta[NAME] = read_settings(file, context, merged, refuse)
            context.default_map = context.meta[NAME].defaults(context, fields.keys())
        return file

    about = "File of options, instead of the nearest xmine.toml; flags beat it."
    if no_flags or any(each.metadata["preset"] for each, _ in fields.values()):
        about += " It may have more options than there are flags: the reference lists them."
    options = typer.Option(help=about, is_eager=True, callback=read, rich_help_panel=GENERAL)
    flags += [
        _parameter("context", typer.Context, inspect.Parameter.empty),
        *(_parameter(name, Annotated[bool, each], False) for name, each in _CONSOLE.items()),
        _parameter("options", Annotated[Path | None, options], None),
    ]

    @functools.wraps(command)
    def wrapper(
        *,
        context: typer.Context,
        quiet: bool,
        verbose: bool,
        as_json: bool,
        **values: Any,  # noqa: ANN401
    ) -> None:
        made: dict[str, Any] = {"console": Console(quiet, verbose, as_json)}
        del values["debug"], values["help_all"], values["options"]
        settings: Settings = context.meta[NAME]
        origins = settings.origins(context)
        if kind:
            made["options"] = _made(kind, fields, values, context, presets or {}, origins)
        settings.tell(origins, context, made["console"])
        command(**made, **values)

    wrapper.__doc__ = helps.pop("")
    signature = inspect.Signature(flags)
    vars(wrapper).update(__signature__=signature, kind=kind)
    return wrapper


def _own_first(kind: type[Options]) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    """Give the fields of a class with their types, and behind its own those that it inherits."""
    own, hints = inspect.get_annotations(kind), typing.get_type_hints(kind)
    every = list(dataclasses.fields(kind))  # type: ignore[arg-type]
    every.sort(key=lambda each: each.name not in own)
    return {each.name: (each, hints[each.name]) for each in every}


def _made(
    kind: type[Options],
    fields: Mapping[str, tuple[object, Any]],
    values: dict[str, Any],
    context: typer.Context,
    presets: Mapping[str, Path],
    origins: dict[str, str],
) -> Options:
    """Take the options out of the values of a command line, and put them over those of files."""
    layers: dict[str, dict[str, Any]] = {"file": {}, "ENVIRONMENT": {}, "COMMANDLINE": {}}
    for name, (_, hint) in fields.items():
        given, source = values.pop(name), context.get_parameter_source(name)
        if source is not None and source.name in layers:
            given = _table(name, given) if hint == dict[str, float] else given
            layers[source.name][name] = given
        if name in context.meta[NAME].values:
            given = context.meta[NAME].values[name]
            given = [given] if hint == list[str] and isinstance(given, str) else given
            layers["file"][name] = given
    chosen = dict[str, Any]()
    if (preset := values.pop("preset", None)) is not None:
        check_choice("--preset", preset, presets)
        chosen = load_toml(presets[preset])
        del chosen["method"]
    every = functools.reduce(kind.merged, layers.values(), chosen)
    for name in [name for name in origins if name in fields and name not in every]:
        del origins[name]  # another option has taken its place
    try:
        made = kind(**every)
    except OptionError as error:
        place = origins.get(error.message.partition(" ")[0].lstrip("-").replace("-", "_"))
        said = f"{place}: {error.message}" if place else error.message
        raise OptionError(said, error.hint) from None
    object.__setattr__(made, "origins", origins)
    object.__setattr__(made, "given", frozenset(every))
    return made


def _documented(declared: Any) -> dict[str, str]:  # noqa: ANN401 - a function or a class
    """Part a docstring into what it says of each argument or attribute and, as "", of the whole."""
    said, *listed = re.split(r"\n\n(?:Args|Attributes):\n", inspect.getdoc(declared) or "")
    rows = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", "".join(listed), re.MULTILINE)
    return {"": said} | {name: " ".join(text.split()) for name, text in rows}


def _parameter(name: str, annotation: Any, default: Any, help: str = "") -> inspect.Parameter:  # noqa: ANN401
    if help and not annotation.__metadata__[0].help:
        annotation.__metadata__[0].help = help
    return inspect.Parameter(name, _KEYWORD, annotation=annotation, default=default)


def _flag(
    field: dataclasses.Field[Any],
    hint: Any,  # noqa: ANN401
    group: str,
    hidden: bool,
) -> inspect.Parameter:
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
        details["metavar"] = f"<{'|'.join(filter(None, about['choices']))}>"
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
    details |= {"rich_help_panel": about["group"] or group, "hidden": hidden or about["preset"]}
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


def _quoted(ctx: Any, more: list[str]) -> str:  # noqa: ANN401
    """Write the patterns in whose places the shell has put files, or say what needs quotes."""
    names = [each.name for each in ctx.command.params if each.param_type_name == "argument"]
    words = [*(str(ctx.params[name]) for name in names), *more]
    shown = list[str]()
    for pattern, files in groupby(words, lambda word: "{0.parent}/*{0.suffix}".format(Path(word))):
        first, *others = files
        shown.append(pattern.removeprefix("./") if others else first)
    if len(shown) == len(names) and all(map(exists, words)):
        return f"put patterns in quotes: {ctx.command_path} {shlex.join(shown)}"
    return "put a pattern, and a text of several words, in quotes: 'en/*.txt' 'de/*.txt'"


class Command(typer.core.TyperCommand):
    """A command that shows its options in groups, and names alike what they take alike."""

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401
        """Name the kinds of values, and the variables of the environment."""
        super().__init__(*args, **more)
        for each in filter(lambda each: each.param_type_name == "option", self.params):
            if each.metavar is None:
                each.metavar = _METAVARS.get(each.name or "") or _METAVARS.get(each.type.name)
            each.envvar, each.show_envvar = variable_of(each), False  # type: ignore[attr-defined]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Name the file or variable that a wrong value comes from; refuse too many arguments."""
        ctx.allow_extra_args = True
        try:
            more = super().parse_args(ctx, args)
            self._refuse_presets(ctx)
            if more and not ctx.resilient_parsing:
                said = f"unexpected extra arguments: {' '.join(more[:_SHOWN])}"
                raise OptionError(said + " …" * (len(more) > _SHOWN), _quoted(ctx, more))
            return more
        except typer.BadParameter as error:
            origins = ctx.meta.get(NAME, Settings()).origins(ctx) if error.param else {}
            if place := error.param and origins.get(key_of(error.param)):
                raise OptionError(f"{place}: {error.message}") from error
            raise

    def _refuse_presets(self, ctx: Any) -> None:  # noqa: ANN401
        """Refuse on the command line what files of options and presets alone have."""
        for each in self.params:
            source = ctx.get_parameter_source(each.name)
            if getattr(each, "hidden", False) and source and source.name == "COMMANDLINE":
                raise OptionError(
                    f"{each.opts[0]}: no flag of {ctx.command_path}, but files have the option",
                    f"write `{key_of(each)} = ...` into a file, and give it with --options FILE",
                )

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write arguments, then groups."""
        write_groups(ctx, formatter, self.get_params(ctx))
