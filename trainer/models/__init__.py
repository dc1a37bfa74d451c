"""What is trained: static and transformer towers, new transformers, heads, momentum copies, queues.

Nothing here knows a method or a training run.
"""

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.packaged import Packaged
from xmine.encoders.modules.static import StaticEmbedding
from xmine.errors import EncoderError

from .static import StaticTower
from .towers import Tower
from .transformer import TransformerTower


def tower_class(encoder: SentenceEncoder) -> type[Tower]:
    """Choose the tower of a static encoder or of a transformer."""
    if isinstance(encoder.body, Packaged):
        raise EncoderError(f"{encoder.name}: an encoder of a package cannot be trained")
    return StaticTower if isinstance(encoder.body, StaticEmbedding) else TransformerTower


def tower_of(encoder: SentenceEncoder, prompts: tuple[str, str] = ("", "")) -> Tower:
    """Copy an encoder, so that it can be trained on texts behind a prompt for each side."""
    return tower_class(encoder)(encoder, prompts)
