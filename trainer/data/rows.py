"""Texts -> what training reads: visited so often, a part held out, cut into pieces."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from xmine.errors import TrainingError
from xmine.files.scratch import stored
from xmine.pairs.io import ParallelText
from xmine.pairs.language_pairs import LanguagePairs


@dataclass(frozen=True, slots=True)
class TokenizedSide:
    """The sentences of one language, cut into pieces; the arrays may be mapped files.

    Attributes:
        ids: int32 [pieces of all sentences].
        starts: int64 [sentences + 1], where each sentence starts in `ids`.
        keys: int64 [sentences]; equal for sentences of equal text.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    keys: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> "TokenizedSide":
        """Gather some sentences, in the order of `rows`."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        shift = np.repeat(self.starts[rows] - starts[:-1], lengths)
        return TokenizedSide(self.ids[shift + np.arange(starts[-1])], starts, self.keys[rows])

    def without_some(
        self, share: float | NDArray[np.float64], random: np.random.Generator
    ) -> "TokenizedSide":
        """Drop each piece with a probability, of all or of each; a sentence may lose them all."""
        shares = np.repeat(np.broadcast_to(share, len(self)), np.diff(self.starts))  # [pieces]
        kept = random.random(len(self.ids)) >= shares
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return TokenizedSide(self.ids[kept], starts, self.keys)

    def __len__(self) -> int:
        """Count the sentences."""
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Rows:
    """What belongs together, row by row: pairs, triplets, or texts alone.

    Attributes:
        columns: sides of equal length; row i of each belongs to row i of the others.
        negatives: the pairs whose second sentences are hard negatives of the first sentences, and
            those whose first ones are hard negatives of the second; empty where none are mined.
    """

    columns: tuple[TokenizedSide, ...]
    negatives: "tuple[Rows, ...]" = ()

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
        languages: those of the rows, if pairs are in several; then a text of one column may be
            in another, and equal texts of all columns have equal keys.
        held_out_languages: those of the held-out pairs.
        texts: of the rows, where these are pairs alone, for `--negatives`.
    """

    rows: Rows
    weights: NDArray[np.float64]
    held_out: Rows | None
    languages: LanguagePairs | None = None
    held_out_languages: LanguagePairs | None = None
    texts: ParallelText | None = None


def weigh_pairs(
    pairs: ParallelText, weights: Mapping[str, float], default: float, alpha: float = 1.0
) -> NDArray[np.float64]:
    """Give the sampling weight of each pair: that of its origin.

    Pairs that share a sentence share its weights, so that fifty machine translations of a sentence
    count as one. Translations into different languages do not share: each is visited. A pair of
    languages with a share p of the visits gets p^alpha in proportion.

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
    if not len(pairs):
        raise TrainingError("no pair is left to train on", "does --exclude name the training data?")
    wanted = np.array([weights.get(origin, default) for origin in pairs.origins])
    if not wanted.any():
        raise TrainingError("all pairs have weight 0", "raise default_weight or a --source-weight")
    visited = wanted > 0
    keys = keys_of(pairs.sources), keys_of(pairs.targets)
    if pairs.languages is None:
        return _shared(wanted, visited, *keys)
    for rows in pairs.languages.rows():
        wanted[rows] = _shared(wanted[rows], visited[rows], *(each[rows] for each in keys))
    return balanced(wanted, pairs.languages.of_rows, alpha)


def _shared(
    wanted: NDArray[np.float64], visited: NDArray[np.bool_], *sides: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Let pairs that share a sentence share its weight."""
    times = [np.bincount(keys, visited)[keys] for keys in sides]
    return wanted / np.maximum(1, np.maximum(*times))


def balanced(
    weights: NDArray[np.float64], groups: NDArray[np.int64], alpha: float
) -> NDArray[np.float64]:
    """Scale weights: a group with a share p of them gets p^alpha in proportion.

    Args:
        weights: float64 [rows].
        groups: int64 [rows], the group of each row, from 0.
        alpha: 1 leaves the weights as they are, 0 makes all groups equal.

    Returns:
        float64 [rows], with the same sum.
    """
    if not len(weights):
        return weights
    totals = np.bincount(groups, weights)
    there = totals > 0
    wanted = np.where(there, (totals / totals.sum()) ** alpha, 0.0)
    scales = wanted / wanted.sum() * totals.sum() / np.where(there, totals, 1.0)
    scaled: NDArray[np.float64] = weights * scales[groups]
    return scaled


def hold_out(
    pairs: ParallelText, wanted: NDArray[np.float64], count: int, seed: int, named: str = "pairs"
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw pairs to measure on, in proportion to their sampling weights; the rest is for training.

    A pair that shares a sentence with one held out is in neither part, and no sentence is held
    out twice. Of several pairs of languages, each has its share of the `count`: as many as the
    others, but no more than a sixth of its pairs.

    Returns:
        Rows to train on and rows held out, each rising.
    """
    parts, counts, names = [np.arange(len(pairs))], [count], [named]
    if languages := pairs.languages:
        parts, names = languages.rows(), [f"{named} of {name}" for name in languages.names]
        rooms = [int(np.count_nonzero(wanted[rows])) // 6 for rows in parts]
        if min(rooms) < 2:
            least = rooms.index(min(rooms))
            raise too_few(len(parts[least]), 2, names[least])
        counts = shared_out(count, rooms)
    random = np.random.default_rng([seed, 0])
    lots = random.random(len(pairs)) ** (1 / np.maximum(wanted, 1e-9))  # weighted, none twice
    sources, targets = keys_of_sides(pairs)
    used: tuple[set[int], set[int]] = (set(), set())
    if languages:  # a sentence may be on either side
        used = (used[0], used[0])
    held: list[int] = []
    for rows, most in zip(parts, counts, strict=True):
        before = len(held)
        for row in map(int, rows[np.argsort(-lots[rows], kind="stable")]):
            if len(held) - before == most:
                break
            if wanted[row] and sources[row] not in used[0] and targets[row] not in used[1]:
                held.append(row)
                used[0].add(int(sources[row]))
                used[1].add(int(targets[row]))
    shared = np.isin(sources, list(used[0])) | np.isin(targets, list(used[1]))
    left = ~shared & (wanted > 0)
    is_held = np.isin(np.arange(len(pairs)), held)
    for rows, most, name in zip(parts, counts, names, strict=True):
        if is_held[rows].sum() < most or left[rows].sum() < most:
            raise too_few(len(rows), most, name)
    return np.flatnonzero(left), np.flatnonzero(is_held)


def shared_out(count: int, rooms: Sequence[int]) -> list[int]:
    """Share a count out: the same for all, or less where there is less room.

    Raises:
        TrainingError: one would get less than two, or there is no room for all.
    """
    shares, left = [0] * len(rooms), count
    for others, at in enumerate(sorted(range(len(rooms)), key=rooms.__getitem__)):
        shares[at] = min(rooms[at], left // (len(rooms) - others))
        left -= shares[at]
    if left or min(shares) < 2:
        raise TrainingError(
            f"--held-out {count}: from {2 * len(rooms):,} to {sum(rooms):,} pairs of these "
            f"{len(rooms)} pairs of languages can be held out",
            "leave it out, or give more pairs",
        )
    return shares


def too_few(there: int, count: int, named: str = "pairs") -> TrainingError:
    """Make the error that so many pairs, or triplets, cannot be held out."""
    are = f"1 {named.replace('s', '', 1)} is" if there == 1 else f"{there:,} {named} are"
    smaller = ", or a smaller --held-out" if count > 2 else f": {2 * count} different ones at least"
    return TrainingError(
        f"{are} too few to hold {count:,} out and train on as many", f"give more {named}{smaller}"
    )


def drawn(count: int, most: int, seed: int) -> NDArray[np.intp]:
    """Draw so many of `count` rows, rising; with the same seed, fewer are among more."""
    order = np.random.default_rng([seed, 5]).permutation(count)
    return np.sort(order[:most])


def keys_of_sides(pairs: ParallelText) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the texts of both sides, each for itself; of several pairs of languages together."""
    if pairs.languages is None:
        return keys_of(pairs.sources), keys_of(pairs.targets)
    keys = keys_of(chain(pairs.sources, pairs.targets))
    return keys[: len(pairs)], keys[len(pairs) :]


def keys_of(texts: Iterable[Hashable]) -> NDArray[np.int64]:
    """Number texts, or pairs of them, by their first occurrences, equal ones alike: int64 [texts].

    By the 64 bits of Python's hash: a table of a hundred million texts would take 10 GB.
    """
    digests = np.fromiter(map(hash, texts), np.int64)
    _, first, same = np.unique(digests, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return stored(numbers[same])
