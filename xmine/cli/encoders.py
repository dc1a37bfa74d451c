"""Options of a command -> its encoder, its vectors of lines, or its benchmark files."""

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmine.cli.console import Console
from xmine.errors import FileError, OptionError
from xmine.extras import is_installed
from xmine.hardware import choose_device
from xmine.mining.options import MiningOptions
from xmine.options import EncodingOptions, flag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xmine.encoders.encoder import SentenceEncoder
    from xmine.encoders.pair import EncoderPair
    from xmine.encoders.rescorer import Rescorer
    from xmine.evaluation.data import DataFolder
    from xmine.evaluation.options import EvaluationOptions

_OF_ENCODER = ["src_prompt", "tgt_prompt", *(field.name for field in fields(EncodingOptions))]

_OF_SECOND = ("device", "dtype", "batch_size")


def load_encoder(
    model: str | None, options: EncodingOptions, console: Console, *, chosen: bool = True
) -> "SentenceEncoder":
    """Load the encoder of a folder or Hugging Face name, or the embedded one; `-v` describes it.

    Warns of options without effect, but where the user has not `chosen` them.
    """
    from xmine.encoders.encoder import EMBEDDED, SentenceEncoder

    encoder = SentenceEncoder.load(EMBEDDED if model is None else model, options)
    for guess in encoder.guesses:
        console.warn(guess)
    facts = encoder.describe()
    if chosen:
        warn_without_effect(encoder, options, console)
    languages = encoder.facts.languages
    stated = ", ".join(languages[:8]) + (", ..." if len(languages) > 8 else "")
    console.detail(
        f"encoder: {encoder.name}, {facts['architecture']}, "
        f"{stated or 'languages not stated'}, {facts['pooling']} pooling, dimension {encoder.dim}, "
        f"{facts['vocabulary']:,} tokens, {encoder.device} {encoder.dtype}"
    )
    return encoder


def warn_without_effect(
    encoder: "SentenceEncoder", options: EncodingOptions, console: Console
) -> None:
    """Warn of options that a static encoder has no use for; refuse a device that is not here."""
    usual = fields(EncodingOptions)
    given = [flag(each.name) for each in usual if getattr(options, each.name) != each.default]
    if given and encoder.describe()["architecture"] == "static":
        if options.device not in ("auto", "cpu") and is_installed("torch"):
            choose_device(options.device)
        console.warn(
            f"{', '.join(given)}: without effect: a static encoder reads whole sentences with numpy"
        )


def load_encoders(
    model: str | None, options: EncodingOptions, console: Console, *, chosen: bool = True
) -> "EncoderPair":
    """Load the encoders of both sides: two where the folder holds two, else one for both."""
    from xmine.encoders.pair import EncoderPair, as_pair, is_pair

    if not model or not is_pair(model):
        return as_pair(load_encoder(model, options, console, chosen=chosen))
    folders = (str(Path(model) / side) for side in ("source", "target"))
    return EncoderPair(*(load_encoder(each, options, console, chosen=chosen) for each in folders))


def load_second(model: str | None, options: EncodingOptions, console: Console) -> "Rescorer | None":
    """Load the model of `--rescore`, if there is one, and describe it with `-v`."""
    if model is None:
        return None
    from xmine.encoders.encoder import SentenceEncoder
    from xmine.encoders.rescorer import load_rescorer

    found = load_rescorer(model, options)
    kind = "a cross-encoder"
    if isinstance(found, SentenceEncoder):
        kind = "an encoder"
        for guess in found.guesses:
            console.warn(guess)
    console.detail(f"rescoring: {model}, {kind}")
    return found


def evaluated_facts(
    pair: "EncoderPair", options: "EvaluationOptions", model: str | None
) -> dict[str, object]:
    """List the facts of an evaluated encoder, or of two, which read all texts with one prompt."""
    from xmine.encoders.pair import encoder_facts, pair_facts

    def facts(encoder: "SentenceEncoder") -> dict[str, object]:
        prompt = encoder.settings.choose(options.prompt)
        return {**encoder_facts(encoder), "prompt": prompt}

    named = model or pair.name
    return {**pair_facts(pair, facts), "model": named, "languages": list(pair.facts.languages)}


def data_folder(given: Path | None) -> "DataFolder":
    """Find the benchmark files: in the folder given, or in the one that XMINE_DATA names."""
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
    second: str | None = None,
) -> None:
    """Refuse options that make no sense with vectors of lines, or without them.

    Some are of use to a `second` model.
    """
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
    names = [name for name in _OF_ENCODER if not second or name not in _OF_SECOND]
    given = [name for name in names if getattr(options, name) != getattr(usual, name)]
    for name in ["model"] * (model is not None) + given:
        raise OptionError(
            f"{flag(name)} and vectors", "vectors take the place of an encoder: give one"
        )


def load_vectors(
    source: Path | None,
    target: Path | None,
    dim: int | None,
    model: str | None,
    options: MiningOptions,
    console: Console,
    *,
    chosen: bool = True,
) -> "tuple[EncoderPair | None, tuple[NDArray[Any], NDArray[Any]] | None]":
    """Open the vectors of both sides or, without them, load the encoders."""
    from xmine.vectors.vector_files import read_vectors

    if source and target:
        vectors = read_vectors(source, dim), read_vectors(target, dim)
        console.detail(f"vectors of {source} and {target}, dimension {vectors[0].shape[1]}")
        return None, vectors
    return load_encoders(model, options, console, chosen=chosen), None
