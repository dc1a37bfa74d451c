"""A run that is killed at any moment goes on and ends with the same files."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import toy_sentences

# What the log says when a stage begins (judging begins when the search is complete), and how often
# it is killed there: thirty times in all.
STAGES = {"reading": 5, "encoding": 5, "searching": 15, "judging": 5}
# State is saved at every chance, so that there is some to go on from in so small a run.
SCRIPT = """
import sys
import xmine.knn.exact, xmine.knn.probing
xmine.knn.exact._SAVE_SECONDS = 0.0
xmine.knn.probing._SAVE_SECONDS = 0.0
from xmine.cli import run
sys.argv[0] = "xmine"
run()
"""


def corpora(folder: Path, lines: int) -> None:
    english, chinese, _ = toy_sentences(lines, seed=3)
    random.Random(4).shuffle(chinese)
    (folder / "en.txt").write_text("\n".join(english) + "\n", encoding="utf-8")
    (folder / "zh.txt").write_text("\n".join(chinese) + "\n", encoding="utf-8")


def start(folder: Path, model: Path, *more: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", SCRIPT, "mine", "en.txt", "zh.txt", "-o", "run/", "--no-cache"]
    return subprocess.Popen(
        [*command, "--model", str(model), *more],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def files(run: Path) -> dict[str, bytes]:
    """Everything but the log, which has times."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in run.rglob("*")
        if path.is_file() and path.name not in ("log.txt", ".lock")
    }


def said(folder: Path, stage: str) -> int:
    if stage == "judging":
        return int((folder / "run" / "neighbours" / "search.toml").exists())
    log = folder / "run" / "log.txt"
    return log.read_text().count(f"  {stage} ") if log.exists() else 0


def kill_in(folder: Path, model: Path, stage: str, delay: float, *more: str) -> bool:
    """Start, wait until a stage has begun, kill a little later; tell whether it was still at it."""
    before = 0 if stage == "judging" else said(folder, stage)
    with start(folder, model, *more) as process:
        deadline = time.monotonic() + 60
        while said(folder, stage) == before and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(delay)
        was_at_it = process.poll() is None
        process.kill()
    return was_at_it


@pytest.mark.slow
@pytest.mark.parametrize(
    ("index", "stages"), [("exact", STAGES), ("IVF64,SQfp16", {"searching": 10})]
)
def test_kills_change_nothing(
    tmp_path: Path, toy_folder: Path, index: str, stages: dict[str, int]
) -> None:
    dice = random.Random(index)
    whole = tmp_path / "whole"
    whole.mkdir()
    corpora(whole, 6000)
    with start(whole, toy_folder, "--index", index) as process:
        assert process.wait(120) == 0
    expected = files(whole / "run")
    folder = tmp_path / "killed"
    folder.mkdir()
    for name in ("en.txt", "zh.txt"):
        shutil.copy(whole / name, folder)
    for stage, wanted in stages.items():
        kills = 0
        while kills < wanted:
            if kill_in(folder, toy_folder, stage, dice.uniform(0, 0.2), "--index", index):
                kills += 1
            else:  # it came to its end first
                shutil.rmtree(folder / "run")
    with start(folder, toy_folder, "--index", index) as process:
        assert process.wait(120) == 0
    assert files(folder / "run") == expected
    assert not [name for name in expected if "part" in name or ".keys" in name]
