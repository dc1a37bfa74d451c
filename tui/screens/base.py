"""The base of all screens: top line, message line, prompt, and the keys at the bottom.

Nothing here floats above corpus text: what lies under the edge of an overlay loses wide characters
(Textual issue 6357). Screens are opaque, and messages have a line of their own.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from xmine.browsing.judgements import Judgements
from xmine.browsing.query import PairQuery
from xmine.browsing.view import View
from xmine.display import visible
from xmine.errors import XmineError

from ..background import BackgroundWork
from ..job_queue import JobQueue
from ..jobs import JobTold

if TYPE_CHECKING:
    from textual.widget import Widget

SMALLEST = (60, 15)  # columns and rows


class Host(Protocol):
    """The app, as far as screens use it.

    Attributes:
        view: what is open; None as long as nothing is.
        judgements: what is said of its pairs.
        jobs: mining and training, which go on whatever is shown.
    """

    view: View | None
    judgements: Judgements | None
    jobs: JobQueue

    def open(self, path: Path) -> None:
        """Read a run or a file in the background, and show its pairs."""

    def back(self) -> None:
        """Leave a screen for the one below it."""

    def ignore_keys(self) -> None:
        """Hear no key until the next screen is there."""

    def hear_keys(self) -> None:
        """Hear keys again."""

    def look_for(self, view: View, query: PairQuery | None, cut: float | None) -> None:
        """Find other pairs of a view in the background."""

    def show_neighbours(self, source: int, target: int) -> None:
        """Show what is near both of a pair."""

    def mine_with(self, model: str) -> None:
        """Show the form of mining, with an encoder in it."""


class BaseScreen(Screen[None]):
    """A screen of the app: `body` says what it shows, `heading` what stands on top of it.

    It stays with what was open when it was made; when something else is opened, it goes.

    Attributes:
        background: what the screen does in the background.
    """

    NAME: ClassVar[str] = ""
    # Actions that open a line to type into. Their keys have priority, so that the line has the
    # focus before the next key is looked at: what is pasted must not judge pairs.
    OPENS_A_LINE: ClassVar[tuple[str, ...]] = ()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="back", show=False, tooltip="To where one came from."),
    ]

    def __init__(self) -> None:
        """Begin with what is open now."""
        super().__init__()
        self._view = self.host.view
        self._had_keys: Widget | None = None  # before the window was too small
        self.background = BackgroundWork(self)

    @property
    def host(self) -> Host:
        """The app, by what it adds to Textual's."""
        return cast("Host", self.app)

    @property
    def view(self) -> View:
        """What is open; a screen that needs it is not made without."""
        assert self._view is not None
        return self._view

    @property
    def in_form(self) -> bool:
        """Whether a form is filled in: a letter is meant for a field, and leads nowhere else."""
        return False

    def compose(self) -> ComposeResult:
        """Stack the lines around the body."""
        with Horizontal(id="top"):
            yield Static(id="heading", markup=False)
            yield Static(id="facts", markup=False)
        yield from self.body()
        yield Static(id="said", markup=False)
        yield Prompt(id="asking")
        yield Footer(show_command_palette=False, compact=True)
        columns, rows = SMALLEST
        yield Static(f"enlarge the window to {columns} x {rows}", id="small", markup=False)

    def body(self) -> ComposeResult:
        """Give what stands between the lines; each screen has its own."""
        yield from ()

    def on_mount(self) -> None:
        """Fill the top line."""
        self.refresh_top()

    def on_screen_resume(self) -> None:
        """Fill the top line anew: something may have changed on another screen."""
        self.refresh_top()
        self.call_after_refresh(self.host.hear_keys)

    def heading(self) -> str:
        """Say where one is."""
        return self.NAME

    def facts(self) -> str:
        """Say what there is, on the right of the top line."""
        return ""

    def refresh_top(self) -> None:
        """Show heading and facts as they are now."""
        view = self.host.view
        name = "xmine" if view is None else view.opened.path.name or "xmine"
        heading = visible(self.heading())
        top = Text.assemble((f" {visible(name)} ", "bold reverse"), " ", (heading, "bold"))
        self.query_one("#heading", Static).update(top)
        said = [self.facts(), str(self.host.jobs)]
        self.query_one("#facts", Static).update(Text(visible("   ".join(filter(None, said)))))

    def say(self, text: str, *, bad: bool = False) -> None:
        """Speak in the line above the keys, until something else is said."""
        line = self.query_one("#said", Static)
        line.set_class(bad, "-bad")
        line.update(Text(visible(f"! {text}" if bad else text)))

    def complain(self, error: XmineError) -> None:
        """Say what went wrong, and what to do about it."""
        self.say("; ".join(filter(None, [error.message, error.hint])), bad=True)

    def ask(self, question: str, answered: Callable[[str], None], given: str = "") -> None:
        """Ask for a line of text; `answered` is called with it, and not if it is given up."""
        self.query_one(Prompt).ask(question, answered, given)

    def look_for(self, query: PairQuery | None = None, cut: float | None = None) -> None:
        """Find other pairs in the background: a million texts take a second.

        The screen that is shown when they are found hears of it, see `rows_changed`.
        """
        self.host.look_for(self.view, query, cut)

    def rows_changed(self) -> None:
        """Show that the view has other rows, or another cut."""
        self.refresh_top()

    def on_job_told(self, event: JobTold) -> None:
        """Show in the top line how far a job is."""
        self.refresh_top()

    def action_back(self) -> None:
        """Go to where one came from."""
        self.host.back()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave keys to a line that is typed into, those with priority too."""
        return not (action in self.OPENS_A_LINE and isinstance(self.focused, Input))

    def on_resize(self, event: Resize) -> None:
        """Ask for a larger window where nothing can be seen in this one."""
        small = event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]
        if small and not self.has_class("-small"):
            self._had_keys = self.focused or self._had_keys
        elif not small and self.has_class("-small"):
            self.call_after_refresh(self._give_keys_back)
        self.set_class(small, "-small")

    def _give_keys_back(self) -> None:
        """Focus again: Textual takes the focus from what it hides."""
        if self.focused is None and self._had_keys is not None and self._had_keys.is_attached:
            self.set_focus(self._had_keys, scroll_visible=False)


class Prompt(Horizontal):
    """A question and a line to answer it, in the place of the message line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "Give up", id="asking.give-up"),
    ]

    def __init__(self, *, id: str) -> None:
        """Begin without a question."""
        super().__init__(id=id)
        self._answered: Callable[[str], None] | None = None
        self._left: Widget | None = None  # what had the keys before

    def compose(self) -> ComposeResult:
        """Put the question before the line."""
        yield Static(id="question", markup=False)
        # Disabled while it is hidden: a screen looks for something to give the keys to.
        yield Input(id="answer", compact=True, disabled=True)

    def ask(self, question: str, answered: Callable[[str], None], given: str = "") -> None:
        """Show the question, and take the keys."""
        self._answered = answered
        self.query_one("#question", Static).update(Text(visible(f"{question} ")))
        line = self.query_one(Input)
        line.value = given
        line.cursor_position = len(given)
        if self.screen.focused is not line:
            self._left = self.screen.focused
        line.disabled = False
        self.display = True
        self.screen.set_focus(line)  # at once: the next key belongs to it

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand the answer over."""
        event.stop()
        answered = self._answered
        self.action_give_up()
        if answered is not None:
            answered(event.value)

    def action_give_up(self) -> None:
        """Close without an answer."""
        self._answered = None
        self.display = False
        self.screen.set_focus(self._left)
        self.query_one(Input).disabled = True


class OpeningScreen(BaseScreen):
    """The screen while a run or a file is read."""

    def __init__(self, path: Path) -> None:
        """Name what is read."""
        super().__init__()
        self._view = None  # the pairs that were open go as soon as others are there
        self.path = path

    def heading(self) -> str:
        """Say what is read."""
        return f"opening {self.path}"
