"""xmine model: what an encoder is."""

from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.arguments import load_encoder
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_console

model = typer.Typer(help="Tell what an encoder is.", no_args_is_help=True)


@model.callback()
def main() -> None:
    """Tell what an encoder is."""


@with_console
def info(
    console: Console,
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Encoder folder.", show_default="the embedded one, en-zh"
        ),
    ] = None,
) -> None:
    """Print languages, width, size and card of an encoder."""
    from xmine.encoder import EMBEDDED

    encoder = load_encoder(folder, console)
    where = folder or EMBEDDED
    size = sum(path.stat().st_size for path in where.rglob("*") if path.is_file())
    facts = {
        "folder": str(where),
        "architecture": "static",
        "languages": list(encoder.facts.languages),
        "width": encoder.dim,
        "pieces": len(encoder.vocabulary),
        "bytes": size,
        "method": encoder.facts.method,
    }
    if console.as_json:
        console.summary("", {**facts, "card": encoder.card})
        return
    shown = {
        **facts,
        "languages": ", ".join(encoder.facts.languages) or "not stated",
        "pieces": f"{len(encoder.vocabulary):,}",
        "bytes": f"{size:,}",
        "method": encoder.facts.method or "not stated",
    }
    write_rows(f"{name:<13}{value}\n" for name, value in shown.items())
    write_rows(["\n", _without_front_matter(encoder.card)])


def _without_front_matter(card: str) -> str:
    """Leave out the block of YAML that a card opens with for model hubs."""
    return card.split("\n---\n", 1)[-1] if card.startswith("---\n") else card


model.command("info")(info)
