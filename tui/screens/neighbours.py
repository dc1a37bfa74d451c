"""The nearest sentences of both sides of a pair, and why each is or is not its match.

Of a typed sentence, the nearest of both files.
"""

from textual.app import ComposeResult
from textual.widgets import OptionList

from xmine.browsing.details import IN_WORDS
from xmine.browsing.neighbourhood import Neighbour
from xmine.browsing.opened import TextSide
from xmine.browsing.view import View
from xmine.judging.judgements import Judgements
from xmine.mining.search import Hit

from ..key_table import bound
from ..widgets.near_lists import SIDES, Near, NearLists, Spot, line_name
from ..widgets.pair_cells import SIGNS, verdicts_on
from .judging_base import JudgeScreen


class NeighboursScreen(JudgeScreen):
    """A pair or a typed sentence in its neighbourhood; one steps to a neighbour, and back."""

    NAME = "Neighbours"
    BINDINGS = bound("back copy")

    def __init__(
        self, of: tuple[int, int] | dict[str, list[Hit]], view: View, judgements: Judgements
    ) -> None:
        """Begin with the rows of a pair, or with the hits of a typed sentence on each side."""
        super().__init__()
        self._view, self._judgements = view, judgements  # of a comparison, those of one run
        self._pair: tuple[int, int] | None = of if isinstance(of, tuple) else None
        self._hits = {} if isinstance(of, tuple) else of
        self._trail: list[tuple[tuple[int, int] | None, Spot]] = []
        self._near: dict[str, list[Neighbour]] = {"source": [], "target": []}

    def body(self) -> ComposeResult:
        yield NearLists(id="near")

    def on_mount(self) -> None:
        self._show()
        best = max(SIDES, key=lambda side: max([x.cosine for x in self._hits.get(side, ())] or [0]))
        self.query_one(NearLists).list_of(best).focus()

    def on_screen_resume(self) -> None:
        self.verdicts_changed()

    def heading(self) -> str:
        if self._pair is None:
            return "Nearest to the sentence"
        lines = " and ".join(self._line(name, row) for name, row in self._sides())
        steps = len(self._trail)
        return f"Neighbours of lines {lines}" + (f", step {steps}" if steps else "")

    def facts(self) -> str:
        if self._pair is None:
            return ""
        outcome = self.view.around.outcome(*self._pair, cut=self.view.cut)
        return IN_WORDS[outcome.kind]

    def _show(self) -> None:
        """Show the neighbours of the pair, each list with the cursor on the other of the two."""
        self._find()
        found = [
            next((at for at, near in enumerate(self._near[side]) if self._is_pair(near)), 0)
            for side in SIDES
        ]
        self._draw((found[0], found[1]))
        self.refresh_top()
        self.refresh_bindings()

    def _find(self) -> None:
        around, cut = self.view.around, self.view.cut
        near = {side: around.near(side, row, cut=cut) for side, row in self._sides()}
        self._near = near or {side: [] for side in SIDES}

    def _draw(self, highlighted: tuple[int | None, int | None]) -> None:
        rows = dict(self._sides())
        for side, at in zip(SIDES, highlighted, strict=True):
            given = self.view.opened.side(side)
            if self._pair is None:
                name, text = side, given.name
                entries = [_hit_entry(hit, given) for hit in self._hits[side]]
            else:
                name, text = f"{side} {line_name(given, rows[side])}", given.texts[rows[side]]
                entries = [self._entry(near, side) for near in self._near[side]]
            self.query_one(NearLists).show(side, name, text, entries, at)

    def _sides(self) -> list[tuple[str, int]]:
        return list(zip(SIDES, self._pair or (), strict=False))

    def _is_pair(self, near: Neighbour) -> bool:
        return (near.source, near.target) == self._pair

    def _line(self, side: str, row: int) -> str:
        return line_name(self.view.opened.side(side), row)

    def _entry(self, near: Neighbour, of: str) -> Near:
        row = self.view.around.row(near.source, near.target)
        own, others = ("", "") if row is None else verdicts_on(self.judgements, row)
        verdict = f"{SIGNS[own]}{others}" if own else f"others {others}" * bool(others)
        other, at = ("target", near.target) if of == "source" else ("source", near.source)
        line = self._line(other, at)
        told = " ".join(filter(None, [verdict, IN_WORDS[near.outcome.kind]]))
        sign = "=" if self._is_pair(near) else " "
        score = "" if near.score is None else f"  {self.view.around.called} {near.score:.4f}"
        # What may be cut off in a narrow window stands last.
        figures = f"{sign} {near.rank}  line {line}  {told}{score}  cosine {near.cosine:.4f}"
        return Near(figures, near.text, near.outcome.kept)

    def _under_cursor(self) -> Neighbour | None:
        side, at = self.query_one(NearLists).under_cursor()
        return None if at is None or self._pair is None else self._near[side][at]

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
        self._trail.append((self._pair, lists.place()))
        if self._pair is None:
            hit = self._hits[side][event.option_index]
            other = self.view.around.partner(side, hit.row)
            self._pair = (hit.row, other) if side == "source" else (other, hit.row)
        else:
            near = self._near[side][event.option_index]
            self._pair = near.source, near.target
        self._show()
        lists.list_of("target" if side == "source" else "source").focus()
        self._explain()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("judge", "repair", "note", "lines") and self._pair is None:
            return False  # a typed sentence makes no pair
        return super().check_action(action, parameters)

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
        side, at = self.query_one(NearLists).under_cursor()
        if near := self._under_cursor():
            self.copy_pair(near.source, near.target)
        elif at is not None:
            self.copy(self._hits[side][at].text, "copied")

    def action_scroll_pane(self, rows: int) -> None:
        self.query_one(NearLists).scroll_texts(rows)

    def judged_row(self) -> int | None:
        near = self._under_cursor()
        return None if near is None else self.view.around.row(near.source, near.target)

    def judged(self, row: int) -> None:
        """Show the sign; the cursor stays."""
        self.verdicts_changed()

    def verdicts_changed(self) -> None:
        place = self.query_one(NearLists).place()
        self._find()
        self._draw(place.highlighted)


def _hit_entry(hit: Hit, side: TextSide) -> Near:
    score = "" if hit.score is None else f"  score {hit.score:.4f}"
    line = line_name(side, hit.row)
    return Near(f"  {hit.rank}  line {line}{score}  cosine {hit.cosine:.4f}", hit.text)
