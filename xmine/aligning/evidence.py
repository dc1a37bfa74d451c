"""Cosines as evidence of translations: vectors of an encoder, and of a lexicon of the two texts.

How far the cosines of translations stand out says how much each kind of evidence counts, so that a
language without vectors is aligned by lengths and lexicon.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from xmine.aligning.band import Path, matched
from xmine.aligning.lexicon import Lexicon, Words
from xmine.encoders.encoder import normalised

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]  # of all lines, of which long texts have many
# Gives the unit vectors of the lines that end at places from one to before another, float32
# [lines together, places, dim]: [n - 1, p] is of the n lines before place p.
Windows = Callable[[int, int], Floats]

MOST = 7  # lines of a side in a bead
# Lead of the cosines of translations, to which evidence is scaled, and their variance.
_LEAD, _VARIANCE = 0.45, 0.02
_FEWEST, _BEADS = 5, 5_000  # beads to measure by: the fewest, and about the most
_BESIDE = (-3, -2, 2, 3)  # lines further, to compare with
_STRIPE = 8  # beads


def windows_of_sums(sums: Halves) -> Windows:
    """Add up vectors of lines [lines, dim]: so does a static encoder with lines put together."""

    def windows(start: int, stop: int) -> Floats:
        lines = sums[np.arange(start - MOST, stop - 1).clip(0)].astype(np.float32)
        found = np.zeros((MOST, stop - start, sums.shape[1]), np.float32)
        for n in range(1, MOST + 1):
            before = found[n - 2]  # zeros yet for n = 1
            np.add(lines[MOST - n : len(lines) + 1 - n], before, out=found[n - 1])
            found[n - 1, : max(0, n - start)] = 0
        return normalised(found.reshape(-1, sums.shape[1])).reshape(found.shape)

    return windows


def together(side: Sequence[Windows], weights: Sequence[float]) -> Windows:
    """Put vectors of several kinds side by side, so that products are weighted sums of cosines."""
    factors = np.sqrt(np.array(weights, np.float32))
    return lambda start, stop: np.concatenate(
        [each(start, stop) * by for each, by in zip(side, factors, strict=True)], axis=2
    )


def weighed(
    encoder: tuple[Halves, Halves], words: tuple[Words, Words], path: Path
) -> tuple[tuple[float, float], float, Lexicon]:
    """Weigh encoder and lexicon by the beads of a path.

    The lexicon of one half of the beads is measured by the other half, and the weights are those
    of two figures with normal errors: lead of the translations by variance. `encoder` has unit
    vectors of the lines of both sides, float16 [lines, dim].

    Returns:
        the weights of encoder and lexicon; the square of how many deviations translations stand
        out, 0 where there are too few; and the lexicon.
    """
    beads = matched(path)
    stripes = np.arange(len(beads)) // _STRIPE % 2
    lexicon = Lexicon(*words, beads, stripes)
    halves = []
    for half in (0, 1):
        learnt = lexicon.vectors(half)
        sums = [partial(side.sums, each) for side, each in zip(words, learnt, strict=True)]
        halves.append(_lead(sums, beads[stripes != half]) or (0.0, 1.0))
    lead = _lead([side.__getitem__ for side in encoder], beads)
    leads = np.array([lead or (_LEAD, _VARIANCE), np.mean(halves, axis=0)])
    raw = leads[:, 0].clip(0) / leads[:, 1]
    clarity = float(raw @ leads[:, 0])
    raw *= _LEAD / clarity if clarity > 1 else _LEAD * clarity
    return (float(raw[0]), float(raw[1])), clarity if lead else 0.0, lexicon


def _lead(
    sums: Sequence[Callable[[NDArray[np.int64]], Halves]], beads: Path
) -> tuple[float, float] | None:
    """Measure how far cosines of translations lie above those of lines beside; and the variance.

    None where there are too few beads of single lines; `sums` give the vectors of some lines of
    both sides, float16 [lines, dim].
    """
    single = beads[(beads[:, 1] - beads[:, 0] == 1) & (beads[:, 3] - beads[:, 2] == 1)]
    if len(single) < _FEWEST:
        return None
    single = single[:: 1 + len(single) // _BEADS]
    places = single[:, 2, None] + (0, *_BESIDE)
    lines, back = np.unique(places.clip(0, beads[-1, 3] - 1), return_inverse=True)
    source, target = (
        normalised(each(some).astype(np.float32))
        for each, some in zip(sums, (single[:, 0], lines), strict=True)
    )
    cosines = np.einsum("ij,ikj->ik", source, target[back.reshape(places.shape)])
    own, others = cosines[:, 0], cosines[:, 1:]
    return float(own.mean() - others.mean()), float((own.var() + others.var()) / 2) + 1e-6
