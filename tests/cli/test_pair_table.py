"""What `xmine mine` shows on a terminal: the first pairs as a table, then what to type next."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.toys.command import Command, Toy
from xmine.cli.pair_table import next_steps, show_pairs
from xmine.pairs.pair import Pair


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Make stdout a terminal of some columns and lines that obeys no styles."""

    def of(columns: int, lines: int) -> None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        for name, value in (("TERM", "dumb"), ("COLUMNS", columns), ("LINES", lines)):
            monkeypatch.setenv(name, str(value))

    return of


@pytest.mark.parametrize(("columns", "lines", "rows"), [(80, 24, 7), (120, 40, 12), (50, 12, 5)])
def test_a_terminal_is_shown_the_first_pairs_and_what_to_type_next(
    command: Command,
    toy_files: Toy,
    toy_folder: Path,
    terminal: Callable[[int, int], None],
    columns: int,
    lines: int,
    rows: int,
) -> None:
    mine = ["mine", "en.txt", "zh.txt", "--model", str(toy_folder), "--threshold", "1"]
    piped = command(*mine).rows
    terminal(columns, lines)
    ended = command(*mine)
    assert (ended.code, ended.touched) == (0, set())
    head, *shown, rest = ended.out.splitlines()
    assert head.split() == ["prob", "score", "source", "target"]
    assert rest.split() == ["…", "…", f"{len(piped) - rows:,}", "more", "pairs", "…"]
    assert len(shown) == rows
    for line, pair in zip(shown, piped, strict=False):
        prob, score, texts = line.split(maxsplit=2)
        assert (prob, score) == (pair[6], pair[0])
        source, target = texts.split("  ", 1)
        assert pair[1].startswith(source.removesuffix("…")) and source != "…"
        assert pair[2].startswith(target.strip().removesuffix("…")) and target.strip() != "…"
    assert max(map(cell_len, ended.out.splitlines())) <= columns
    before, again, browse = ended.err.splitlines()[-3:]
    assert before.startswith("xmine: next, ")
    assert shlex.split(again) == ["xmine", *mine, "-o", "run/"]
    assert command(*shlex.split(again)[1:]).code == 0
    assert shlex.split(browse) == ["xmine", "browse", "run/"]
    assert command("pairs", "stats", "run/").code == 0


def test_tsv_goes_to_a_terminal_that_asks_for_it(
    command: Command, toy_files: Toy, toy_folder: Path, terminal: Callable[[int, int], None]
) -> None:
    mine = ["mine", "en.txt", "zh.txt", "--model", toy_folder, "--threshold", "1"]
    piped = command(*mine).out
    assert command(*mine, "-o", "-").out == piped
    terminal(80, 24)
    asked = command(*mine, "-o", "-")
    assert asked.out == piped and "next" not in asked.err
    assert json.loads(command(*mine, "--json").out)["pairs"] == len(asked.rows)
    scored = command("score", "en.txt", "zh.txt", "--model", toy_folder, "-o", "-")
    assert len(scored.rows) == 60 and not scored.touched


def test_a_run_ends_with_the_command_that_shows_it(
    command: Command, toy_files: Toy, toy_folder: Path, terminal: Callable[[int, int], None]
) -> None:
    mine = ["mine", "en.txt", "zh.txt", "--model", toy_folder, "--threshold", "1"]
    assert "next" not in command(*mine, "-o", "piped/").err
    terminal(80, 24)
    ended = command(*mine, "-o", "my run/")
    assert ended.err.splitlines()[-1] == "xmine: next: xmine browse 'my run/'"
    assert "next" not in command(*mine, "-o", "quiet/", "--quiet").err
    assert "next" not in command(*mine, "-o", "pairs.tsv").err


def test_where_nothing_was_found_nothing_is_shown(
    command: Command, toy_files: Toy, toy_folder: Path, terminal: Callable[[int, int], None]
) -> None:
    terminal(80, 24)
    ended = command("mine", "en.txt", "zh.txt", "--model", toy_folder, "--threshold", "inf")
    assert ended.code == 0 and ended.out == "" and "next" not in ended.err


def test_no_text_of_a_corpus_is_obeyed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("TERM", "dumb"), ("COLUMNS", "100"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    pairs = [
        Pair("\x1b[2J[bold]loud[/bold] :smile:", "[link=x]\tone\ntwo[/]", 1.5, prob=0.25),
        Pair("a" * 500, "字" * 500, 12345.25, prob=0.125),
        Pair("", "\u202eright to left", 1.0, prob=0.0),
    ]
    show_pairs(pairs, 3)
    head, *rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 3  # no text broke a line, and all pairs are shown
    assert "␛[2J[bold]loud[/bold] :smile:" in rows[0] and "[link=x]␉one␊two[/]" in rows[0]
    assert "aaa…" in rows[1] and rows[1].rstrip().endswith("字…")
    assert "⇄right to left" in rows[2]
    assert not {"\x1b", "\t", "\u202e"} & set("".join([head, *rows]))
    assert {cell_len(row) <= 100 for row in rows} == {True}


def test_a_command_that_is_not_on_the_path_is_named_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "xmine"
    installed.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for called, name in (
        (".venv/bin/xmine", ".venv/bin/xmine"),
        (str(installed), "xmine"),
        ("/somewhere/xmine/__main__.py", "xmine"),
    ):
        monkeypatch.setattr(sys, "argv", [called, "mine", "my en.txt", "zh.txt"])
        assert next_steps(None).splitlines()[1:] == [
            f"{name} mine 'my en.txt' zh.txt -o run/",
            f"{name} browse run/",
        ]
    steps = next_steps(None, keeps_run=False).splitlines()[1:]  # no run holds texts by keys
    assert steps == ["xmine mine 'my en.txt' zh.txt -o pairs.tsv", "xmine browse pairs.tsv"]
