"""Options of a file and of the environment: below flags, above defaults.

One file is read: that of `--options` or, without it, the nearest xmine.toml, or pyproject.toml with
[tool.xmine], from here up to the top of a repository or to the home folder. Options at its top are
for every command that has them, those in [mine] for `xmine mine`, in [pairs.list] for `xmine pairs
list`. A path in xmine.toml starts at the folder of the file, one in `--options` here.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xmine.cli.console import Console
from xmine.cli.found_file import FILES, TABLE, check_found, kind_of, nearest_file, said
from xmine.errors import OptionError
from xmine.options import check_names, load_toml

PREFIX = "XMINE_"  # of variables
NAME = "xmine.settings"  # of the settings among what the context of a command holds
_NOT_HERE = {"options", "preset", "help_all", "help", "debug", "version"}
_NOT_HERE |= {"force"}  # what replaces files is said each time
_NO_OPTIONS = {*"attached cache native packs progress state".split()}  # of variables that are none
_ALIKE = 0.76  # how much a misspelt name is like the right one; "test" is no "text"
Values = dict[str, Any]


@dataclass
class Settings:
    """Values that a file gives the parameters of a command, and their places, FILE:LINE."""

    values: Values = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    is_found: bool = False  # where nobody named the file
    passed: list[Path] = field(default_factory=list)  # files that others could have put there

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

    def tell(self, origins: Mapping[str, str], context: Any, console: Console) -> None:  # noqa: ANN401
        """Tell what options are, and from where; of a found file that writes, in any case."""
        of = {key_of(each): self.values.get(each.name) for each in context.command.params}
        every = [
            f"{f'{name} = {os.environ[x]}' if x in os.environ else said(name, of[name])} ({x})"
            for name, x in origins.items()
        ]
        found = [key for key, x in origins.items() if self.is_found and x in self.places.values()]
        if "write" in {kind_of(context.info_name, each) for each in found}:
            console = replace(console, quiet=False)
        (console.say if found else console.detail)("options: " * bool(every) + ", ".join(every))
        for path in self.passed:
            console.say(f"{path} is not read: others could have put it there; --options {path}")

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


def read_settings(
    given: Path | None,
    context: Any,  # noqa: ANN401
    merged: Callable[[Values, Values], Values],
    refuse: Callable[[str], None],
) -> Settings:
    """Read the values for a command, of the file given or of the nearest.

    `given` is what `--options` names; `merged` puts values of [mine] over those at the top;
    `refuse` is called with a name that no option of the command has: may say more of it.

    Raises:
        FileError: no TOML, or a name that no option has.
        OptionError: a value is of no use.
    """
    found = Settings()
    _check_variables(context)
    if path := given or nearest_file(passed=found.passed.append):
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
                    if found.is_found:
                        check_found(path, where, context.info_name, key, values[parameter.name])
                elif not (group and path.name in FILES and key in _keys(group.command, group)):
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
    if path.name == FILES[1]:
        table, header = table.get("tool", {}).get("xmine", {}), TABLE
    groups = [context.parent] if context.parent else []
    while groups and groups[0].parent:
        groups.insert(0, groups[0].parent)
    for group, word in zip(groups, context.command_path.split()[1:], strict=False):
        yield header, table, group
        inner = table.get(word)
        table, header = inner if isinstance(inner, dict) else {}, f"{header}.{word}".strip(".")
    yield header, table, None


def _check_variables(context: Any) -> None:  # noqa: ANN401
    """Refuse a variable whose name is nearly that of an option of any command."""
    given = {name.removeprefix(PREFIX).lower() for name in os.environ if name.startswith(PREFIX)}
    if given <= _NO_OPTIONS.union(map(key_of, context.command.params)):
        return  # the usual case, in which no other command is loaded
    known = _keys(context.find_root().command, context.find_root()) | _NO_OPTIONS
    for name in sorted(given - known):
        if near := difflib.get_close_matches(name, known, 1, _ALIKE):
            message = f"{PREFIX}{name.upper()}: there is no option {name!r}"
            raise OptionError(message, f"did you mean {PREFIX}{near[0].upper()}?")


def _keys(command: Any, context: Any) -> set[str]:  # noqa: ANN401
    """Name the options of a command, or of all commands of a group."""
    if not hasattr(command, "list_commands"):
        return set(map(key_of, command.params))
    below = (command.get_command(context, name) for name in command.list_commands(context))
    return set().union(*(_keys(each, context) for each in below))


def _line(path: Path, header: str, name: str) -> str:
    """Find where a table has a name: `:3`; nothing where it is written in an odd way."""
    table, within = "", ""
    key = rf"[\"']?{re.escape(name)}[\"']?\s*="
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if bracketed := re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line):
            table = re.sub("[\"' ]", "", bracketed[1])
        if table == f"{header}.{name}".strip(".") or (
            table == header and re.match(rf"\s*{key}", line)
        ):
            return f":{number}"
        if not within and re.search(rf"[.{{,]\s*{key}", line):
            within = f":{number}"
    return within


def _beside(file: Path, parameter: Any, value: Any, context: Any) -> Any:  # noqa: ANN401
    """Find a path of a project's file beside the file, which may stand in a folder above."""
    if isinstance(value, list):
        return [_beside(file, parameter, each, context) for each in value]
    is_here = file.name not in FILES or str(file.parent) == "." or value in ("", "-")
    if is_here or not isinstance(value, str) or value.startswith("hf://"):
        return value
    kind, there = parameter.make_metavar(context), os.path.join(file.parent, value)
    return there if kind == "<path>" or (kind == "<model>" and os.path.exists(there)) else value
