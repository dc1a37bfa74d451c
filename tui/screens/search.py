"""A typed sentence, and the nearest ones of both languages."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList

from xmine.browsing.search import SIDES as NAMES
from xmine.browsing.search import Found

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
        self._found: dict[str, list[Found]] = {name: [] for name in NAMES}

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
        for side, name in zip(SIDES, NAMES, strict=True):
            of = getattr(self.view.opened, name)
            lists.show(side, name, of.name, [_entry(each) for each in self._found[name]])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "sought":
            self.say("searching: the encoder is loaded first")
            view, text = self.view, event.value
            self.background.run(
                "search", lambda: view.nearby.search(text, _HITS), self._show, self.complain
            )

    def _show(self, found: dict[str, list[Found]]) -> None:
        self._found = found
        self._draw()
        counts = ", ".join(f"{len(found[name]):,} of the {name}" for name in NAMES)
        self.say(f"nearest: {counts}; enter shows the neighbours of one")
        best = max(NAMES, key=lambda name: found[name][0].cosine if found[name] else -2)
        self.query_one(NearLists).list_of(SIDES[NAMES.index(best)]).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        hit = self._found[NAMES[SIDES.index(event.option_list.id or "left")]][event.option_index]
        with self.complaining():
            other = self.view.around.partner(hit.row, of_sources=hit.side == "source")
            pair = (hit.row, other) if hit.side == "source" else (other, hit.row)
            self.host.show_neighbours(*pair)

    def action_type(self) -> None:
        self.query_one("#sought", Input).focus()

    def action_copy(self) -> None:
        lists = self.query_one(NearLists)
        side = lists.place().side
        hits, at = self._found[NAMES[SIDES.index(side)]], lists.list_of(side).highlighted
        if at is not None and hits:
            self.copy(hits[at].text, "copied")


def _entry(hit: Found) -> Entry:
    line = line_name(hit.line, hit.offset)
    score = "" if hit.score is None else f"score {hit.score:.4f} "
    return Entry(" ", f"{hit.rank}  {score}cos {hit.cosine:.4f} line {line}", "", hit.text)
