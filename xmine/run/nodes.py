"""The nodes of a cluster, and what runs on one: a look at the folder of a run, and a task."""

import os
import platform
import socket
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from xmine.display import count, in_words
from xmine.errors import OptionError, XmineError
from xmine.files.atomic import PARTIAL
from xmine.run.task import Task
from xmine.version import __version__

_NAMED = 3  # nodes that an error names
_CONNECTING = 5.0  # seconds that an address may take to answer
# A task has one core. Libraries read these when they are loaded, the first task loads most of them.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster.

    Attributes:
        id: another one each time that the machine joins.
        address: of the machine in the network.
        name: of the machine, or the name that its Ray was started with.
        cores, gpus: that tasks may take.
        memory: bytes that tasks may take.
    """

    id: str
    address: str
    name: str
    cores: float
    gpus: float
    memory: int

    def __str__(self) -> str:
        """Name the node, for people."""
        return f"{self.address} ({self.name})"

    @classmethod
    def of(cls, table: dict[str, Any]) -> "Node":
        """Read an entry of `ray.nodes()`."""
        room, address, name = table["Resources"], table["NodeManagerAddress"], table["NodeName"]
        if name == address:  # nobody gave a name
            name = table["NodeManagerHostname"]
        has = room.get("CPU", 0.0), room.get("GPU", 0.0), int(room.get("memory", 0))
        return cls(table["NodeID"], address, name, *has)

    @property
    def room(self) -> str:
        """Say what tasks may take, for people."""
        parts = [count(round(self.cores), "core"), in_words(self.memory)]
        return ", ".join(parts + ([count(round(self.gpus), "GPU")] if self.gpus else []))

    def fits(self, task: Task) -> bool:
        """Tell whether a task can run there when nothing else does."""
        return self.cores >= 1 and self.gpus >= task.gpus and self.memory >= task.memory


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of an installation; xmine and Python (major.minor) need to be the same."""

    xmine: str
    python: str
    numpy: str

    @classmethod
    def here(cls) -> "Versions":
        """Tell those of this process."""
        return cls(__version__, platform.python_version(), metadata.version("numpy"))

    def __str__(self) -> str:
        """Say those that nodes may have in different versions."""
        return f"Python {self.python}, numpy {self.numpy}"

    def differ(self, other: "Versions") -> str:
        """Say how another installation differs; nothing where both can work together."""
        ours, theirs = ((each.xmine, *each.python.split(".")[:2]) for each in (self, other))
        if ours == theirs:
            return ""
        return (
            f"has xmine {other.xmine} and Python {other.python}, not {self.xmine} and {self.python}"
        )


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What a task saw on a node: versions, and what is wrong with the folder, if anything is."""

    versions: Versions
    wrong: str

    def differs(self, versions: Versions, folder: Path, answer: str) -> str:
        """Say why the node cannot work with this process; nothing where it can."""
        if wrong := versions.differ(self.versions) or self.wrong:
            return wrong
        is_here = token_file(folder, answer).exists()
        return "" if is_here else f"has another folder at {folder}"


def look(folder: Path, token: str, answer: str) -> NodeReport:
    """Read the token of a folder, and write it back under another name: on a node."""
    wrong = ""
    try:
        if token_file(folder, token).read_text() == token:
            token_file(folder, answer).write_text(token)
    except FileNotFoundError:
        wrong = f"does not see {folder}"
    except OSError as error:
        wrong = f"cannot work in {folder}: {error.strerror}"
    return NodeReport(Versions.here(), wrong)


def total_room(nodes: Iterable[Node]) -> str:
    """Say what tasks may take on all nodes, for people."""
    every = list(nodes)
    cores, gpus = (sum(getattr(node, name) for node in every) for name in ("cores", "gpus"))
    whole = Node("", "", "", cores, gpus, sum(node.memory for node in every))
    return f"{count(len(every), 'node')}, {whole.room}"


def check_room(tasks: Iterable[Task], nodes: Iterable[Node]) -> None:
    """Refuse a task that fits on no node, since it would wait for ever."""
    every = list(nodes)
    for task in {(each.gpus, each.memory): each for each in tasks}.values():
        if not any(node.fits(task) for node in every):
            parts = ["a core"] + ([in_words(task.memory)] if task.memory else [])
            parts += [count(round(task.gpus), "GPU")] if task.gpus else []
            raise XmineError(
                f"{task.name} needs {' and '.join(parts)}; no node of the cluster has that",
                "let another machine join: `ray start --address HOST:6379`, for a GPU with "
                "--num-gpus 1; or mine into a new folder with --device cpu",
            )


def token_file(folder: Path, token: str) -> Path:
    """Name the file of a token; a run that is opened deletes those that were left."""
    return folder / f".{token}{PARTIAL}"


def refused(wrong: dict[Node, str]) -> XmineError:
    """Make the error that names nodes, and what is wrong with each."""
    named = [f"node {node} {why}" for node, why in list(wrong.items())[:_NAMED]]
    more = [f"{len(wrong) - _NAMED:,} more"] if len(wrong) > _NAMED else []
    return XmineError(
        "; ".join(named + more),
        "every node needs the folder of the run at the same path, and the same xmine and Python; "
        "`ray stop` on a node takes the node out",
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """How a task failed: an XmineError, or another error with its traceback."""

    message: str
    hint: str
    trace: str = ""


def try_task(
    versions: Versions, function: Callable[..., None], arguments: tuple[Any, ...]
) -> Failure | None:
    """Call the function of a task on a node, which may have joined after the nodes were checked.

    Returns:
        None where the call returned.
    """
    if other := versions.differ(Versions.here()):
        return Failure(f"the node {other}", "install the same xmine and Python on every node")
    os.environ.update(_ONE_THREAD)
    try:
        function(*arguments)
    except XmineError as error:
        return Failure(error.message, error.hint)
    except Exception as error:
        return Failure(
            f"{type(error).__name__}: {error}",
            "log.txt in the folder of the run tells where",
            traceback.format_exc(),
        )
    return None


def check_address(address: str, hint: str) -> None:
    """Refuse an address where nobody answers.

    Raises:
        OptionError: the address is not HOST:PORT.
        XmineError: nobody answers; the hint says how a cluster is started.
    """
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or int(port) >= 2**16:
        raise OptionError(f"the address of the cluster is {address!r}", "give HOST:PORT")
    try:
        reach(address)
    except OSError as error:
        raise XmineError(f"no Ray cluster answers at {address}: {error.strerror}", hint) from error


def reach(address: str) -> None:
    """Open a connection to an address and close it again, or raise an OSError."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), _CONNECTING).close()
