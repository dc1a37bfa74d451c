"""Pictures for a report: vectors or scores -> a PNG, and beside it a CSV with what it shows.

Maps as those of mSimCSE (Wang et al., 2022, fig. 1) and Emma-X (Guo et al., 2023, fig. 2): does a
sentence lie with its translations, or with its language?
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.extras import needs
from xmine.files.atomic import replacing_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEED = 1
JOINED = 60  # sentences whose translations are joined by lines; more would hide the points
NUMBERED = 30  # sentences whose number is written beside them
# Okabe & Ito's colours, which differ for every kind of colour vision; markers tell apart as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "^", "s", "D", "v", "P", "X")
_AXES = {"pca": "principal component", "tsne": "t-SNE"}


def draw_map(
    vectors: Mapping[str, NDArray[np.floating]], title: str, path: Path, method: str = "tsne"
) -> None:
    """Draw parallel sentences in the plane, coloured by language; few are joined and numbered.

    Unit rows [sentences, dim] by language; row N is the same sentence in all.
    """
    stacked = np.concatenate(list(vectors.values())).astype(np.float64)
    if len(stacked) < 3:
        raise FileError(f"{path}: a map needs three sentences at least")
    places = placed(stacked, method).reshape(len(vectors), -1, 2)  # [languages, sentences, 2]
    sentences = places.shape[1]
    figure, axes = canvas(title, (7.0, 6.4))
    if sentences <= JOINED and len(places) > 1:
        for first, *others in places.swapaxes(0, 1):
            for other in others:
                axes.plot(*zip(first, other, strict=True), color="#bbbbbb", linewidth=0.5, zorder=1)
    size = float(np.clip(6000 / (len(places) * sentences), 7, 55))
    for at, (language, points) in enumerate(zip(vectors, places, strict=True)):
        axes.scatter(
            points[:, 0],
            points[:, 1],
            s=size,
            c=COLOURS[at % len(COLOURS)],
            marker=_MARKERS[(at + at // len(COLOURS)) % len(_MARKERS)],
            linewidths=0.4,
            edgecolors="white",
            alpha=0.9 if sentences <= JOINED else 0.75,
            label=language,
            zorder=3,
        )
    if sentences <= NUMBERED:
        _number(axes, places[0])
    axes.set(xlabel=f"{_AXES[method]} 1", ylabel=f"{_AXES[method]} 2")
    if method == "tsne":  # its distances have no scale; those of PCA have
        axes.set(xticks=[], yticks=[])
    else:
        axes.set_aspect("equal", adjustable="datalim")
    legend_below(figure, len(places))
    rows = (
        [language, at, f"{x:.5f}", f"{y:.5f}"]
        for language, points in zip(vectors, places, strict=True)
        for at, (x, y) in enumerate(points.tolist(), start=1)
    )
    write_picture(figure, path, ["language", "sentence", "x", "y"], rows)


def draw_distributions(scores: Mapping[str, NDArray[np.floating]], title: str, path: Path) -> None:
    """Draw how the scores of each kind are distributed, as shares of their own number."""
    every = np.concatenate([np.asarray(values, dtype=np.float64) for values in scores.values()])
    low, high = float(every.min()), float(every.max())
    edges = np.linspace(low, high if high > low else low + 1, 51)
    figure, axes = canvas(title, (7.0, 4.0))
    shares = []
    for at, (name, values) in enumerate(scores.items()):
        shares.append(np.histogram(values, edges)[0] / len(values))
        colour, style = COLOURS[at % len(COLOURS)], ("-", "--", "-.", ":")[at % 4]
        label = f"{name} ({len(values):,})"
        axes.stairs(shares[at], edges, fill=True, color=colour, alpha=0.2)
        axes.stairs(shares[at], edges, color=colour, linewidth=1.6, linestyle=style, label=label)
        axes.axvline(float(np.median(values)), color=colour, linewidth=1, linestyle=":")
    axes.set(xlabel="cosine (dotted: median)", ylabel="share", ylim=(0, None))
    axes.yaxis.set_major_formatter("{x:.0%}")
    legend_below(figure, len(scores))
    rows = [
        [f"{low:.5f}", f"{high:.5f}", *(f"{share:.6f}" for share in each)]
        for low, high, *each in zip(edges[:-1], edges[1:], *shares, strict=True)
    ]
    write_picture(figure, path, ["from", "to", *scores], rows)


def placed(stacked: NDArray[np.floating], method: str) -> NDArray[np.float64]:
    """Lay rows [rows, dim] out in two dimensions, float64 [rows, 2]; always in the same way."""
    if method == "pca":
        return _principal(stacked.astype(np.float64))
    needs("t-SNE", "sklearn")
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(30.0, (len(stacked) - 1) / 3)  # the usual one; has to be below the rows
    tsne = TSNE(2, perplexity=perplexity, metric="cosine", random_state=SEED, n_jobs=1)
    with threadpool_limits(1):  # of 300 points: 1.1 s; with two threads on two busy cores 10 to 20
        return np.asarray(tsne.fit_transform(stacked), dtype=np.float64)


def _principal(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project rows to their two principal components, whose largest weights point upwards."""
    rows = rows - rows.mean(axis=0)
    _, _, axes = np.linalg.svd(rows, full_matrices=False)
    two = axes[:2]
    heaviest = np.take_along_axis(two, np.abs(two).argmax(axis=1)[:, None], axis=1)
    found = np.zeros((len(rows), 2))
    found[:, : len(two)] = rows @ (two * np.where(heaviest < 0, -1.0, 1.0)).T
    return found


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


def _number(axes: "Axes", points: NDArray[np.float64]) -> None:
    """Write the number of each sentence beside its point, white around it to stand out of lines."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2, foreground="white")]
    for at, (x, y) in enumerate(points.tolist(), start=1):
        name = axes.annotate(str(at), (x, y), (4, 4), textcoords="offset points", fontsize=7)
        name.set(color="#333333", path_effects=halo, zorder=4)


def legend_below(figure: "Figure", entries: int) -> None:
    """Name the kinds below the picture, where they cover no points."""
    from matplotlib.collections import PathCollection

    legend = figure.legend(
        loc="outside lower center", ncols=min(entries, 8), frameon=False, fontsize=9
    )
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):  # points, which in a map of many are small
            handle.set_sizes([45])


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
