"""Keys that put pairs right: lines are moved, beads merged, split, trimmed and edited."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from ..key_table import bound
from ..widgets.key_line import KeyLine
from ..widgets.prompt import Prompt, Question
from .base import BaseScreen

if TYPE_CHECKING:
    from ..draft import Draft

SIDES = "source", "target"
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}  # what a line cannot hold


class RepairKeys(BaseScreen):
    """A screen that works at one bead of a draft at a time."""

    BINDINGS: ClassVar[list[BindingType]] = bound(
        "as-given source-up source-down target-up target-down merge split trim edit",
        tab="turn: Other side",
        right="cut(1)",
        left="cut(-1)",
    )

    def __init__(self) -> None:
        super().__init__()
        self.side = 0  # that is edited, and whose cut moves
        self.cuts: list[int] | None = None  # characters of both texts, where these may be split

    def with_draft(self, act: Callable[["Draft"], object]) -> None:
        """Call a function with the draft at the bead that the keys are for, now or soon."""
        raise NotImplementedError

    def changed(self, draft: "Draft") -> None:
        """Show a draft after a step."""
        raise NotImplementedError

    def footer(self) -> tuple[str, set[str]]:
        return super().footer() if self.cuts is None else ("Split", set())

    def show_cuts(self) -> None:
        """Show where the texts may be split, or no more."""
        self.query_one(KeyLine).refresh()

    def _do(self, step: Callable[["Draft"], object], draft: "Draft") -> None:
        """Take a step, or say why not."""
        self.give_up_cut()
        self.say("")
        with self.complaining():
            step(draft)
            self.changed(draft)

    def action_step(self, name: str) -> None:
        self.with_draft(partial(self._do, methodcaller(name)))

    def action_shift(self, side: int, step: int) -> None:
        self.with_draft(partial(self._do, methodcaller("move", side, step)))

    def action_split(self) -> None:
        """Offer where to split both texts, or split there."""
        from ..draft import best_cut

        def find(draft: "Draft") -> None:
            look = partial(best_cut, draft.bead, self.view.opened.languages, self.view.aligner)
            self.background.run("repair", look, self._offer, self.complain)

        self.with_draft(find)

    def _offer(self, cuts: Sequence[int]) -> None:
        self.cuts = [*cuts]
        self.show_cuts()
        self.say("enter splits at │; h l move it, tab: the other side, escape gives up")

    def take_cut(self) -> bool:
        """Split where the texts are marked; tell whether they are."""
        if self.cuts is None:
            return False
        self.with_draft(partial(self._do, methodcaller("split", *self.cuts)))
        return True

    def give_up_cut(self) -> bool:
        """Show no cut any more; tell whether one was shown."""
        was, self.cuts = self.cuts is not None, None
        if was:
            self.say("")
            self.show_cuts()
        return was

    def action_turn(self) -> None:
        self.side = 1 - self.side
        self.show_cuts()

    def action_cut(self, step: int) -> None:
        from ..draft import places_to_cut

        def move(draft: "Draft") -> None:
            assert self.cuts is not None  # or the key does nothing
            text, here = draft.bead.text(self.side), self.cuts[self.side]
            inside, _ = places_to_cut(draft.bead, self.side, self.view.opened.languages[self.side])
            places = [0, *inside, len(text)]
            at = bisect_right(places, here) if step > 0 else bisect_left(places, here) - 1
            self.cuts[self.side] = places[min(max(at, 0), len(places) - 1)]
            self.show_cuts()

        self.with_draft(move)

    def action_trim(self) -> None:
        from ..draft import matched_part

        def find(draft: "Draft") -> None:
            look = partial(matched_part, self.view.aligner, draft.bead)
            self.background.run("repair", look, trim, lambda error: self.say(error.message))

        def trim(found: tuple[int, tuple[int, int]]) -> None:
            self.with_draft(partial(self._do, methodcaller("keep", found[0], *found[1])))

        self.with_draft(find)

    def action_edit(self) -> None:
        def ask(draft: "Draft") -> None:
            given = "".join(_ESCAPES.get(each, each) for each in draft.bead.text(self.side))
            text = f"{SIDES[self.side]} (tab: the other side):"
            self.ask(Question(text=text, answered=edited, given=given, ways=other))
            self.query_one(Prompt).line.cursor_position = len(given)  # no key replaces all of it

        def other(_: str) -> list[str]:
            self.side = 1 - self.side
            self.with_draft(ask)
            return []

        def edited(line: str) -> None:
            signs = {escape[1]: sign for sign, escape in _ESCAPES.items()}
            text = re.sub(r"\\(.)", lambda found: signs.get(found[1], found[0]), line)
            self.with_draft(partial(self._do, methodcaller("edit", self.side, text)))

        self.with_draft(ask)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("cut", "turn") and self.cuts is None:
            return False
        return super().check_action(action, parameters)
