"""xmine model: what an encoder is, and its folder in another form."""

from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.arguments import FORCE, switch, value
from xmine.cli.console import Console
from xmine.cli.encoders import load_encoder
from xmine.cli.from_options import with_flags
from xmine.errors import EncoderError, FileError
from xmine.extras import needs
from xmine.options import EncodingOptions

model = typer.Typer(help="Tell what an encoder is, or export it.", no_args_is_help=True)

ENCODER = typer.Argument(
    metavar="ENCODER", help="A folder or a Hugging Face name.", show_default="the embedded one"
)


@model.command("info", short_help="Print what an encoder is.")
@with_flags
def info(
    console: Console,
    encoder: Annotated[str, ENCODER] = "embedded",
    card: Annotated[bool, switch("--card", "Print the card of the encoder instead.")] = False,
) -> None:
    """Print what an encoder is: architecture, pooling, prompts, sizes, languages.

    Example: xmine model info encoder/
    """
    from xmine.encoders.hub import find_encoder
    from xmine.encoders.metadata import without_front_matter

    folder = find_encoder(encoder)
    loaded = load_encoder(str(folder), EncodingOptions(), console)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    facts = {"folder": str(folder), "bytes": size, **loaded.describe()}
    rows = [f"{name.replace('_', ' '):<17}{_shown(value)}\n" for name, value in facts.items()]
    if card:
        rows = [without_front_matter(loaded.card)]
    elif loaded.card:
        console.say("its card: --card")
    console.show(rows, {**facts, "card": loaded.card})


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {text!r}" for name, text in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(value) or "not stated"
    return f"{value:,}" if isinstance(value, int) else str(value or "none")


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


@model.command("push", short_help="Put an encoder on the Hugging Face Hub.")
@with_flags
def push(
    encoder: Annotated[Path, typer.Argument(metavar="ENCODER", help="The folder of an encoder.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Where to, as owner/name.")],
    console: Console,
    private: Annotated[bool, switch("--private", "Make a new repository private.")] = False,
) -> None:
    """Put the folder of an encoder on the Hugging Face Hub, with its card; hf auth login first.

    Example: xmine model push encoder/ owner/name
    """
    from xmine.encoders.encoder import SentenceEncoder
    from xmine.encoders.layout import first_line
    from xmine.encoders.pair import is_pair

    needs("xmine model push", "huggingface_hub")
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

    if not is_pair(encoder):
        SentenceEncoder.load(encoder)  # refuses what is no encoder
    try:
        address = HfApi().create_repo(name, private=private, exist_ok=True)
        HfApi().upload_folder(repo_id=name, folder_path=encoder)
    except (HfHubHTTPError, LocalTokenNotFoundError, ValueError, OSError) as error:
        raise EncoderError(
            f"{name}: not written: {first_line(error)}", "log in with: hf auth login"
        ) from error
    console.summary(f"{encoder}: now at {address}", {"address": str(address)})
