"""xmine cache ls and rm."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.vectors import cache

Command = Callable[..., Any]
KEYS = ["0123456789abcdef" * 2, "fedc" * 8]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Keep the vectors of two runs, the first of which was deleted, and used days ago."""
    for key, name in zip(KEYS, ("en", "zh"), strict=True):
        run = tmp_path / f"run-{name}"
        run.mkdir()
        np.save(run / "source.npy", np.ones((3, 4), dtype=np.float16))
        cache.keep(key, run / "source.npy", f"{name}.txt", "encoder/")
    shutil.rmtree(tmp_path / "run-en")
    folder = cache.folder() / "vectors"
    long_ago = time.time() - 10 * 86_400
    os.utime(folder / f"{KEYS[0]}.toml", (long_ago, long_ago))
    return folder


def test_ls_tells_what_is_kept(command: Command, kept: Path) -> None:
    ended = command("cache", "ls")
    assert (ended.code, ended.touched) == (0, set())
    first, second = (line.split() for line in ended.out.splitlines())
    assert first[:6] == [KEYS[1][:8], "152", "shared", "3", "x", "4"]
    assert first[7:] == ["encoder/", "zh.txt"]
    assert second[:5] == [KEYS[0][:8], "152", "3", "x", "4"]
    assert second[6:] == ["encoder/", "en.txt"]
    assert ended.err == f"xmine: {cache.folder()}: 2 entries, 304 bytes\n"


def test_ls_says_json(command: Command, kept: Path) -> None:
    facts = json.loads(command("cache", "ls", "--json").out)
    assert (facts["folder"], facts["bytes"]) == (str(cache.folder()), 304)
    assert [entry["key"] for entry in facts["entries"]] == KEYS[::-1]
    one = facts["entries"][1]
    assert (one["text"], one["encoder"], one["rows"], one["dim"]) == ("en.txt", "encoder/", 3, 4)
    assert (one["bytes"], one["shared"], one["wrong"]) == (152, False, None)


def test_ls_says_what_is_of_no_use(command: Command, kept: Path) -> None:
    Path(kept, f"{KEYS[0]}.npy").write_bytes(b"short")
    Path(kept, f"{KEYS[1]}.npy").unlink()
    Path(kept, f"{KEYS[1]}.npy").symlink_to("/nowhere/source.npy")
    lines = command("cache", "ls").out.splitlines()
    assert lines[0].endswith("zh.txt  (it is gone)")
    assert lines[1].endswith("en.txt  (it is broken)")
    ended = command("cache", "rm", "--older-than", 1000)
    assert ended.err == "xmine: 2 entries removed, 5 bytes freed\n"


def test_an_empty_cache_is_no_error(command: Command) -> None:
    ended = command("cache", "ls")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"xmine: {cache.folder()}: 0 entries, 0 bytes\n"
    assert command("cache", "rm", "--all").err == "xmine: 0 entries removed, 0 bytes freed\n"


def test_rm_takes_the_beginning_of_a_key_and_leaves_the_run(
    command: Command, kept: Path, tmp_path: Path
) -> None:
    ended = command("cache", "rm", KEYS[1][:6])
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == (
        "xmine: 1 entry removed, 0 bytes freed; 152 bytes more are still in runs\n"
    )
    assert Path(tmp_path, "run-zh", "source.npy").exists()
    assert [entry.key for entry in cache.entries()] == [KEYS[0]]
    facts = json.loads(command("cache", "rm", KEYS[0], "--json").out)
    assert facts == {"removed": [KEYS[0]], "freed": 152, "in_runs": 0}
    assert list(kept.iterdir()) == []


def test_rm_takes_what_was_not_used_for_days(command: Command, kept: Path) -> None:
    assert command("cache", "rm", "--older-than", 11).err.startswith("xmine: 0 entries removed")
    ended = command("cache", "rm", "--older-than", 9.5)
    assert ended.err == "xmine: 1 entry removed, 152 bytes freed\n"
    assert [entry.key for entry in cache.entries()] == [KEYS[1]]


def test_rm_takes_everything(command: Command, kept: Path) -> None:
    Path(kept, ".new-killed").mkdir()
    Path(kept, ".new-killed", "link").write_text("")
    ended = command("cache", "rm", "--all")
    assert ended.err.startswith("xmine: 2 entries removed, 152 bytes freed; 152 bytes more")
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to remove, in one way"),
        (["--all", KEYS[0]], "say what to remove, in one way"),
        (["--all", "--older-than", "3"], "say what to remove, in one way"),
        (["7"], "'7': no entry begins so"),
        ([""], "'': 2 entries begin so"),
    ],
)
def test_rm_removes_nothing_that_was_not_named(
    command: Command, kept: Path, arguments: list[str], message: str
) -> None:
    ended = command("cache", "rm", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"xmine: {message}\nhint: ")
    assert len(cache.entries()) == 2
