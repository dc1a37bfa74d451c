"""Beads of lines -> where their sentences may meet, and beads of sentences -> those of their lines.

Where one side has a sentence a line and the other a paragraph, sentences are aligned; where lines
are alike, these first. A bead of lines lies between places where lines end on both sides.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xmine.aligning.band import Corners, Path, are_matched
from xmine.aligning.lines import Alignment, corners_of

Rows = NDArray[np.int64]  # of each sentence of a side the line that it stands in, from 0
_SINGLE = 0.8  # share of lines in beads of two
_LESS = 0.9  # of the lines in right beads


def is_mixed(alignment: Alignment) -> bool:
    """Tell whether many lines are alone, or several in a bead."""
    beads = alignment.beads
    single = (beads[:, 1] - beads[:, 0] == 1) & (beads[:, 3] - beads[:, 2] == 1)
    return bool(2 * single.sum() < _SINGLE * beads[-1, [1, 3]].sum())


def expected_lines(alignment: Alignment) -> float:
    """Give the number of lines of both sides that are expected to be in right beads."""
    beads = alignment.beads
    sizes = beads[:, 1] - beads[:, 0] + beads[:, 3] - beads[:, 2]
    return float((sizes * alignment.probs)[are_matched(beads)].sum())


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
    first, last, probs = kept[:-1], kept[1:] - 1, alignment.probs
    probs = probs[first] * np.where(first < last, probs[last], 1.0)
    return replace(alignment, beads=_between(np.stack(lines, axis=1)), probs=probs.round(4))


def within(lines: Alignment, sentences: Alignment, rows: Sequence[Rows]) -> Alignment:
    """Put beads of lines in place of those of their sentences where no line is cut.

    All of them, where sentences are less sure: of lines that come again, cut in another way.
    """
    corners, ends = sentence_corners(lines, rows), corners_of(sentences.beads)
    if expected_lines(line_beads(sentences, rows)) < _LESS * expected_lines(lines):
        return replace(lines, beads=_between(corners))
    places = np.searchsorted(ends.sum(axis=1), corners.sum(axis=1))
    there = (ends[places] == corners).all(axis=1)
    whole = (np.diff(corners, axis=0) == np.diff(corners_of(lines.beads), axis=0)).all(axis=1)
    whole &= there[1:] & there[:-1]
    inside = np.bincount(places[:-1][whole], minlength=len(ends))
    inside -= np.bincount(places[1:][whole], minlength=len(ends))
    kept = np.cumsum(inside)[:-1] == 0
    beads = np.concatenate([sentences.beads[kept], _between(corners)[whole]])
    order = np.argsort(beads[:, 0] + beads[:, 2])
    probs = np.concatenate([sentences.probs[kept], lines.probs[whole]])
    return replace(sentences, beads=beads[order], probs=probs[order])


def _between(corners: Corners) -> Path:
    """Give the beads between corners that follow each other."""
    return np.stack([corners[:-1], corners[1:]], axis=2).reshape(-1, 4)
