"""Options of a file and of the environment: below flags, above defaults.

One file is read: that of `--options` or, without it, the nearest xmine.toml, or pyproject.toml with
[tool.xmine], from here up to the top of a repository or to the home folder. Options at its top are
for every command that has them, those in [mine] for `xmine mine`, in [pairs.list] for `xmine pairs
list`. A path in xmine.toml starts at the folder of the file, one in `--options` here.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xmine.errors import OptionError
from xmine.options import check_names, load_toml

PREFIX = "XMINE_"  # of variables
NAME = "xmine.settings"  # of the settings among what the context of a command holds
_FILES = "xmine.toml", "pyproject.toml"  # the second may hold the first, as this table
_TABLE = "tool.xmine"
_NOT_HERE = {"options", "preset", "help_all", "help", "debug", "version"}
_NOT_HERE |= {"force"}  # what replaces files is said each time
Values = dict[str, Any]


@dataclass
class Settings:
    """Values that a file gives the parameters of a command, and their places, FILE:LINE."""

    values: Values = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    is_found: bool = False  # where nobody named the file

    def origins(self, context: Any) -> dict[str, str]:  # noqa: ANN401 - Typer's own, as below
        """Tell of each option that has its value from a file or the environment from where."""
        found = {}
        for each in context.command.params:
            source = context.get_parameter_source(each.name)
            if source is not None and source.name == "ENVIRONMENT":
                found[key_of(each)] = each.envvar
            elif each.name in self.places and source is not None and source.name != "COMMANDLINE":
                found[key_of(each)] = self.places[each.name]
        return found

    def defaults(self, context: Any, but: Any) -> Values:  # noqa: ANN401
        """Give the values as Typer takes defaults, `but` for the options that take any kind."""
        found = {}
        for each in context.command.params:
            if each.name in self.values.keys() - but:
                value, several = self.values[each.name], each.multiple or each.nargs != 1
                if isinstance(value, list) and not several:
                    raise OptionError(f"{self.places[each.name]}: a list", "give one value")
                value = value if isinstance(value, (bool, list)) else str(value)
                found[each.name] = [value] if several and not isinstance(value, list) else value
        return found


def key_of(parameter: Any) -> str:  # noqa: ANN401
    """Give the name of an option in a file: `seed_pairs` of `--seed-pairs`."""
    return str(max(parameter.opts, key=len)).lstrip("-").replace("-", "_")


def variable_of(parameter: Any) -> str | None:  # noqa: ANN401
    """Give the name of an option in the environment; XMINE_CACHE is the name of a folder."""
    key = key_of(parameter)
    has_none = len(key) == 1 or key == "cache" or key in _NOT_HERE - {"options"}
    return None if has_none else f"{PREFIX}{key.upper()}"


def nearest_file() -> Path | None:
    """Find the file of this folder, or of one above that we may read."""
    with suppress(OSError):  # this folder may be gone
        for folder in (Path.cwd(), *Path.cwd().parents):
            for path in (folder / name for name in _FILES):
                with suppress(OSError):
                    own = path.name == _FILES[0]
                    if path.is_file() and (own or _TABLE.encode() in path.read_bytes()):
                        return Path(os.path.relpath(path))
            if (folder / ".git").exists() or folder == Path.home():
                break
    return None


def read_settings(
    given: Path | None,
    context: Any,  # noqa: ANN401
    merged: Callable[[Values, Values], Values],
    refuse: Callable[[str], None],
) -> Settings:
    """Read the values for a command, of the file given or of the nearest.

    Args:
        given: what `--options` names.
        context: of the command.
        merged: puts values of [mine] over those at the top.
        refuse: is called with a name that no option of the command has: may say more of it.

    Raises:
        FileError: no TOML, or a name that no option has.
        OptionError: a value is of no use.
    """
    found = Settings()
    if path := given or nearest_file():
        found.is_found = given is None
        known = {key_of(each): each for each in context.command.params if each.opts[0][0] == "-"}
        for header, table, group in tables(path, context):
            values: Values = {}
            for name, value in table.items():
                key, where = name.replace("-", "_"), f"{path}{_line(path, header, name)}"
                below = group.command.list_commands(group) if group else ()
                if isinstance(value, dict) and name in below:
                    continue
                if key in known and key not in _NOT_HERE:
                    parameter = known[key]
                    found.places[parameter.name] = where
                    values[parameter.name] = _beside(path, parameter, value, context)
                elif not (group and path.name in _FILES and key in _keys(group.command, group)):
                    try:
                        refuse(key)
                    except OptionError as error:
                        raise OptionError(f"{where}: {error.message}", error.hint) from None
                    check_names({name: value}, known.keys() - _NOT_HERE | {*below}, Path(where))
            found.values = merged(found.values, values)
    return found


def tables(path: Path, context: Any) -> Iterator[tuple[str, Values, Any]]:  # noqa: ANN401
    """Give the tables of a file for a command: header, values, and whose commands share them."""
    table, header = load_toml(path), ""
    if path.name == _FILES[1]:
        table, header = table.get("tool", {}).get("xmine", {}), _TABLE
    groups = [context.parent] if context.parent else []
    while groups and groups[0].parent:
        groups.insert(0, groups[0].parent)
    for group, word in zip(groups, context.command_path.split()[1:], strict=False):
        yield header, table, group
        inner = table.get(word)
        table, header = inner if isinstance(inner, dict) else {}, f"{header}.{word}".strip(".")
    yield header, table, None


def _keys(command: Any, context: Any) -> set[str]:  # noqa: ANN401
    """Name the options of a command, or of all commands of a group."""
    if not hasattr(command, "list_commands"):
        return set(map(key_of, command.params))
    below = (command.get_command(context, name) for name in command.list_commands(context))
    return set().union(*(_keys(each, context) for each in below))


def _line(path: Path, header: str, name: str) -> str:
    """Find where a table has a name: `:3`; nothing where it is written in another way."""
    table = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if bracketed := re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line):
            table = bracketed[1]
        if table == f"{header}.{name}".strip(".") or (
            table == header and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=", line)
        ):
            return f":{number}"
    return ""


def _beside(file: Path, parameter: Any, value: Any, context: Any) -> Any:  # noqa: ANN401
    """Find a path of a project's file beside the file, which may stand in a folder above."""
    if isinstance(value, list):
        return [_beside(file, parameter, each, context) for each in value]
    is_here = file.name not in _FILES or str(file.parent) == "." or value in ("", "-")
    if is_here or not isinstance(value, str):
        return value
    kind, there = parameter.make_metavar(context), os.path.join(file.parent, value)
    return there if kind == "<path>" or (kind == "<model>" and os.path.exists(there)) else value
