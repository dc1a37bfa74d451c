"""xmine cache ls and rm."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.toys.command import Command
from xmine.files.cache import PARTS, cache_folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Keep two blocks: one is in a run, too, and one was used days ago."""
    folder = cache_folder() / PARTS
    folder.mkdir(parents=True)
    for name in ("old", "new"):
        (folder / name).write_bytes(b"x" * 100)
    os.link(folder / "new", tmp_path / "in a run")
    long_ago = time.time() - 10 * 86_400
    os.utime(folder / "old", (long_ago, long_ago))
    return folder


def test_ls_tells_how_much_room_is_taken(command: Command, kept: Path) -> None:
    ended = command("cache", "ls")
    assert (ended.code, ended.touched) == (0, set())
    start = f"xmine: {cache_folder()}: 2 blocks, 200 bytes, 100 of them in no run, last used "
    assert ended.err.startswith(start)
    facts = json.loads(command("cache", "ls", "--json").out)
    assert facts == {"folder": str(cache_folder()), "blocks": 2, "bytes": 200, "in_no_run": 100}


def test_an_empty_cache_is_no_error(command: Command) -> None:
    assert command("cache", "ls").err.endswith(": 0 blocks, 0 bytes, 0 of them in no run\n")
    assert command("cache", "rm", "--all").err == "xmine: 0 blocks removed, 0 bytes freed\n"


def test_rm_takes_what_was_not_used_for_days(command: Command, kept: Path) -> None:
    ended = command("cache", "rm", "--older-than", "5")
    assert ended.err == "xmine: 1 block removed, 100 bytes freed\n"
    assert [path.name for path in kept.iterdir()] == ["new"]


def test_rm_takes_everything_and_leaves_runs(command: Command, kept: Path, tmp_path: Path) -> None:
    ended = command("cache", "rm", "--all")
    said = "2 blocks removed, 100 bytes freed; 100 bytes more are still in runs"
    assert ended.err == f"xmine: {said}\n"
    assert list(kept.iterdir()) == [] and (tmp_path / "in a run").exists()


@pytest.mark.parametrize("given", [[], ["--all", "--older-than", "3"], ["--older-than", "-1"]])
def test_rm_wants_to_be_told_what(command: Command, kept: Path, given: list[str]) -> None:
    assert command("cache", "rm", *given).code == 2
    assert len(list(kept.iterdir())) == 2
