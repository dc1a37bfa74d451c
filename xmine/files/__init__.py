"""Bytes on disk: atomic writes, digests, archives, suffixes, records, .npy matrices.

Nothing here knows what a sentence, a pair or an encoder is.
"""
