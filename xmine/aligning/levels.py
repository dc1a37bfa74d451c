"""Beads of lines -> where their sentences may meet, and beads of sentences -> those of their lines.

One side may have a sentence a line and the other a paragraph: then sentences are aligned, and what
lies between two places where lines end on both sides is a bead of lines. Where lines are alike,
they are aligned first, and their sentences near that path.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.aligning.band import Corners, matched
from xmine.aligning.lines import Alignment, corners_of

# For each sentence of a side the line that it stands in, int64 [sentences], both from 0.
Rows = NDArray[np.int64]
_MIXED = 0.1  # share of beads of more than two lines


def is_mixed(alignment: Alignment) -> bool:
    """Tell whether many beads have several lines of a side."""
    beads = matched(alignment.beads)
    more = (beads[:, 1] - beads[:, 0] > 1) | (beads[:, 3] - beads[:, 2] > 1)
    return bool(len(beads)) and float(more.mean()) > _MIXED


def sentence_corners(alignment: Alignment, rows: Sequence[Rows]) -> Corners:
    """Name the cells of sentences where beads of lines begin and end."""
    corners = corners_of(alignment.beads)
    return np.stack([np.searchsorted(of, corners[:, at]) for at, of in enumerate(rows)], axis=1)


def line_beads(alignment: Alignment, rows: Sequence[Rows]) -> Alignment:
    """Give the beads of lines that hold the beads of their sentences; all lines are in one.

    A bead is as probable as the first and the last of its sentences' beads, whose ends it has.
    """
    corners = corners_of(alignment.beads)
    starts = [np.flatnonzero(np.diff(of, prepend=-1, append=of[-1] + 1)) for of in rows]
    both = [np.isin(corners[:, at], each) for at, each in enumerate(starts)]
    kept = np.flatnonzero(both[0] & both[1])
    lines = [np.searchsorted(each, corners[kept, at]) for at, each in enumerate(starts)]
    beads = np.stack([each[at : at - 1 or None] for each in lines for at in (0, 1)], axis=1)
    first, last, probs = kept[:-1], kept[1:] - 1, alignment.probs
    probs = probs[first] * np.where(first < last, probs[last], 1.0)
    return Alignment(beads, probs.round(4), alignment.weights)


def with_uncut(sentences: Alignment, lines: Alignment, rows: Sequence[Rows]) -> Alignment:
    """Put beads of lines in place of those of their sentences where no line is cut."""
    corners, ends = sentence_corners(lines, rows), corners_of(sentences.beads)
    places = {end: at for at, end in enumerate(map(tuple, ends.tolist()))}
    beads, probs, done = list[NDArray[np.int64]](), list[NDArray[np.float64]](), 0
    sizes = np.diff(corners, axis=0) == np.diff(corners_of(lines.beads), axis=0)
    for at in np.flatnonzero(sizes.all(axis=1)):
        start, stop = (places.get(tuple(each), -1) for each in corners[at : at + 2].tolist())
        if done <= start < stop:
            bead = np.stack(corners[[at, at + 1]], axis=1).reshape(1, 4)
            beads += [sentences.beads[done:start], bead]
            probs += [sentences.probs[done:start], lines.probs[[at]]]
            done = stop
    beads, probs = [*beads, sentences.beads[done:]], [*probs, sentences.probs[done:]]
    return Alignment(np.concatenate(beads), np.concatenate(probs), sentences.weights)
