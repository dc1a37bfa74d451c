"""Beads of sentences -> beads of their lines, and beads of lines -> cells where sentences may meet.

One side may have a sentence a line and the other a paragraph: then sentences are aligned, and what
lies between two places where lines end on both sides is a bead of lines. Where both have
paragraphs, these are aligned first, and the sentences of each bead within it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.aligning.band import are_matched
from xmine.aligning.lines import Alignment, corners_of

# For each sentence of a side the line that it stands in, int64 [sentences], both from 0.
Rows = NDArray[np.int64]
_SURE = 0.5  # probability of beads of lines between which sentences end, too


def line_beads(alignment: Alignment, rows: Sequence[Rows]) -> Alignment:
    """Give the beads of lines that hold the beads of their sentences; all lines are in one.

    A bead is as probable as its first and last beads of sentences are, whose ends are its own.
    """
    corners = corners_of(alignment.beads)
    starts = [np.flatnonzero(np.diff(of, prepend=-1, append=of[-1] + 1)) for of in rows]
    both = [np.isin(corners[:, side], starts[side]) for side in (0, 1)]
    kept = np.flatnonzero(both[0] & both[1])
    lines = np.stack([np.searchsorted(starts[at], corners[kept, at]) for at in (0, 1)], axis=1)
    beads = np.stack([lines[:-1], lines[1:]], axis=2).reshape(-1, 4)
    first, last = kept[:-1], kept[1:] - 1
    probs = alignment.probs
    return Alignment(beads, np.where(first < last, probs[first] * probs[last], probs[first]).round(4), alignment.weights)


def sentence_corners(alignment: Alignment, rows: Sequence[Rows]) -> NDArray[np.int64]:
    """Name the cells that beads of sentences do not cross: where sure beads of lines meet."""
    sure = are_matched(alignment.beads) & (alignment.probs >= _SURE)
    corners = corners_of(alignment.beads)
    kept = np.concatenate([[True], sure[1:] & sure[:-1], [True]])
    return np.stack([np.searchsorted(of, corners[kept, at]) for at, of in enumerate(rows)], axis=1)
