"""The base of screens that judge pairs, and of most that show a pair whole in a pane."""

import os
from collections.abc import Callable
from functools import partial

import numpy as np

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

    BINDINGS = bound(
        "accept reject unsure partial language source-long target-long undo repair note judge-name "
        "conflicts context pane-down pane-up"
    )

    def __init__(self) -> None:
        super().__init__()
        self._judgements = self.host.judgements

    def on_mount(self) -> None:
        if problem := self.judgements.problem:
            self.say(f"judgements cannot be kept: {problem}", bad=True)

    def on_screen_suspend(self) -> None:
        self.say("")  # nothing old on return

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
        self.query_one(PairTable).redraw()

    def on_pair_table_selected(self) -> None:
        self.selected()

    def selected(self) -> None:
        """Enter was pressed on the pair under the cursor."""
        row, opened = self.judged_row(), self.view.opened
        if row is not None:
            self.host.show_neighbours(int(opened.sources[row]), int(opened.targets[row]))

    def copy_pair(self, source: int, target: int) -> None:
        texts = self.view.opened.source.texts[source], self.view.opened.target.texts[target]
        self.copy("\t".join(texts), "copied: source, tab, target")

    def ask_where(self, rows: Rows, cut: float | None, given: str = "") -> None:
        """Ask for a file to write some pairs into; a name that will not do stays in the line."""
        self.ask(
            Question(
                text=f"write {count(len(self.judgements.parts(rows)[0]), 'pair')} to:",
                answered=partial(self.write_to, rows, cut),
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

    def write_to(self, rows: Rows, cut: float | None, name: str) -> None:
        def failed(error: XmineError) -> None:
            if self.is_current:
                self.ask_where(rows, cut, name)
            self.complain(error)

        self.query_one(Prompt).close()
        self.say(f"writing {name}")
        work = partial(export, self.judgements, self.view.opened, rows, name)
        self.background.run(f"export {name}", work, self.say, failed)

    def named(self, act: Callable[[], object]) -> None:
        """Judge in a name, which is asked for before the first verdict."""
        if os.environ.get("XMINE_JUDGE") or setting("judge"):
            self._act(act)
        else:
            self.action_ask_name(act)

    def _act(self, act: Callable[[], object]) -> None:
        """Judge no pairs that are gone, and show what was judged in the top line."""
        with self.complaining():
            self.check_there()
            act()
            self.refresh_top()

    def action_ask_name(self, act: Callable[[], object] = lambda: None) -> None:
        def answered(name: str) -> None:
            self.judgements.speak_as(judge_name(name.strip()))
            with self.complaining():
                keep_setting("judge", self.judgements.by)
            self.verdicts_changed()
            self._act(act)

        text = "your name, beside your verdicts:"
        self.ask(Question(text=text, answered=answered, given=self.judgements.by))

    def action_judge(self, verdict: str) -> None:
        if (row := self.judged_row()) is None:
            self.say("there is no pair to judge: these two sentences are no candidate of the run")
        else:
            self.named(partial(self._judge, row, verdict))

    def _judge(self, row: int, verdict: str) -> None:
        before, is_new = self.keep(row, verdict)
        after = self.after(row)
        self.judged(row)
        taken = "z takes it back" if is_new else "it was already"
        was = f"it was {signed(before)[2:]}, " if before not in ("", verdict) else ""
        self.say(f"{signed(verdict)}: {self.progress()}; {was}{taken}{after}")

    def action_note(self) -> None:
        if (row := self.judged_row()) is not None:
            given = self.judgements.notes(row).get(self.judgements.by, "")

            def answered(text: str) -> None:
                self._act(partial(self._note, row, text))

            asked = Question(text=f"{NOTE} note:", answered=answered, given=given)
            self.named(partial(self.ask, asked))

    def _note(self, row: int, text: str) -> None:
        self.judgements.note(row, text.strip())
        self.verdicts_changed()

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

        screen = RepairScreen(self.judgements, row)
        self.named(lambda: self.app.push_screen(screen, done))

    def check_there(self) -> None:
        """Refuse verdicts on pairs that are gone."""
        if self.view.is_replaced:
            raise FileError(
                "these pairs are gone, or were mined or cut anew: no verdict is kept",
                "o lists what is below the folder, O takes a path: open them again",
            )

    def action_undo(self) -> None:
        """Take back what was done last here; with nothing left, the verdict on the pair there."""
        with self.complaining():
            rows, where = self.judgements.undo(self.judged_row()), ""
            if rows and not self.found(rows):
                key, more = key_of(self.view.opened, rows[0]), len(rows) - 1
                where = f"lines {key.source_line:,}, {key.target_line or '–'}"
                where += f" and {more:,} more" * bool(more) + ", not shown here; "
            self.verdicts_changed()
            self.refresh_top()
            told = f"taken back: {where}{self.progress()}"
            self.say(told if rows else "nothing to take back")

    def progress(self) -> str:
        counts = self.judgements.counts(self.view.rows)
        return f"{counts.judged:,} of {counts.pairs:,} judged"

    @property
    def pane(self) -> PairDetail:
        return self.query_one(PairDetail)

    def show_whole(self, row: int | None, cut: float | None, *, blind: bool = False) -> None:
        """Show a row of `Opened` in the pane, as it stands at a cut."""
        parts = [table.part for table in self.query(PairTable)]
        self.pane.show(self.view.opened, self.judgements, row, cut, *parts, blind=blind)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "lines" and not self.query(PairDetail):
            return False
        return super().check_action(action, parameters)

    def action_lines(self) -> None:
        self.pane.toggle_lines()

    def action_scroll_pane(self, rows: int) -> None:
        self.pane.scroll_texts(rows)
