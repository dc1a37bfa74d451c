"""What a command declares of its options -> the fields of its form in the app."""

from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

import typer.core
import typer.main

from xmine.cli.app import app
from xmine.cli.from_options import GENERAL, GROUPS, METHOD, MOST_USED, group_of
from xmine.errors import FileError, OptionError
from xmine.options import Options
from xmine.text.inputs import is_file

if TYPE_CHECKING:
    from xmine.tui.commands import Field

_ORDER = ("Arguments", *GROUPS)
_FIRST = ("Arguments", MOST_USED, METHOD)  # groups that a form shows at once
_FILES = ("<path>", "<model>")


def fields_of(command: str, method: str = "") -> "list[Field]":
    """Give the fields of a command, in the order of its help.

    Of a command that has one for each method, `method` names that whose options are asked for;
    else, and where there is none of that name, the usual one.
    """
    found: Any = typer.main.get_group(app(command)).commands[command]
    if isinstance(found, typer.core.TyperGroup):
        from xmine.cli.train.methods import USUAL
        from xmine.trainer.methods import METHODS

        found = found.get_command(typer.Context(found), method if method in METHODS else USUAL)
    shown = [each for each in found.params if group_of(each) != GENERAL]
    kind = getattr(found.callback, "kind", None)
    return [_field(each, kind) for each in sorted(shown, key=lambda x: _ORDER.index(group_of(x)))]


def _check(declared: Any, kind: type[Options] | None, values: list[str]) -> None:  # noqa: ANN401
    """Refuse values that the command refuses, each by itself; `kind` has the limits of options."""
    if declared.param_type_name == "argument":
        if missing := [each for each in values if not is_file(each)]:
            raise FileError(f"no such file: {', '.join(missing)}")
        return
    if declared.nargs > 1 or "=" in values[0]:
        return  # as many as the command tells, or a table
    try:
        found = [declared.type.convert(each, declared, None) for each in values]
        if kind is not None and declared.name in get_type_hints(kind):
            kind(**{declared.name: found if getattr(declared, "multiple", False) else found[0]})
    except typer.BadParameter as error:
        raise OptionError(error.message.removesuffix(".").replace(" range", "")) from None
    except OptionError as error:
        if " is for " not in error.message:  # which depends on other fields
            raise


def _field(declared: Any, kind: type[Options] | None) -> "Field":  # noqa: ANN401 - of Typer
    from xmine.tui.commands import Field

    is_argument = declared.param_type_name == "argument"
    is_switch, metavar = getattr(declared, "is_flag", False), declared.metavar or ""
    choices = tuple(getattr(declared.type, "choices", ()))
    if "|" in metavar:
        choices = tuple(metavar.strip("<>").split("|"))
    usual = declared.show_default if isinstance(declared.show_default, str) else declared.default
    if is_switch:
        usual, choices = ("yes" if declared.default else "no"), ("yes", "no")
    return Field(
        declared.name,
        "" if is_argument else max(declared.opts, key=len),
        off=next(iter(declared.secondary_opts), ""),
        help=declared.help or "",
        group="" if is_argument else group_of(declared),
        usual="" if usual in (None, "", []) else str(usual),
        choices=tuple(filter(None, choices)),
        is_switch=is_switch,
        is_file=is_argument or declared.type.name == "path" or metavar in _FILES,
        is_several=declared.nargs < 0 or getattr(declared, "multiple", False),
        is_needed=(is_argument and declared.nargs > 0) or declared.name == "output",
        is_first=group_of(declared) in _FIRST,
        check=partial(_check, declared, kind),
    )
