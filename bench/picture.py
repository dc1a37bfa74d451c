"""The figures of bench/scale.py -> a picture of time and memory against the number of lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Two colours that nobody confuses (Okabe & Ito), a marker and a dash each.
STYLES = {
    "xmine": {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    "peers": {"color": "#D55E00", "marker": "s", "linestyle": "--"},
}
LABELS = {"xmine": "xmine", "peers": "sentence-transformers\n+ faiss.knn"}
PANELS = (
    (
        "seconds",
        "Time from text to pairs",
        {1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h"},
    ),
    (
        "peak_anonymous_megabytes",
        "Peak anonymous memory",
        {100: "100 MB", 300: "300 MB", 1000: "1 GB", 3000: "3 GB", 10_000: "10 GB"},
    ),
)
_INK = "#333333"


def draw(found: Mapping[str, Any], path: Path) -> None:
    """Draw the part `whole`.

    Args:
        found: the JSON of bench/scale.py.
        path: .svg or .png.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "xmine"  # else ids in the file differ from run to run
    from matplotlib import pyplot as plt

    rows = found["whole"]["rows"]
    figure, panels = plt.subplots(1, len(PANELS), figsize=(10, 4.2), layout="constrained")
    for panel, (name, title, ticks) in zip(panels, PANELS, strict=True):
        _panel(panel, rows, name, title, ticks)
    machine = found["whole"]["machine"]
    figure.supxlabel(
        f"lines on each side; {machine['processor']}, {machine['cores']} cores, "
        f"{found['whole']['date']}",
        fontsize=9,
        color=_INK,
    )
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def _panel(panel: Any, rows: Any, name: str, title: str, ticks: Mapping[int, str]) -> None:  # noqa: ANN401
    values = [row[name] for row in rows]
    for who, style in STYLES.items():
        points = sorted((row["lines"], row[name]) for row in rows if row["who"] == who)
        if not points:
            continue
        # Lines rise, so there is room above the end of each; but for names that leave the panel.
        ends_early = points[-1][0] < max(row["lines"] for row in rows)
        panel.plot(*zip(*points, strict=True), linewidth=2, markersize=5, **style)
        panel.annotate(
            LABELS[who],
            (points[0][0] if ends_early else points[-1][0], points[-1][1]),
            xytext=(-4 if ends_early else 4, 7),
            textcoords="offset points",
            ha="left" if ends_early else "right",
            va="bottom",
            color=style["color"],
            fontweight="bold",
            fontsize=9,
        )
    panel.set_xscale("log")
    panel.set_yscale("log")
    sizes = sorted({row["lines"] for row in rows})
    panel.set_xticks(sizes, [_lines(each) for each in sizes], minor=False)
    panel.set_xlim(sizes[0] / 1.3, sizes[-1] * 1.6)
    panel.set_ylim(min(values) / 1.6, max(values) * 2.2)
    shown = {
        at: text for at, text in ticks.items() if panel.get_ylim()[0] <= at <= panel.get_ylim()[1]
    }
    panel.set_yticks(list(shown), list(shown.values()), minor=False)
    panel.minorticks_off()
    panel.set_title(title, loc="left", fontsize=11, color=_INK)
    panel.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    panel.tick_params(colors=_INK, length=0, labelsize=9)
    for side in panel.spines.values():
        side.set_visible(False)


def _lines(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1e6:g}M"
    return f"{count / 1000:g}k" if count >= 1000 else str(count)
