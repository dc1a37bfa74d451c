"""The modules of a sentence encoder, named as sentence-transformers names them.

One that reads text (StaticEmbedding; Transformer with Pooling) and any number that change its
vectors (Dense, LayerNorm, Normalize). What cannot be honoured is refused by its name.
"""
