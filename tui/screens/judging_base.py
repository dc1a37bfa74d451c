"""The base of screens that judge pairs, and of most that show a pair whole in a pane."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from textual.binding import Binding, BindingType

from xmine.browsing.judgements import Judgements, key_of
from xmine.errors import FileError
from xmine.units import count

from ..widgets.pair_cells import REPAIRED, SIGNS
from ..widgets.pair_detail import PairDetail
from .base import BaseScreen


class JudgeScreen(BaseScreen):
    """A screen that judges pairs, one of them whole in a pane if the screen has one.

    Every judgement is saved before the key is released.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "judge('accept')", "Accept", id="judge.accept"),
        Binding("x", "judge('reject')", "Reject", id="judge.reject"),
        Binding("u", "judge('unsure')", "Unsure", id="judge.unsure"),
        Binding("z", "undo", "Undo", id="judge.undo", show=False),
        Binding(
            *("r", "repair", "Repair"),
            id="repair",
            tooltip="Merge, split, trim, edit.",
            show=False,
        ),
        Binding("l", "lines", "Lines around the pair", id="pane.lines", show=False),
        Binding("plus", "more", "More of a long line", id="pane.more", show=False),
        Binding("J", "scroll_pane(1)", "Scroll the pane down", id="move.pane-down", show=False),
        Binding("K", "scroll_pane(-1)", "Scroll the pane up", id="move.pane-up", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._judgements = self.host.judgements

    def on_mount(self) -> None:
        if problem := self.judgements.problem:
            self.say(f"judgements cannot be kept: {problem}", bad=True)

    def on_screen_suspend(self) -> None:
        """Say nothing old on return."""
        self.say("")

    @property
    def judgements(self) -> Judgements:
        """The verdicts on the open pairs; without any, no screen asks."""
        assert self._judgements is not None
        return self._judgements

    def judged_row(self) -> int | None:
        """Give the row of `Opened` that the keys judge; None if there is none."""
        raise NotImplementedError

    def judged(self, row: int) -> None:
        """Show that a row has been judged here; and go on to the next one."""
        raise NotImplementedError

    def found(self, rows: list[int]) -> bool:
        """Go to the first row whose verdict was taken back; tell whether that pair is shown."""
        return rows[0] == self.judged_row()

    def verdicts_changed(self) -> None:
        """Show all verdicts anew."""
        raise NotImplementedError

    def on_pair_table_selected(self) -> None:
        row, opened = self.judged_row(), self.view.opened
        if row is not None:
            self.host.show_neighbours(int(opened.sources[row]), int(opened.targets[row]))

    def copy_pair(self, source: int, target: int) -> None:
        """Copy the texts of two rows, one of each side."""
        texts = self.view.opened.source.texts[source], self.view.opened.target.texts[target]
        self.copy("\t".join(texts), "copied: source, tab, target")

    def action_judge(self, verdict: str) -> None:
        """Keep a verdict, and go on."""
        row = self.judged_row()
        if row is None:
            self.say("there is no pair to judge: these two sentences are no candidate of the run")
            return
        with self.judging():
            self.check_there()
            is_new = self.judgements.judge(row, verdict)
            self.judged(row)
            taken = "z takes it back" if is_new else "it was already"
            self.say(f"{SIGNS[verdict]} {verdict}: {self.progress()}; {taken}")

    def action_repair(self) -> None:
        """Put the pair right on a screen of its own."""
        from .repair import RepairScreen

        if (row := self.judged_row()) is None:
            self.say("there is no pair to repair")
            return

        def done(kept: bool | None) -> None:
            if kept:
                self.judged(row)
                self.refresh_top()
                self.say(f"{REPAIRED} repaired, so accepted: {self.progress()}; z takes both back")

        with self.complaining():
            self.check_there()
            self.app.push_screen(RepairScreen(self.judgements, row), done)

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Show an error, and what was judged in the top line."""
        with self.complaining():
            yield
            self.refresh_top()

    def check_there(self) -> None:
        """Refuse verdicts on pairs that are gone."""
        if self.view.is_replaced:
            raise FileError(
                "these pairs are gone, or were mined or cut anew: no verdict is kept",
                "h, enter opens them again",
            )

    def action_undo(self) -> None:
        """Take back what was done last here; with nothing left, the verdict on the pair there."""
        with self.complaining():
            rows = self.judgements.undo(self.judged_row())
            is_shown = bool(rows) and self.found(rows)
            self.verdicts_changed()
            self.refresh_top()
            if not rows:
                self.say("nothing to take back")
            elif is_shown:
                self.say(f"taken back: {self.progress()}")
            else:
                self.say(f"taken back: {self._named(rows)}, not shown here; {self.progress()}")

    def _named(self, rows: list[int]) -> str:
        if len(rows) > 1:
            return count(len(rows), "pair")
        key = key_of(self.view.opened, rows[0])
        if key.target_line is None:
            return f"pair {key.source_line:,}"
        return f"lines {key.source_line:,}, {key.target_line:,}"

    def progress(self) -> str:
        """Say how many pairs are judged."""
        counts = self.judgements.counts(self.view.rows)
        return f"{counts.judged:,} of {counts.pairs:,} judged"

    @property
    def pane(self) -> PairDetail:
        """The pane itself."""
        return self.query_one(PairDetail)

    def show_whole(self, row: int | None, cut: float | None) -> None:
        """Show a row of `Opened` in the pane, as it stands at a cut."""
        if row is None:
            self.pane.show(self.view.opened, None)
            return
        said, notes = self.judgements.by_judge(row), self.judgements.notes(row)
        self.pane.show(self.view.opened, row, cut, said, notes, self.judgements.repair_of(row))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("lines", "more", "scroll_pane") and not self.query(PairDetail):
            return False
        return super().check_action(action, parameters)

    def action_lines(self) -> None:
        self.pane.toggle_lines()

    def action_more(self) -> None:
        if not self.pane.more():
            self.say("nothing is cut off: J and K scroll the pane")

    def action_scroll_pane(self, rows: int) -> None:
        self.pane.scroll_texts(rows)
