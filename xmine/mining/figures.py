"""Pairs of rows and a second model -> its figure of each pair, in a file; killed, it continues."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import unchanged
from xmine.encoders.rescorer import Rescorer
from xmine.engines.parts import write_rows
from xmine.files.digests import NOBODY, Watch, digest
from xmine.files.npy import open_matrix
from xmine.knn.cosines import pair_cosines
from xmine.progress import Report, silent, ticks
from xmine.text.packed import PickedTexts
from xmine.vectors.encoding import Encoded

_COSINES_AT_ONCE = 65_536

Rows = NDArray[np.int64]
Singles = NDArray[np.float32]
Vectors = NDArray[np.float16]


def read_figures(
    model: Rescorer,
    encoded: tuple[Encoded, Encoded],
    rows: tuple[Rows, Rows],
    path: Path,
    encode: Callable[[SentenceEncoder], list[Vectors]],
    report: Report = silent,
    watch: Watch = NOBODY,
) -> Singles:
    """Judge each pair once, into a file that is opened; a file of these pairs is opened at once.

    Args:
        model: an encoder, whose figure is the cosine of two sentence vectors, or a cross-encoder,
            whose figure is the raw logit.
        encoded: the sentences of both sides.
        rows: int64 [pairs] twice, of each pair.
        path: the .npy file, float64 [pairs, 3]: rows of both sides, figures.
        encode: gives the vectors of all sentences by an encoder.
        report: told the progress of a cross-encoder.
        watch: told of files.

    Returns:
        float32 [pairs].
    """
    x, y = rows
    if (known := _opened(path, x, y)) is None:
        judge, size = _judge(model, encoded, encode)
        mark = model.fingerprint()
        mark = mark and digest(mark, x.tobytes(), y.tobytes())

        def make(start: int) -> Iterator[NDArray[np.float64]]:
            for some in (slice(at, at + size) for at in range(start, len(x), size)):
                figures = unchanged(model.source, judge(x[some], y[some]))
                yield np.stack([x[some], y[some], figures], axis=1)

        tick = ticks(report, "judging pairs", len(x))
        found = write_rows(path, 3, np.float64, len(x), size, make, mark or "", tick, watch)
        return found[:, 2].astype(np.float32)
    return known


def _opened(path: Path, x: Rows, y: Rows) -> Singles | None:
    """Open the figures of these pairs; None where they are not there."""
    known = open_matrix(path, np.float64)
    if known is None or known.shape != (len(x), 3):
        return None
    is_theirs = np.array_equal(known[:, 0], x) and np.array_equal(known[:, 1], y)
    return known[:, 2].astype(np.float32) if is_theirs else None


def _judge(
    model: Rescorer,
    encoded: tuple[Encoded, Encoded],
    encode: Callable[[SentenceEncoder], list[Vectors]],
) -> tuple[Callable[[Rows, Rows], Singles], int]:
    """Give what judges some pairs, and how many at once."""
    if isinstance(model, SentenceEncoder):
        left, right = encode(model)

        return partial(pair_cosines, left, right), _COSINES_AT_ONCE
    (source, _), (target, _) = encoded

    def logits(x: Rows, y: Rows) -> Singles:
        return model.judge(PickedTexts(source.texts, x)[:], PickedTexts(target.texts, y)[:])

    return logits, model.pairs_at_once
