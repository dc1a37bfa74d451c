"""Arguments that several commands share."""

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xmine.cli.console import Console
from xmine.errors import FileError, OptionError
from xmine.files.suffixes import PICTURE_SUFFIXES
from xmine.mining.options import MiningOptions
from xmine.options import EncodingOptions, flag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xmine.encoders.encoder import SentenceEncoder
    from xmine.encoders.pair import EncoderPair
    from xmine.evaluation.data import DataFolder
    from xmine.evaluation.options import EvaluationOptions

MODEL = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Encoder: a folder, embedded, or a hub name such as sentence-transformers/LaBSE.",
        show_default="the embedded one, en-zh",
        rich_help_panel="Most used",
    ),
]
PROMPT = Annotated[
    str,
    typer.Option(
        "--prompt",
        metavar="<text>",
        help="Text before each sentence, or the name of a prompt of the encoder.",
        show_default="the encoder's default, if it has one",
        rich_help_panel="Advanced",
    ),
]
HUBS = Annotated[
    Path | None,
    typer.Option(
        "--hubs",
        help="Write the hubs to this file, as TSV: lines that are a neighbour of very many lines.",
        show_default="none",
        rich_help_panel="Output",
    ),
]
SRC_VECTORS = Annotated[
    Path | None,
    typer.Option(
        help="Sentence vectors of the source's lines, instead of an encoder: .npy, or raw float32.",
        show_default="none",
        rich_help_panel="Input",
    ),
]
TGT_VECTORS = Annotated[
    Path | None,
    typer.Option(
        help="Sentence vectors of the target's lines.", show_default="none", rich_help_panel="Input"
    ),
]
DIM = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="<int>",
        help="Dimension of raw float32 vectors.",
        show_default="of the .npy",
        rich_help_panel="Input",
    ),
]
DRY_RUN = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Estimate time and memory, and stop.", rich_help_panel="Most used"
    ),
]
FORCE = Annotated[
    bool, typer.Option("--force", help="Replace the output if it exists.", rich_help_panel="Output")
]
PLOT = Annotated[
    bool,
    typer.Option(
        "--plot",
        help="Draw a histogram of the pairs on stderr, with the threshold and the expected "
        "precision.",
        rich_help_panel="Output",
    ),
]
PLOT_FILE = Annotated[
    Path | None,
    typer.Option(
        "--plot-file",
        metavar="FILE",
        help=f"Draw the histogram as a picture: {PICTURE_SUFFIXES}; its numbers go to a .csv "
        "beside the picture.",
        show_default="none",
        rich_help_panel="Output",
    ),
]
PAIRS = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Pairs: .tsv, .jsonl, .parquet, .tmx, or corpus.en,corpus.zh; - for TSV on stdin.",
    ),
]
TRAINING_PAIRS = Annotated[
    str | None,
    typer.Argument(
        metavar="PAIRS",
        help="Pairs: .tsv, .jsonl, .parquet, .tmx, corpus.en,corpus.zh, or the folder of a "
        "mining run; - for TSV on stdin.",
    ),
]
TRIPLETS = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Columns: sentence, entailed sentence, contradicting sentence; with tabs between, or "
        ".csv; repeatable: the same items in another language.",
        show_default="none",
        rich_help_panel="Input",
    ),
]
NLI = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Labelled pairs: premise, hypothesis, label, with tabs between, or .jsonl.",
        show_default="none",
        rich_help_panel="Input",
    ),
]
TEXTS = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Text file of one language, a sentence per line, or a column of a file "
        "(zh.tsv:2); repeatable.",
        show_default="none",
        rich_help_panel="Input",
    ),
]
DATA = Annotated[
    Path | None,
    typer.Option(help="Folder with the benchmark files.", show_default="$XMINE_DATA"),
]


_OF_ENCODER = ["src_prompt", "tgt_prompt", *(field.name for field in fields(EncodingOptions))]


def load_encoder(
    model: str | None, options: EncodingOptions, console: Console, *, chosen: bool = True
) -> "SentenceEncoder":
    """Load the encoder of a folder or a hub name, or the embedded one, and say what it is.

    Args:
        model: as the user named it, if anything.
        options: where and how it runs.
        console: where it is said.
        chosen: whether the user could choose the options, and is told which of them do nothing.
    """
    from xmine.encoders.encoder import EMBEDDED, SentenceEncoder

    encoder = SentenceEncoder.load(model or EMBEDDED, options)
    for guess in encoder.guesses:
        console.warn(guess)
    facts = encoder.describe()
    given = chosen and (options.device, options.dtype) != ("auto", "auto")
    if given and facts["architecture"] == "static":
        console.warn("--device and --dtype do nothing: a static encoder runs on numpy, in float32")
    languages = encoder.facts.languages
    stated = ", ".join(languages[:8]) + (", ..." if len(languages) > 8 else "")
    console.detail(
        f"encoder: {model or 'embedded'}, {facts['architecture']}, "
        f"{stated or 'languages not stated'}, {facts['pooling']} pooling, width {encoder.dim}, "
        f"{facts['pieces']:,} pieces, {encoder.device} {encoder.dtype}"
    )
    return encoder


def load_encoders(model: str | None, options: EncodingOptions, console: Console) -> "EncoderPair":
    """Load the encoders of both sides: two where the folder holds two, else one for both."""
    from xmine.encoders.pair import EncoderPair, as_pair, is_pair

    if not model or not is_pair(model):
        return as_pair(load_encoder(model, options, console))
    folders = (str(Path(model) / side) for side in ("source", "target"))
    return EncoderPair(*(load_encoder(folder, options, console) for folder in folders))


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


def check_vectors(
    source: Path | None,
    target: Path | None,
    dim: int | None,
    model: str | None,
    options: MiningOptions,
) -> None:
    """Refuse what makes no sense with vectors of lines, or without them."""
    if (source is None) != (target is None):
        raise OptionError(
            "vectors of one side only", "give both --src-vectors and --tgt-vectors, or neither"
        )
    if source is None:
        if dim is not None:
            raise OptionError("--dim without vectors", "give --src-vectors and --tgt-vectors")
        return
    if options.segment:
        raise OptionError(
            "--segment and vectors: a vector is of a whole line",
            "leave out the vectors, or --segment",
        )
    usual = MiningOptions()
    given = [name for name in _OF_ENCODER if getattr(options, name) != getattr(usual, name)]
    if model is not None:
        given.insert(0, "model")
    if given:
        raise OptionError(
            f"{flag(given[0])} and vectors", "vectors take the place of an encoder: give one"
        )


def load_vectors(
    source: Path | None,
    target: Path | None,
    dim: int | None,
    model: str | None,
    options: MiningOptions,
    console: Console,
) -> "tuple[EncoderPair | None, tuple[NDArray[Any], NDArray[Any]] | None, dict[str, object]]":
    """Open the vectors of both sides or, without them, load the encoders; tell which they were."""
    from xmine.vectors.vector_files import read_vectors

    if source and target:
        vectors = read_vectors(source, dim), read_vectors(target, dim)
        console.detail(f"vectors of {source} and {target}, width {vectors[0].shape[1]}")
        return None, vectors, {"source": str(source), "target": str(target)}
    pair = load_encoders(model, options, console)
    if pair.source is pair.target:
        return pair, None, about_run(pair.source, model, options)
    about = {name: about_run(each, each.name, options) for name, each in pair.sides.items()}
    return pair, None, {"model": model, **about}
