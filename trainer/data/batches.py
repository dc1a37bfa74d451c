"""Rows of the training pairs -> the order of a pass, seeded by its number, and its batches."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.errors import TrainingError

from ..options.shared import TrainingOptions

_NEAR_DIM = 64

# rows of pairs -> one vector for each pair, [rows, dim]
Embed = Callable[[NDArray[np.int64]], NDArray[np.float32]]


def pass_order(weights: NDArray[np.float64], seed: int, epoch: int) -> NDArray[np.int64]:
    """Draw the rows of one pass in random order.

    A row with a sampling weight of 2.3 comes twice or, with probability 0.3, three times.
    """
    random = np.random.default_rng([seed, 1, epoch])
    order = np.repeat(np.arange(len(weights)), _times(weights, random))
    random.shuffle(order)
    return order


def ends_of_passes(weights: NDArray[np.float64], options: TrainingOptions) -> NDArray[np.int64]:
    """Count the steps until the end of each pass that `--steps` lets begin: int64 [passes]."""
    ends, done = [], 0
    for epoch in range(options.epochs):
        times = _times(weights, np.random.default_rng([options.seed, 1, epoch]))
        done += max(1, int(times.sum()) // options.batch_size)
        ends.append(done)
        if 0 < options.steps <= done:
            break
    return np.array(ends)


def count_steps(weights: NDArray[np.float64], options: TrainingOptions) -> int:
    """Count the steps that a run, or a stage of it, will take."""
    return int(min(ends_of_passes(weights, options)[-1], options.steps or np.inf))


def _times(weights: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.int64]:
    """Draw how often each row comes in a pass."""
    return np.floor(weights + random.random(len(weights))).astype(np.int64)


def in_few_dimensions(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """Project vectors [rows, dim] on 64 random directions, which is enough to tell what is near.

    Angles stay about as they are (Johnson and Lindenstrauss, 1984). Three million pairs take 0.8 GB
    then, and not 6. Vectors of fewer dimensions stay.
    """
    if vectors.shape[1] <= _NEAR_DIM:
        return vectors
    random = np.random.default_rng([seed, 7])
    directions = random.standard_normal((vectors.shape[1], _NEAR_DIM), dtype=np.float32)
    projected: NDArray[np.float32] = vectors @ directions
    return projected


def grouped_order(
    order: NDArray[np.int64], embed: Embed, size: int, seed: int, epoch: int
) -> NDArray[np.int64]:
    """Bring near neighbours together: groups of at most `size` rows, the groups in random order.

    A batch of such groups holds negatives that are hard to tell apart. The groups come from
    splitting the rows in halves by the plane between two random ones, again and again.
    """
    random = np.random.default_rng([seed, 2, epoch])
    vectors = embed(order)  # [rows, dim]
    waiting, groups = [np.arange(len(order))], []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            groups.append(rows)
            continue
        one, other = random.choice(rows, 2, replace=False)
        side = vectors[rows] @ (vectors[one] - vectors[other])  # [rows]
        halves = np.argpartition(side, len(rows) // 2)
        waiting += [rows[halves[: len(rows) // 2]], rows[halves[len(rows) // 2 :]]]
    shuffled = [groups[index] for index in random.permutation(len(groups))]
    regrouped: NDArray[np.int64] = order[np.concatenate(shuffled)]
    return regrouped


def language_batches(
    order: NDArray[np.int64],
    languages: NDArray[np.int64],
    size: int,
    seed: int,
    epoch: int,
    processes: int = 1,
) -> list[NDArray[np.int64]]:
    """Cut a pass into batches of one language each, in random order.

    Rows of a language, of which `languages` tells for all rows, stay in their order. Where one
    ends, a batch is filled with the next, so that a pass has as many batches as it has without.
    """
    random = np.random.default_rng([seed, 6, epoch])
    places = random.permutation(int(languages.max()) + 1)  # by language
    ordered = order[np.argsort(places[languages[order]], kind="stable")]
    batches = cut_batches(ordered, size, processes)
    return [batches[at] for at in random.permutation(len(batches))]


def cut_batches(order: NDArray[np.int64], size: int, processes: int = 1) -> list[NDArray[np.int64]]:
    """Cut a pass into batches; what does not fill the last one is left out.

    A pass of fewer rows than a batch is one batch, of as many rows for each process.

    Raises:
        TrainingError: there are fewer rows than processes.
    """
    if whole := len(order) // size * size:
        return list(order[:whole].reshape(-1, size))
    if not len(order):
        raise TrainingError(
            "by the sampling weights an epoch takes less than a row",
            "raise default_weight or --source-weight",
        )
    if len(order) < processes:
        raise TrainingError(
            f"{processes} processes cannot share the {count(len(order), 'row')} of an epoch",
            "start fewer processes, or give more data",
        )
    return [order[: len(order) // processes * processes]]
