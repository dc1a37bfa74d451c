"""A histogram of scores or probabilities -> a picture, and beside it a CSV with its bins.

What is expected to be right and wrong, stacked; the cut; the estimated precision of every cut.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.errors import OptionError
from xmine.extras import needs
from xmine.files.atomic import check_free
from xmine.files.suffixes import PICTURE_SUFFIXES
from xmine.plots.figures import COLOURS, canvas, legend_below, write_picture
from xmine.scoring.histogram import Histogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# `most` of `xmine.scoring.histogram.bin_scores`: as many as can be told apart in a picture.
BINS = 60
_RIGHT, _WRONG = COLOURS[0], COLOURS[4]
_UNKNOWN = "#999999"
_AXES = {"score": "score", "prob": "probability"}


def check_picture(path: Path, *, force: bool) -> None:
    """Refuse a picture that could not be drawn or written; called before the work."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        said = f"--plot is {str(path)!r}: no format for pictures"
        raise OptionError(said, f"end it in {PICTURE_SUFFIXES}; - draws on the terminal")
    for each in (path, path.with_suffix(".csv")):
        check_free(each, force=force)
    needs("a picture", "matplotlib")


def draw_histogram(histogram: Histogram, path: Path, title: str) -> None:
    """Draw the pairs, the cut, and how precise each cut is expected to be."""
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.ticker import MaxNLocator

    known = get_font(findfont("DejaVu Sans")).get_charmap()  # of others it warns
    drawable = "".join(each if ord(each) in known else "?" for each in title)

    figure, axes = canvas(drawable, (7.0, 4.2))
    axes.set(xlabel=_AXES[histogram.name], ylabel="pairs")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    if len(histogram.counts):
        edges = _closed(histogram)
        _draw_bins(axes, histogram, edges)
        if histogram.precision is not None:
            _draw_precision(axes, edges, histogram.precision)
        _draw_cut(axes, histogram, edges)
        legend_below(figure, 2)
    else:
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, "no pairs", transform=axes.transAxes, ha="center", color=_UNKNOWN)
    columns = ["from", "to", "pairs", "right", "precision"]
    rows = [
        ["" if each[name] is None else f"{each[name]:.10g}" for name in columns]
        for each in histogram.facts()
    ]
    write_picture(figure, path, columns, rows)


def _closed(histogram: Histogram) -> NDArray[np.float64]:
    """Give open bins the width of the others, so that they can be drawn; float64 [bins + 1]."""
    edges = histogram.edges.copy()
    inner = edges[np.isfinite(edges)]
    width = inner[1] - inner[0] if len(inner) > 1 else 1.0
    if math.isinf(edges[0]):
        edges[0] = edges[1] - width
    if math.isinf(edges[-1]):
        edges[-1] = edges[-2] + width
    return edges


def _draw_bins(axes: "Axes", histogram: Histogram, edges: NDArray[np.float64]) -> None:
    """Draw the bars; those that would dwarf the rest run out of the picture, and say so."""
    counts, right, reach = histogram.counts, histogram.right, histogram.reach
    if right is None:
        axes.stairs(counts, edges, fill=True, color=_UNKNOWN, label="pairs")
    else:
        axes.stairs(right, edges, fill=True, color=_RIGHT, label="expected right")
        axes.stairs(counts, edges, baseline=right, fill=True, color=_WRONG, label="expected wrong")
    axes.set(xlim=(edges[0], edges[-1]), ylim=(0, 1.08 * reach))
    if histogram.is_uneven:
        at = int(counts.argmax())
        axes.annotate(
            f"up to {counts.max():,} pairs",
            ((edges[at] + edges[at + 1]) / 2, 1.08 * reach),
            (0, -3),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7,
        )
    named = [
        (0, "left", f"< {edges[1]:.{histogram.decimals}f}", histogram.edges[0]),
        (-1, "right", f"≥ {edges[-2]:.{histogram.decimals}f}", histogram.edges[-1]),
    ]
    for at, side, name, edge in named:
        if math.isinf(edge):
            height = min(int(counts[at]), reach)
            axes.annotate(
                name,
                (edges[at], height),
                (0, 3),
                textcoords="offset points",
                ha=side,
                fontsize=7,
                color="#555555",
            )


def _draw_precision(
    axes: "Axes", edges: NDArray[np.float64], precision: NDArray[np.float64]
) -> None:
    """Draw, over the lower edge of each bin, the precision of a cut there."""
    second = axes.twinx()
    second.plot(edges[:-1], precision, color="black", linewidth=1.4, label="precision of a cut")
    second.set(ylim=(0, 1.08), ylabel="estimated precision", yticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
    second.spines[["top", "left"]].set_visible(False)
    second.tick_params(labelsize=8, colors="#555555")
    second.yaxis.label.set_color("#555555")


def _draw_cut(axes: "Axes", histogram: Histogram, edges: NDArray[np.float64]) -> None:
    """Draw the cut at its place, or at the rim that it lies beyond."""
    if histogram.cut is None:
        return
    share = histogram.kept_precision
    precise = "" if share is None else f", precision {share:.2f}"
    axes.axvline(
        float(np.clip(histogram.cut, edges[0], edges[-1])),
        color=COLOURS[1],
        linewidth=1.6,
        linestyle="--",
        label=f"cut at {histogram.cut:.4f}: {count(histogram.kept, 'pair')}{precise}",
    )
