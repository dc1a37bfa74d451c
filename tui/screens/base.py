"""The base of all screens: top line, message line, prompt, and the keys at the bottom.

Nothing here floats above corpus text: what lies under the edge of an overlay loses wide characters
(Textual issue 6357). Screens are opaque, and messages have a line of their own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from ..jobs import JobQueue, JobTold

if TYPE_CHECKING:
    from textual.widget import Widget

SMALLEST = (60, 15)  # columns and rows


class Host(Protocol):
    """The part of `XmineApp` that screens use."""

    view: View | None
    judgements: Judgements | None
    jobs: JobQueue

    @property
    def finds_rows(self) -> bool: ...
    @property
    def shows_another_pair(self) -> bool: ...
    def open(self, path: Path) -> None: ...
    def show(self, name: str) -> None: ...
    def back(self) -> None: ...
    def keep_place(self) -> None: ...
    def look_for(self, view: View, query: PairQuery | None, cut: float | None) -> None: ...
    def show_neighbours(self, source: int, target: int) -> None: ...
    def judge_sample(self, *, around: bool) -> None: ...
    def mine_with(self, model: str) -> None: ...


class BaseScreen(Screen[None]):
    """A screen of the app, with the view that was open when the screen was made.

    Attributes:
        background: work in threads.
    """

    NAME: ClassVar[str] = ""
    # The kind of work in the background that the keys of the screen wait for; see `stands`.
    LOADS: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="back", show=False, tooltip="To where one came from."),
        Binding("q", "close", "Close", id="close"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._view = self.host.view
        self._had_keys: Widget | None = None  # before the window was too small
        self._is_shown = False
        self.background = BackgroundWork(self)

    @property
    def host(self) -> Host:
        """The app, as the type that screens know."""
        return cast("Host", self.app)

    @property
    def view(self) -> View:
        """The open pairs; without any, no screen asks."""
        assert self._view is not None
        return self._view

    @property
    def stands(self) -> bool:
        """Whether the screen is there, with all that keys act on."""
        return self._is_shown and not self.background.is_under_way(self.LOADS)

    def hears(self, key: str) -> bool:
        """Whether a key is for this screen, not for one that follows."""
        return self.stands

    @property
    def in_form(self) -> bool:
        """Whether a form is filled in: a letter is meant for a field, and leads nowhere else."""
        return False

    def compose(self) -> ComposeResult:
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
        """Give the widgets between top line and message line."""
        yield from ()

    def on_mount(self) -> None:
        self.refresh_top()

    def on_screen_resume(self) -> None:
        """Fill the top line anew: something may have changed on another screen."""
        self.refresh_top()
        self.call_after_refresh(self._is_now_shown)

    def on_screen_suspend(self) -> None:
        self._is_shown = False

    def _is_now_shown(self) -> None:
        self._is_shown = self.is_current

    def heading(self) -> str:
        """Write the left side of the top line."""
        return self.NAME

    def facts(self) -> str:
        """Write the right side of the top line."""
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
        """Show a text in the message line, until the next one."""
        line = self.query_one("#said", Static)
        line.set_class(bad, "-bad")
        line.update(Text(visible(f"! {text}" if bad else text)))

    def complain(self, error: XmineError) -> None:
        """Show an error and its hint in the message line."""
        self.say("; ".join(filter(None, [error.message, error.hint])), bad=True)

    @contextmanager
    def complaining(self) -> Iterator[None]:
        """Show an error of xmine in the message line; the block ends with the error."""
        try:
            yield
        except XmineError as error:
            self.complain(error)

    def copy(self, text: str, said: str) -> None:
        """Copy a text, and say so."""
        self.app.copy_to_clipboard(text)
        self.say(said)

    def confirm(
        self, question: str, yes: Callable[[], object], no: Callable[[], object] | None = None
    ) -> None:
        """Ask a question that a key answers; call `yes` after y, `no` after n."""

        def answered(answer: str) -> None:
            act = {"y": yes, "n": no}.get(answer.strip().lower()[:1])
            if act is not None:
                act()

        self.query_one(Prompt).ask(question, answered, one_key=True)

    def ask(self, question: str, answered: Callable[[str], None], given: str = "") -> None:
        """Ask for a line of text; `answered` is called with it, unless the user gives up."""
        self.query_one(Prompt).ask(question, answered, given)

    def look_for(self, query: PairQuery | None = None, cut: float | None = None) -> None:
        """Filter or sort the pairs in the background, see `rows_changed`."""
        self.host.look_for(self.view, query, cut)

    def rows_changed(self) -> None:
        """Show that the view has other rows, or another cut."""
        self.refresh_top()

    def on_job_told(self, event: JobTold) -> None:
        self.refresh_top()

    def action_back(self) -> None:
        self.host.back()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "close" or not self.in_form

    def action_close(self) -> None:
        self.host.back()

    def on_resize(self, event: Resize) -> None:
        small = event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]
        if small and not self.has_class("-small"):
            self._had_keys = self.focused or self._had_keys
        elif not small and self.has_class("-small"):
            self.call_after_refresh(self._give_keys_back)
        self.set_class(small, "-small")

    def _give_keys_back(self) -> None:
        """Focus again: Textual takes the focus from hidden widgets."""
        if self.focused is None and self._had_keys is not None and self._had_keys.is_attached:
            self.set_focus(self._had_keys, scroll_visible=False)


class Prompt(Horizontal):
    """A question and a line to answer it, in the place of the message line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "Give up", id="asking.give-up")
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._answered: Callable[[str], None] | None = None
        self._left: Widget | None = None  # the widget with the focus before
        self._one_key = False

    def compose(self) -> ComposeResult:
        yield Static(id="question", markup=False)
        # Disabled while it is hidden: a screen looks for something to give the keys to.
        yield Input(id="answer", compact=True, disabled=True)

    def ask(
        self,
        question: str,
        answered: Callable[[str], None],
        given: str = "",
        *,
        one_key: bool = False,
    ) -> None:
        """Show the question, and take the keys; the first one answers it if `one_key`."""
        self._answered, self._one_key = answered, one_key
        self.query_one("#question", Static).update(Text(visible(f"{question} ")))
        line = self.query_one(Input)
        line.value = given
        line.cursor_position = len(given)
        if self.screen.focused is not line:
            self._left = self.screen.focused
        line.disabled = False
        self.display = True
        self.screen.set_focus(line)  # at once: the next key belongs to it

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._one_key and event.value:
            self._answer(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._answer(event.value)

    def _answer(self, text: str) -> None:
        answered = self._answered
        self.action_give_up()
        if answered is not None:
            answered(text)

    def close(self) -> None:
        """Ask no more."""
        if self.display:
            self.action_give_up()

    def action_give_up(self) -> None:
        self._answered = None
        self.display = False
        self.screen.set_focus(self._left)
        self.query_one(Input).disabled = True


QUIT = Binding("q", "app.leave", "Quit", id="quit", tooltip="Judgements are kept already.")


class OpeningScreen(BaseScreen):
    """The screen while a run or a file is read. It hears what leaves it."""

    KEYS: ClassVar[tuple[str, ...]] = ("escape", "q", "ctrl+q", "h", "question_mark", "f1")
    BINDINGS: ClassVar[list[BindingType]] = [QUIT]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._view = None  # the pairs that were open go as soon as others are there
        self.path = path

    def hears(self, key: str) -> bool:
        return self.stands and key in self.KEYS

    def heading(self) -> str:
        """Say what is read."""
        return f"opening {self.path}"
