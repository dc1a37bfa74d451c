"""The help of each command is complete, true and fits a terminal of 80 columns."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import typer.main

import xmine
from tests.toys.command import Command
from xmine.cli.app import _COMMANDS, app
from xmine.cli.from_options import GROUPS, METHOD, MOST_USED, OTHER
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.flags.names import FLAGS
from xmine.native import used
from xmine.options import flag
from xmine.trainer.methods import METHODS
from xmine.trainer.options.shared import TrainingOptions

COMMANDS = ["mine", "score", "search", "encode", "convert", "train moco", "model info"]
COMMANDS += ["browse", "model export", "cache ls", "cache rm"]
COMMANDS += [f"pairs {name}" for name in ("stats", "list", "show", "cut", "judge")]
COMMANDS += ["eval all", "eval report", *(f"eval {name}" for name in BENCHMARKS)]


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def groups(text: str) -> dict[str, str]:
    """The title of each group of options -> its lines; not what stands before them."""
    parts = re.split(r"^(\S.*):\n", text, flags=re.MULTILINE)[1:]
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    return {title: lines for title, lines in found.items() if lines.startswith("  -")}


def options(text: str) -> dict[str, str]:
    """Each option's flags and metavar -> its help."""
    rows: list[str] = []
    for line in "\n".join(groups(text).values()).splitlines():
        if re.match(r"  -", line):
            rows.append(line.strip())
        elif line.strip():
            rows[-1] += f"  {line.strip()}"
    return dict(re.split(r"\s{2,}", row, maxsplit=1) for row in rows)


@pytest.mark.parametrize("name", ["", "eval", "pairs", "model", "train", *COMMANDS])
def test_help_fits_and_says_what_each_option_takes(command: Command, name: str) -> None:
    ended = command(*name.split(), "--help-all" if name in COMMANDS else "-h")
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "..." not in re.sub(
        r"([\]}]|KEY|PAIRS|ENCODER|AFTER)\.\.\.", "", ended.out
    )  # nothing is cut off
    if name not in COMMANDS:
        return
    shown = options(ended.out)
    assert {"-q, --quiet", "-v, --verbose", "--json", "--debug", "-h, --help"} <= set(shown)
    for flags, text in shown.items():
        joined = " ".join(text.split())
        assert joined, flags
        assert "(none)" not in joined, flags
        default = "(as the protocol has it)" if name == "eval bucc" else "ratio"
        assert not flags.startswith("--margin <") or joined.endswith(f"[default: {default}]")
        assert "<|" not in flags and "|>" not in flags
        # Values are named alike: <path>, <model>, <text>, <int>, <a|b>.
        assert re.search(
            r"( <[a-z:/_|\d-]+>| <source> <target>| <date>\|run| \[auto\]|e|y|[a-z])$", flags
        )


def test_the_many_options_of_mining_and_training_are_in_groups(command: Command) -> None:
    mining = groups(command("mine", "--help-all").out)
    assert list(mining) == [each for each in GROUPS if each not in (OTHER, METHOD, "Encoder")]
    assert names("General", mining) == {
        *("--quiet", "--verbose", "--json", "--debug", "--options", "--help")
    }
    shown = (
        "output model as dry-run threshold precision drop min-prob top gold src-lang tgt-lang "
        "segment force"
    )
    assert names("Most used", mining) == {f"--{name}" for name in shown.split()}
    training = groups(command("train", "--method", "moco", "--help-all").out)
    assert list(training) == [each for each in GROUPS if each not in (OTHER, "Output")]
    shared = {field.name for field in fields(TrainingOptions)}
    every = [each for each in fields(METHODS["moco"].options) if not each.metadata["preset"]]
    own = {each.name for each in every} - shared
    assert names(METHOD, training) == {flag(each) for each in own}


@pytest.mark.parametrize("name", ["mine", "train", "score", "train moco"])
def test_a_long_help_shows_the_options_that_are_most_used(command: Command, name: str) -> None:
    """And how to see all; of a command with few options all are shown at once."""
    short, whole = (groups(command(*name.split(), each).out) for each in ("-h", "--help-all"))
    assert list(short) == [MOST_USED, *[METHOD] * (name == "train moco")]
    every = sum(len(names(title, whole)) for title in whole)
    assert names(MOST_USED, short) == names("Most used", whole) | {"--help-all", "--help"}
    assert 8 <= len(names(MOST_USED, short)) <= 16 < 20 < every
    assert f"Show all {every} options and exit." in " ".join(short[MOST_USED].split())


def test_help_and_flags_may_stand_before_the_command(command: Command) -> None:
    assert command("help", "pairs", "list").out == command("pairs", "list", "--help").out
    assert command("help").out == command("--help").out
    assert command("-V").out == command("--version").out
    assert command("-v", "--json", "cache", "ls").out == command("cache", "ls", "-v", "--json").out
    assert "Did you mean 'mine'" in command("help", "mien").err


def names(title: str, found: dict[str, str]) -> set[str]:
    """The long flag of each option of a group; of --on / --no-on the first."""
    flags = options(f"{title}:\n{found[title]}")
    return {re.findall(r"--[a-z][a-z-]*", each)[0] for each in flags}


def test_the_help_of_train_has_every_method_and_the_options_that_all_share(
    command: Command,
) -> None:
    text = command("train", "--help-all").out
    listed = re.findall(r"^  ([a-z-]+)  +\S", text.partition("Arguments:")[0], re.MULTILINE)
    assert listed == list(METHODS)
    shown = groups(text)
    assert list(shown) == [each for each in GROUPS if each not in (OTHER, METHOD, "Output")]
    of_method = groups(command("train", "--method", "msimcse", "--help-all").out)
    assert {title: lines for title, lines in of_method.items() if title != METHOD} == shown


def test_the_version_is_that_of_the_package_and_v_tells_what_computes(command: Command) -> None:
    said = f"xmine {xmine.__version__}\n"
    for flags, out in (("--version", said), ("--version -v", f"{said}{used}\n")):
        ended = command(*flags.split())
        assert (ended.code, ended.out, ended.err) == (0, out, "")


def test_the_listed_summaries_are_those_of_the_commands_themselves() -> None:
    whole: typer.core.TyperGroup = typer.main.get_command(app())  # type: ignore[assignment]
    own = {name: each.get_short_help_str(80) for name, each in whole.commands.items()}
    assert own == _COMMANDS


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("train --method ", ["moco", "msimcse", "transaug", "emma-x"]),
        ("train --method m", ["moco", "msimcse"]),
        ("train --meth", ["--method"]),
        ("mine --drop ", list(FLAGS)),
        ("mine --drop co", ["copy"]),
        ("mine --drop copy,n", ["copy,near-copy", "copy,negation", "copy,number"]),
        ("mine --margin d", ["distance"]),
        ("mine --threshold ", ["auto", "gold"]),
        ("search --model ", ["e5", "embedded", "use"]),
    ],
)
def test_a_shell_completes_values(
    command: Command, monkeypatch: pytest.MonkeyPatch, line: str, offered: list[str]
) -> None:
    monkeypatch.setenv("_XMINE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"xmine {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" "))))
    ended = command()
    assert sorted(ended.out.split()) == sorted(offered)
    assert ended.err == ""


SHELLS = {
    "bash": "\ncomplete -o default -F ",
    "zsh": "#compdef xmine\n",
    "fish": "complete --command xmine ",
    "powershell": "\nRegister-ArgumentCompleter ",
}


def test_each_shell_has_a_script_of_its_own(command: Command, tmp_path: Path) -> None:
    for shell, sign in SHELLS.items():
        script = command("completion", shell).out
        assert [name for name, each in SHELLS.items() if each in script] == [shell], sign
        if found := shutil.which(shell):
            subprocess.run([found, "-n"], input=script, text=True, check=True)
    typed = "COMP_WORDS=(xmine train --method m); COMP_CWORD=3; _xmine_completion xmine"
    words = ["bash", "-c", f'{command("completion", "bash").out}{typed}; echo "${{COMPREPLY[*]}}"']
    Path(tmp_path, "xmine").write_text(f'#!/bin/sh\nexec {sys.executable} -m xmine "$@"\n')
    Path(tmp_path, "xmine").chmod(0o755)
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert subprocess.check_output(words, env=env, text=True).split() == ["moco", "msimcse"]
    refused = command("completion", "tcsh")
    assert refused.code == 2 and all(repr(shell) in refused.err for shell in SHELLS)


def test_the_help_of_xmine_fits_a_screen_and_names_each_command_once(command: Command) -> None:
    said, alone = command("--help").out, command()
    assert (alone.code, alone.out + alone.err) == (2, said)
    assert said.count("\n") < 24 and "completion" in said and "-completion" not in said
    listed = re.findall(r"^  ([a-z-]+)  ", said, re.MULTILINE)
    more = said.rpartition("explains:\n")[2].splitlines()[0].strip().split(", ")
    assert [*listed, *more] == list(_COMMANDS) and listed[0] == "mine"


@pytest.mark.parametrize("method", METHODS)
def test_what_repeats_a_paper_has_no_flag_but_a_key_of_files(
    command: Command, method: str, tmp_path: Path
) -> None:
    told = command("train", "--method", method, "--help-all").out
    assert "--weight-decay" not in told and len(re.findall(r"^  (?:-\w, )?--", told, re.M)) <= 50
    refused = command("train", "pairs.tsv", "-o", "new", "--weight-decay", "0.1")
    assert refused.code == 2 and "weight_decay = ..." in refused.err
    Path("own.toml").write_text("weight_decay = -1", encoding="utf-8")
    ended = command("train", "pairs.tsv", "-o", "new", "--options", "own.toml")
    assert "own.toml:1: weight_decay is -1" in ended.err
