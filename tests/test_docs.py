"""The documentation tells what is there: commands, options, examples."""

import re
import shlex
from pathlib import Path

import typer.main
from typer._click.core import Command, Context

from xmine.cli.app import app
from xmine.cli.train import command_of
from xmine.cli.train.ablate import command_of as ablation_of
from xmine.options import flag
from xmine.trainer.ablation.specs import ABLATIONS
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
    """Take in the commands of methods and ablations, which have options of their own."""
    methods = {f"xmine train --method {name}": command_of(name) for name in METHODS}
    ablations = {f"xmine ablate {name}": ablation_of(name) for name in ("temperature", "teacher")}
    return commands() | methods | ablations


def test_every_command_and_option_has_help_and_is_in_the_docs() -> None:
    text = README + "".join(DOCS.values())
    for name, command in with_methods().items():
        assert command.help, name
        assert name.partition(" --")[0] in text
        for parameter in command.params:
            flags = [flag for flag in parameter.opts if flag.startswith("--")]
            if flags:
                assert getattr(parameter, "help", ""), f"{name} {flags}"
                assert flags[0] in text, f"{name} {flags} is in no document"


def test_the_commands_in_the_docs_parse() -> None:
    known = commands()
    seen = 0
    for document in [README, *DOCS.values()]:
        for line in re.findall(r"^xmine \S.*", document.replace("\\\n", " "), re.MULTILINE):
            words = shlex.split(re.split(r" [>|] ", line.split("  #")[0])[0])
            name = next((n for n in known if words[: len(n.split())] == n.split()), None)
            if name is None:
                assert words[1] in ("--version", "--help"), line
                continue
            arguments = words[len(name.split()) :]
            known[name].make_context(name, arguments, parent=Context(known[name]))
            seen += 1
    assert seen >= 8


def test_links_in_the_docs_lead_to_files() -> None:
    for path, text in {ROOT / "README.md": README, **DOCS}.items():
        for target in re.findall(r"\]\(([^)#]+)", text):
            if not target.startswith("http"):
                assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_table_of_ablations_is_that_of_the_command() -> None:
    text = DOCS[ROOT / "docs" / "ablations.md"]
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", text, re.MULTILINE)
    expected = []
    for name, each in ABLATIONS.items():
        varied = f"`{flag(each.option)}` " if each.option else ""
        cells = [each.method, f"{varied}{', '.join(each.settings)}", each.source]
        expected.append((name, " | ".join(cells)))
    assert rows == expected
