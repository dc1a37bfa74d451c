"""Some pairs of a run -> both sides as points in the plane, each pair joined: the papers' map."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.browsing.opened import Opened, Rows
from xmine.browsing.search import Nearby
from xmine.errors import FileError
from xmine.plots.figures import draw_places, placed

MOST = 300
SEED = 1
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Picture:
    """Pairs in the plane: `rows` of `opened`, int64 [pairs], at places, float64 [2, pairs, 2].

    `method` is `pca` or `tsne`.
    """

    opened: Opened
    rows: Rows
    places: NDArray[np.float64]
    method: str

    def names(self) -> tuple[str, str]:
        """Name the two sides: their languages, where these tell them apart."""
        source, target = self.opened.languages
        told = "und" not in (source, target) and source != target
        return (source, target) if told else ("source", "target")

    def lines(self) -> tuple[list[int], list[int]]:
        """Give the lines of the pairs, from 1."""
        opened = self.opened
        return (
            opened.source.lines[opened.sources[self.rows]].tolist(),
            opened.target.lines[opened.targets[self.rows]].tolist(),
        )

    def save(self, path: Path) -> None:
        """Draw it, `.png`, `.svg` or `.pdf`; its coordinates go beside it, with `.csv`.

        Raises:
            FileError: it cannot be written.
            XmineError: matplotlib is not installed.
        """
        draw_places(
            dict(zip(self.names(), self.places, strict=True)),
            f"{len(self.rows):,} pairs",
            path,
            self.method,
            joined=len(self.rows),
            lines=self.lines(),
        )


def picture_of(
    nearby: Nearby,
    rows: Rows,
    *,
    most: int = MOST,
    seed: int = SEED,
    method: str = "pca",
) -> Picture:
    """Draw at most `most` pairs at random, and lay them out by `pca` or, in seconds, by `tsne`.

    `rows`, int64, are the pairs to draw from, rows of the run or file that `nearby` searches.
    """
    opened = nearby.opened
    if len(rows) < _FEWEST:
        few = "one pair is" if len(rows) else "no pairs are"
        raise FileError(
            f"{opened.path}: {few} too few for a map: it takes {_FEWEST}",
            "lower the cut" if opened.is_run else "",
        )
    if len(rows) > most:
        rows = np.random.default_rng(seed).choice(rows, most, replace=False)
    chosen = np.sort(rows)
    sources = nearby.vectors_of("source", opened.sources[chosen])
    targets = nearby.vectors_of("target", opened.targets[chosen])
    places = placed(np.concatenate([sources, targets]).astype(np.float64), method)
    return Picture(opened, chosen, places.reshape(2, len(chosen), 2), method)


def facts_of(picture: Picture) -> list[dict[str, object]]:
    """List the lines and the coordinates of each pair, for JSON."""
    names = "source_line", "target_line", "source", "target"
    rows = zip(*picture.lines(), *picture.places.round(5).tolist(), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]
