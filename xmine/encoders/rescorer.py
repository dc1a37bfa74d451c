"""A folder, Hugging Face name or `embedded` -> an encoder or cross-encoder that judges pairs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Union

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.hub import EMBEDDED, find_encoder
from xmine.encoders.layout import read_json, read_modules
from xmine.extras import needs
from xmine.options import EncodingOptions

if TYPE_CHECKING:
    from xmine.encoders.modules.cross_encoder import CrossEncoder

Rescorer = Union[SentenceEncoder, "CrossEncoder"]


def load_rescorer(model: str | Path, options: EncodingOptions | None = None) -> Rescorer:
    """Load the second model of mining.

    Args:
        model: an encoder, as `SentenceEncoder.load` takes it, or a cross-encoder with one label.
        options: device, number type and batch size; the model's own maximal length holds.

    Raises:
        EncoderError: it is neither, is broken, or has several labels.
        OptionError: there is no such device.
        XmineError: a package that it needs is not installed.
    """
    options = replace(options or EncodingOptions(), max_length=0)
    folder = find_encoder(model)
    if folder == EMBEDDED or [each.kind for each in read_modules(folder)] != ["Transformer"]:
        return SentenceEncoder.load(model, options)
    made_as = read_json(folder / "config.json").get("architectures") or [""]
    if not str(made_as[0]).endswith("ForSequenceClassification"):
        return SentenceEncoder.load(model, options)
    needs(f"{folder}: a cross-encoder", "torch", "transformers", "tokenizers")
    from xmine.encoders.modules.cross_encoder import CrossEncoder

    return CrossEncoder.load(folder, str(model), options)
