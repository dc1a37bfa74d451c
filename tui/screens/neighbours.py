"""The nearest sentences of both sides of a pair, and why each is or is not its match."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from xmine.browsing.neighbourhood import Neighbour
from xmine.browsing.opened import TextSide

from ..widgets.near_lists import Entry, NearLists, Place
from ..widgets.pair_cells import SIGNS
from .judging_base import JudgeScreen

# What became of a neighbour, in a word; the line that speaks has the whole of it.
_WORDS = {
    "kept": "kept",
    "below": "below the cut",
    "dropped": "dropped",
    "taken": "in a better pair",
    "not best": "not the best",
    "far": "too far",
}


class NeighboursScreen(JudgeScreen):
    """A pair in its neighbourhood; one steps from neighbour to neighbour, and back."""

    NAME = "Neighbours"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace", "back", "Back", id="neighbours.back", key_display="esc"),
        Binding("y", "copy", "Copy the pair", id="neighbours.copy", show=False),
    ]

    def __init__(self, source: int, target: int) -> None:
        """Begin with two rows of the sides of what is open."""
        super().__init__()
        self._pair = source, target
        self._trail: list[tuple[tuple[int, int], Place]] = []
        self._near: dict[str, list[Neighbour]] = {"left": [], "right": []}

    def body(self) -> ComposeResult:
        """Show both lists."""
        yield NearLists(id="near")

    def on_mount(self) -> None:
        """Show the pair, the cursor on it."""
        super().on_mount()
        self._show()
        self.query_one(NearLists).list_of("left").focus()

    def on_screen_resume(self) -> None:
        """Show what another screen may have changed: the cut, or a judgement."""
        super().on_screen_resume()
        self.verdicts_changed()

    def heading(self) -> str:
        """Say whose neighbours these are."""
        source, target = self._pair
        opened = self.view.opened
        lines = f"{_line(opened.source, source)} and {_line(opened.target, target)}"
        steps = len(self._trail)
        return f"Neighbours of lines {lines}" + (f", step {steps}" if steps else "")

    def facts(self) -> str:
        """Say what became of the pair."""
        outcome = self.view.around.outcome(*self._pair, cut=self.view.cut)
        return _WORDS[outcome.kind]

    def _show(self) -> None:
        """Show the neighbours of the pair, each list with the cursor on the other of the two."""
        view, (source, target) = self.view, self._pair
        self._near = {
            "left": view.around.targets(source, cut=view.cut),
            "right": view.around.sources(target, cut=view.cut),
        }
        at = (
            next((at for at, each in enumerate(self._near["left"]) if each.target == target), 0),
            next((at for at, each in enumerate(self._near["right"]) if each.source == source), 0),
        )
        self._draw(at)
        self.refresh_top()

    def _draw(self, highlighted: tuple[int | None, int | None]) -> None:
        lists, opened = self.query_one(NearLists), self.view.opened
        source, target = self._pair
        for name, side, row, shown, at in (
            ("source", opened.source, source, "left", highlighted[0]),
            ("target", opened.target, target, "right", highlighted[1]),
        ):
            entries = [self._entry(each) for each in self._near[shown]]
            lists.show(shown, f"{name} {_line(side, row)}", side.texts[row], entries, at)

    def _entry(self, near: Neighbour) -> Entry:
        row = self.view.around.row(near.source, near.target)
        verdict = SIGNS[self.judgements.of(row)] if row is not None else ""
        figures = f"{near.rank}  score {near.score:.4f} cos {near.cosine:.4f} line {_place(near)}"
        said = " ".join(filter(None, [verdict, _WORDS[near.outcome.kind]]))
        return Entry("=" if near.outcome.kept else " ", figures, said, near.text, near.outcome.kept)

    def _under_cursor(self) -> Neighbour | None:
        lists = self.query_one(NearLists)
        side = lists.place().side
        at = lists.list_of(side).highlighted
        return None if at is None or at >= len(self._near[side]) else self._near[side][at]

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say why the sentence under the cursor is the match, or why not."""
        if event.option_list.has_focus:
            self._explain()

    def on_descendant_focus(self) -> None:
        """Say it of the list that has the keys now."""
        self._explain()

    def _explain(self) -> None:
        if near := self._under_cursor():
            self.say(near.outcome.why)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Step to a neighbour: it and the sentence it is near are the pair now."""
        lists, side = self.query_one(NearLists), event.option_list.id or "left"
        near = self._near[side][event.option_index]
        self._trail.append((self._pair, lists.place()))
        self._pair = near.source, near.target
        self._show()
        lists.list_of("right" if side == "left" else "left").focus()
        self._explain()

    def action_back(self) -> None:
        """Take a step back; from the first pair to where one came from."""
        if not self._trail:
            self.host.back()
            return
        self._pair, place = self._trail.pop()
        self._show()
        self.query_one(NearLists).go_to(place)
        self._explain()

    def action_copy(self) -> None:
        """Copy both texts of the pair under the cursor, with a tab between."""
        if near := self._under_cursor():
            opened = self.view.opened
            texts = opened.source.texts[near.source], opened.target.texts[near.target]
            self.app.copy_to_clipboard("\t".join(texts))
            self.say("copied: source, tab, target")

    def judged_row(self) -> int | None:
        """Judge the pair under the cursor, if mining has looked at it as one."""
        near = self._under_cursor()
        return None if near is None else self.view.around.row(near.source, near.target)

    def judged(self, row: int) -> None:
        """Show the sign; the cursor stays, there is nothing to go on to."""
        self.verdicts_changed()

    def verdicts_changed(self) -> None:
        """Draw the signs anew."""
        lists = self.query_one(NearLists)
        place = lists.place()
        self._near = {
            "left": self.view.around.targets(self._pair[0], cut=self.view.cut),
            "right": self.view.around.sources(self._pair[1], cut=self.view.cut),
        }
        self._draw(place.highlighted)


def _line(side: TextSide, row: int) -> str:
    line = f"{int(side.lines[row]):,}"
    return line if side.offsets is None else f"{line}:{int(side.offsets[row])}"


def _place(near: Neighbour) -> str:
    return f"{near.line:,}" if near.offset is None else f"{near.line:,}:{near.offset}"
