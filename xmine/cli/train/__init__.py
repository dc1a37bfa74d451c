"""xmine train: a command for each method, which `--method` or the first word names.

The training itself is in `xmine.trainer`; here options are read and progress is shown.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import typer
import typer.core
import typer.main

from xmine.cli.from_options import HELP_ALL, METHOD, Command, group_of, with_flags, write_groups
from xmine.cli.train.extend import extend
from xmine.cli.train.methods import (
    GIVEN,
    PRESETS,
    USUAL,
    data_names,
    example_command,
    method_in,
    refuse_others,
)
from xmine.cli.train.run import train_with
from xmine.errors import OptionError
from xmine.options import check_choice
from xmine.trainer.methods import METHODS

EXTEND = "extend"


def command_of(method: str) -> typer.core.TyperCommand:
    """Make the command of one method, which has its options; or of `--extend`."""
    if method == EXTEND:
        return _single(extend, EXTEND)
    title = METHODS[method].title
    help = (
        f"Train an encoder by {title}. It learns from {data_names(method)}.\n\n"
        f"Example: {example_command(method)}"
    )
    refuse = partial(refuse_others, method)
    given = with_flags(partial(train_with, method=method), METHODS[method].options, refuse, PRESETS)
    made = _single(given, method, help=help, short_help=f"{title}: {data_names(method)}")
    for each in made.params:
        if each.name in GIVEN.keys() - METHODS[method].reads:  # which help does not show
            each.get_help_record = lambda ctx: None  # type: ignore[method-assign]
    return made


def _single(given: Callable[..., None], name: str, **more: str) -> typer.core.TyperCommand:
    settings = {"help_option_names": ["-h", "--help"]}
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, cls=Command, context_settings=settings, **more)(given)  # type: ignore[arg-type]
    command = typer.main.get_command(single)
    assert isinstance(command, typer.core.TyperCommand)
    return command


class Methods(typer.core.TyperGroup):
    """The commands of all methods; the command of one is made when a line names the method."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        """Write the methods, then the options that all methods share, in groups."""
        with formatter.section("Methods"):
            formatter.write_dl([(name, self.get_command(ctx, name).short_help) for name in METHODS])
        usual = self.get_command(ctx, USUAL)
        shared = [each for each in usual.get_params(ctx) if group_of(each) != METHOD]
        write_groups(ctx, formatter, shared)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's own
        """Name the methods, and what `--extend` calls."""
        return [*METHODS, EXTEND]

    def get_command(self, ctx: Any, cmd_name: str) -> typer.core.TyperCommand:  # noqa: ANN401
        """Make the command of a method."""
        return command_of(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Put the method before all other words, wherever `--method` stands among them."""
        words = args[: args.index("--")] if "--" in args else args
        if words[:1] == [EXTEND] or f"--{EXTEND}" in (word.partition("=")[0] for word in words):
            helps = [word for word in words if word in ("-h", "--help", "--help-all")]
            return super().parse_args(ctx, [EXTEND, *(helps or args[words[:1] == [EXTEND] :])])
        args = _with_value(words) + args[len(words) :]
        method = _value_of("--method", words) or method_in(
            _value_of("--preset", words), _value_of("--options", words), ctx
        )
        if args and args[0] in METHODS and not (method and Path(args[0]).exists()):
            named, *args = args
            if method not in ("", named):
                raise OptionError(f"{named} and --method {method}", "give one of them")
            method = named
        elif not method and {"-h", "--help", "--help-all"} & set(words):
            if "--help-all" in words:
                ctx.meta[HELP_ALL] = True
            return super().parse_args(ctx, ["--help"])
        if ctx.resilient_parsing:  # as while a shell completes --method
            method = method if method in METHODS else USUAL
        method = method or USUAL
        check_choice("--method", method, METHODS)
        for word in words:
            if word.startswith("--"):
                name = word[2:].partition("=")[0].removeprefix("no-")
                refuse_others(method, name.replace("-", "_"))
        above = [] if ctx.resilient_parsing else ["--method", method]  # that of a file
        return super().parse_args(ctx, [method, *above, *args])


def _value_of(flag: str, words: list[str]) -> str:
    """Give the last value of a flag on a command line."""
    found = [
        value if word == flag else word.partition("=")[2]
        for word, value in zip(words, [*words[1:], ""], strict=False)
        if word == flag or word.startswith(f"{flag}=")
    ]
    return found[-1] if found else ""


def _with_value(words: list[str]) -> list[str]:
    """Give a lone `--resume` a value: Typer knows none that may be left out."""
    return [
        "--resume=always" if word == "--resume" and after != "auto" else word
        for word, after in zip(words, [*words[1:], ""], strict=False)
    ]


train = typer.Typer(
    cls=Methods,
    short_help="Train an encoder of your own.",
    help=f"""Train an encoder of your own.

Example: {example_command(USUAL)}

All methods share the options below; xmine train --method {USUAL} --help shows those of one method,
too. xmine train --extend embedded pairs.tsv -o el.pack teaches the embedded encoder one more
language; xmine train --extend --help tells more.""",
    subcommand_metavar="[PAIRS]...",
)


@train.callback()
def main() -> None:
    """Hold the commands of the methods together."""
