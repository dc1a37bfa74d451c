"""A run on a disk that fails now and then: no good file is made again, none loses its digest."""

import errno
import random
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.cli.test_runs import MINE, files
from tests.toys.command import Command, Toy
from tests.toys.faults import CODES, failing, within
from xmine.files.digests import digest_of
from xmine.run.folder import RUN_FILE

AGAIN = (*MINE, "--min-prob", "0.6")
# A run of the toy files opens about as many of its own files to read them.
OPENED = 150


def digests(run: Path) -> dict[str, str]:
    return dict(tomllib.loads((run / RUN_FILE).read_text())["digests"])


def check_digests(run: Path) -> None:
    """Every result has the right digest; vectors, neighbours and parts end with their own."""
    known, without = digests(run), (".", "neighbours/", "parts/", "log.txt", RUN_FILE)
    for path in run.rglob("*"):
        name = path.relative_to(run).as_posix()
        if path.is_file() and not name.startswith(without) and name[6:] != ".npy":
            assert known[name] == digest_of(path) != "", name


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("source.npy", errno.ESTALE),
        ("neighbours/sources.npy", errno.EMFILE),
        ("neighbours/search.toml", errno.EACCES),
    ],
)
def test_one_error_at_resume_makes_nothing_again(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path, name: str, code: int
) -> None:
    run = tmp_path / "run"
    assert command(*MINE, "--model", toy_folder).code == 0
    before = (run / name).stat()
    times = iter([True])
    with failing(lambda path: path == Path("run", name) and next(times, False), code) as hit:
        ended = command(*AGAIN, "--model", toy_folder)
    assert hit and ended.code == 1 and f"{name}: cannot be read" in ended.err, ended
    assert "made again" not in ended.err + (run / "log.txt").read_text()
    assert (run / name).stat() == before
    ended = command(*AGAIN, "--model", toy_folder)
    assert ended.code == 0 and "made again" not in ended.err
    assert (run / name).stat() == before


@pytest.mark.parametrize(
    "most", [pytest.param(6, id="few"), pytest.param(OPENED, id="all", marks=pytest.mark.long)]
)
def test_no_error_at_any_moment_changes_a_byte(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path, most: int
) -> None:
    encoder = "--model", toy_folder, "--no-cache"
    assert command(*MINE, *encoder).code == 0
    run = tmp_path / "run"
    shutil.copytree(run, tmp_path / "begun")
    assert command(*AGAIN, *encoder).code == 0
    whole, tried = files(run), 0
    for number in random.Random(most).sample(range(OPENED), most):
        shutil.rmtree(run)
        if number % 2:  # a run that is gone on with, or a new one
            shutil.copytree(tmp_path / "begun", run)
        code = CODES[number % len(CODES)]
        with failing(within(Path("run"), number), code, reading=number % 5 == 0) as hit:
            first = command(*AGAIN, *encoder)
        tried += bool(hit)
        ended = command(*AGAIN, *encoder) if first.code else first
        assert ended.code == 0, (hit, ended)
        assert "changed since" not in first.err + ended.err, (hit, first)
        assert files(run) == whole, hit
        check_digests(run)
    assert tried
