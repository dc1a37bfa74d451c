"""The key by which a label names its pair, and the pairs of such keys."""

from collections import defaultdict
from collections.abc import Set

import numpy as np

from xmine.browsing.opened import Opened, Rows
from xmine.pairs.judgements import PairKey, hash_of

_NEAR = 1000  # rows by which a pair of a file without lines may have moved


def key_of(opened: Opened, row: int) -> PairKey:
    """Name a pair so that its label stays with it when the pairs are written or mined anew."""
    source, target = int(opened.sources[row]), int(opened.targets[row])
    left, right = opened.source, opened.target
    texts = hash_of(left.texts[source], right.texts[target])
    if not opened.lined:
        return PairKey(row + 1, None, None, None, texts)
    (line, offset), (other_line, other_offset) = left.place(source), right.place(target)
    return PairKey(line, other_line, offset, other_offset, texts)


def lines_of(opened: Opened) -> tuple[Rows, Rows]:
    """Give the lines of the pairs, two of int64 [pairs]."""
    return opened.source.lines[opened.sources], opened.target.lines[opened.targets]


def rows_of(
    opened: Opened, keys: Set[PairKey], lines: tuple[Rows, Rows] | None = None
) -> dict[PairKey, list[int]]:
    """Find the pairs of some keys: of each a row, or several alike.

    A pair without lines may have moved by _NEAR rows. Of several with its texts, the nearest one
    that is no other key's is taken.

    Args:
        opened: the pairs.
        keys: of any pairs.
        lines: those of `lines_of`, where they are known.
    """
    keys = {key for key in keys if (key.target_line is not None) == opened.lined}
    found = defaultdict[PairKey, list[int]](list)
    if opened.lined:
        asked = np.array([key[:2] for key in keys], dtype=np.int64).reshape(-1, 2).T
        left, right = map(np.isin, lines or lines_of(opened), asked)
        for row in np.flatnonzero(left & right).tolist():
            if (key := key_of(opened, row)) in keys:
                found[key].append(row)
        return found
    rows, every = {key: key.source_line - 1 for key in keys}, range(len(opened))
    found |= {key: [at] for key, at in rows.items() if at in every and key_of(opened, at) == key}
    lost, taken = sorted(keys - found.keys()), {at for (at,) in found.values()}
    is_near = np.zeros(len(opened), dtype=bool)
    for key in lost:
        is_near[max(0, rows[key] - _NEAR) : rows[key] + _NEAR + 1] = True
    having = defaultdict[str, list[int]](list)
    for row in np.flatnonzero(is_near).tolist():
        having[key_of(opened, row).texts].append(row)
    for key in lost:
        near = [row for row in having[key.texts] if abs(row - rows[key]) <= _NEAR]
        if free := [row for row in near if row not in taken or len(near) == 1]:
            found[key] = [min(free, key=lambda row: abs(row - rows[key]))]
            taken.update(found[key])
    return found


def row_of(opened: Opened, key: PairKey) -> int | None:
    """Find the pair of a key."""
    return next((rows[0] for rows in rows_of(opened, {key}).values()), None)
