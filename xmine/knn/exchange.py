"""What both directions of a search found -> the best of either: a pair that one found serves both.

Of the neighbours that a search through some lists misses, half are found from the other side: 0.968
of the four nearest become 0.985, 0.976 become 0.989 (English and Chinese, 200,000 rows each).
"""

import numpy as np
from numpy.typing import NDArray

from xmine.neighbours import ordered

Found = tuple[NDArray[np.int64], NDArray[np.float32]]


def exchanged(own: Found, back: Found, start: int, stop: int, k: int) -> Found:
    """Give some rows of one side the pairs that the other side found.

    Args:
        own: int64 and float32 [rows, some], what each row found, -1 and -inf where nothing; at
            least k of them are rows.
        back: [others, some], what each row of the other side found among these.
        start, stop: the rows.
        k: how many to keep.

    Returns:
        int64 and float32 [stop - start, k], by falling cosine, then rising row.
    """
    where, rank = np.nonzero((back[0] >= start) & (back[0] < stop))
    home, cosines = back[0][where, rank] - start, back[1][where, rank]
    order = np.lexsort((where, -cosines, home))
    where, home, cosines = where[order], home[order], cosines[order]
    place = np.arange(len(home)) - np.searchsorted(home, home)
    kept = place < k
    more = np.full((stop - start, k), -1, dtype=np.int64)
    more_cosines = np.full((stop - start, k), -np.inf, dtype=np.float32)
    more[home[kept], place[kept]] = where[kept]
    more_cosines[home[kept], place[kept]] = cosines[kept]
    ids = np.concatenate([own[0][start:stop], more], axis=1)
    values = np.concatenate([own[1][start:stop], more_cosines], axis=1)
    ids, values = ordered(ids, values, ids.shape[1])
    # Both sides compute the same cosine for a pair, so what both found stands side by side.
    values[:, 1:][ids[:, 1:] == ids[:, :-1]] = -np.inf
    return ordered(ids, values, k)
