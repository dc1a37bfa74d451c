"""What an encoder is made of: the module that reads text, and those behind it, from a folder."""

from pathlib import Path
from typing import TYPE_CHECKING

from xmine.encoders.layout import (
    INSTEAD,
    MODULES_FILE,
    ModuleEntry,
    head_settings,
    read_json,
    write_json,
)
from xmine.encoders.modules.protocols import Head
from xmine.encoders.modules.static import StaticEmbedding
from xmine.errors import EncoderError
from xmine.extras import needs
from xmine.options import EncodingOptions

if TYPE_CHECKING:
    from xmine.encoders.modules.transformer import Transformer


class LengthOne:
    """The last step of every encoder, as a folder has it."""

    kind = "Normalize"

    def save(self, folder: Path) -> None:
        """Write a file, since empty folders get lost on the way."""
        write_json(folder / "config.json", {})


def read_body(
    entries: list[ModuleEntry], options: EncodingOptions
) -> "tuple[StaticEmbedding | Transformer, list[ModuleEntry]]":
    """Load the module that reads text, with its pooling; return it and the entries behind.

    Raises:
        EncoderError: it is broken, or asks for what cannot be honoured.
        OptionError: there is no such device.
        XmineError: it needs modules that are not installed.
    """
    folder, kinds = entries[0].folder, [entry.kind for entry in entries]
    if kinds[0] == "StaticEmbedding":
        return StaticEmbedding.load(folder), entries[1:]
    plain = kinds == ["Transformer"] and not (folder / MODULES_FILE).exists()
    if kinds[:2] != ["Transformer", "Pooling"] and not plain:
        raise _cannot_honour(folder, kinds[:2])
    needs(f"{folder}: a transformer", "torch", "transformers", "tokenizers")
    from xmine.encoders.modules.transformer import Transformer
    from xmine.hardware import choose_device, choose_dtype

    device = choose_device(options.device)
    model_type = str(read_json(folder / "config.json").get("model_type", ""))
    dtype = choose_dtype(options.dtype, device, model_type)
    body = Transformer.load(folder, None if plain else entries[1].folder).to(device)
    body.dtype = dtype
    body.batch_size = options.batch_size
    body.cut_at = min(body.max_length, options.max_length or body.max_length)
    return body, entries[2:]


def read_heads(entries: list[ModuleEntry]) -> list[Head]:
    """Load the other modules; a Normalize at the end is what every encoder ends with anyway.

    Raises:
        EncoderError: one is broken, or cannot be honoured.
        XmineError: there are some, and torch is not installed.
    """
    kept = [entry for entry in entries if entry.kind != "Dropout"]  # nothing outside training
    if kept and kept[-1].kind == "Normalize":
        head_settings(kept.pop().folder)
    if not kept:
        return []
    needs(f"{kept[0].folder}: {kept[0].kind}", "torch")
    from xmine.encoders.modules.heads import HEADS

    for entry in kept:
        if entry.kind not in HEADS:
            raise _cannot_honour(entry.folder, [entry.kind])
    return [HEADS[entry.kind].load(entry.folder) for entry in kept]


def _cannot_honour(folder: Path, kinds: list[str]) -> EncoderError:
    known = "StaticEmbedding, or Transformer + Pooling; then Dense, LayerNorm, Normalize"
    return EncoderError(f"{folder}: asks for {' + '.join(kinds)}; xmine reads {known}", INSTEAD)
