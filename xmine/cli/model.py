"""xmine model: what an encoder or a pack is, one more pack, an encoder's folder in another form."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from xmine.cli.arguments import FORCE, MODEL, switch, value
from xmine.cli.console import Console
from xmine.cli.encoders import load_encoder
from xmine.cli.from_options import with_flags
from xmine.errors import FileError
from xmine.options import EncodingOptions
from xmine.text.languages import check_code, language_name

model = typer.Typer(
    help="Tell what an encoder is, give it a pack, or export it.", no_args_is_help=True
)

ENCODER = typer.Argument(
    metavar="ENCODER",
    help="A folder or a Hugging Face name; of info also a .pack.",
    show_default="the embedded one",
)
_SOURCE = "{source} ({pairs:,} pairs, {licence})"
_ASIDE = "format", "letters"  # of a pack: not told to people


@model.command("info", short_help="Print what an encoder is.")
@with_flags
def info(
    console: Console,
    encoder: Annotated[str, ENCODER] = "embedded",
    card: Annotated[bool, switch("--card", "Print the card of the encoder instead.")] = False,
) -> None:
    """Print what an encoder is: architecture, pooling, prompts, sizes, languages, packs.

    Of a pack: its language, what it was made of, and how many held-out pairs it retrieves.

    Example: xmine model info encoder/
    """
    from xmine.encoders.hub import find_encoder

    if encoder.endswith(".pack"):
        facts = _facts_of(Path(encoder))
        console.show(_rows({name: x for name, x in facts.items() if name not in _ASIDE}), facts)
        return
    folder = find_encoder(encoder)
    loaded = load_encoder(str(folder), EncodingOptions(), console)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    facts = {"folder": str(folder), "bytes": size, **loaded.describe()}
    rows, packs = _rows(facts), [_facts_of(path) for path in loaded.packs.values()]
    for place, some in groupby(sorted(packs, key=itemgetter("folder")), itemgetter("folder")):
        rows += _rows({"packs in": place} | {f"pack {x['language']}": _told(x) for x in some})
    if card:
        is_for_hub = loaded.card.startswith("---\n")  # and opens with a block of YAML
        rows = [loaded.card.split("\n---\n", 1)[-1] if is_for_hub else loaded.card]
    elif loaded.card:
        console.say("its card: --card")
    console.show(rows, {**facts, "packs": packs, "card": loaded.card})


def _facts_of(pack: Path) -> dict[str, Any]:
    """Tell what a pack says of itself, its file, size and date."""
    from xmine.encoders.packs import Pack

    facts, found = Pack.read(pack).facts, pack.stat()
    day = date.fromtimestamp(found.st_mtime).isoformat()
    place = {"folder": str(pack.absolute().parent), "file": pack.name}
    return {**place, **facts, "bytes": found.st_size, "date": day}


def _told(pack: dict[str, Any]) -> str:
    figures = f"{pack['after']:.1%} of held-out pairs, {pack['bytes'] / 1e6:.1f} MB, {pack['date']}"
    return f"{language_name(pack['language'])}, {figures}"


def _rows(facts: Mapping[str, object]) -> list[str]:
    return [f"{name.replace('_', ' '):<17}{_shown(value)}\n" for name, value in facts.items()]


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {text!r}" for name, text in value.items()) or "none"
    if isinstance(value, list):
        rows = (x if isinstance(x, str) else _SOURCE.format_map(x) for x in value)
        return fill(", ".join(rows), 63).replace("\n", "\n" + " " * 17) or "not stated"
    if isinstance(value, float):
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else str(value or "none")


@model.command("add", short_help="Give an encoder a pack: one more language.")
@with_flags
def add(
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="What xmine train --extend makes.")],
    console: Console,
    model: MODEL = None,
    force: FORCE = False,
) -> None:
    """Give an encoder a pack, with which it reads one more language.

    Packs of the embedded encoder go to a folder of yours, those of another one to its own folder.

    Example: xmine model add el.pack
    """
    from xmine.encoders.hub import EMBEDDED, find_encoder
    from xmine.encoders.packs import PACKS, SUFFIX, Pack, own_packs
    from xmine.files.atomic import replacing

    code = Pack.read(pack).facts["language"]
    encoder = load_encoder(model, EncodingOptions(), console)
    check_code(code, f"{pack}: its language")  # which names a file
    replace(encoder, packs={code: pack}).reading(code)  # refuses a pack of another encoder
    own, name = find_encoder(model or "embedded"), f"{language_name(code)} ({code})"
    place = (own_packs() if own == EMBEDDED else own / PACKS) / f"{code}{SUFFIX}"
    if place.exists() and not force:
        raise FileError(f"{place}: a pack of {name} is there already", "--force replaces it")
    place.parent.mkdir(parents=True, exist_ok=True)
    with replacing(place) as partial:
        partial.write_bytes(pack.read_bytes())
    told = {"language": code, "file": str(place)}
    console.summary(f"{place}: {encoder.name} now reads {name}", told)


@model.command("export", short_help="Write an encoder as a folder.")
@with_flags
def export(
    output: Annotated[Path, value("Folder to write.", "-o --output", shown=True)],
    console: Console,
    encoder: Annotated[str, ENCODER] = "embedded",
    force: FORCE = False,
) -> None:
    """Write an encoder as a folder of sentence-transformers.

    Example: xmine model export encoder/ -o copy/
    """
    from xmine.encoders.hub import find_encoder
    from xmine.files.atomic import check_free

    check_free(output, force=force, folder=True)
    exact = EncodingOptions(device="cpu", dtype="float32")
    folder = find_encoder(encoder)
    if folder.resolve().is_relative_to(output.resolve()):
        raise FileError(f"{output}: holds the encoder that is exported", "give another name")
    load_encoder(encoder, exact, console).save(output)
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    console.summary(f"{output}: {size:,} bytes", {"output": str(output), "bytes": size})
