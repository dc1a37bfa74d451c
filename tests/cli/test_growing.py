"""A run whose texts grow: what is new is told, and the pairs are those of a new run."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.test_killed import FORKS, corpora, files, mine_to_the_end
from tests.toys import killable
from tests.toys.command import Command
from xmine.encoders.tokens import principal_axes


def grow(folder: Path, lines: int) -> None:
    """Have the first lines of both files."""
    for name in ("en.txt", "zh.txt"):
        every = (folder / f"whole.{name}").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(every[:lines]), encoding="utf-8")


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Corpora of which all but some lines are there."""
    corpora(tmp_path, 120)
    for name in ("en.txt", "zh.txt"):
        (tmp_path / name).rename(tmp_path / f"whole.{name}")
    grow(tmp_path, 90)
    return tmp_path


def test_what_is_new_is_told_listed_and_compared(
    command: Command, begun: Path, toy_folder: Path
) -> None:
    mine = "mine", "en.txt", "zh.txt", "--model", toy_folder, "-o"
    first = command(*mine, "run/", "--json")
    assert json.loads(first.out)["changes"] is None
    assert len(command("pairs", "list", "run", "--where", "since = max(since)").rows) == len(
        command("pairs", "list", "run").rows
    )
    command("convert", "run/", "old.tsv")
    grow(begun, 120)
    counts = json.loads(command(*mine, "run/", "--json").out)["changes"]
    assert counts["new"] > 0
    log = Path("run/log.txt").read_text()
    said = f"new: {counts['new']} pairs, gone: {counts['gone']}, changed: {counts['changed']}"
    assert f"{said}\n" in log and " of them known" in log
    found = command("pairs", "diff", "old.tsv", "run")
    assert found.err == f"xmine: {said}\n"
    head, *every = (row.split("\t") for row in found.out.splitlines())
    at = head.index("source"), head.index("target")
    texts = [[row[each] for each in at] for row in every if row[0] == "new"]
    listed = [
        row[1:3] for row in command("pairs", "list", "run", "--where", "since = max(since)").rows
    ]
    changed = command("pairs", "diff", "old.tsv", "run", "-o", "d.jsonl", "--json")
    assert json.loads(changed.out)["counts"] == counts
    rows = [json.loads(row) for row in Path("d.jsonl").read_text(encoding="utf-8").splitlines()]
    again = [[row["source"], row["target"]] for row in rows if "old_target" in row]
    assert texts == [[row["source"], row["target"]] for row in rows if row["change"] == "new"]
    assert sorted(listed) == sorted(texts + again)
    assert not command("pairs", "list", "run", "--where", "since >= '2999'", "--no-header").out
    ended = command("pairs", "list", "old.tsv", "--where", "since = max(since)")
    assert ended.code == 2 and "old.tsv is no run" in ended.err
    assert command("pairs", "diff", "old.tsv", "run", "-o", "d.tmx").code == 2


def test_axes_of_tokens_are_those_of_the_first_run(
    command: Command, begun: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("static", "token_table"):
        monkeypatch.setattr(f"xmine.encoders.modules.{module}.TOKEN_DIM", 8)
    monkeypatch.setattr(principal_axes, "__defaults__", (8,))
    mine = "mine", "en.txt", "zh.txt", "--model", toy_folder, "-o"
    for lines in (90, 120):
        grow(begun, lines)
        assert command(*mine, "run/").code == 0
    grown = files(begun / "run")
    for path in begun.glob("run/parts/*matches-*"):
        path.unlink()
    assert command(*mine, "run/").code == command(*mine, "new/").code == 0
    changed = {name: data for name, data in files(begun / "run").items() if data != grown[name]}
    assert not {*changed} - {"since.parquet"}
    assert files(begun / "new")["candidates.parquet"] != grown["candidates.parquet"]


@pytest.mark.long
def test_a_grown_run_that_is_killed_ends_as_a_new_one(begun: Path, toy_folder: Path) -> None:
    """Killed before each file that it renames, also where the pairs are replaced."""
    words = ["mine", "en.txt", "zh.txt", "--no-cache", "--model", str(toy_folder), "-o", "run/"]
    mine_to_the_end(begun, toy_folder)
    grow(begun, 120)
    kills, code = 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        kills += 1
        process = FORKS.Process(target=killable.align, args=(str(begun), words, kills))
        process.start()
        process.join(120)
        code = process.exitcode or 0
    assert code == 0 and kills > 5
    found = files(begun / "run")
    log = (begun / "run" / "log.txt").read_text()
    assert log.count("new: ") == 1 and "new: 0 pairs" not in log
    (begun / "run").rename(begun / "grown")
    expected = mine_to_the_end(begun, toy_folder)
    assert found.pop("since.parquet")
    assert [
        name for name in expected if name[:6] != "parts/" and found[name] != expected[name]
    ] == []
