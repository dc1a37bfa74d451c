"""Commands that packages add by entry points, see `xmine.plugin`."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.errors import XmineError
from xmine.extras import broken, plugin


def added(name: str) -> Callable[..., None]:
    """Make a command of a package's function, with the flags that every command has.

    Raises:
        XmineError: it cannot be loaded; or, while the command runs, it has a bug.
    """
    function = plugin("commands", name)

    @functools.wraps(function)
    def command(*, console: Console, **values: Any) -> None:  # noqa: ANN401
        try:
            function(**values)
        except (XmineError, OSError, typer.Exit):
            raise
        except Exception as error:
            raise broken("commands", name, error) from error

    parameters = []
    for each in inspect.signature(function, eval_str=True).parameters.values():
        declared = typer.Argument() if each.default is each.empty else typer.Option()
        parameters.append(each.replace(annotation=Annotated[each.annotation, declared]))
    vars(command)["__signature__"] = inspect.Signature(parameters)
    return with_flags(command)
