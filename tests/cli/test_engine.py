"""`--engine`: what is refused before any work; tests/run/test_ray.py runs on a cluster."""

from pathlib import Path

import pytest

from tests.toys.command import Command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "ray"), "--engine ray needs the folder of a run"),
        (("--engine", "ray", "-o", "pairs.tsv"), "--engine ray needs the folder of a run"),
        (("--engine", "ray", "--dry-run"), "--engine ray needs the folder of a run"),
        (("--engine", "dask"), "--engine is 'dask'\nhint: choose from local, ray, ray://host:port"),
        (("--engine", "ray://x", "-o", "run/"), "the address of the cluster is 'x'"),
    ],
)
def test_an_engine_that_cannot_work_is_refused(
    command: Command, toy_files: tuple[Path, Path, object], words: tuple[str, ...], said: str
) -> None:
    ended = command("mine", *toy_files[:2], *words)
    assert (ended.code, ended.out, ended.touched) == (2, "", set())
    assert said in ended.err
    assert ended.estimate == ""


@pytest.mark.parametrize("side", [0, 1])
def test_standard_input_stays_on_this_machine(
    command: Command, toy_files: tuple[Path, Path, object], side: int
) -> None:
    files = [*toy_files[:2]]
    text = files[side].read_bytes()
    files[side] = Path("-")
    ended = command("mine", *files, "-o", "run/", "--engine", "ray", stdin=text)
    assert (ended.code, ended.touched) == (2, set())
    assert "standard input and --engine ray: other machines cannot read it" in ended.err
    assert "write the text to a file that all nodes see" in ended.err


def test_a_cluster_that_does_not_answer_is_named(
    command: Command, toy_files: tuple[Path, Path, object]
) -> None:
    there = "--engine", "ray://127.0.0.1:1"
    ended = command("mine", *toy_files[:2], "-o", "run/", *there)
    assert (ended.code, ended.touched) == (1, set())
    assert "no Ray cluster answers at 127.0.0.1:1: Connection refused" in ended.err
    assert "`ray start --head`" in ended.err


def test_here_is_where_it_runs_by_default(
    command: Command, toy_files: tuple[Path, Path, object]
) -> None:
    assert command("mine", *toy_files[:2], "-o", "run/").code == 0
    ended = command("mine", *toy_files[:2], "-o", "run/", "--engine", "local")
    assert ended.code == 0  # the run goes on: no engine is part of what a run depends on
