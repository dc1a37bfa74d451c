"""The help of each command is complete, true and fits a terminal of 80 columns."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import xmine
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.options import FLAGS

Command = Callable[..., Any]
COMMANDS = ["mine", "score", "search", "encode", "convert", "train", "model info"]
COMMANDS += ["browse", "model export", "cache ls", "cache rm"]
COMMANDS += [f"pairs {name}" for name in ("head", "sample", "stats", "list", "show", "neighbors")]
COMMANDS += [f"pairs {name}" for name in ("cut", "judge", "judged", "map")]
COMMANDS += ["eval all", "eval compare", "eval gain", *(f"eval {name}" for name in BENCHMARKS)]


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def options(text: str) -> dict[str, str]:
    """Each option's flags and metavar -> its help."""
    rows: list[str] = []
    for line in text.split("\nOptions:\n")[1].split("\n\n")[0].splitlines():
        if re.match(r"  -", line):
            rows.append(line.strip())
        elif line.strip():
            rows[-1] += f"  {line.strip()}"
    return dict(re.split(r"\s{2,}", row, maxsplit=1) for row in rows)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_that_takes_a_value_shows_its_default(command: Command, name: str) -> None:
    ended = command(*name.split(), "--help")
    assert (ended.code, ended.err) == (0, "")
    shown = options(ended.out)
    assert {"-q, --quiet", "-v, --verbose", "--json", "--debug", "-h, --help"} <= set(shown)
    for flags, text in shown.items():
        joined = " ".join(text.split())
        assert joined, flags
        if "<" in flags or "/" in flags:
            assert re.search(r"\[(default: \(?[^\s()]|required)", joined), (flags, joined)


@pytest.mark.parametrize("name", ["", "eval", "pairs", "model", *COMMANDS])
def test_help_fits_and_is_the_same_for_both_flags(command: Command, name: str) -> None:
    ended = command(*name.split(), "-h")
    assert ended.out == command(*name.split(), "--help").out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "..." not in re.sub(r"[\]}]\.\.\.", "", ended.out)  # nothing is cut off


def test_the_defaults_of_mining_are_those_of_the_field(command: Command) -> None:
    text = " ".join(command("mine", "--help").out.split())
    for default in (
        "[default: 4; 1<=x<=1024]",
        "[default: ratio]",
        "[default: max]",
        "[default: auto]",
        "[default: dedup]",
    ):
        assert default in text


def test_the_version_is_that_of_the_package(command: Command) -> None:
    ended = command("--version")
    assert (ended.code, ended.out, ended.err) == (0, f"xmine {xmine.__version__}\n", "")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("train --method ", ["moco", "msimcse", "transaug", "emma-x"]),
        ("train --method m", ["moco", "msimcse"]),
        ("train --meth", ["--method"]),
        ("mine --drop ", list(FLAGS)),
        ("mine --drop co", ["copy"]),
        ("mine --drop copy,n", ["copy,near-copy", "copy,number"]),
        ("mine --margin d", ["distance"]),
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


def test_completion_is_offered(command: Command) -> None:
    text = command("--help").out
    assert "--install-completion" in text and "--show-completion" in text
