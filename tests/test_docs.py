"""The documentation tells what is there: packages, commands, options, examples."""

import re
from pathlib import Path

import command_reference
import typer.main
from typer._click.core import Command

from xmine.cli.app import app
from xmine.cli.train import EXTEND, command_of
from xmine.cli.train.methods import GIVEN
from xmine.trainer.methods import METHODS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}


def commands() -> dict[str, Command]:
    """Every command by the words it is called with."""
    found: dict[str, Command] = {}
    waiting: list[tuple[str, Command]] = [("xmine", typer.main.get_command(app()))]
    while waiting:
        name, command = waiting.pop()
        subcommands: dict[str, Command] = getattr(command, "commands", {})
        if subcommands:
            waiting += [(f"{name} {sub}", each) for sub, each in subcommands.items()]
        else:
            found[name] = command
    return found


def with_methods() -> dict[str, Command]:
    """Take in the commands of methods, which have options of their own."""
    made = {f"xmine train --method {name}": command_of(name) for name in METHODS}
    return commands() | made | {"xmine train --extend": command_of(EXTEND)}


def test_every_package_of_the_top_has_its_line_and_no_line_names_another_folder() -> None:
    text = DOCS[ROOT / "docs" / "architecture.md"]
    lines = re.findall(r"^\| `((?:xmine|trainer|tui)/[\w/]*)` \|", text, re.MULTILINE)
    packages = {
        f"{path.parent.relative_to(ROOT)}/"
        for top in ("xmine", "trainer", "tui")
        for path in (ROOT / top).rglob("__init__.py")
    }
    assert len(lines) == len(set(lines)) and set(lines) <= packages
    tops = {"xmine/", "trainer/", "tui/"} | {each for each in packages if each.count("/") == 2}
    assert {each for each in tops if each.startswith("xmine/")} | {"trainer/", "tui/"} <= set(lines)


def test_the_reference_has_every_command_and_option_with_its_help() -> None:
    sections = dict(command_reference.helps())
    for name, command in with_methods().items():
        assert command.help, name
        section, method = " ".join(sections[name].split()), METHODS.get(name.split()[-1])
        others = GIVEN.keys() - method.reads if method else set()  # data that it does not read
        assert command.help.split(".")[0].split()[-1] in section, name
        for parameter in command.params:
            flags = [flag for flag in parameter.opts if flag.startswith("--")]
            if flags and parameter.name not in {"help_all", *others}:
                assert getattr(parameter, "help", ""), f"{name} {flags}"
                written = parameter.name if getattr(parameter, "hidden", False) else flags[0]
                assert re.search(rf"(?<![\w-]){written}(?![\w-])", section), f"{name} {flags}"


def test_the_reference_has_every_environment_variable_that_the_code_reads() -> None:
    text = DOCS[ROOT / "docs" / "reference" / "commands.md"]
    files = [path for top in ("xmine", "trainer", "tui") for path in (ROOT / top).rglob("*.py")]
    read = {
        name for path in files for name in re.findall(r"\bXMINE_[A-Z]+\b", path.read_text("utf-8"))
    }
    assert read | {"XMINE_MODEL"} == set(re.findall(r"^\| `(XMINE_[A-Z]+)", text, re.MULTILINE))


def test_documents_that_the_code_names_are_there() -> None:
    for top in ("xmine", "trainer", "tui", "bench", "tests", "docs"):
        for path in (ROOT / top).rglob("*.py"):
            for name in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8")):
                assert (ROOT / name).exists(), f"{path}: {name}"


def test_the_readme_is_short() -> None:
    assert len(README.split()) < 900
