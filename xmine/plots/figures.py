"""Pictures of training and of scores: a file in any format, and beside it a CSV of its numbers."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.extras import needs
from xmine.files.atomic import replacing_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito's colours, which differ for every kind of colour vision; markers tell apart as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def canvas(title: str, inches: tuple[float, float]) -> "tuple[Figure, Axes]":
    """Make a figure of its own, without matplotlib's global state."""
    needs("a picture", "matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=inches, dpi=150, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(title, fontsize=11, loc="left", parse_math=False)  # "$" may be in a name
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8, colors="#555555")
    axes.xaxis.label.set_color("#555555")
    axes.yaxis.label.set_color("#555555")
    return figure, axes


def legend_below(figure: "Figure", entries: int) -> None:
    """Name the kinds below the picture, where they cover no points."""
    figure.legend(loc="outside lower center", ncols=min(entries, 8), frameon=False, fontsize=9)


def write_picture(
    figure: "Figure", path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a picture in the format of its suffix, and its numbers beside it with `.csv`.

    The same picture gives the same bytes: no date goes into it.
    """
    from matplotlib import rc_context

    form = path.suffix.lower().removeprefix(".")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with (
        replacing_all([path, path.with_suffix(".csv")]) as (picture, table),
        rc_context({"svg.hashsalt": "xmine"}),
    ):
        figure.savefig(picture, format=form, metadata=dates.get(form))
        with table.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([head, *rows])
