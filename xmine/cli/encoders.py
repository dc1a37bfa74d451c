"""Options of a command -> its encoder, or its benchmark files."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.cli.console import Console
from xmine.errors import FileError
from xmine.options import EncodingOptions, without_effect

if TYPE_CHECKING:
    from xmine.encoders.encoder import SentenceEncoder
    from xmine.encoders.pair import EncoderPair
    from xmine.encoders.rescorer import Rescorer
    from xmine.evaluation.data import DataFolder
    from xmine.evaluation.options import EvaluationOptions


def load_encoder(
    model: str | None, options: EncodingOptions, console: Console
) -> "SentenceEncoder":
    """Load the encoder of a folder or Hugging Face name, or the embedded one; `-v` describes it."""
    from xmine.encoders.encoder import EMBEDDED, SentenceEncoder

    encoder = SentenceEncoder.load(EMBEDDED if model is None else model, options)
    _describe(encoder, console)
    return encoder


def _describe(encoder: "SentenceEncoder", console: Console) -> None:
    console.warn(*encoder.guesses)
    facts = encoder.describe()
    languages = encoder.facts.languages
    stated = ", ".join(languages[:8]) + (", ..." if len(languages) > 8 else "")
    console.detail(
        f"encoder: {encoder.name}, {facts['architecture']}, "
        f"{stated or 'languages not stated'}, {facts['pooling']} pooling, dimension {encoder.dim}, "
        f"{facts['vocabulary']:,} tokens, {encoder.device} {encoder.dtype}"
    )


def warn_without_effect(
    encoders: "Iterable[SentenceEncoder]", options: EncodingOptions, console: Console
) -> None:
    """Warn of options without effect: numpy reads whole sentences."""
    from xmine.encoders.modules.parts import IN_NUMPY

    trained = any(not isinstance(each.body, IN_NUMPY) for each in encoders)
    console.warn(*without_effect(options, {"a transformer": trained}))


def load_encoders(
    model: str | None, options: EncodingOptions, console: Console, *, second: bool = False
) -> "EncoderPair":
    """Load the encoders of both sides: two where the folder holds two, else one for both.

    Warns of options without effect, but where a `second` model may need them.
    """
    from xmine.encoders import pair as pairs

    pair = pairs.load_encoders(model, options)
    for encoder in dict.fromkeys(pair.sides.values()):
        _describe(encoder, console)
    if pooling := getattr(options, "pooling", ""):  # of evaluation
        pair.repool(pooling)
    if not second:
        warn_without_effect(pair.sides.values(), options, console)
    return pair


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
        console.warn(*found.guesses)
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
    """Open the folder of benchmark files."""
    from xmine.evaluation.data import DataFolder

    if given and given.is_file():
        raise FileError(f"{given}: is a file, not a folder of benchmark files")
    if given and not given.is_dir():
        raise FileError(f"{given}: no such folder", "it is what --data or XMINE_DATA names")
    return DataFolder(given)
