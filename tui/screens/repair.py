"""Pairs are put right: lines are moved, beads merged, split, trimmed and edited.

A bead of an alignment in place; a pair between the lines around it, kept all at once.
"""

import re
from bisect import bisect_left, bisect_right
from functools import partial

from textual.app import ComposeResult

from xmine.browsing.repairs import Repair
from xmine.judging.judgements import Judgements

from ..draft import Beads, Draft, best_cut, given_beads, matched_part, places_to_cut
from ..key_table import bound
from ..widgets.key_line import KeyLine
from ..widgets.pair_detail import PairDetail
from ..widgets.prompt import Prompt, Question
from .base import BaseScreen

_BEFORE, _AFTER = 1, 3  # beads around the one that is worked at
SIDES = "source", "target"
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}  # what a line cannot hold


class RepairKeys(BaseScreen):
    """A screen that works at one bead of a draft at a time."""

    BINDINGS = bound(
        "as-given source-up source-down target-up target-down merge split trim edit",
        tab="turn: Other side",
        right="cut(1)",
        left="cut(-1)",
    )

    def __init__(self) -> None:
        super().__init__()
        self.side = 0  # that is edited, and whose cut moves
        self.cuts: list[int] | None = None  # characters of both texts, where these may be split

    @property
    def draft(self) -> Draft | None:
        """The draft at the bead that the keys are for."""
        raise NotImplementedError

    def changed(self, draft: Draft) -> None:
        """Show a draft after a step."""
        raise NotImplementedError

    def show_cuts(self) -> None:
        """Show where the texts may be split, or no more."""
        self.query_one(KeyLine).refresh()

    def footer(self) -> tuple[str, set[str]]:
        return super().footer() if self.cuts is None else ("Split", set())

    def do(self, name: str, *given: object) -> None:
        """Take a step, or say why not."""
        self.give_up_cut()
        self.say("")
        if (draft := self.draft) is not None:
            with self.complaining():
                getattr(draft, name)(*given)
                self.changed(draft)

    def action_step(self, name: str) -> None:
        self.do(name)

    def action_shift(self, side: int, step: int) -> None:
        self.do("move", side, step)

    def action_split(self) -> None:

        def offer(cuts: list[int]) -> None:
            self.cuts = cuts
            self.show_cuts()
            self.say("enter splits at │; h l move it, tab: the other side, escape gives up")

        if (draft := self.draft) is not None:
            look = partial(best_cut, draft.bead, self.view.opened.languages, self.view.aligner)
            self.background.run("repair", look, offer, self.complain)

    def take_cut(self) -> bool:
        """Split where the texts are marked; tell whether they are."""
        if cuts := self.cuts:
            self.do("split", *cuts)
        return bool(cuts)

    def give_up_cut(self) -> bool:
        """Show no cut any more; tell whether one was shown."""
        cuts, self.cuts = self.cuts, None
        if cuts:
            self.say("")
            self.show_cuts()
        return bool(cuts)

    def action_turn(self) -> None:
        self.side = 1 - self.side
        self.show_cuts()

    def action_cut(self, step: int) -> None:
        if (draft := self.draft) is not None and self.cuts:
            here, language = self.cuts[self.side], self.view.opened.languages[self.side]
            inside, _ = places_to_cut(draft.bead, self.side, language)
            at = bisect_right(inside, here) if step > 0 else bisect_left(inside, here) - 1
            self.cuts[self.side] = inside[at] if 0 <= at < len(inside) else here
            self.show_cuts()

    def action_trim(self) -> None:
        def trim(found: tuple[int, tuple[int, int]]) -> None:
            self.do("keep", found[0], *found[1])

        if (draft := self.draft) is not None:
            look = partial(matched_part, self.view.aligner, draft.bead)
            self.background.run("repair", look, trim, lambda error: self.say(error.message))

    def action_edit(self) -> None:
        def other(_: str) -> list[str]:
            self.side = 1 - self.side
            self.action_edit()
            return []

        def edited(line: str) -> None:
            signs = {escape[1]: sign for sign, escape in _ESCAPES.items()}
            text = re.sub(r"\\(.)", lambda found: signs.get(found[1], found[0]), line)
            self.do("edit", self.side, text)

        if (draft := self.draft) is not None:
            given = "".join(_ESCAPES.get(each, each) for each in draft.bead.text(self.side))
            text = f"{SIDES[self.side]} (tab: the other side):"
            self.ask(Question(text=text, answered=edited, given=given, ways=other))
            self.query_one(Prompt).line.cursor_position = len(given)  # no key replaces all of it

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("cut", "turn") and not self.cuts:
            return False
        return super().check_action(action, parameters)


class RepairScreen(RepairKeys):
    """A draft of what is to stand in the place of a pair; the result tells whether it is kept."""

    NAME = "Repair"
    LOADS = "repair"
    BINDINGS = bound(
        enter="keep: Keep",
        back="back: Give up",
        undo="step('undo')",
        down="go(1): Next line",
        up="go(-1): Line before",
        pane_down="scroll(9)",
        pane_up="scroll(-9)",
    )

    def __init__(self, judgements: Judgements, row: int) -> None:
        super().__init__()
        self._judgements, self._row = judgements, row
        self._draft: Draft | None = None  # as soon as the screen stands

    @property
    def in_form(self) -> bool:
        """Keep keys that lead elsewhere away: what was done would be lost."""
        return True

    def body(self) -> ComposeResult:
        yield PairDetail(id="draft")

    def on_mount(self) -> None:
        begin = partial(given_beads, self.view.opened, self._row)
        self.background.run("repair", begin, self._begun, self.complain)

    def _begun(self, given: Beads) -> None:
        self._draft = Draft(self.view.opened, given, self._row, self._judgements.repair_of)
        self.changed(self._draft)

    @property
    def draft(self) -> Draft | None:
        return self._draft

    def footer(self) -> tuple[str, set[str]]:
        name, states = super().footer()
        if self._draft is not None:
            states |= {"done"} if self._draft.done else set()
            states |= set() if self._draft.is_beside else {"own"}
            states |= {"beside"} if self._draft.is_beside or self.view.opened.has_beads else set()
        return name, states

    def facts(self) -> str:
        done = "" if self._draft is None else self._draft.done
        return f"{done}: enter keeps it" if done else "nothing done yet"

    def changed(self, draft: Draft) -> None:
        first = max(draft.at - _BEFORE, 0)
        near = [bead for _, bead in draft.beads[first : draft.at + _AFTER + 1]]
        self.query_one(PairDetail).show_beads(near, draft.at - first, self.cuts, self.side)
        self.refresh_top()
        super().show_cuts()

    def show_cuts(self) -> None:
        if self._draft is not None:
            self.changed(self._draft)

    def action_go(self, step: int) -> None:
        self.do("go", step)

    def action_scroll(self, rows: int) -> None:
        self.query_one(PairDetail).scroll_texts(rows)

    def action_back(self) -> None:
        if not self.give_up_cut():
            super().action_back()

    def action_keep(self) -> None:
        """Keep the draft, unless the pairs were repaired otherwise meanwhile; or split."""
        if self._draft is None or self.take_cut():
            return
        if not self._draft.done:
            self.say("nothing is done yet: j , takes the next line in; escape gives up")
            return
        self._judgements.refresh()
        look = partial(self._draft.changes, self.view.aligner)
        self.background.run("repair", look, self._keep, self.complain)

    def _keep(self, changes: dict[int, Repair | None]) -> None:
        with self.complaining():
            self._judgements.repair(changes)
            self.dismiss(True)
