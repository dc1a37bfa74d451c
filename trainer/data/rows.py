"""Texts -> what training reads: visited so often, a part held out, cut into pieces."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText


@dataclass(frozen=True, slots=True)
class Side:
    """The sentences of one language, cut into pieces.

    Attributes:
        ids: int32 [pieces of all sentences].
        starts: int64 [sentences + 1], where each sentence starts in `ids`.
        keys: int64 [sentences]; equal for sentences of equal text.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    keys: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> "Side":
        """Gather some sentences, in the order of `rows`."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        shift = np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Side(self.ids[shift + np.arange(starts[-1])], starts, self.keys[rows])

    def without_some(
        self, share: float | NDArray[np.float64], random: np.random.Generator
    ) -> "Side":
        """Drop each piece with a probability, of all or of each; a sentence may lose them all."""
        shares = np.repeat(np.broadcast_to(share, len(self)), np.diff(self.starts))  # [pieces]
        kept = random.random(len(self.ids)) >= shares
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return Side(self.ids[kept], starts, self.keys)

    def __len__(self) -> int:
        """Count the sentences."""
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Rows:
    """What belongs together, row by row: pairs, triplets, or texts alone.

    Attributes:
        columns: sides of equal length; row i of each belongs to row i of the others.
    """

    columns: tuple[Side, ...]

    def take(self, rows: NDArray[np.int64]) -> "Rows":
        """Gather some rows, in the order of `rows`."""
        return Rows(tuple(column.take(rows) for column in self.columns))

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.columns[0])


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a method trains with.

    Attributes:
        rows: to train on.
        weights: float64 [rows], how often each is visited in a pass.
        held_out: pairs to measure on; None if there are none.
    """

    rows: Rows
    weights: NDArray[np.float64]
    held_out: Rows | None


def weigh_pairs(
    pairs: ParallelText, weights: Mapping[str, float], default: float
) -> NDArray[np.float64]:
    """Give the sampling weight of each pair: that of its origin.

    Pairs that share a sentence share its weights, so that fifty machine translations of a sentence
    count as one.

    Returns:
        float64 [pairs].
    """
    known = set(pairs.origins)
    for name in weights:
        if name not in known:
            some = ", ".join(sorted(known - {""})[:12]) or "none (there is no third column)"
            raise TrainingError(
                f"--source-weight {name}: no pair has this origin", f"known: {some}"
            )
    wanted = np.array([weights.get(origin, default) for origin in pairs.origins])
    if not wanted.any():
        raise TrainingError(
            "all pairs have weight 0", "raise --default-weight or a --source-weight"
        )
    visited = wanted > 0
    times = [
        np.bincount(keys, visited)[keys]
        for keys in (keys_of(pairs.sources), keys_of(pairs.targets))
    ]
    return wanted / np.maximum(1, np.maximum(*times))


def hold_out(
    pairs: ParallelText, wanted: NDArray[np.float64], count: int, seed: int, named: str = "pairs"
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw pairs to measure on, in proportion to their sampling weights; the rest is for training.

    A pair that shares a sentence with one held out is in neither part, and no sentence is held
    out twice.

    Returns:
        Rows to train on and rows held out, each rising.
    """
    random = np.random.default_rng([seed, 0])
    lots = random.random(len(pairs)) ** (1 / np.maximum(wanted, 1e-9))  # weighted, none twice
    sources, targets = keys_of(pairs.sources), keys_of(pairs.targets)
    used: tuple[set[int], set[int]] = (set(), set())
    held: list[int] = []
    for row in np.argsort(-lots, kind="stable").tolist():
        if len(held) == count:
            break
        if wanted[row] and sources[row] not in used[0] and targets[row] not in used[1]:
            held.append(row)
            used[0].add(int(sources[row]))
            used[1].add(int(targets[row]))
    shared = np.isin(sources, list(used[0])) | np.isin(targets, list(used[1]))
    left = np.flatnonzero(~shared & (wanted > 0))
    if len(held) < count or len(left) < count:
        raise too_few(len(pairs), count, named)
    return left, np.array(sorted(held), dtype=np.intp)


def too_few(there: int, count: int, named: str = "pairs") -> TrainingError:
    """Make the error that so many pairs, or triplets, cannot be held out."""
    return TrainingError(
        f"{there:,} {named} are too few to hold {count:,} out and train on as many",
        f"give more {named}, or a smaller --held-out",
    )


def drawn(count: int, most: int, seed: int) -> NDArray[np.intp]:
    """Draw so many of `count` rows, rising; with the same seed, fewer are among more."""
    order = np.random.default_rng([seed, 5]).permutation(count)
    return np.sort(order[:most])


def keys_of(texts: Sequence[Hashable]) -> NDArray[np.int64]:
    """Number texts, so that equal ones have equal numbers: int64 [texts]."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
