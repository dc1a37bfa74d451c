"""The base of screens that show one pair at a time; on a telephone with buttons for their keys."""

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.widgets import Button, Static

from xmine.browsing.details import IN_WORDS, outcome_of, reasons_of
from xmine.pairs.judgements import verdict_of

from ..key_table import bound
from ..text import cut
from ..widgets.pair_cells import DIFFER, NOTE, signed
from ..widgets.pair_detail import PairDetail, Unmatched
from .base import BaseScreen, OpeningScreen
from .judging_base import JudgeScreen

if TYPE_CHECKING:
    from xmine.browsing.opened import Rows

_MOST_SAID = 150  # cells of a reason, or of words, in the message line
# Buttons to judge with, in two rows.
JUDGING: tuple[Mapping[str, str], ...] = (
    {
        "✓\naccept": "judge('accept')",
        "✗\nreject": "judge('reject')",
        "?\nunsure": "judge('unsure')",
        "↶\nundo": "undo",
        "↓\ndown": "scroll_pane(5)",
    },
    {
        "◐\npartial": "judge('partial')",
        "wrong\nlang.": "judge('language')",
        "source\nlonger": "judge('source')",
        "target\nlonger": "judge('target')",
        "¶\nnote": "note",
    },
)
# Actions that need a pair.
_OF_PAIR = ("judge", "later", "before", "reveal", "note", "repair", "lines", "scroll_pane")
_TALL = 36  # rows of a window in which a pair stands a little lower
_QUOTED = 5  # stretches without counterpart on a side


class OnePairScreen(JudgeScreen):
    """Pairs one at a time over the whole screen.

    What the machine and other judges say of a pair comes after one's own verdict, or with a key.

    Attributes:
        rows: all pairs, rows of `Opened`; None until they are known.
        left: those that are still to come, the one that is shown first.
        shown: the one on the screen, which nobody takes away from under the judge's eyes.
    """

    SMALLEST: ClassVar[tuple[int, int]] = OpeningScreen.SMALLEST  # of a telephone
    REVEALS = False  # whether the machine and the others are heard before the verdict
    BUTTONS: ClassVar[tuple[Mapping[str, str], ...]] = ()  # of each row: label -> action
    BINDINGS: ClassVar[list[BindingType]] = bound(
        "later reveal", down="scroll_pane(1)", up="scroll_pane(-1)"
    )

    def __init__(self) -> None:
        super().__init__()
        self.rows: Rows | None = None
        self.left: deque[int] = deque()
        self.shown: int | None = None
        self._reveals = self.REVEALS

    def body(self) -> ComposeResult:
        yield PairDetail(id="detail")
        yield Static(id="found", markup=False)
        with Vertical(id="buttons"):
            for acts in self.BUTTONS:
                with Horizontal():
                    for label, action in acts.items():
                        button = Button(label, action=f"screen.{action}", compact=True)
                        button.can_focus = False  # keys are for the pair
                        button.styles.line_pad = 0
                        yield button

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < BaseScreen.SMALLEST[0], "-phone")
        self.set_class(event.size.height >= _TALL, "-tall")

    def footer(self) -> tuple[str, set[str]]:
        states = {"end", "run"} if self.view.opened.is_run else {"end"}
        return self.NAME, set() if self.left else states

    def total(self) -> int:
        """Count the pairs that are done or left."""
        return 0 if self.rows is None else len(self.rows)

    def place(self) -> str:
        """Say which of the pairs is shown."""
        return f"{self.total() - len(self.left) + bool(self.left):,} of {self.total():,}"

    def progress(self) -> str:
        return f"{self.total() - len(self.left):,} of {self.total():,}"

    def judged_row(self) -> int | None:
        return self.left[0] if self.left else None

    def judged(self, row: int) -> None:
        self.left.popleft()
        self._reveals = self.REVEALS
        self.verdicts_changed()

    def found(self, rows: list[int]) -> bool:
        drawn = () if self.rows is None else self.rows
        self.left.extendleft(row for row in reversed(rows) if row in drawn)
        return rows[0] in drawn

    def verdicts_changed(self) -> None:
        """Show the pair that comes next; after the last one, what was found."""
        if self.rows is None:
            return
        found = self.query_one("#found", Static)
        self.shown = row = self.judged_row()
        self.refresh_bindings()
        self.pane.display, found.display = bool(self.left), not self.left
        for button in self.query(Button):
            button.display = bool(self.left) == (button.action != "screen.further")
        for line in self.query("#buttons Horizontal"):
            line.display = any(button.display for button in line.query(Button))
        if row is None:
            found.update(self.end())
        elif self._reveals:
            self.show_whole(row, self.view.wanted.cut)
        else:
            repair = self.judgements.repair_of(row)
            self.pane.show(self.view.opened, row, repair=repair, blind=True)

    def end(self) -> Text:
        """Write what is shown after the last pair."""
        return Text()

    def after(self, row: int, word: str) -> str:
        """Say what the machine and the others say of a pair; words follow when they are found."""
        opened, by = self.view.opened, self.judgements.by
        pair, notes = opened.pair(row), self.judgements.notes(row)
        facts = [IN_WORDS[outcome_of(opened, row, self.view.wanted.cut)]]
        for name, figure in (("prob", pair.prob), ("score", pair.score)):
            facts += [] if figure is None else [f"{name} {figure:.2f}"]
        lines = [f"the machine: {', '.join(filter(None, facts))}"] if any(facts) else []
        lines += [f"! {name}: {reason}" for name, reason in reasons_of(opened, row).items()]
        others = self.judgements.words(row)
        others.pop(by, "")
        lines += [
            f"{DIFFER + ' ' if verdict_of(said) != verdict_of(word) else ''}{judge}: {signed(said)}"
            + (f" {NOTE} {notes[judge]}" if judge in notes else "")
            for judge, said in others.items()
        ]
        lines = ["", *(cut(each, _MOST_SAID).plain for each in lines)]
        text = "\n".join(lines)

        def found(spans: Unmatched) -> None:
            sides = zip((pair.source, pair.target), spans, strict=True)
            words = [", ".join(each[a:b] for a, b in some[:_QUOTED]) for each, some in sides]
            if any(words) and self._told.endswith(text):
                told = cut(f"without counterpart: {' | '.join(filter(None, words))}", _MOST_SAID)
                self.say(f"{self._told}\n{told.plain}")

        self.pane.find_words(pair.source, pair.target, found)
        return text

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (bool(self.left) or action not in _OF_PAIR) and super().check_action(
            action, parameters
        )

    def action_later(self) -> None:
        self.left.rotate(-1)
        self._reveals = self.REVEALS
        self.verdicts_changed()

    def action_reveal(self) -> None:
        """Show what the machine and the others say of the pair, or hide it again."""
        self._reveals = not self._reveals
        self.verdicts_changed()
