"""A loaded encoder -> the tower that trains it."""

from xmine.encoders.encoder import SentenceEncoder

from .towers import Tower


def tower_class(encoder: SentenceEncoder) -> type[Tower]:
    """Choose the tower of a static encoder or of a transformer."""
    from xmine.encoders.modules.static import StaticEmbedding

    from .static import StaticTower
    from .transformer import TransformerTower

    return StaticTower if isinstance(encoder.body, StaticEmbedding) else TransformerTower


def tower_of(encoder: SentenceEncoder, prompts: tuple[str, str] = ("", "")) -> Tower:
    """Copy an encoder, so that it can be trained on texts behind a prompt for each side."""
    return tower_class(encoder)(encoder, prompts)
