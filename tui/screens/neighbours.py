"""The nearest sentences of both sides of a pair, and why each is or is not its match."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList

from xmine.browsing.judgements import Judgements
from xmine.browsing.neighbourhood import OUTCOMES, Neighbour
from xmine.browsing.view import View

from ..widgets.near_lists import SIDES, Entry, NearLists, Place, line_name
from ..widgets.pair_cells import DIFFER, SIGNS
from .judging_base import JudgeScreen


class NeighboursScreen(JudgeScreen):
    """A pair in its neighbourhood; one steps from neighbour to neighbour, and back."""

    NAME = "Neighbours"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace", "back", "Back", id="neighbours.back", key_display="esc"),
        Binding("y", "copy", "Copy the pair", id="neighbours.copy", show=False),
    ]

    def __init__(self, source: int, target: int, view: View, judgements: Judgements) -> None:
        super().__init__()
        self._view, self._judgements = view, judgements  # of a comparison, those of one run
        self._pair = source, target
        self._trail: list[tuple[tuple[int, int], Place]] = []
        self._near: dict[str, list[Neighbour]] = {"source": [], "target": []}

    def body(self) -> ComposeResult:
        yield NearLists(id="near")

    def on_mount(self) -> None:
        self._show()
        self.query_one(NearLists).list_of("source").focus()

    def on_screen_resume(self) -> None:
        self.verdicts_changed()

    def heading(self) -> str:
        lines = " and ".join(self._line(name, row) for name, row in self._sides())
        steps = len(self._trail)
        return f"Neighbours of lines {lines}" + (f", step {steps}" if steps else "")

    def facts(self) -> str:
        outcome = self.view.around.outcome(*self._pair, cut=self.view.cut)
        return OUTCOMES[outcome.kind]

    def _show(self) -> None:
        """Show the neighbours of the pair, each list with the cursor on the other of the two."""
        source, target = self._pair
        self._find()
        targets = [each.target for each in self._near["source"]]
        sources = [each.source for each in self._near["target"]]
        self._draw(
            (
                targets.index(target) if target in targets else 0,
                sources.index(source) if source in sources else 0,
            )
        )
        self.refresh_top()

    def _find(self) -> None:
        around, cut = self.view.around, self.view.cut
        self._near = {side: around.near(side, row, cut=cut) for side, row in self._sides()}

    def _draw(self, highlighted: tuple[int | None, int | None]) -> None:
        for (name, row), at in zip(self._sides(), highlighted, strict=True):
            head, text = f"{name} {self._line(name, row)}", self.view.opened.side(name).texts[row]
            entries = [self._entry(near, name) for near in self._near[name]]
            self.query_one(NearLists).show(name, head, text, entries, at)

    def _sides(self) -> list[tuple[str, int]]:
        return list(zip(SIDES, self._pair, strict=True))

    def _line(self, side: str, row: int) -> str:
        return line_name(self.view.opened.side(side), row)

    def _entry(self, near: Neighbour, of: str) -> Entry:
        row = self.view.around.row(near.source, near.target)
        verdict = SIGNS[self.judgements.of(row)] if row is not None else ""
        verdict += DIFFER * (row is not None and self.judgements.differ(row))
        other, at = ("target", near.target) if of == "source" else ("source", near.source)
        line = self._line(other, at)
        told = " ".join(filter(None, [verdict, OUTCOMES[near.outcome.kind]]))
        sign = "=" if (near.source, near.target) == self._pair else " "
        score = "" if near.score is None else f"  {self.view.around.called} {near.score:.4f}"
        # What may be cut off in a narrow window stands last.
        figures = f"{sign} {near.rank}  line {line}  {told}{score}  cosine {near.cosine:.4f}"
        return Entry(figures, near.text, near.outcome.kept)

    def _under_cursor(self) -> Neighbour | None:
        side, at = self.query_one(NearLists).under_cursor()
        return None if at is None else self._near[side][at]

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.has_focus:
            self._explain()

    def on_descendant_focus(self) -> None:
        self._explain()

    def _explain(self) -> None:
        if near := self._under_cursor():
            self.say(near.outcome.why)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Step to a neighbour, which makes a new pair with the sentence of its list."""
        lists, side = self.query_one(NearLists), event.option_list.id or ""
        near = self._near[side][event.option_index]
        self._trail.append((self._pair, lists.place()))
        self._pair = near.source, near.target
        self._show()
        lists.list_of("target" if side == "source" else "source").focus()
        self._explain()

    def action_back(self) -> None:
        """Take a step back; leave the screen from the first pair."""
        if not self._trail:
            self.host.back()
            return
        self._pair, place = self._trail.pop()
        self._show()
        self.query_one(NearLists).go_to(place)
        self._explain()

    def action_copy(self) -> None:
        if near := self._under_cursor():
            self.copy_pair(near.source, near.target)

    def action_scroll_pane(self, rows: int) -> None:
        self.query_one(NearLists).scroll_texts(rows)

    def judged_row(self) -> int | None:
        near = self._under_cursor()
        return None if near is None else self.view.around.row(near.source, near.target)

    def judged(self, row: int) -> None:
        """Show the sign; the cursor stays."""
        self.verdicts_changed()

    def verdicts_changed(self) -> None:
        lists = self.query_one(NearLists)
        place = lists.place()
        self._find()
        self._draw(place.highlighted)
