"""The help of a command with many options: each option under the title of its group.

A group is declared with the option: `option(..., group="Output")` in an options dataclass, or
`typer.Option(..., rich_help_panel="Output")` in a command.
"""

from collections.abc import Iterable
from typing import Any

import typer.core

METHOD = "The method"  # of the options of one training method, which name no group
GENERAL = "General"  # of the options that every command has
GROUPS: tuple[str, ...] = ("Most used", "Input", METHOD, "Encoder", "Quality", "Output")
GROUPS += ("Speed and memory", "Advanced", GENERAL)


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
