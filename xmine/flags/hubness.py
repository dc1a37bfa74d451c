"""Nearest neighbours -> a report of hubs: lines that are among the nearest of very many lines.

Such a line (a title, a formula, boilerplate) is found by whatever has no translation, and takes the
place of a true neighbour. `xmine.flags.rules.hubs` says when a line is one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xmine.files.atomic import packing, replacing
from xmine.files.suffixes import packing_of
from xmine.flags.line_features import groups_of
from xmine.flags.rules import hubs
from xmine.knn.neighbours import Neighbours
from xmine.pairs.losses import Losses
from xmine.pairs.tsv import tsv_row, write_rows
from xmine.text.sentences import Sentences


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
