"""A typed sentence, and the nearest ones of both languages."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList

from xmine.browsing.opened import TextSide
from xmine.mining.search import Hit

from ..widgets.near_lists import SIDES, Entry, NearLists, line_name
from .base import BaseScreen

_HITS = 20


class SearchScreen(BaseScreen):
    """The nearest sentences of both files."""

    NAME = "Search a sentence"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i,slash", "type", "Type", id="search.type", key_display="i"),
        Binding("y", "copy", "Copy the sentence", id="search.copy", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, list[Hit]] = {side: [] for side in SIDES}

    def body(self) -> ComposeResult:
        yield Input(
            placeholder="a sentence in either language, then enter", id="sought", compact=True
        )
        yield NearLists(id="near")

    def on_mount(self) -> None:
        self._draw()
        self.query_one("#sought", Input).focus()

    def _draw(self) -> None:
        lists = self.query_one(NearLists)
        for side, found in self._found.items():
            given = self.view.opened.side(side)
            lists.show(side, side, given.name, [_entry(hit, given) for hit in found])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "sought":
            self.say("searching: the encoder is loaded first")
            view, text = self.view, event.value
            self.background.run(
                "search", lambda: view.nearby.search(text, _HITS), self._show, self.complain
            )

    def _show(self, found: dict[str, list[Hit]]) -> None:
        self._found = found
        self._draw()
        counts = ", ".join(f"{len(hits):,} of the {side}" for side, hits in found.items())
        self.say(f"nearest: {counts}; enter shows the neighbours of one")
        best = max(SIDES, key=lambda side: found[side][0].cosine if found[side] else -2)
        self.query_one(NearLists).list_of(best).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        hit = self._found[event.option_list.id or ""][event.option_index]
        with self.complaining():
            other = self.view.around.partner(hit.side, hit.row)
            pair = (hit.row, other) if hit.side == "source" else (other, hit.row)
            self.host.show_neighbours(*pair)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "type" and isinstance(self.focused, Input):
            return False
        return super().check_action(action, parameters)

    def action_type(self) -> None:
        self.query_one("#sought", Input).focus()

    def action_copy(self) -> None:
        side, at = self.query_one(NearLists).under_cursor()
        if at is not None:
            self.copy(self._found[side][at].text, "copied")


def _entry(hit: Hit, side: TextSide) -> Entry:
    line = line_name(side, hit.row)
    score = "" if hit.score is None else f"  score {hit.score:.4f}"
    return Entry(f"  {hit.rank}  line {line}{score}  cosine {hit.cosine:.4f}", hit.text)
