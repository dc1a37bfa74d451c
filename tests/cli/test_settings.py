"""Options of files and of the environment: which one counts, and what is wrong is named."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xmine.options import load_toml

Command = Callable[..., Any]
Toy = tuple[Path, Path, set[tuple[int, int]]]


@pytest.fixture
def mine(toy_files: Toy, toy_folder: Path) -> list[str | Path]:
    return ["mine", "en.txt", "zh.txt", "--model", toy_folder]


def cut(ended: Any) -> str:
    """The cut that the summary of mining names."""
    return str(ended.err.partition("probability at least ")[2].partition("(")[2].partition(")")[0])


def test_a_flag_beats_the_environment_that_a_file_and_that_the_default(
    command: Command, mine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cut(command(*mine)) == "auto"
    Path("pyproject.toml").write_text("[tool.xmine.mine]\nprecision = 0.9\n")
    assert cut(command(*mine)) == "precision 0.9"
    # Stands before the other, and what is for one command before what is for all.
    Path("xmine.toml").write_text("precision = 0.95\n[mine]\nprecision = 0.8\n")
    ended = command(*mine)
    assert cut(ended) == "precision 0.8"
    assert "options: precision (xmine.toml:3)\n" in ended.err
    Path("tuned.toml").write_text("precision = 0.7\n")  # takes the place of both
    assert cut(command(*mine, "--options", "tuned.toml")) == "precision 0.7"
    monkeypatch.setenv("XMINE_OPTIONS", "tuned.toml")
    assert cut(command(*mine)) == "precision 0.7"
    monkeypatch.setenv("XMINE_PRECISION", "0.6")
    assert cut(command(*mine)) == "precision 0.6"
    assert "options: precision (XMINE_PRECISION)" in command(*mine, "-v").err
    assert cut(command(*mine, "--precision", "0.5")) == "precision 0.5"
    assert cut(command(*mine, "--threshold", "auto")) == "auto"  # of any cut, as with one file


def test_a_file_says_all_that_flags_say_and_a_run_keeps_what_it_said(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    """Paths start at the file, which may stand above; one table's options are for one command."""
    asked = ["--gold", "gold.tsv", "--drop", "copy", "--no-dedup", "-k", 2, "--top", 20]
    Path("gold.tsv").write_text("1\t1\n2\t2\n")
    flags = command("mine", "en.txt", "zh.txt", "--model", toy_folder, *asked)
    Path("xmine.toml").write_text(
        f'model = "{os.path.relpath(toy_folder)}"\nepochs = 3\n[mine]\ngold = "gold.tsv"\n'
        'drop = "copy"\ndedup = false\nneighborhood = 2\ntop = 20\n[train.moco]\nmomentum = 0.5\n'
    )
    Path("below").mkdir()
    os.chdir("below")
    ended = command("mine", "../en.txt", "../zh.txt", "-o", "run/")
    assert ended.code == 0
    assert "against gold" in ended.err and "against gold" in flags.err
    said = load_toml(Path("run/run.toml"))["options_from"]
    assert said["gold"] == "../xmine.toml:4" and said["neighborhood"] == "../xmine.toml:7"
    pairs = [row[:3] for row in command("pairs", "list", "run/").rows]
    assert pairs == [row[:3] for row in flags.rows] != []
    assert command("score", "../en.txt", "../zh.txt").code == 0  # which knows nothing of gold


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("\nmodle = 'e'\n", "xmine.toml:2: there is no option 'modle'\nhint: did you mean model?"),
        ("[mien]\ntop = 1\n", "xmine.toml:1: there is no option 'mien'\nhint: did you mean mine?"),
        ("[mine]\nepochs = 1\n", "xmine.toml:2: there is no option 'epochs'\n"),
        ("[mine]\nmargin = 'rato'\n", "xmine.toml:2: --margin is 'rato'\nhint: choose from"),
        ("[mine]\ntop = 1.5\n", "xmine.toml:2: --top is 1.5\nhint: give a whole number\n"),
        ("[mine]\ndedup = 1\n", "xmine.toml:2: --dedup is 1\nhint: give true or false\n"),
        ("[mine]\nthreshold = true\n", "xmine.toml:2: --threshold is True\nhint: give a number"),
        ("[mine]\nengine = 'spark'\n", "xmine.toml:2: 'spark' is not one of 'local', 'ray'."),
        ("[mine]\ngold = ['a', 'b']\n", "xmine.toml:2: a list\nhint: give one value\n"),
        ("[mine]\nforce = true\n", "xmine.toml:2: there is no option 'force'\n"),
        ("[mine\n", "xmine.toml: not a TOML file: "),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_line(
    command: Command, mine: list[str], toml: str, message: str
) -> None:
    Path("xmine.toml").write_text(toml)
    ended = command(*mine)
    assert ended.err.startswith(f"xmine: {message}")
    assert ended.code > 0 and ended.out == ""
    assert command("mine", "--help").code == 0


def test_a_wrong_variable_is_named(
    command: Command, mine: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("XMINE_PRECISION", "95"), ("XMINE_ENGINE", "spark"), ("XMINE_TOP", "x")):
        monkeypatch.setenv(name, value)
        assert command(*mine).err.startswith(f"xmine: {name}: ")
        monkeypatch.delenv(name)


def test_the_file_of_another_project_is_not_found(command: Command, mine: list[str]) -> None:
    """Nor is one above the home folder."""
    Path("xmine.toml").write_text("[mine]\nprecision = 0.9\n")
    Path("repository/.git").mkdir(parents=True)
    os.chdir("repository")
    Path("pyproject.toml").write_bytes(b"\xff")  # nor is one read that says nothing of xmine
    ended = command("mine", "../en.txt", "../zh.txt", *mine[3:])
    assert cut(ended) == "auto" and "options:" not in ended.err


def test_a_file_that_cannot_be_read_does_not_hide_one_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xmine.cli.settings import nearest_file

    (tmp_path / "xmine.toml").write_text("k = 3\n")
    (below := tmp_path / "below").mkdir()
    (below / "pyproject.toml").write_text("[project]\n")

    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.chdir(below)
    monkeypatch.setattr(Path, "read_bytes", refused)
    assert nearest_file() == Path("../xmine.toml")
