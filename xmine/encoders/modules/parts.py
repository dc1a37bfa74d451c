"""The folder of an encoder -> the module that reads text, and the heads behind it."""

from pathlib import Path
from typing import TYPE_CHECKING, Union

from xmine.encoders.layout import (
    INSTEAD,
    MODULES_FILE,
    ModuleEntry,
    head_settings,
    read_json,
    write_json,
)
from xmine.encoders.modules.e5 import E5
from xmine.encoders.modules.packaged import Packaged
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.modules.universal import Universal
from xmine.errors import EncoderError
from xmine.extras import needs
from xmine.options import EncodingOptions

if TYPE_CHECKING:
    from xmine.encoders.modules.heads import Head
    from xmine.encoders.modules.transformer import Transformer

Body = Union[StaticEmbedding, Packaged, "Transformer"]
# Modules that run in numpy, as they are: on the processor, in float32, without batches.
IN_NUMPY = (StaticEmbedding, Packaged)
_KINDS = {each.kind: each for each in (StaticEmbedding, Universal, E5)}


class LengthOne:
    """The last step of every encoder, in its folder."""

    kind = "Normalize"

    def save(self, folder: Path) -> None:
        """Write a file, since empty folders get lost on the way."""
        write_json(folder / "config.json", {})


def read_body(
    entries: list[ModuleEntry], options: EncodingOptions
) -> tuple[Body, list[ModuleEntry]]:
    """Load the module that reads text, with its pooling; return it and the entries behind.

    Raises:
        EncoderError: it is broken, or asks for what cannot be honoured.
        OptionError: there is no such device.
        XmineError: a package that it needs is not installed.
    """
    folder, kinds = entries[0].folder, [entry.kind for entry in entries]
    if kinds[0] in _KINDS:
        return _KINDS[kinds[0]].load(folder), entries[1:]
    plain = kinds == ["Transformer"] and not (folder / MODULES_FILE).exists()
    if kinds[:2] != ["Transformer", "Pooling"] and not plain:
        raise _cannot_honour(folder, kinds[:2])
    needs(f"{folder}: a transformer", "torch", "transformers", "tokenizers")
    from xmine.encoders.modules.transformer import Transformer
    from xmine.hardware import choose_device, choose_dtype

    device = choose_device(options.device)
    model_type = str(read_json(folder / "config.json").get("model_type", ""))
    dtype = choose_dtype(options.dtype, device, model_type)
    pooling_folder = None if plain else entries[1].folder
    body = Transformer.load(folder, pooling_folder, dtype, options).to(device)
    return body, entries[2:]


def read_heads(folder: Path, entries: list[ModuleEntry], width: int) -> "list[Head]":
    """Load the modules behind a body of some width; a Normalize at the end is left out.

    Raises:
        EncoderError: one is broken, cannot be honoured, or does not fit the one before.
        XmineError: there are some, and torch is not installed.
    """
    kept = [entry for entry in entries if entry.kind != "Dropout"]  # nothing outside training
    if kept and kept[-1].kind == "Normalize":
        head_settings(kept.pop().folder)
    if not kept:
        return []
    needs(f"{kept[0].folder}: {kept[0].kind}", "torch")
    from xmine.encoders.modules.heads import HEADS, check_fit

    for entry in kept:
        if entry.kind not in HEADS:
            raise _cannot_honour(entry.folder, [entry.kind])
    heads: list[Head] = [HEADS[entry.kind].load(entry.folder) for entry in kept]
    check_fit(heads, width, folder)
    return heads


def _cannot_honour(folder: Path, kinds: list[str]) -> EncoderError:
    known = "StaticEmbedding, or Transformer + Pooling; then Dense, LayerNorm, Normalize"
    return EncoderError(f"{folder}: asks for {' + '.join(kinds)}; xmine reads {known}", INSTEAD)
