"""Arguments that several commands share."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.console import Console
from xmine.errors import FileError
from xmine.options import EncodingOptions
from xmine.suffixes import PICTURE_SUFFIXES

if TYPE_CHECKING:
    from xmine.encoder import SentenceEncoder
    from xmine.evaluation.data import DataFolder
    from xmine.evaluation.options import EvaluationOptions

MODEL = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Encoder: a folder, or a hub name such as sentence-transformers/LaBSE.",
        show_default="the embedded one, en-zh",
    ),
]
PROMPT = Annotated[
    str,
    typer.Option(
        "--prompt",
        metavar="<text>",
        help="Text before each sentence, or a name of the encoder's own.",
        show_default="the encoder's default, if it has one",
    ),
]
HUBS = Annotated[
    Path | None,
    typer.Option(
        "--hubs",
        help="File to write the lines to that are neighbours of very many, as TSV.",
        show_default="none",
    ),
]
FORCE = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
PLOT = Annotated[
    bool,
    typer.Option(
        "--plot", help="Draw the scores, the cut and the estimated precision of cuts on stderr."
    ),
]
PLOT_FILE = Annotated[
    Path | None,
    typer.Option(
        "--plot-file",
        metavar="FILE",
        help=f"Draw the same as a picture: {PICTURE_SUFFIXES}; its numbers go to a .csv beside it.",
        show_default="none",
    ),
]
PAIRS = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Pairs: .tsv, .jsonl, .parquet, .tmx, or corpus.en,corpus.zh; - for TSV on stdin.",
    ),
]
DATA = Annotated[
    Path | None,
    typer.Option(help="Folder with the benchmark files.", show_default="$XMINE_DATA"),
]


def load_encoder(
    model: str | None, options: EncodingOptions, console: Console
) -> "SentenceEncoder":
    """Load the encoder of a folder or a hub name, or the embedded one, and say what it is."""
    from xmine.encoder import EMBEDDED, SentenceEncoder

    encoder = SentenceEncoder.load(model or EMBEDDED, options)
    for guess in encoder.guesses:
        console.warn(guess)
    facts = encoder.describe()
    if facts["architecture"] == "static" and (options.device, options.dtype) != ("auto", "auto"):
        console.warn("--device and --dtype do nothing: a static encoder runs on numpy, in float32")
    languages = encoder.facts.languages
    stated = ", ".join(languages[:8]) + (", ..." if len(languages) > 8 else "")
    console.detail(
        f"encoder: {model or 'embedded'}, {facts['architecture']}, "
        f"{stated or 'languages not stated'}, {facts['pooling']} pooling, width {encoder.dim}, "
        f"{facts['pieces']:,} pieces, {encoder.device} {encoder.dtype}"
    )
    return encoder


def about_run(
    encoder: "SentenceEncoder", model: str | None, options: EncodingOptions
) -> dict[str, object]:
    """Tell what of an encoder its vectors depend on, to be recorded with the output."""
    facts = encoder.describe()
    names = ("architecture", "pooling", "default_prompt", "device", "dtype")
    return {
        "model": model or "embedded",
        **{name: facts[name] for name in names},
        "max_length": getattr(encoder.body, "cut_at", None),
        "batch_size": options.batch_size,
        "guessed": encoder.guesses,
    }


def about_evaluation(
    encoder: "SentenceEncoder", model: str | None, options: "EvaluationOptions"
) -> dict[str, object]:
    """Tell the same of an encoder that is measured, which reads both sides with one prompt."""
    prompt = encoder.settings.choose(options.prompt)
    languages = list(encoder.facts.languages)
    return {**about_run(encoder, model, options), "prompt": prompt, "languages": languages}


def data_folder(given: Path | None) -> "DataFolder":
    """Find the benchmark files: the folder given, or that which XMINE_DATA names, or none.

    Raises:
        FileError: it does not exist.
    """
    from xmine.evaluation.data import DataFolder

    named = given or os.environ.get("XMINE_DATA")
    if not named:
        return DataFolder(None)
    folder = Path(named)
    if folder.is_file():
        raise FileError(f"{folder}: is a file, not a folder of benchmark files")
    if not folder.is_dir():
        raise FileError(f"{folder}: no such folder", "it is what --data or XMINE_DATA names")
    return DataFolder(folder)
