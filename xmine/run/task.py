"""A call that makes files, and what runs such calls.

A task is done when all its files are there: the function writes each beside its name, syncs the
file, and renames it. So a task that ran twice, or half, does no harm, and a run goes on wherever
its files are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Task:
    """A call of a function of a module, with paths and numbers as arguments.

    Attributes:
        function: at the top of a module, so that another process can import the function.
        arguments: of the function: absolute paths, numbers, texts, and records of these.
        makes: the files that the call writes, as absolute paths.
        weight: how long the task takes, beside the others; for the progress.
        gpus: devices that the task needs.
        memory: bytes that the task takes.
        in_python: whether the function is Python code, which holds the interpreter.
        in_threads: whether several such tasks of a process run side by side.
    """

    function: Callable[..., None]
    arguments: tuple[Any, ...]
    makes: tuple[Path, ...]
    weight: float = 1.0
    gpus: float = 0.0
    memory: int = 0
    in_python: bool = False
    in_threads: bool = False

    @property
    def name(self) -> str:
        """Name the task, for people: the first file without its suffix."""
        return self.makes[0].stem

    def is_done(self) -> bool:
        """Tell whether all files are there."""
        return all(path.exists() for path in self.makes)


class Engine(Protocol):
    """Runs tasks.

    Attributes:
        name: of the engine, for people.
        shared: whether tasks run in other processes, and so work is to be cut into tasks.
        note: told of nodes that join or die, and of tasks that fail, in lines for a log.
    """

    name: str
    shared: bool
    note: Callable[[str], None]

    def check(self, folder: Path) -> list[str]:
        """See that tasks can make files in a folder.

        Returns:
            what each node has, in lines for a log.

        Raises:
            XmineError: a node cannot work there; the message names the node.
        """
        ...

    def run(self, tasks: Sequence[Task], tick: Callable[[float], None]) -> None:
        """Run the tasks whose files are not there, in any order.

        Args:
            tasks: none needs the files of another one.
            tick: called several times a second with the share that is done.

        Raises:
            XmineError: a task raised one, or cannot run.
        """
        ...
