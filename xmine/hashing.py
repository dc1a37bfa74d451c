"""Texts -> 64-bit numbers that are equal where the texts are, on every machine and in every run.

Of a million different texts two get the same number once in 30 million times (2^40 / 2^65).
"""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def hashes_of(texts: Iterable[str]) -> NDArray[np.int64]:
    """Hash texts: int64 [texts].

    BLAKE2b takes 0.6 microseconds more than Python's `hash`, whose numbers change from run to run.
    """
    digests = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    ]
    return np.frombuffer(b"".join(digests), dtype="<i8").astype(np.int64)
