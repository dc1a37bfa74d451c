"""A loaded encoder -> the tower that trains it."""

from xmine.encoders.encoder import SentenceEncoder

from .towers import Tower


def tower_of(encoder: SentenceEncoder, prompt: str = "") -> Tower:
    """Copy an encoder, so that it can be trained."""
    from xmine.encoders.modules.static import StaticEmbedding

    from .static import StaticTower
    from .transformer import TransformerTower

    static = isinstance(encoder.body, StaticEmbedding)
    return (StaticTower if static else TransformerTower)(encoder, prompt)
