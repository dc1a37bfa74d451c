"""Options of files and of the environment: which one counts, and what is wrong is named."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.toys.command import Command, Toy
from xmine.cli.app import app
from xmine.cli.found_file import kind_of, kinds, nearest_file
from xmine.cli.settings import _NOT_HERE, Settings, key_of, read_settings
from xmine.errors import OptionError
from xmine.options import load_toml


@pytest.fixture(autouse=True)
def nothing_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path.parent / f"{tmp_path.name}-settings"
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_, **__: str(folder))


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
    assert cut(command(*mine)).startswith("precision 0.9")
    # Stands before the other, and what is for one command before what is for all.
    Path("xmine.toml").write_text("precision = 0.95\n[mine]\nprecision = 0.8\n")
    ended = command(*mine)
    assert cut(ended).startswith("precision 0.8")
    assert "options: precision = 0.8 (xmine.toml:3)\n" in ended.err
    Path("tuned.toml").write_text("precision = 0.7\n")  # takes the place of both
    assert cut(command(*mine, "--options", "tuned.toml")).startswith("precision 0.7")
    monkeypatch.setenv("XMINE_OPTIONS", "tuned.toml")
    assert cut(command(*mine)).startswith("precision 0.7")
    monkeypatch.setenv("XMINE_PRECISION", "0.6")
    assert cut(command(*mine)).startswith("precision 0.6")
    assert "options: precision = 0.6 (XMINE_PRECISION)" in command(*mine, "-v").err
    assert cut(command(*mine, "--precision", "0.5")).startswith("precision 0.5")
    assert cut(command(*mine, "--threshold", "auto")) == "auto"  # of any cut, as with one file


def test_a_file_says_all_that_flags_say_and_a_run_keeps_what_it_said(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    """Paths start at the file, which may stand above; one table's options are for one command."""
    asked = ["--gold", "gold.tsv", "--drop", "copy", "--no-cache", "-k", 2, "--top", 20]
    Path("gold.tsv").write_text("1\t1\n2\t2\n")
    flags = command("mine", "en.txt", "zh.txt", "--model", toy_folder, *asked)
    Path("xmine.toml").write_text(
        f'model = "{os.path.relpath(toy_folder)}"\nepochs = 3\n[mine]\ngold = "gold.tsv"\n'
        'drop = "copy"\ncache = false\nneighborhood = 2\ntop = 20\n[train.moco]\nmomentum = 0.5\n'
    )
    Path("below").mkdir()
    os.chdir("below")
    assert command("mine", "../en.txt", "../zh.txt").code == 2  # an encoder that nobody named
    assert '../xmine.toml is trusted as it is now: {"model": ' in command("trust").err
    ended = command("mine", "../en.txt", "../zh.txt", "-o", "run/")
    assert ended.code == 0 and 'gold = "../gold.tsv" (../xmine.toml:4)' in ended.err
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
        ("[mine]\nsegment = 1\n", "xmine.toml:2: --segment is 1\nhint: give true or false\n"),
        ("[mine]\nthreshold = true\n", "xmine.toml:2: --threshold is True\nhint: give a number"),
        ("[mine]\nformat = 'xml'\n", "xmine.toml:2: 'xml' is not one of 'tsv', 'jsonl'."),
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
    for name, value in (("XMINE_PRECISION", "95"), ("XMINE_FORMAT", "csv"), ("XMINE_TOP", "x")):
        monkeypatch.setenv(name, value)
        assert command(*mine).err.startswith(f"xmine: {name}: ")
        monkeypatch.delenv(name)


@pytest.mark.parametrize("words", [["cache", "ls"], ["pairs", "list", "x.tsv"], ["trust"]])
def test_a_misspelt_variable_is_told_by_every_command(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    for name, meant in (("PRECISON", "PRECISION"), ("OUPUT", "OUTPUT"), ("STATEE", "STATE")):
        monkeypatch.setenv(f"XMINE_{name}", "1")
        ended = command(*words)
        assert ended.err.startswith(f"xmine: XMINE_{name}: there is no option '{name.lower()}'\n")
        assert ended.code == 2 and f"did you mean XMINE_{meant}?" in ended.err
        monkeypatch.delenv(f"XMINE_{name}")
    for name in ("PRECISION", "EPOCHS", "PROGRESS", "HOME", "TEST"):  # of others, and of nobody
        monkeypatch.setenv(f"XMINE_{name}", "1")
    assert "there is no option" not in command(*words).err


def test_the_file_of_another_project_is_not_found(command: Command, mine: list[str]) -> None:
    Path("xmine.toml").write_text("[mine]\nprecision = 0.9\n")
    Path("repository/.git").mkdir(parents=True)
    os.chdir("repository")
    Path("pyproject.toml").write_bytes(b"\xff")  # nor is one read that says nothing of xmine
    ended = command("mine", "../en.txt", "../zh.txt", *mine[3:])
    assert cut(ended) == "auto" and "options:" not in ended.err


def test_a_file_that_cannot_be_read_does_not_hide_one_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xmine.toml").write_text("k = 3\n")
    (below := tmp_path / "below").mkdir()
    (below / "pyproject.toml").write_text("[project]\n")

    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.chdir(below)
    monkeypatch.setattr(Path, "read_bytes", refused)
    assert nearest_file() == Path("../xmine.toml")


def every_option(command: Any = None, context: Any = None) -> Iterator[tuple[Any, str, str, str]]:
    """Of each option of each command: the context, the table, the name, and what it may do."""
    command = command or typer.main.get_command(app())
    context = context or command.context_class(command, info_name="xmine")
    for word in command.list_commands(context) if hasattr(command, "list_commands") else ():
        below = command.get_command(context, word)
        yield from every_option(below, below.context_class(below, info_name=word, parent=context))
    table = ".".join(f'"{word}"' for word in context.command_path.split()[1:])
    for each in command.params if table else ():
        if each.opts[0].startswith("-") and (key := key_of(each)) not in _NOT_HERE:
            yield context, table, key, kind_of(context.info_name, key)


def read(context: Any, given: Path | None = None) -> Settings:
    return read_settings(given, context, dict.__or__, lambda _: None)


def test_it_is_said_of_every_option_of_every_command_what_it_may_do() -> None:
    known = set()
    for context, table, key, kind in every_option():
        names = {key, f"{context.info_name}.{key}"}
        assert names & kinds().keys(), f"{table} {key}"
        known |= names
        metavar = next(x for x in context.command.params if key_of(x) == key).make_metavar(context)
        assert kind != "free" or metavar not in ("<path>", "<model>", "<host:port>"), key
    assert kinds().keys() <= known


@pytest.mark.parametrize("form", ["[{0}]\n{1} = {2}", "{0}.{1}={2}", "{0}={{ {1} = {2} }}"])
@pytest.mark.parametrize("file", ["xmine.toml", "pyproject.toml"])
def test_a_found_file_neither_writes_nor_connects_nor_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path, top = Path(file), "tool.xmine." * (file == "pyproject.toml")
    for context, table, key, kind in every_option():
        for value in ('"x"', '["/etc/x", "y"]') if kind not in ("free", "read") else ():
            path.write_text("\n" + form.format(top + table, key.replace("_", "-"), value))
            with pytest.raises(OptionError) as wrong:
                read(context)
            line = 3 if form[0] == "[" else 2
            assert wrong.value.message.startswith(f"{file}:{line}: {key} = {value}: ")
            assert wrong.value.hint.endswith(f"xmine trust; or, this once: --options {file}")
            assert read(context, path).values  # as it is named


@pytest.mark.parametrize(
    "value",
    "/etc/hosts;../x;a/../../x;out;out/x;out:2;a,../x;b, /etc/hosts;a;a/*;@b;o*t;{}/x;~/x;"
    "b\\u0000".split(";"),
)
def test_a_found_file_reads_below_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    (top := tmp_path / "top").joinpath("a", "below").mkdir(parents=True)
    (top / "out").symlink_to(tmp_path)
    (top / "a" / "link").symlink_to("/etc/hosts")
    monkeypatch.chdir(top)
    for context, table, key, _ in [each for each in every_option() if each[3] == "read"]:
        for said in (f'"{value}"', f'["b", "{value}"]'):
            Path("xmine.toml").write_text(f"[{table}]\n{key}={said}\n")
            with pytest.raises(
                OptionError, match=f"xmine.toml:2: {key} = .* outside of its folder"
            ):
                read(context)
        Path("xmine.toml").write_text(f'{key} = ["b.tsv:2", "{top}/b", "a/below", "-", "c,d"]\n')
        assert read(context).values


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners")
@pytest.mark.parametrize("whose", ["folder", "file", "link", "sticky", "above sticky", "user"])
def test_a_file_that_others_could_have_put_there_is_not_read(
    command: Command, mine: list[str], monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    Path("top/below").mkdir(parents=True)
    Path("xmine.toml").write_text("precision = 0.8\n")
    (found := Path("top/xmine.toml").absolute()).write_text("precision = 0.9\n")
    os.chdir("top/below")
    words = ["mine", "../../en.txt", "../../zh.txt", *mine[3:]]
    assert cut(command(*words)).startswith("precision 0.9")
    if whose == "user":
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    elif "sticky" in whose:
        Path(".." if whose == "sticky" else ".").chmod(0o1777)
    elif os.getuid():
        pytest.skip("only root gives files away")
    else:
        if whose == "link":
            found.rename("other.toml")
            found.symlink_to("below/other.toml")
        os.lchown(".." if whose == "folder" else found, 65534, -1)
    ended = command(*words)
    assert cut(ended) == "auto" and "options: " not in ended.err
    assert ("../xmine.toml is not read: " in ended.err) == (whose not in ("user", "above sticky"))
    assert "not read" not in command(*words, "-q").err and command("trust").code == 1
    assert cut(command(*words, "--options", "../xmine.toml")).startswith("precision 0.9")


@pytest.mark.parametrize(
    "toml",
    [
        'output = "{0}/x.fish,{0}/y.zh"',
        'output = "../victim/x.fish,../victim/y.zh"',
        'plot = "../victim/p.svg"',
        'engine = "ray://127.0.0.1:6399"',
        'model = "evil-org/evil-model"',
    ],
)
def test_a_strangers_file_does_nothing_until_it_is_trusted_as_it_is(
    command: Command, mine: list[str], tmp_path: Path, toml: str
) -> None:
    """And what it writes then is told even with -q."""
    Path("xmine.toml").write_text(f"[mine]\n{toml.format(tmp_path)}\n")
    ended = command(*mine, "-q")
    assert (ended.code, ended.out, ended.touched) == (2, "", set())
    assert ended.err.startswith("xmine: xmine.toml:2: ") and "may not" in ended.err
    assert command("trust").code == 0
    Path("xmine.toml").write_text(f"[mine]\n{toml.format(tmp_path)}\n\n")
    assert command(*mine).code == 2
