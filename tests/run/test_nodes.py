"""Nodes and versions in words, what a node does with a token, and how a task's error comes back."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from xmine.errors import FileError, OptionError, XmineError
from xmine.run.nodes import (
    Node,
    Versions,
    check_address,
    look,
    token_file,
    total_room,
    try_task,
)
from xmine.run.ray import RayEngine
from xmine.version import __version__


def table(**changes: Any) -> dict[str, Any]:
    """An entry of `ray.nodes()`, as Ray 2.60 gave it on a machine with a GPU."""
    return {
        "NodeID": "86e1",
        "Alive": True,
        "NodeManagerAddress": "10.0.0.7",
        "NodeManagerHostname": "gpu7",
        "NodeName": "10.0.0.7",
        "Resources": {"CPU": 16.0, "node:10.0.0.7": 1.0, "memory": 64e9, "GPU": 1.0},
        **changes,
    }


def test_a_node_is_named_by_address_and_name() -> None:
    node = Node.of(table())
    assert node == Node("86e1", "10.0.0.7", "gpu7", 16, 1, 64 * 10**9)
    assert str(node) == "10.0.0.7 (gpu7)"
    assert node.room == "16 cores, 64 GB, 1 GPU"
    assert str(Node.of(table(NodeName="fast"))) == "10.0.0.7 (fast)"
    small = Node.of(table(Resources={"CPU": 1.0, "memory": 2e9}))
    assert small.room == "1 core, 2.0 GB"
    assert Node.of(table(Resources={})).cores == 0
    assert total_room([node, small]) == "2 nodes, 17 cores, 66 GB, 1 GPU"


def test_versions_differ_by_xmine_and_by_python_but_for_its_last_number() -> None:
    ours = Versions("1.0", "3.11.7", "2.4.6")
    assert ours.differ(Versions("1.0", "3.11.9", "2.0.0")) == ""
    other = ours.differ(Versions("0.9", "3.11.7", "2.4.6"))
    assert other == "has xmine 0.9 and Python 3.11.7, not 1.0 and 3.11.7"
    assert ours.differ(Versions("1.0", "3.12.7", "2.4.6")).startswith(
        "has xmine 1.0 and Python 3.12"
    )
    assert ours.differ(Versions("1.0", "3.1.7", "2.4.6"))
    assert Versions.here().xmine == __version__


def test_a_node_writes_back_the_token_that_it_reads(tmp_path: Path) -> None:
    token_file(tmp_path, "abc").write_text("abc")
    assert look(tmp_path, "abc", "abc.1").wrong == ""
    assert token_file(tmp_path, "abc.1").read_text() == "abc"
    assert {each.name[0] for each in tmp_path.iterdir()} == {"."}


def test_a_node_with_another_folder_of_the_same_name_is_found(tmp_path: Path) -> None:
    here, there = Versions.here(), tmp_path / "there"
    there.mkdir()
    token_file(there, "abc").write_text("abc")
    seen = look(there, "abc", "abc.1")
    assert seen.differs(here, there, "abc.1") == ""
    assert seen.differs(here, tmp_path, "abc.1") == f"has another folder at {tmp_path}"
    assert look(tmp_path, "abc", "abc.1").differs(here, tmp_path, "abc.1").startswith("does not")
    other = Versions("0.0", here.python, here.numpy)
    assert seen.differs(other, there, "abc.1").startswith("has xmine ")
    assert str(Versions("1", "3.11.7", "2.4")) == "Python 3.11.7, numpy 2.4"


def test_a_node_that_cannot_write_says_so(tmp_path: Path) -> None:
    token_file(tmp_path, "abc").write_text("abc")
    token_file(tmp_path, "abc.1").mkdir()
    assert look(tmp_path, "abc", "abc.1").wrong == f"cannot work in {tmp_path}: Is a directory"


def threads(path: Path) -> None:
    names = "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"
    path.write_text(" ".join(os.environ.get(name, "") for name in names))


def bad(path: Path) -> None:
    raise FileError(f"{path}: broken", "mend it")


def worse(path: Path) -> None:
    raise ValueError(path.name)


def test_a_task_has_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {**os.environ, "OMP_NUM_THREADS": "2"})
    assert try_task(Versions.here(), threads, (tmp_path / "x",)) is None
    assert (tmp_path / "x").read_text() == "1 1 1"


def test_errors_of_a_task_come_back_in_words(tmp_path: Path) -> None:
    here, path = Versions.here(), tmp_path / "x"
    assert try_task(here, Path.touch, (path,)) is None
    assert path.exists()
    failure = try_task(here, bad, (path,))
    assert failure and (failure.message, failure.hint) == (f"{path}: broken", "mend it")
    assert not failure.trace
    failure = try_task(here, worse, (path,))
    assert failure and failure.message == "ValueError: x"
    assert "in worse" in failure.trace


def test_a_task_from_another_version_does_not_begin(tmp_path: Path) -> None:
    failure = try_task(Versions("0.0", "3.11.1", "1"), Path.touch, (tmp_path / "x",))
    assert failure and f"has xmine {__version__}" in failure.message
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("address", ["host", "host:", ":6379", "ray://host:1", "host:x", "h:99999"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(OptionError, match="the address of the cluster is"):
        check_address(address, "start one")


def test_an_address_where_nobody_answers_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_address(f"127.0.0.1:{port}", "start one")
    with pytest.raises(XmineError) as error:
        check_address(f"127.0.0.1:{port}", "start one")
    assert error.value.message == f"no Ray cluster answers at 127.0.0.1:{port}: Connection refused"
    assert error.value.hint == "start one"


def test_a_cluster_without_a_core_is_refused(tmp_path: Path) -> None:
    with pytest.raises(XmineError, match="no node of the cluster has a core for tasks"):
        RayEngine().check(tmp_path)
    assert not list(tmp_path.iterdir())
