"""A question with a line for the answer, and perhaps a list below it of what may go into the line.

While it is open, no key and no click goes elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from xmine.display import visible

from ..key_table import bound

if TYPE_CHECKING:
    from textual.widget import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, and who hears of the answer."""

    text: str = ""
    answered: Callable[[str], object]  # with `typed`, it closes the prompt if the line will do
    given: str = ""  # stands in the line
    letters: str = ""  # one of them is the answer, and is taken at once
    typed: Callable[[str], object] | None = None  # hears of each change
    given_up: Callable[[], object] = lambda: None
    lines: Sequence[str] = ()  # of before, for up and down
    ways: Callable[[str], list[str]] | None = None  # lines that tab puts in the place of one
    chosen: Callable[[str, str], str] | None = None  # line, part of the list -> the line with it
    hint: str = ""


class Prompt(Vertical):
    """A line in the place of the message line, or below it if the line is tried while one types.

    Tab and down lead through the list, up to the lines of before; enter takes a part of the list
    into the line, or else the line.
    """

    is_modal = True  # the keys of the screen and of the app do not count here
    BINDINGS = bound("complete line-before line-after help-typing", back="give_up: Give up")
    BINDINGS += [Binding("ctrl+c", "app.help_quit", show=False)]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.display = False
        self._question = Question(answered=lambda _: None)
        self._left: Widget | None = None  # the widget with the focus before
        self._at = 0  # of the lines of before
        self._ways: list[str] = []
        self._asked = Static(id="question", markup=False)
        # Disabled while it is hidden: a screen looks for something to give the keys to.
        self.line = Input(id="answer", compact=True, disabled=True, select_on_focus=False)
        self.list = OptionList(id="parts", compact=True, markup=False)
        self.list.can_focus = False

    def compose(self) -> ComposeResult:
        with Horizontal(id="question-line"):
            yield from (self._asked, self.line)
        yield self.list

    def offer(self, parts: Sequence[tuple[str, str]]) -> None:
        """List parts of a line, each with what is said of it."""
        at = self.list.highlighted
        width = max((len(part) for part, _ in parts), default=0)
        options = (Option(visible(f"{part:<{width}}  {told}"), id=part) for part, told in parts)
        self.list.set_options(options)
        self.list.highlighted = at
        self.list.display = bool(parts)
        self.screen.set_class(self.list.display, "-listing")

    def ask(self, question: Question) -> None:
        """Show a question, in place of one that is asked, and take the keys."""
        self.action_give_up()
        self._question, self._at, self._ways = question, len(question.lines), []
        self._asked.update(Text(visible(f"{question.text} ")))
        self._asked.display = bool(question.text)
        self.screen.set_class(question.typed is not None, "-trying")
        self.line.placeholder = question.hint
        self.offer(())
        self._put(question.given)
        self.line.select_all()  # typing replaces what is there, as in a form
        self._left = self.screen.focused
        self.line.disabled = False
        self.display = True
        self.screen.set_focus(self.line)  # at once: the next key belongs to it

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.list.highlighted = None
        if self._question.letters and event.value:
            self._put("")
            self._answer(event.value)
        elif self._question.typed is not None and self.display:
            self._question.typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.list.highlighted is None:
            self._answer(event.value)
        else:
            self.list.action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self._question.chosen is not None and event.option_id:
            self._put(self._question.chosen(self.line.value, event.option_id))

    def _answer(self, text: str) -> None:
        question = self._question
        if question.letters and text.lower() not in [*question.letters]:
            return
        if question.typed is None:
            self.close()
        question.answered(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        asked = self._question
        needs = {"go": asked.lines or asked.chosen, "complete": asked.ways or asked.chosen}
        return bool(needs.get(action, True))

    def action_go(self, lines: int) -> None:
        before = [*self._question.lines, ""]
        if self.list.highlighted == 0 and lines < 0:
            self.list.highlighted = None
        elif self.list.highlighted is not None or (self._at == len(before) - 1 and lines > 0):
            self._move(lines)
        else:
            self._at = min(max(self._at + lines, 0), len(before) - 1)
            self._put(before[self._at])

    def _move(self, parts: int) -> None:
        if self.list.display:
            (self.list.action_cursor_down if parts > 0 else self.list.action_cursor_up)()

    def action_complete(self) -> None:
        """Put the first way to go on into the line; again, the next one. Or go through the list."""
        value = self.line.value
        self._move(1)
        if value not in self._ways or len(self._ways) == 1:
            self._ways = self._question.ways(value) if self._question.ways else []
        if self._ways:
            at = self._ways.index(value) + 1 if value in self._ways else 0
            self._put(self._ways[at % len(self._ways)])

    def _put(self, text: str) -> None:
        self.line.value = text
        self.line.cursor_position = len(text)

    def action_give_up(self) -> None:
        """Close the line without an answer, if it is open."""
        if self.display:
            self.close()
            self._question.given_up()

    def close(self) -> None:
        if self.display:
            self.display = False
            self.screen.remove_class("-trying", "-listing")
            self.screen.set_focus(self._left)
            self.line.disabled = True
