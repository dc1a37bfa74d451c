"""Points of two kinds in the plane, each joined with its other, drawn with characters.

Lines are dots of braille, 2 x 4 in a cell; points are letters, so that the kinds differ without
colour.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

SOURCE, TARGET, BOTH = "o", "x", "8"
_STYLES = {SOURCE: "bold $accent", TARGET: "bold $success", BOTH: "bold $warning"}
_LINE, _CHOSEN = "$foreground 40%", "bold reverse $foreground"
_BRAILLE = 0x2800
# The bit of each dot of a cell, by row and column.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class Cell(NamedTuple):
    """What stands in a cell, and how."""

    character: str
    style: str


class Canvas(Static, can_focus=True):
    """Pairs of points. One pair stands out."""

    def __init__(self, *, id: str) -> None:
        """Begin with nothing."""
        super().__init__(id=id, markup=False)
        self._places: NDArray[np.float64] = np.zeros((2, 0, 2))
        self._chosen: int | None = None

    def show(self, places: NDArray[np.float64], chosen: int | None = None) -> None:
        """Draw pairs, [2, pairs, 2]; one of them stands out."""
        self._places, self._chosen = places, chosen
        self._draw()

    def on_resize(self, event: Resize) -> None:
        """Draw anew for the room that there is."""
        self._draw()

    def _draw(self) -> None:
        width, height = self.size
        if width and height:
            rows = drawn(self._places, width, height, self._chosen)
            self.update(Content("\n").join(map(_row, rows)))


def _row(cells: list[Cell]) -> Content:
    return Content.assemble(*((cell.character, cell.style) for cell in cells))


def drawn(
    places: NDArray[np.float64], width: int, height: int, chosen: int | None = None
) -> list[list[Cell]]:
    """Draw pairs of points into cells.

    Args:
        places: float64 [2, pairs, 2], sources and targets.
        width, height: in cells.
        chosen: the pair that stands out.

    Returns:
        `height` rows of `width` cells; every point is in one of them.
    """
    pairs = places.shape[1]
    dots = np.zeros((height, width), dtype=np.int64)
    cells = [[Cell(" ", "")] * width for _ in range(height)]
    if not pairs:
        return cells
    spots = _spots(places, width, height)  # [2, pairs, 2], in dots
    chosen_dots = np.zeros((height, width), dtype=bool)
    for at in range(pairs):
        for x, y in _between(spots[0, at], spots[1, at]):
            dots[y // 4, x // 2] |= _DOTS[y % 4][x % 2]
            chosen_dots[y // 4, x // 2] |= at == chosen
    for y, x in zip(*np.nonzero(dots), strict=True):
        style = "bold $foreground" if chosen_dots[y, x] else _LINE
        cells[y][x] = Cell(chr(_BRAILLE + int(dots[y, x])), style)
    order = [at for at in range(pairs) if at != chosen] + ([] if chosen is None else [chosen])
    for at in order:
        for sign, (x, y) in zip((SOURCE, TARGET), spots[:, at].tolist(), strict=True):
            before = cells[y // 4][x // 2].character
            both = before in (SOURCE, TARGET, BOTH) and before != sign and at != chosen
            character = BOTH if both else sign
            style = _CHOSEN if at == chosen else _STYLES[character]
            cells[y // 4][x // 2] = Cell(character, style)
    return cells


def _spots(places: NDArray[np.float64], width: int, height: int) -> NDArray[np.int64]:
    """Scale places to dots; the picture fills the room, and up is up."""
    low, high = places.min(axis=(0, 1)), places.max(axis=(0, 1))
    span = np.where(high > low, high - low, 1.0)
    room = np.array([2 * width - 1, 4 * height - 1])
    scaled = (places - low) / span
    scaled[..., 1] = 1 - scaled[..., 1]
    spots: NDArray[np.int64] = np.rint(scaled * room).astype(np.int64)
    return spots


def _between(first: NDArray[np.int64], last: NDArray[np.int64]) -> list[tuple[int, int]]:
    """List the dots of a line."""
    steps = int(np.abs(last - first).max()) + 1
    xs = np.rint(np.linspace(first[0], last[0], steps)).astype(int)
    ys = np.rint(np.linspace(first[1], last[1], steps)).astype(int)
    return list(zip(xs.tolist(), ys.tolist(), strict=True))
