"""The command as a process: the same bytes each time, pipes that close, Ctrl-C, terminals."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.toys.command import Toy
from xmine.__main__ import main

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
EXAMPLES = Path(__file__).parents[2] / "examples"
XMINE = [sys.executable, "-m", "xmine"]
COLOUR = re.compile(rb"\x1b\[[\d;]*m")


def in_terminal(arguments: list[Any], **environment: str) -> tuple[int, bytes]:
    """Run with stdout and stderr on a terminal; give the exit code and all that it was sent."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        [*XMINE, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**clean, "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(theirs)
        sent = b""
        while True:
            try:
                sent += (more := os.read(ours, 65536))
            except OSError:  # so Linux says that the other side is closed
                break
            if not more:
                break
    os.close(ours)
    return process.returncode, sent


def mine_toy(toy_folder: Path, *more: str) -> list[Any]:
    """Quietly: a stage that lasts would say so, and on a busy machine any stage may."""
    return ["mine", "en.txt", "zh.txt", "-q", "--model", toy_folder, *more]


def test_runs_and_thread_counts_give_the_same_bytes(
    xmine: Run, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    for path in toy_files[:2]:  # large enough for a product that threads share
        lines = path.read_text(encoding="utf-8").splitlines()
        many = [f"{one} {two}" for one in lines[:40] for two in lines[20:]]
        path.write_text("\n".join(many) + "\n", encoding="utf-8")
    mine = mine_toy(toy_folder, "--threshold", "-inf")
    seen = set()
    for threads in ("1", "2"):
        ended = xmine(*mine, OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
        assert ended.stdout.count(b"\n") > 500
        seen.add(ended.stdout)
    assert len(seen) == 1


def test_data_is_utf8_whatever_the_locale(
    xmine: Run, command: Any, toy_files: Toy, toy_folder: Path
) -> None:
    mine = mine_toy(toy_folder)
    ascii_only = xmine(*mine, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert ascii_only.returncode == 0
    assert ascii_only.stdout == command(*mine).out.encode()
    assert ascii_only.stdout.decode("utf-8").count("\n") > 20


def test_a_reader_that_leaves_gives_no_traceback(
    tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    for path in toy_files[:2]:
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("".join(f"{line} {'.' * 3_000}\n" for line in lines), encoding="utf-8")
    command = [*XMINE, *map(str, mine_toy(toy_folder, "--threshold=-inf"))]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline().count(b"\t") == 7
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 141
    warning = b"xmine: warning: en.txt"
    assert [line for line in said.splitlines() if not line.startswith(warning)] == []


def test_a_full_disk_is_an_error_and_no_bug(
    tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*XMINE, *map(str, mine_toy(toy_folder))],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ended.stderr.splitlines()[1:] == [b"xmine: standard output: No space left on device"]
    assert ended.returncode == 1


def test_closed_streams_are_named(tmp_path: Path, toy_files: Toy, toy_folder: Path) -> None:
    mine = " ".join(map(shlex.quote, [*XMINE, *map(str, mine_toy(toy_folder))]))
    for command, code, last in (
        (f"{mine} >&-", 1, "hint: name a file with -o, or redirect it"),
        (mine.replace("en.txt", "-") + " <&-", 1, "hint: give a file, or pipe one in"),
        (f"{mine} 2>&- -o pairs.tsv", 0, ""),
    ):
        ended = subprocess.run(
            command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (ended.returncode, ended.stdout) == (code, "")
        assert ended.stderr.splitlines()[-1:] == [last] * bool(last)
    assert Path(tmp_path, "pairs.tsv").read_text("utf-8")


# Holds the command still at a chosen moment, which it tells on stderr.
HELD = """
import sys, time, xmine.cli, xmine.pairs.tsv, xmine.encoders.vectors
def hold(*_):
    print("now", file=sys.stderr, flush=True)
    time.sleep(60)
if sys.argv.pop(1) == "encoding":
    xmine.encoders.vectors._encode_and_read = hold
else:
    xmine.pairs.tsv.tsv_rows = lambda *_, **__: (hold() or row for row in ["row"])
xmine.cli.run()
"""


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize(
    ("moment", "partial", "sent", "code", "last"),
    [
        ("encoding", 0, signal.SIGHUP, 129, b""),
        ("writing", 1, signal.SIGINT, 130, b"xmine: interrupted\n"),
        ("writing", 1, signal.SIGTERM, 143, b""),
    ],
)
def test_being_stopped_leaves_nothing_half_written(
    tmp_path: Path,
    toy_files: Toy,
    toy_folder: Path,
    moment: str,
    partial: int,
    sent: signal.Signals,
    code: int,
    last: bytes,
) -> None:
    before = sorted(tmp_path.iterdir())
    arguments = map(str, mine_toy(toy_folder, "-o", "pairs.tsv"))
    with subprocess.Popen(
        [sys.executable, "-c", HELD, moment, *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stderr
        while process.stderr.readline() != b"now\n":
            assert process.poll() is None
        assert len(list(tmp_path.glob(".pairs.tsv.*.partial"))) == partial
        process.send_signal(sent)
        said = process.stderr.read()
    assert said == last
    assert process.returncode == code
    assert sorted(tmp_path.iterdir()) == before


def test_ctrl_c_while_modules_load_gives_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Pressed:
        def find_spec(self, *_: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "xmine.cli")
    monkeypatch.setattr(sys, "meta_path", [Pressed()])
    with pytest.raises(SystemExit) as left:
        main()
    assert (left.value.code, capsys.readouterr().err) == (130, "xmine: interrupted\n")


def test_a_terminal_is_shown_control_characters_as_symbols(tmp_path: Path) -> None:
    Path(tmp_path, "a.txt").write_text("Good \x1b]0;owned\x07 morning \x9b2J\r\x7f!\n", "utf-8")
    search = ["search", "Good morning", tmp_path / "a.txt"]
    code, sent = in_terminal(search, TERM="dumb")
    assert code == 0
    assert "\tGood ␛]0;owned␇ morning \ufffd2J ␡!\t1" in sent.decode("utf-8")
    assert b"\x1b" not in sent and b"\x07" not in sent


def test_a_terminal_gets_a_progress_bar_on_stderr(toy_files: Toy, toy_folder: Path) -> None:
    source, target, _ = toy_files
    mine = ["mine", source, target, "--model", toy_folder, "--threshold", "9"]
    code, sent = in_terminal(mine)
    assert code == 0
    assert b"encoding" in sent and COLOUR.search(sent)
    _, plain = in_terminal(mine, NO_COLOR="1")
    assert b"encoding" in plain and not COLOUR.search(plain)


HEAVY = "torch transformers faiss textual polars numpy tokenizers sentencepiece rich".split()
# One process runs the commands one after the other, and tells what is loaded after each.
LOADED = """
import json, sys
from contextlib import redirect_stdout, suppress
from xmine.cli import run
for words in json.loads(sys.argv[1]):
    sys.argv = ["xmine", *words]
    with redirect_stdout(sys.stderr), suppress(SystemExit):
        run()
    print(*sys.modules)
"""


def test_what_a_command_does_not_need_is_not_loaded(tmp_path: Path) -> None:
    mine = ["mine", str(EXAMPLES / "en.txt"), str(EXAMPLES / "zh.txt"), "-o"]
    of_others = "torch transformers faiss textual polars tokenizers xmine.trainer.train".split()
    unwanted: dict[tuple[str, ...], list[str]] = {
        ("--help",): [*HEAVY, "xmine.native", "xmine.options", "xmine.cli.from_options"],
        ("--version",): [*HEAVY, "xmine.native", "xmine.options", "xmine.cli.from_options"],
        ("completion", "zsh"): HEAVY,
        ("train", "--help"): HEAVY,
        (*mine, "pairs.tsv.gz"): of_others,
        (*mine, "pairs.tmx"): of_others,
        (*mine, "pairs.parquet"): [each for each in of_others if each != "polars"],
    }
    command = [sys.executable, "-c", LOADED, json.dumps(list(unwanted))]
    ended = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path, text=True)
    for (words, names), loaded in zip(unwanted.items(), ended.stdout.splitlines(), strict=True):
        assert "typer" in loaded.split()
        assert set(loaded.split()).isdisjoint(names), words
    assert "polars" in loaded.split()  # which writes Parquet
    assert {path.name for path in tmp_path.iterdir()} == {
        words[-1] for words in unwanted if len(words) > 2
    }
