"""Both languages in the plane, each pair joined; one walks from pair to pair."""

from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.widgets import Static

from xmine.browsing.map import Picture, picture_of
from xmine.browsing.opened import Rows
from xmine.errors import FileError, XmineError

from ..saving import free_name, without_force
from ..text import cut
from ..widgets.canvas import SOURCE, TARGET, Canvas
from .base import Viewing

# More pairs than this cover each other on a screen of usual size.
_MOST = 150
_NAMES = {"pca": "PCA", "tsne": "t-SNE"}


class MapScreen(Viewing):
    """A picture of the pairs that are shown, or of some of them drawn at random."""

    NAME = "Map"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "method", "PCA or t-SNE", id="map.method"),
        Binding("j,down,right", "step(1)", "Next pair", id="map.next", show=False),
        Binding("k,up,left", "step(-1)", "Previous pair", id="map.previous", show=False),
        Binding("g,home", "go(0)", "Farthest apart", id="map.first", show=False),
        Binding("G,end", "go(-1)", "Nearest to each other", id="map.last", show=False),
        Binding("enter", "neighbours", "Neighbours", id="map.neighbours"),
        Binding("s", "save", "Save", id="map.save", tooltip="As .png, .svg or .pdf, and .csv."),
    ]

    def __init__(self) -> None:
        """Begin with nothing laid out."""
        super().__init__()
        self._pictures: dict[str, Picture] = {}
        self._picture: Picture | None = None  # that is seen
        self._method = "pca"  # that is wanted
        self._under_way = ""  # the method that pairs are laid out by just now
        self._rows: Rows | None = None
        self._order: list[int] = []
        self._at = 0

    def body(self) -> ComposeResult:
        """Put the picture above the pair that stands out."""
        yield Canvas(id="canvas")
        yield Static(id="of-map", markup=False)

    def on_mount(self) -> None:
        """Take the keys."""
        super().on_mount()
        self.query_one(Canvas).focus()

    def on_screen_resume(self) -> None:
        """Draw, if other pairs are shown than were drawn."""
        super().on_screen_resume()
        self.rows_changed()

    def rows_changed(self) -> None:
        """Draw the pairs that are shown now."""
        super().rows_changed()
        if self._rows is not self.view.rows:
            self._rows = self.view.rows
            self._pictures, self._picture, self._at = {}, None, 0
            self.say(
                "drawing" if self.view.opened.is_run else "drawing: some texts are encoded first"
            )
            self._lay_out(self._method)

    def facts(self) -> str:
        """Say how many pairs are drawn, and how they are laid out."""
        picture = self._picture
        if picture is None:
            return ""
        drawn, there = len(picture.rows), len(self.view.rows)
        of = f"{drawn:,} pairs" if drawn == there else f"{drawn:,} of {there:,} pairs"
        names = picture.names()
        return f"{of}, {_NAMES[picture.method]}, {SOURCE} {names[0]}, {TARGET} {names[1]}"

    def _lay_out(self, method: str) -> None:
        view, rows = self.view, self.view.rows
        known = next(iter(self._pictures.values()), None)
        self._under_way = method

        def work() -> Picture:
            picture = known or picture_of(view.nearby, rows, most=_MOST)
            return picture if picture.method == method else picture.laid_out(method, apart=True)

        self.newest.run("map", work, self._laid_out, self._failed)

    def _failed(self, error: XmineError) -> None:
        self._under_way = ""
        if self._picture is None:
            self.query_one(Canvas).show(np.zeros((2, 0, 2)))
            self.query_one("#of-map", Static).update("")
        else:
            self._method = self._picture.method
        self.complain(error)
        self.refresh_top()

    def _laid_out(self, picture: Picture) -> None:
        self._under_way = ""
        self._pictures[picture.method] = picture
        if picture.method == self._method:
            self._draw()
            self.say("")

    def _draw(self) -> None:
        """Show the picture, the pairs that are farthest apart first; the same pair stands out."""
        self._picture = picture = self._pictures[self._method]
        before = self._order[self._at] if self._order else None
        sources, targets = picture.places
        apart = np.linalg.norm(sources - targets, axis=1)
        self._order = np.argsort(-apart, kind="stable").tolist()
        self._at = self._order.index(before) if before in self._order and self._at else 0
        self._point_out()
        self.refresh_top()

    def _point_out(self) -> None:
        picture = self._picture
        if picture is None or not self._order:
            return
        number = self._order[self._at]
        self.query_one(Canvas).show(picture.places, number)
        pair = self.view.opened.pair(int(picture.rows[number]))
        figures = [f"{self._at + 1:,} of {len(self._order):,}, the farthest apart first"]
        figures += [] if pair.score is None else [f"score {pair.score:.4f}"]
        figures += [f"lines {pair.source_line:,} and {pair.target_line:,}"]
        room = max(self.app.size.width - 4, 20)
        said = Text.assemble(cut("   ".join(figures), room, "bold"), "\n")
        said.append_text(cut(f"{SOURCE} {pair.source}", room))
        said.append("\n")
        said.append_text(cut(f"{TARGET} {pair.target}", room))
        self.query_one("#of-map", Static).update(said)

    def on_resize(self, event: Resize) -> None:
        """Cut the texts anew."""
        super().on_resize(event)
        self._point_out()

    def action_method(self) -> None:
        """Lay the pairs out in the other way."""
        if self._picture is None:
            return
        self._method = "tsne" if self._method == "pca" else "pca"
        if self._method in self._pictures:
            self._draw()
            self.say("")
        else:
            self.say("t-SNE takes some seconds; v goes back to PCA meanwhile")
            if self._under_way != self._method:
                self._lay_out(self._method)

    def action_step(self, step: int) -> None:
        """Go to the next pair, or to the one before."""
        if self._order:
            self._at = min(max(self._at + step, 0), len(self._order) - 1)
            self._point_out()

    def action_go(self, at: int) -> None:
        """Go to the first pair, or to the last one."""
        if self._order:
            self._at = at % len(self._order)
            self._point_out()

    def action_neighbours(self) -> None:
        """Show the neighbours of the pair that stands out."""
        if self._picture is not None and self._order:
            row, opened = int(self._picture.rows[self._order[self._at]]), self.view.opened
            self.show_neighbours(int(opened.sources[row]), int(opened.targets[row]))

    def action_save(self) -> None:
        """Write the picture that is seen into a file."""
        if (picture := self._picture) is not None:
            free = free_name("map.png", ".csv")
            self.ask("save the map to:", partial(self._save, picture), free)

    def _save(self, picture: Picture, name: str) -> None:
        path = Path(name).expanduser()
        self.say(f"saving {path}")
        self.newest.run(f"save {path}", partial(_saved, picture, path), self.say, self.complain)


def _saved(picture: Picture, path: Path) -> str:
    """Write a picture, and say where it is."""
    from xmine.plots.scores import check_picture

    try:
        check_picture(path, force=False, given="")
        picture.save(path)
    except FileError as error:
        raise without_force(error) from error
    return f"saved: {path}, and its coordinates in {path.with_suffix('.csv').name}"
