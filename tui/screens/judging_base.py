"""The base of screens that judge pairs, and of most that show a pair whole in a pane."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

import numpy as np
from textual.binding import BindingType

from xmine.browsing.opened import Rows
from xmine.display import count
from xmine.errors import FileError, XmineError
from xmine.judging.export import export, free_name
from xmine.judging.judgements import Judgements, judge_name
from xmine.judging.keys import key_of

from ..key_table import bound
from ..state import keep_setting, setting
from ..widgets.form_line import paths_from
from ..widgets.pair_cells import NOTE, REPAIRED, signed
from ..widgets.pair_detail import PairDetail
from ..widgets.pair_table import PairTable
from ..widgets.prompt import Prompt, Question
from .base import BaseScreen


class JudgeScreen(BaseScreen):
    """A screen that judges pairs, one of them whole in a pane if the screen has one.

    Every judgement is saved before the key is released.
    """

    BINDINGS: ClassVar[list[BindingType]] = bound(
        "accept reject unsure partial language source-long target-long undo repair note judge-name "
        "conflicts report done context pane-down pane-up"
    )

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
        return self.query_one(PairTable).row

    def judged(self, row: int) -> None:
        """Show that a row has been judged here; and go on to the next one."""
        table = self.query_one(PairTable)
        table.redraw(table.cursor_row)
        table.move_cursor(row=table.cursor_row + 1)

    def keep(self, row: int, word: str) -> tuple[str, bool]:
        """Keep a verdict; tell the one of before, and whether this one is new."""
        before = self.judgements.words(row).get(self.judgements.by, "")
        return before, self.judgements.judge(row, word)

    def after(self, row: int) -> str:
        """Say more of a pair that was just judged."""
        return ""

    def found(self, rows: list[int]) -> bool:
        """Go to the first row whose verdict was taken back; tell whether that pair is shown."""
        return rows[0] == self.judged_row()

    def verdicts_changed(self) -> None:
        """Show all verdicts anew."""
        self.query_one(PairTable).redraw()

    def on_pair_table_selected(self) -> None:
        self.selected()

    def selected(self) -> None:
        """Enter was pressed on the pair under the cursor."""
        row, opened = self.judged_row(), self.view.opened
        if row is not None:
            self.host.show_neighbours(int(opened.sources[row]), int(opened.targets[row]))

    def copy_pair(self, source: int, target: int) -> None:
        """Copy the texts of two rows, one of each side."""
        texts = self.view.opened.source.texts[source], self.view.opened.target.texts[target]
        self.copy("\t".join(texts), "copied: source, tab, target")

    def ask_where(self, rows: Rows, cut: float | None, given: str = "") -> None:
        """Ask for a file to write some pairs into; a name that will not do stays in the line."""
        self.ask(
            Question(
                text=f"write {count(len(self.judgements.parts(rows)[0]), 'pair')} to:",
                answered=partial(self._export, rows, cut),
                given=given or free_name(self.view.opened, cut),
                typed=lambda _: None,  # what is said of a name stays in sight
                given_up=lambda: self.say(""),
                ways=paths_from,
            )
        )

    @property
    def rows_to_write(self) -> Rows:
        """The pairs that are shown; of an alignment all beads, in order."""
        opened = self.view.opened
        return np.arange(len(opened)) if opened.has_beads else self.view.rows

    def write_to(self, name: str) -> None:
        """Write the pairs, as they stand now, into a file."""
        self._export(self.rows_to_write, self.view.cut, name)

    def _export(self, rows: Rows, cut: float | None, name: str) -> None:
        def failed(error: XmineError) -> None:
            if self.is_current:
                self.ask_where(rows, cut, name)
            self.complain(error)

        self.query_one(Prompt).close()
        self.say(f"writing {name}")
        work = partial(export, self.judgements, self.view.opened, rows, name)
        self.background.run(f"export {name}", work, self.say, failed)

    def named(self, act: Callable[[], object]) -> None:
        """Judge in a name; ask for it before the first verdict."""
        if os.environ.get("XMINE_JUDGE") or setting("judge"):
            act()
        else:
            self.action_ask_name(act)

    def action_ask_name(self, act: Callable[[], object] = lambda: None) -> None:
        """Ask who judges, and remember it."""

        def answered(name: str) -> None:
            self.judgements.speak_as(judge_name(name.strip()))
            with self.complaining():
                keep_setting("judge", self.judgements.by)
            self.verdicts_changed()
            self.refresh_top()
            act()

        text = "your name, beside your verdicts:"
        self.ask(Question(text=text, answered=answered, given=self.judgements.by))

    def action_judge(self, verdict: str) -> None:
        """Keep a verdict, and go on."""
        if (row := self.judged_row()) is None:
            self.say("there is no pair to judge: these two sentences are no candidate of the run")
        else:
            self.named(partial(self._judge, row, verdict))

    def _judge(self, row: int, verdict: str) -> None:
        with self.judging():
            self.check_there()
            before, is_new = self.keep(row, verdict)
            after = self.after(row)
            self.judged(row)
            taken = "z takes it back" if is_new else "it was already"
            was = f"it was {signed(before)[2:]}, " if before not in ("", verdict) else ""
            self.say(f"{signed(verdict)}: {self.progress()}; {was}{taken}{after}")

    def action_note(self) -> None:
        """Ask for a line to keep beside the verdict on the pair."""
        if (row := self.judged_row()) is not None:
            given = self.judgements.notes(row).get(self.judgements.by, "")
            asked = Question(text=f"{NOTE} note:", answered=partial(self._note, row), given=given)
            self.named(partial(self.ask, asked))

    def _note(self, row: int, text: str) -> None:
        with self.judging():
            self.check_there()
            self.judgements.note(row, text.strip())
            self.verdicts_changed()

    def action_undo_list(self) -> None:
        """Show what was done, and take back some of it."""
        from .undo_list import UndoList

        self.app.push_screen(UndoList(self.judgements), lambda steps: self._undo(steps or 0))

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
            screen = RepairScreen(self.judgements, row)
            self.named(lambda: self.app.push_screen(screen, done))

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
                "o lists what is below the folder, O takes a path: open them again",
            )

    def action_undo(self) -> None:
        """Take back what was done last here; with nothing left, the verdict on the pair there."""
        self._undo(1)

    def _undo(self, steps: int) -> None:
        with self.complaining():
            rows = list[int]()
            for _ in range(steps):
                rows = self.judgements.undo(self.judged_row())
            is_shown = bool(rows) and self.found(rows)
            self.verdicts_changed()
            self.refresh_top()
            if not steps:
                return
            if not rows:
                self.say("nothing to take back")
            elif is_shown or steps > 1:
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

    def show_whole(self, row: int | None, cut: float | None, *, blind: bool = False) -> None:
        """Show a row of `Opened` in the pane, as it stands at a cut."""
        if row is None:
            self.pane.show(self.view.opened, None)
            return
        said, notes = self.judgements.words(row), self.judgements.notes(row)
        if decided := self.judgements.decided(row):
            said[f"{decided.judge} decides"] = decided.word
        stands = self.judgements.standing() if self.view.opened.has_beads else None
        repair = self.judgements.repair_of(row)
        for table in self.query(PairTable):
            repair = self.judgements.part(row, table.part)
        self.pane.show(self.view.opened, row, cut, said, notes, repair, stands, blind=blind)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "lines" and not self.query(PairDetail):
            return False
        return super().check_action(action, parameters)

    def action_lines(self) -> None:
        self.pane.toggle_lines()

    def action_scroll_pane(self, rows: int) -> None:
        self.pane.scroll_texts(rows)
