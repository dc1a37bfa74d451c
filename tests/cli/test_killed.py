"""A run that is killed at any moment goes on and ends with the same files."""

import multiprocessing
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.toys import killable
from tests.toys.sentences import toy_sentences

# What the log says when a stage begins, and how often it is killed there: thirty times in all.
STAGES = {"reading": 5, "encoding": 5, "searching": 10, "matching": 5, "judging": 5}


def corpora(folder: Path, lines: int) -> None:
    english, chinese, _ = toy_sentences(lines, seed=3)
    random.Random(4).shuffle(chinese)
    (folder / "en.txt").write_text("\n".join(english) + "\n", encoding="utf-8")
    (folder / "zh.txt").write_text("\n".join(chinese) + "\n", encoding="utf-8")


FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["tests.toys.killable", "xmine.mining.pipeline", "xmine.mining.estimate", "polars"]
)


def start(folder: Path, model: Path, *more: str) -> multiprocessing.process.BaseProcess:
    arguments = ["mine", "en.txt", "zh.txt", "-o", "run/", "--no-cache", "--model", str(model)]
    process = FORKS.Process(target=killable.mine, args=(str(folder), [*arguments, *more]))
    process.start()
    return process


def files(run: Path) -> dict[str, bytes]:
    """Everything but the log, which has times."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in run.rglob("*")
        if path.is_file() and path.name not in ("log.txt", ".lock")
    }


def said(folder: Path, stage: str) -> int:
    log = folder / "run" / "log.txt"
    return log.read_text().count(f"  {stage} ") if log.exists() else 0


def kill_in(folder: Path, model: Path, stage: str, delay: float, *more: str) -> bool:
    """Start, wait until a stage has begun, kill a little later; tell whether it was still at it."""
    before = said(folder, stage)
    process = start(folder, model, *more)
    deadline = time.monotonic() + 60
    while said(folder, stage) == before and process.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(delay)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def mine_to_the_end(folder: Path, model: Path, *more: str) -> dict[str, bytes]:
    process = start(folder, model, *more)
    process.join(120)
    assert process.exitcode == 0
    return files(folder / "run")


@pytest.mark.parametrize(
    ("index", "stages"),
    [
        ("exact", {"searching": 2}),
        pytest.param("exact", STAGES, marks=pytest.mark.long),
        pytest.param("IVF64,SQfp16", {"searching": 10}, marks=pytest.mark.long),
    ],
)
def test_kills_change_nothing(
    tmp_path: Path, toy_folder: Path, index: str, stages: dict[str, int]
) -> None:
    dice = random.Random(index)
    whole = tmp_path / "whole"
    whole.mkdir()
    corpora(whole, 1500)
    expected = mine_to_the_end(whole, toy_folder, "--index", index)
    folder = tmp_path / "killed"
    folder.mkdir()
    for name in ("en.txt", "zh.txt"):
        shutil.copy(whole / name, folder)
    for stage, wanted in stages.items():
        kills = 0
        while kills < wanted:
            if kill_in(folder, toy_folder, stage, dice.uniform(0, 0.1), "--index", index):
                kills += 1
            else:  # it came to its end first
                shutil.rmtree(folder / "run")
    assert mine_to_the_end(folder, toy_folder, "--index", index) == expected
    assert not [name for name in expected if ".part" in name or ".keys" in name]


@pytest.mark.long
def test_a_killed_alignment_leaves_whole_files_and_goes_on(tmp_path: Path) -> None:
    """Killed before each file that it renames: what is there is whole, and the rest follows."""
    corpora(tmp_path, 40)
    words = ["align", "en.txt", "zh.txt", "-o"]
    expected: dict[str, bytes] = {}
    for kills, run in enumerate(["whole", *["run"] * 20]):
        at = kills if kills else 99
        process = FORKS.Process(
            target=killable.align, args=(str(tmp_path), [*words, f"{run}/"], at)
        )
        process.start()
        process.join(120)
        found = files(tmp_path / run)
        expected = expected or found
        wrong = [name for name in found if found[name] != expected.get(name)]
        # The manifest gets its last facts at the end.
        assert all(name == "run.toml" or name.endswith(".partial") for name in wrong), wrong
        if kills and process.exitcode == 0:
            break
        assert process.exitcode == (-signal.SIGKILL if kills else 0)
    assert kills > 3 and found == expected and "pairs.parquet" in expected
