"""Rivals of a pair -> which are near-copies of the pair's own sentence, and so no rivals.

A pair is judged by how far it stands above its rivals, the other sentences near its own. A sibling
of the right translation, such as the same line with another mark, a list number or a word more, is
as near, and no reason to doubt the pair.
"""

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.vectors import Encoded
from xmine.files.digests import digest
from xmine.files.scratch import slices
from xmine.flags.line_features import kept_keys, keys_of
from xmine.flags.near_copies import letters_of
from xmine.knn.cosines import exact_cosines
from xmine.knn.neighbours import Neighbours
from xmine.run.steps import Steps
from xmine.scoring.probability import PAIRS_AT_ONCE, Bools
from xmine.scoring.retrieval import ChosenPairs

Rows = NDArray[np.int64]

# A rival may be kin where its distance to the pair's own sentence is below this share of the
# distance between the two sentences of the pair, or below that share of the farthest rival's: half
# a line is as far from the whole as a translation, but strangers are farther. Letters decide then.
_NEARER, _APART = 0.6, 0.5
# The share of the shorter text's pairs of letters that a near-copy has.
_SHARED = 0.85
# The share of sentences that have fewer near-copies, and the most neighbours that are looked for.
_MOST, _DEEPEST = 0.98, 16
# The share of pairs with kin among their rivals from which on these are no rivals. In the sample of
# BUCC 2018 0.3 % of the pairs have kin, in other news 2 % at most.
MANY = 0.05
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Kin:
    """Tells which rivals of pairs are kin.

    Attributes:
        sides: the sentences and the vectors of both sides.
        keys: int64 [sentences] of both sides, a hash of their letters, see `LineFeatures`.
        given: sorted codes of pairs that are given, source row x targets + target row: partners of
            one sentence are no rivals.
        seen: what was told of some pairs; it is asked twice for the chosen ones.
    """

    sides: tuple[Encoded, Encoded]
    keys: tuple[Rows, Rows]
    given: Rows | None = None
    seen: dict[str, tuple[Bools, Bools]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        sides: tuple[Encoded, Encoded],
        pairs: tuple[Rows, Rows] | None = None,
        steps: Steps | None = None,
    ) -> "Kin":
        """Read the letters of both sides; `pairs` are rows of given pairs, -1 for none."""
        given = None
        if pairs is not None:
            x, y = (rows[np.minimum(*pairs) >= 0] for rows in pairs)
            given = np.unique(x * len(sides[1][0]) + y)
        left, right = sides[0][0], sides[1][0]
        if steps:
            keys = kept_keys(left, steps, "source"), kept_keys(right, steps, "target")
        else:
            keys = keys_of(left.texts), keys_of(right.texts)
        return cls(sides, keys, given)

    def share(self, pairs: ChosenPairs, near: Neighbours) -> float:
        """Tell which share of pairs has kin among their rivals.

        Below MANY, the estimate is as good without kin: wrong pairs have some by chance, too.
        """
        found = 0
        for some in slices(len(pairs), PAIRS_AT_ONCE):
            row, column = self(pairs.sources[some], pairs.targets[some], near)
            found += int((row.any(axis=1) | column.any(axis=1)).sum())
        return found / max(len(pairs), 1)

    def depth(self) -> int:
        """Tell how many neighbours show two strangers behind the near-copies of most sentences."""
        copies = []
        for keys in self.keys:
            _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
            copies.append(int(np.quantile(counts[places], _MOST)))
        return min(min(copies) + 2, _DEEPEST)

    def __call__(self, x: Rows, y: Rows, near: Neighbours) -> tuple[Bools, Bools]:
        """Mark the neighbours of pairs that are kin, or partners.

        Returns:
            bool [pairs, k], targets near x that are kin of y; and bool [pairs, k], sources near y
            that are kin of x.
        """
        targets, sources = near.targets[x], near.sources[y]
        name = digest(*(np.ascontiguousarray(each).tobytes() for each in (x, y, targets, sources)))
        if name not in self.seen:
            self.seen[name] = self._told(x, y, targets, sources)
        return self.seen[name]

    def _told(self, x: Rows, y: Rows, targets: Rows, sources: Rows) -> tuple[Bools, Bools]:
        (_, left), (_, right) = self.sides
        own = exact_cosines(left[x], right, y[:, None])[:, 0]
        row, column = self._kin(1, y, targets, own), self._kin(0, x, sources, own)
        if self.given is not None:
            size = len(self.sides[1][0])
            row |= np.isin(x[:, None] * size + targets, self.given)
            column |= np.isin(sources * size + y[:, None], self.given)
        return row, column

    def _kin(self, side: int, own: Rows, rivals: Rows, cosines: NDArray[np.float32]) -> Bools:
        """Mark the rivals [pairs, k] that are kin of own rows [pairs] of a side."""
        (sentences, vectors), keys = self.sides[side], self.keys[side]
        ids = np.where(rivals == own[:, None], -1, rivals)
        between = exact_cosines(vectors[own], vectors, ids)
        distances = np.where(ids < 0, 0, 1 - between)
        kin: Bools = distances < _NEARER * (1 - cosines[:, None])
        kin |= distances < _APART * distances.max(axis=1, keepdims=True)
        same = keys[rivals] == keys[own, None]
        kin = (kin | same) & (ids >= 0)
        for pair, place in np.argwhere(kin).tolist():
            texts = sentences.texts[int(own[pair])], sentences.texts[int(ids[pair, place])]
            alike = bool(same[pair, place]) or _letters_agree(*texts)
            kin[pair, place] = alike and _numbers_agree(*texts)
        return kin


def _letters_agree(one: str, other: str) -> bool:
    """Tell whether nearly all pairs of letters of the shorter text are in the longer one."""
    ours, theirs = (set(map(str.__add__, each, each[1:])) for each in map(letters_of, (one, other)))
    fewer = min(len(ours), len(theirs))
    return fewer > 0 and len(ours & theirs) >= _SHARED * fewer


def _numbers_agree(one: str, other: str) -> bool:
    """Tell whether two texts have the same numbers, but for more at one end, as of a list."""
    shorter, longer = sorted((_NUMBERS.findall(one), _NUMBERS.findall(other)), key=len)
    size = len(shorter)
    return longer[:size] == shorter or longer[len(longer) - size :] == shorter
