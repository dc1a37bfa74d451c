"""Pages of the site, and manual pages: the whole help of every command.

mkdocs loads this file as a hook (mkdocs.yml) and calls `on_config` and `on_files`.
`python docs/command_reference.py FOLDER` writes a manual page for each command.
"""

import re
import sys
from collections.abc import Iterator
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import typer
import typer.main
from typer.testing import CliRunner

from xmine.cli.app import app
from xmine.cli.settings import key_of
from xmine.cli.train import EXTEND, command_of
from xmine.trainer.methods import METHODS
from xmine.version import __version__

_PAGE = "reference/commands.md"


def on_config(config: Any) -> Any:  # noqa: ANN401 - of mkdocs, as all below
    """Name the version in the footer, and the pages of commands in the navigation."""
    config["copyright"] = f"xmine {__version__} · {config['copyright']}"
    (reference,) = (each["Reference"] for each in config["nav"] if "Reference" in each)
    pages = [{name: _page_of(name)} for name, _ in helps()]
    reference[reference.index({"Commands": _PAGE})] = {"Commands": [_PAGE, *pages]}
    return config


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401
    """Add a page for each command."""
    from mkdocs.structure.files import File  # which manual pages do not need

    for name, text in helps():
        content = f"# {name}\n\n```text\n{text.rstrip()}\n```\n"
        files.append(File.generated(config, _page_of(name), content=content))
    return files


def _page_of(name: str) -> str:
    return f"reference/commands/{_short(name)}.md"


def _short(name: str) -> str:
    return name.replace(" --method", "").replace(" --", " ").replace(" ", "-")


@cache
def helps() -> list[tuple[str, str]]:
    """Give the name of each command, such as `xmine pairs list`, with its whole help."""
    return [*_helps()]


def _helps() -> Iterator[tuple[str, str]]:
    whole, runner = app(), CliRunner()
    waiting: list[tuple[list[str], Any]] = [([], typer.main.get_command(whole))]
    while waiting:
        words, command = waiting.pop(0)
        below = [([*words, name], each) for name, each in getattr(command, "commands", {}).items()]
        if words == ["train"]:
            named = {name: ["--method", name] for name in METHODS} | {EXTEND: [f"--{EXTEND}"]}
            below = [([*words, *flag], command_of(name)) for name, flag in named.items()]
        waiting = below + waiting
        flags = {each.name for each in getattr(command, "params", [])}
        wanted = "--help-all" if "help_all" in flags or "train" in words else "--help"
        shown = runner.invoke(whole, [*words, wanted], prog_name="xmine", env={"COLUMNS": "80"})
        if shown.exit_code:
            raise RuntimeError(f"xmine {' '.join(words)} {wanted}: {shown.output}")
        yield " ".join(["xmine", *words]), shown.output + _keys_of_files(command)


def _keys_of_files(command: Any) -> str:  # noqa: ANN401
    """Write the options of a command that have no flag, in the form of its help."""
    context, rows = typer.Context(command, terminal_width=80), []
    for each in command.params:
        if getattr(each, "hidden", False) and each.help:
            shown = copy(each)
            shown.hidden = False  # or it has no record
            rows.append((key_of(each), shown.get_help_record(context)[1]))
    formatter = context.make_formatter()
    if rows:
        with formatter.section("\nIn files of options alone"):
            formatter.write_dl(rows)
    return str(formatter.getvalue())


def write_manual(folder: Path) -> None:
    """Write a manual page for each command, for `man`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in helps():
        page = _short(name)
        (folder / f"{page}.1").write_text(as_roff(page, text), encoding="utf-8")


def as_roff(page: str, text: str) -> str:
    """Turn a help into a manual page."""
    usage, *blocks = re.split(r"\n\n+|\n(?=\S.*:\n)", text.strip())
    lines = [f'.TH {page.upper()} 1 "" "xmine {__version__}"', ".SH NAME"]
    lines += [
        f"{page} \\- {_escaped(blocks[0])}",
        ".SH SYNOPSIS",
        _escaped(usage[len("Usage: ") :]),
    ]
    lines += [".SH DESCRIPTION"]
    for block in blocks:
        title, _, rows = block.partition("\n")
        if not re.fullmatch(r"\S.*:", title):
            lines += [".PP", _escaped(block)]
            continue
        lines += [f".SH {title[:-1].upper()}"]
        for row in re.split(r"\n  (?=\S)", f"\n{rows}")[1:]:
            names, *said = re.split(r"  +|\n +", row, maxsplit=1)
            lines += [".TP", rf"\fB{_escaped(names)}\fR", _escaped(*said or [""])]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Write text for roff in one line: words that a line breaks at a hyphen are whole again."""
    text = re.sub(r"\s+", " ", re.sub(r"(?<=\w-)\n +", "", text)).strip()
    text = re.sub(r"^(?=[.'])", r"\\&", text.replace("\\", r"\e").replace("-", r"\-"))
    return re.sub(r"[^\x20-\x7e]", lambda found: rf"\[u{ord(found[0]):04X}]", text)


if __name__ == "__main__":
    write_manual(Path(sys.argv[1]))
