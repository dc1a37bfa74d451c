"""An encoder -> what another process needs to load the same one, perhaps on another machine."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.parts import IN_NUMPY
from xmine.errors import EncoderError
from xmine.options import EncodingOptions


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an encoder is loaded again.

    Attributes:
        model: the name that `SentenceEncoder.load` takes; a folder has its whole path.
        options: the settings in use; the device has no number.
        fingerprint: of the encoder.
        reads: see `SentenceEncoder.readers`.
    """

    model: str
    options: EncodingOptions
    fingerprint: str
    reads: tuple[str, tuple[str, ...]] = ("", ())

    @classmethod
    def of(cls, encoder: SentenceEncoder) -> "Recipe | None":
        """Write the recipe of an encoder; None for one that does not come from a folder."""
        fingerprint, source, body = encoder.fingerprint(), encoder.source, encoder.body
        if fingerprint is None or source is None:
            return None
        is_path = Path(source.name) == source.folder
        model = str(source.folder.absolute()) if is_path else source.name
        if isinstance(body, IN_NUMPY):
            return cls(model, EncodingOptions(), fingerprint, encoder.reads)
        device = encoder.device.partition(":")[0]
        use = EncodingOptions(
            device=device, dtype=body.dtype, batch_size=body.batch_size, max_length=body.cut_at
        )
        return cls(model, use, fingerprint)

    @property
    def gpus(self) -> float:
        """How many devices the encoder needs."""
        return float(self.options.device == "cuda")

    def load(self) -> SentenceEncoder:
        """Load the encoder, once in a process.

        Raises:
            EncoderError: there is no such encoder here, or another one under this name.
            OptionError: there is no such device here.
        """
        return _loaded(self)


@lru_cache(maxsize=4)
def _loaded(recipe: Recipe) -> SentenceEncoder:
    own, every = recipe.reads
    encoder = SentenceEncoder.load(recipe.model, recipe.options).readers([*every, own])[-1]
    if encoder.fingerprint() != recipe.fingerprint:
        raise EncoderError(
            f"{recipe.model}: is another encoder on this machine",
            "give all machines the same files and the same version of xmine",
        )
    return encoder
