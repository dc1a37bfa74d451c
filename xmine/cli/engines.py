"""Options of a command -> where its work runs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.cli.console import Console
from xmine.errors import OptionError

if TYPE_CHECKING:
    from xmine.engines.task import Engine
    from xmine.text.inputs import TextInput


@contextmanager
def opened_engine(
    name: str,
    address: str | None,
    run: Path | None,
    inputs: Sequence["TextInput"],
    dry_run: bool,
    console: Console,
) -> Iterator["Engine | None"]:
    """Open the engine of `--engine`; None for this process.

    Tells what the cluster has, and with `dry_run` what each node has.

    Raises:
        OptionError: the run or an input is not in a file that other machines could see.
    """
    if name == "local":
        if address:
            raise OptionError("--address without --engine ray", "give both, or neither")
        yield None
        return
    if run is None:
        raise OptionError(
            "--engine ray needs the folder of a run", "give -o RUN/ in a folder that all nodes see"
        )
    for each in inputs:
        if not each.is_rereadable:
            raise OptionError(
                f"{each.name} and --engine ray: other machines cannot read it",
                "write the text to a file that all nodes see",
            )
    from xmine.engines.ray import RayEngine
    from xmine.run.folder import working_folder

    with RayEngine(address or "") as engine:
        for line in engine.check(working_folder(run)) if dry_run else ():
            console.say(line)
        console.say(f"cluster: {engine.room}")
        yield engine
