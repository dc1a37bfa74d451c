"""Nearest neighbours -> hubs, lines that are among the nearest of very many lines; their report.

Such a line (a title, a formula, boilerplate) is found by whatever has no translation, and takes the
place of a true neighbour.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.files.atomic import packing, replacing
from xmine.files.suffixes import packing_of
from xmine.flags.flag_set import Bools
from xmine.flags.line_features import LineFeatures, groups_of
from xmine.knn.neighbours import Neighbours
from xmine.pairs.losses import Losses
from xmine.pairs.tsv import tsv_row, write_rows
from xmine.text.sentences import Sentences
from xmine.units import count

# A hub is among the neighbours of this many lines at least, of this many times as many as a line is
# on average, and of this many times as many as the tenth of lines that is neighbour most often.
_FEWEST_LISTS = 25
_TIMES_MEAN = 10.0
_TIMES_TENTH = 5.0
_LISTS_AT_ONCE = 65_536


def hubs(
    ids: NDArray[np.int64], size: int, groups: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find rows that are among the nearest of very many rows of the other matrix.

    At most a tenth of the rows can reach ten times the mean, so hubs, however many, move neither
    the mean, which depends on sizes alone, nor the ninth decile: the limit is made of both.

    Args:
        ids: int64 [rows, k], the nearest rows of the other matrix.
        size: rows of the other matrix.
        groups: int64 [size], equal numbers from 0 for rows that count as one line, such as variants
            of a boilerplate line; None if each row is its own.

    Returns:
        int64 [hubs], rows of the other matrix, highest count first, then by row; and int64 [hubs],
        the number of `rows` that have the hub, or a row of its group, among their nearest.
    """
    alone = np.zeros(size, dtype=np.int64)
    for column in ids.T:
        alone += np.bincount(column, minlength=size)
    limit = max(
        _FEWEST_LISTS, _TIMES_MEAN * float(alone.mean()), _TIMES_TENTH * np.quantile(alone, 0.9)
    )
    counts = alone if groups is None else _lists_of_groups(ids, groups)[groups]
    rows = np.flatnonzero(counts >= limit)
    rows = rows[np.argsort(-counts[rows], kind="stable")]
    return rows, counts[rows]


def _lists_of_groups(ids: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the lists that each group stands in; a list with several of its rows counts once."""
    counts = np.zeros(len(groups), dtype=np.int64)
    for start in range(0, len(ids), _LISTS_AT_ONCE):
        lists = np.sort(groups[ids[start : start + _LISTS_AT_ONCE]], axis=1)  # [lists, k]
        first = np.ones(lists.shape, dtype=bool)
        first[:, 1:] = lists[:, 1:] != lists[:, :-1]
        counts += np.bincount(lists[first], minlength=len(groups))
    return counts


def is_hub(ids: NDArray[np.int64], side: LineFeatures) -> Bools:
    """Mark the lines of a side that are hubs, and boilerplate, which shares its lists.

    Args:
        ids: int64 [rows of the other side, k], neighbours among the lines of this side.
        side: this side.
    """
    marked = side.boilerplate.copy()
    marked[hubs(ids, len(marked), side.groups)[0]] = True
    return marked


def hub_reason(
    sides: Sequence[tuple[str, NDArray[np.int64], LineFeatures, NDArray[np.int64]]],
) -> Callable[[int], str]:
    """Say which side of a pair is a neighbour of how many lines.

    `sides` are the name of each side, the neighbours among its lines, their features, and the row
    of each pair.
    """

    @cache
    def counted() -> list[tuple[NDArray[Any], ...]]:
        found = list[tuple[NDArray[Any], ...]]()
        for _, ids, side, _ in sides:
            alone = np.bincount(ids.ravel(), minlength=len(side.groups))
            variants = np.bincount(side.groups)[side.groups]
            found.append((alone, variants, _lists_of_groups(ids, side.groups)[side.groups]))
        return found

    def told(pair: int) -> str:
        said = []
        for (name, _, _, rows), numbers in zip(sides, counted(), strict=True):
            lists, variants, every = (int(each[rows[pair]]) for each in numbers)
            text = f"the {name} is a neighbour of {count(lists, 'line')}"
            text += f", its {variants:,} variants of {every:,}" * (variants > 1)
            said.append((lists * variants, text))
        most = max(lists for lists, _ in said)
        return "; ".join(text for lists, text in said if lists * 5 >= most)

    return told


@dataclass(frozen=True, slots=True)
class Hub:
    """A line that very many lines of the other side have among their nearest.

    Attributes:
        side: `source` or `target`; `source pool` or `target pool` if it is a line of a pool.
        line: its number, from 1; of several variants the first.
        count: how many lines of the other side have it, or a variant of it, among their nearest.
        share: `count` of all lines of the other side, from 0 to 1.
        variants: how many lines are counted together, having the same letters.
        text: the line.
    """

    side: str
    line: int
    count: int
    share: float
    variants: int
    text: str


def find_hubs(
    neighbours: Neighbours,
    source: Sentences,
    target: Sentences,
    own_lines: tuple[int, int] | None = None,
) -> list[Hub]:
    """List the hubs of both sides, highest count first, then source before target, then by line.

    Args:
        neighbours: the k nearest rows both ways.
        source, target: the sentences of those rows.
        own_lines: how many lines each side itself has; those behind them are of its pool.
    """
    found = []
    owns = own_lines or (source.total, target.total)
    for side, ids, table, own in (
        ("source", neighbours.sources, source, owns[0]),
        ("target", neighbours.targets, target, owns[1]),
    ):
        groups = groups_of(table.texts)
        rows, counts = hubs(ids, len(table), groups)
        # They come by falling count, then by row: the first variant of a line stands for all.
        _, first, sizes = np.unique(groups[rows], return_index=True, return_counts=True)
        for at, size in zip(first.tolist(), sizes.tolist(), strict=True):
            row, count = int(rows[at]), int(counts[at])
            line, place = int(table.lines[row]), side
            if line > own:
                line, place = line - own, f"{side} pool"
            found.append(Hub(place, line, count, count / len(ids), size, table.texts[row]))
    return sorted(found, key=lambda hub: (-hub.count, hub.side, hub.line))


def hub_rows(found: list[Hub], losses: Losses | None = None) -> Iterator[str]:
    """Make rows of TSV: side, line, count, share, variants, text."""
    losses = Losses() if losses is None else losses
    for hub in found:
        numbers = f"{hub.line}", f"{hub.count}", f"{hub.share:.4f}", f"{hub.variants}"
        yield tsv_row([hub.side, *numbers, hub.text], losses)


def write_hubs(found: list[Hub], path: Path) -> list[str]:
    """Write `hub_rows` to a file, compressed if its suffix says so; it appears whole or not at all.

    Returns:
        What TSV could not hold, ready to be joined with commas.
    """
    losses = Losses()
    with (
        replacing(path) as partial,
        partial.open("wb") as file,
        packing(file, packing_of(str(path))) as stream,
    ):
        write_rows(stream, hub_rows(found, losses))
    return losses.notes()
