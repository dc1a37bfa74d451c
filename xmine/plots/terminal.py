"""A histogram of pairs as lines of text: a bar for each bin, the cut, precision of every cut."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xmine.display import count
from xmine.scoring.histogram import Histogram

if TYPE_CHECKING:
    from rich.text import Text

_NARROWEST_BAR = 8


class _Marks(NamedTuple):
    right: str = "█"
    wrong: str = "░"
    unknown: str = "▒"
    eighths: str = " ▏▎▍▌▋▊▉"
    rule: str = "─"
    from_here: str = "≥"


_ASCII = _Marks("#", ".", "=", "", "-", ">=")


def histogram_lines(
    histogram: Histogram, width: int, *, plain: bool = False, figures: bool = True
) -> "list[Text]":
    """Draw a histogram from the highest bin to the lowest, a line for each bin; a head, a legend.

    No line is longer than `width` if that is 80 or more. `figures` of the cut stand at the cut.
    """
    from rich.text import Text

    if not len(histogram.counts):
        return [Text("no pairs: there are no scores to draw")]
    marks, histogram = _ASCII if plain else _Marks(), histogram.split_at_cut()
    names = _names(histogram, marks)
    label = max(map(len, (histogram.name, *names, "" if figures else f"{histogram.cut or 0:.4f}")))
    room = max(width - label - len(_numbers(("", "", ""))) - 1, _NARROWEST_BAR)
    columns = ("pairs", "from here", "precision" if histogram.right is not None else "")
    lines = [Text(f"{histogram.name:>{label}} {'':<{room}}{_numbers(columns)}".rstrip(), "bold")]
    cut_at = _place_of_cut(histogram)
    for bin_ in range(len(names) - 1, -1, -1):
        if bin_ + 1 == cut_at:
            lines.append(_cut_line(histogram, label, width, marks, figures=figures))
        dim = "dim" if cut_at is not None and bin_ < cut_at else ""
        line = Text(f"{names[bin_]:>{label}} ", dim)
        line.append_text(_bar(histogram, bin_, room, marks))
        line.append(_numbers(_figures(histogram, bin_)), dim)
        line.rstrip()
        lines.append(line)
    if cut_at == 0:
        lines.append(_cut_line(histogram, label, width, marks, figures=figures))
    return [*lines, Text(_legend(histogram, marks), "dim")]


def _names(histogram: Histogram, marks: _Marks) -> list[str]:
    """Name each bin by its lower edge, and open ones so that it can be seen."""
    low, *edges = [_edge(edge, histogram.decimals) for edge in histogram.edges.tolist()]
    names = [low, *edges[:-1]]
    if math.isinf(histogram.edges[-1]):
        names[-1] = f"{marks.from_here} {names[-1]}"
    if math.isinf(histogram.edges[0]):
        names[0] = f"< {edges[0]}"
    return names


def _edge(edge: float, decimals: int) -> str:
    """Say an edge; that of a cut within a bin as the cut is said elsewhere."""
    said = f"{edge:.{decimals}f}"
    return said if float(said) == edge or abs(edge) >= 1000 else f"{edge:.4f}"


def _numbers(columns: tuple[str, str, str]) -> str:
    pairs, above, precision = columns
    return f" {pairs:>9} {above:>10} {precision:>9}"


def _figures(histogram: Histogram, bin_: int) -> tuple[str, str, str]:
    share = math.nan if histogram.precision is None else histogram.precision[bin_]
    return (
        f"{histogram.counts[bin_]:,}",
        f"{histogram.at_or_above[bin_]:,}",
        "" if math.isnan(share) else f"{share:.2f}",
    )


def _bar(histogram: Histogram, bin_: int, room: int, marks: _Marks) -> "Text":
    """Draw a bar of exactly `room` characters; a pair is seen, however long the other bars are.

    A bar without wrong pairs ends in an eighth of a character.
    """
    from rich.text import Text

    pairs = int(histogram.counts[bin_])
    longest = int(histogram.counts.max())
    share = math.log1p(pairs) / math.log1p(longest) if histogram.is_uneven else pairs / longest
    length = room * share
    cells = max(round(length), min(pairs, 1))
    bar = Text()
    if histogram.right is None:
        bar.append(marks.unknown * cells)
    else:
        good = histogram.right[bin_] / max(pairs, 1)
        right = min(round(length * good), cells)
        if cells == 1:
            right = int(2 * good >= 1)
        if marks.eighths and right == cells:
            whole, eighth = divmod(max(round(8 * length), min(pairs, 1)), 8)
            bar.append(marks.right * whole + marks.eighths[eighth].strip(), "cyan")
        else:
            bar.append(marks.right * right, "cyan")
            bar.append(marks.wrong * (cells - right), "yellow")
    bar.append(" " * (room - len(bar)))
    return bar


def _place_of_cut(histogram: Histogram) -> int | None:
    """Tell how many bins are drawn below the cut, which is one of the edges or beyond them all."""
    if histogram.cut is None:
        return None
    if histogram.kept in (0, histogram.counts.sum()):  # beyond them all, in an open bin too
        return 0 if histogram.kept else len(histogram.counts)
    return int(np.searchsorted(histogram.edges, histogram.cut))


def _cut_line(
    histogram: Histogram, label: int, width: int, marks: _Marks, *, figures: bool
) -> "Text":
    from rich.text import Text

    kept, share, said = histogram.kept, histogram.kept_precision, "cut"
    if figures:
        reach = f"{count(kept, 'pair')} from here up" if kept else "no pair reaches it"
        said = f"cut at {histogram.cut:.4f}: {reach}"
    if figures and share is not None:
        said += f", estimated precision {share:.2f}"
    line = f"{marks.rule * max(label - 1, 1)} {said} "
    return Text(line + marks.rule * (width - len(line)), "bold")


def _legend(histogram: Histogram, marks: _Marks) -> str:
    if histogram.right is None:
        return f"{marks.unknown} pairs; how many of them are right could not be estimated"
    text = f"{marks.right} expected right  {marks.wrong} expected wrong"
    if histogram.is_uneven:
        text += "  bars: logarithms"
    return text + "  precision: estimated"
