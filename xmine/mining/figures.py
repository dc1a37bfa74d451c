"""Pairs of rows and a second model -> its figure of each pair, in files of a step."""

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import unchanged
from xmine.encoders.rescorer import Rescorer
from xmine.encoders.vectors import Encoded
from xmine.files.digests import digest
from xmine.knn.cosines import pair_cosines
from xmine.progress import Report, silent, ticks
from xmine.run.local import LocalEngine
from xmine.run.steps import Steps, joined
from xmine.scoring.late_interaction import Rows, Singles
from xmine.text.packed import PickedTexts

_COSINES_AT_ONCE = 65_536


def read_figures(
    model: Rescorer,
    encoded: tuple[Encoded, Encoded],
    rows: tuple[Rows, Rows],
    steps: Steps,
    encode: Callable[[SentenceEncoder], list[NDArray[np.float16]]],
    report: Report = silent,
) -> Singles:
    """Judge each pair once.

    Args:
        model: an encoder, whose figure is the cosine of two sentence vectors, or a cross-encoder,
            whose figure is the raw logit.
        encoded: the sentences of both sides.
        rows: int64 [pairs] twice, of each pair.
        steps: make the files, float32 [pairs, 1].
        encode: gives the vectors of all sentences by an encoder.
        report: told the progress of a cross-encoder.

    Returns:
        float32 [pairs].
    """
    x, y = rows
    (source, _), (target, _) = encoded
    vectors = cache(lambda: encode(model) if isinstance(model, SentenceEncoder) else [])

    def judge(start: int, stop: int) -> Iterator[tuple[Singles]]:
        ours, theirs = x[start:stop], y[start:stop]
        if isinstance(model, SentenceEncoder):
            left, right = vectors()
            figures = pair_cosines(left, right, ours, theirs)
        else:
            texts = PickedTexts(source.texts, ours)[:], PickedTexts(target.texts, theirs)[:]
            figures = model.judge(*texts)
        yield (unchanged(model.source, figures)[:, None].astype(np.float32),)

    mark = model.fingerprint()
    if mark is None and isinstance(model, SentenceEncoder):
        mark = model.fingerprint_in_memory()
    texts = source.digest(), target.digest()
    made_of = [str(mark), *texts, digest(x.tobytes(), y.tobytes())]
    size = _COSINES_AT_ONCE if isinstance(model, SentenceEncoder) else model.pairs_at_once
    tick = ticks(report, "judging pairs", len(x))
    starts, here = range(0, len(x), size), LocalEngine()
    files = steps.make({"rescoring": np.float32}, made_of, starts, judge, tick, engine=here)
    return joined(files, 0, np.float32)[:, 0] if files else np.empty(0, np.float32)
