"""`torchrun` or `accelerate launch`: restarts, nodes that share no folder, a dry run."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from xmine.pairs.io import ParallelText

# The command, with little patience, and a checkpoint after each step. The second process is killed
# once, after its second one.
COMMAND = """
import os, signal
import xmine.cli, xmine.trainer.distributed
from xmine.trainer.run import loop
from xmine.trainer.run.checkpoints import TrainingRun
xmine.trainer.distributed._PATIENCE = 0.5
loop._SAVE_EVERY, loop._SAVING = -1.0, 0
first_try = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
saves = 0
def save(run, name, state, write=TrainingRun.save):
    global saves
    saves += name == "checkpoint"
    write(run, name, state)
    if "KILLED" in os.environ and first_try and saves == 2 and os.environ["RANK"] == "1":
        os.kill(os.getpid(), signal.SIGKILL)
TrainingRun.save = save
xmine.cli.run()
"""
OPTIONS = "--batch-size 64 --epochs 2 --threads 1 --options ../own.toml".split()


@pytest.fixture
def train(tmp_path: Path, toy_pairs: ParallelText, toy_folder: Path) -> list[str]:
    """The words behind `torchrun`, but for the output and --held-out."""
    rows = zip(toy_pairs.sources, toy_pairs.targets, strict=True)
    text = "".join("\t".join(row) + "\n" for row in rows)
    for node in ("one", "other"):
        (tmp_path / node).mkdir()
        (tmp_path / node / "pairs.tsv").write_text(text, encoding="utf-8")
    (tmp_path / "own.toml").write_text("evaluate_every = 7", encoding="utf-8")
    (tmp_path / "command.py").write_text(COMMAND, encoding="utf-8")
    return [str(tmp_path / "command.py"), "train", "pairs.tsv", "--encoder", str(toy_folder)]


def started(
    folder: Path, words: list[str], by: str = "torch.distributed.run", **environment: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", by, *words],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(*running: "subprocess.Popen[str]") -> list[str]:
    """Wait for processes; give the messages and hints of each, which torchrun's lines are not."""
    try:
        said = [process.communicate(timeout=120)[1] for process in running]
    finally:
        for process in running:
            process.kill()
            process.communicate()
    assert not any("internal error" in each or "Exception ignored" in each for each in said)
    told = [[x for x in each.splitlines() if x.startswith(("xmine: ", "hint: "))] for each in said]
    return list(map("\n".join, told))


def free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def on_two_nodes(tmp_path: Path, words: list[str]) -> list[str]:
    """Run a process on each of two nodes, which are folders here; both fail."""
    port = free_port()
    nodes = [
        started(
            tmp_path / name,
            f"--nnodes 2 --node_rank {rank} --master_addr 127.0.0.1 --master_port {port}".split()
            + words,
        )
        for rank, name in enumerate(("one", "other"))
    ]
    told = ended(*nodes)
    assert all(node.returncode == 1 for node in nodes)
    return told


@pytest.mark.long
def test_a_process_that_is_killed_is_started_again_and_the_run_goes_on(
    tmp_path: Path, train: list[str]
) -> None:
    two = "--nproc_per_node 2 --max-restarts 1 --master_port".split()
    words = [*train, "--held-out", "100", *OPTIONS]
    whole = started(tmp_path / "one", [*two, free_port(), *words, "-o", "whole"])
    again = started(
        tmp_path / "one", [*two, free_port(), *words, "-o", "again", "--force"], KILLED="1"
    )
    undisturbed, told = ended(whole, again)
    assert "whole: trained on 1,400 rows" in undisturbed
    assert told.count("another process stopped") == 1 and "again: trained on 1,400 rows" in told
    weights = [tmp_path / "one" / name / "model.safetensors" for name in ("whole", "again")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    logged = (tmp_path / "one" / "again" / "metrics.jsonl").read_text().splitlines()
    assert sum('"excluded"' in line for line in logged) == 1  # it began once


@pytest.mark.long
def test_a_training_that_has_ended_is_a_success_again(tmp_path: Path, train: list[str]) -> None:
    words = [*train, "--held-out", "100", *OPTIONS, "-o", "new", "--resume", "auto"]
    told = []
    for restarts in ("0", "0", "1"):
        two = ["--nproc_per_node", "2", "--max-restarts", restarts, "--master_port", free_port()]
        process = started(tmp_path / "one", [*two, *words])
        told += ended(process)
        assert process.returncode == 0
    assert "new: trained on 1,400 rows" in told[0]
    assert told[1:] == ["xmine: new: trained already, with these options and data"] * 2


@pytest.mark.long
def test_a_folder_that_nodes_do_not_share_is_told_once(tmp_path: Path, train: list[str]) -> None:
    told = on_two_nodes(tmp_path, [*train, "--held-out", "100", *OPTIONS, "-o", "new"])
    (shared,) = [each for each in told if "does not see" in each]
    assert shared == (
        f"xmine: new.training: a process on {socket.gethostname()} does not see what the first "
        "process writes there\n"
        "hint: all nodes must share the folder of -o, under the same path"
    )
    (other,) = [each for each in told if each != shared]
    assert other.startswith("xmine: another process stopped\nhint: ")
    assert [path.name for path in tmp_path.glob("*/*")] == ["pairs.tsv"] * 2


@pytest.mark.long
def test_a_dry_run_of_two_processes_takes_three_steps_and_leaves_nothing(
    tmp_path: Path, train: list[str]
) -> None:
    # which starts several processes on a processor only by MPI; xmine looks for the GPUs itself
    two = ["--multi_gpu", "--num_processes", "2", "--main_process_port", free_port()]
    words = [*train, "--held-out", "100", *OPTIONS, "-o", "new", "--dry-run"]
    process = started(tmp_path / "one", [*two, *words], "accelerate.commands.launch")
    (said,) = ended(process)
    assert process.returncode == 0, said
    assert said.count("after 3 steps of 42: ") == 1  # the first process alone tells the pace
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["pairs.tsv"]
