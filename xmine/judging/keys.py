"""The key by which a label names its pair, and the pairs of such keys."""

from collections import defaultdict
from collections.abc import Collection, Mapping

import numpy as np

from xmine.browsing.opened import Opened, Rows
from xmine.pairs.judgements import PairKey, hash_of


def key_of(opened: Opened, row: int) -> PairKey:
    """Name a pair so that its label stays with it when the pairs are written or mined anew."""
    at = [(side, int(rows[row])) for _, side, rows in opened.sides]
    texts = hash_of(*(side.texts[own] for side, own in at))
    if not opened.lined:
        return PairKey(row + 1, None, None, None, texts)
    (line, offset), (other_line, other_offset) = (side.place(own) for side, own in at)
    return PairKey(line, other_line, offset, other_offset, texts)


def _lines_of(opened: Opened) -> Rows:
    """Give the lines of the pairs, int64 [2, pairs]; without lines their numbers stand for both."""
    if not opened.lined:
        return np.tile(np.arange(len(opened)) + 1, (2, 1))
    return np.stack([side.lines[rows] for _, side, rows in opened.sides])


def rows_of(opened: Opened, judges: Mapping[PairKey, Collection[str]]) -> dict[PairKey, list[int]]:
    """Find the pairs of some keys: of each a row, or several alike; none of a key that is lost.

    A pair is looked up by its lines and texts, then by its texts alone: of several the nearest one
    on which none of the `judges` of a key has spoken by another one. Keys of equal texts keep
    their order.
    """
    found = defaultdict[PairKey, list[int]](list)
    at = {x: (x[0], x[0] if x.target_line is None else x.target_line) for x in judges}
    lines = _lines_of(opened)
    asked = np.array([*at.values()], dtype=np.int64).reshape(-1, 2)
    is_there = np.isin(lines[0], asked[:, 0]) & np.isin(lines[1], asked[:, 1])
    for row in np.flatnonzero(is_there).tolist():
        if (key := key_of(opened, row)) in judges:
            found[key].append(row)
    taken = {(row, judge) for key, rows in found.items() for row in rows for judge in judges[key]}
    lost = defaultdict[str, list[PairKey]](list)
    for key in sorted(judges.keys() - found.keys(), key=lambda key: at[key]):
        lost[key.texts].append(key)
    for each, rows in _having(opened, lost).items():
        keys = lost[each]
        # Who has moved up is looked up from below, and finds its own row before that of another.
        if lines[0, rows].mean() < np.mean([at[key][0] for key in keys]):
            keys.reverse()
        for key in keys:
            near = np.abs(lines[:, rows] - np.array(at[key])[:, None]).sum(axis=0)
            for row in np.array(rows)[np.argsort(near, kind="stable")].tolist():
                if taken.isdisjoint(said := {(row, judge) for judge in judges[key]}):
                    found[key] = [row]
                    taken |= said
                    break
    return found


def _having(opened: Opened, hashes: Collection[str]) -> dict[str, list[int]]:
    """Find the rows of some texts, by the hash of both."""
    found = defaultdict[str, list[int]](list)
    sides = (side.texts.take(rows) for _, side, rows in opened.sides)
    texts = map(hash_of, *sides) if hashes else ()
    for row, each in enumerate(texts):
        if each in hashes:
            found[each].append(row)
    return found


def row_of(opened: Opened, key: PairKey) -> int | None:
    """Find the pair of a key."""
    return next((rows[0] for rows in rows_of(opened, {key: ()}).values()), None)
