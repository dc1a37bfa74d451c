"""The base of all screens: top line, message line, prompt, and the keys at the bottom.

Nothing here floats above corpus text: what lies under the edge of an overlay loses wide characters
(Textual issue 6357). Screens are opaque, and messages have a line of their own.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Key, Resize
from textual.screen import Screen
from textual.widgets import Input, Static

from xmine.browsing.query import PairQuery
from xmine.browsing.view import View
from xmine.display import visible
from xmine.errors import XmineError
from xmine.judging.judgements import Judgements

from ..background import BackgroundWork
from ..commands import Fields
from ..jobs import JobQueue, JobTold
from ..key_table import KEYS, bound
from ..text import cut
from ..widgets.form_line import paths_from
from ..widgets.key_line import KeyLine
from ..widgets.prompt import Prompt, Question

_MOST_NAMES = 50  # of files that a line may go on to
_NAME = 40  # cells of the name of what is shown
# Actions that an app that is read-only has not.
_WRITING = frozenset({"judge", "judge_all", "undo", "write", "write_cut", "sample", "step"})
_WRITING |= {
    "repair",
    "mend",
    "shift",
    "split",
    "trim",
    "edit",
    "note",
    "ask_name",
    "compare",
}


class Host(Protocol):
    """The part of `XmineApp` that screens use."""

    view: View | None
    judgements: Judgements | None
    read_only: bool
    jobs: JobQueue
    fields: Fields
    background: BackgroundWork

    def open(self, path: Path) -> None: ...
    def compare(self, old: Path, new: Path) -> None: ...
    def show(self, name: str) -> None: ...
    def back(self) -> None: ...
    def keep_place(self) -> None: ...
    def look_for(self, view: View, query: PairQuery | None, cut: float | None) -> None: ...
    def show_neighbours(self, source: int, target: int) -> None: ...
    def judge_sample(self, plan: str = "") -> None: ...
    def fill(self, command: str, values: Mapping[str, str], *, starts: bool = False) -> None: ...


class BaseScreen(Screen[Any]):
    """A screen of the app, with the view that was open when the screen was made."""

    NAME = ""
    # The kind of work in the background that the keys of the screen wait for; see `stands`.
    LOADS = ""
    SMALLEST = (60, 15)  # columns and rows
    BINDINGS = bound("back close")

    def __init__(self) -> None:
        super().__init__()
        self._told = ""
        self._view = self.host.view
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
    def smallest(self) -> tuple[int, int]:
        """The columns and rows that it takes; a reader, who judges nothing, makes do with less."""
        return OpeningScreen.SMALLEST if self.host.read_only else self.SMALLEST

    @property
    def in_form(self) -> bool:
        """Whether a form is filled in: a letter is meant for a field, and leads nowhere else."""
        return False

    def footer(self) -> tuple[str, set[str]]:
        """Name the footer of `keys.toml` that counts now, and states that it asks for."""
        return self.NAME, set()

    def _footer(self) -> tuple[str, set[str]]:
        return ("Prompt", set()) if self.query_one(Prompt).display else self.footer()

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Static(id="heading", markup=False)
            yield Static(id="facts", markup=False)
        yield from self.body()
        yield Static(id="said", markup=False)
        yield Prompt(id="asking")
        yield KeyLine(self._footer, id="keys")
        columns, rows = self.smallest
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
        name = cut(self.host.view.opened.name, _NAME).plain if self.host.view else "xmine"
        heading = visible(self.heading())
        top = Text.assemble((f" {name} ", "bold reverse"), " ", (heading, "bold"))
        facts = "   ".join(filter(None, (self.facts(), str(self.host.jobs))))
        lines = self.query("#top Static").results(Static)  # none of a screen that is left
        for line, said in zip(lines, (top, Text(visible(facts))), strict=False):
            line.update(said)

    def say(self, text: str, *, bad: bool = False) -> None:
        """Show a text in the message line, until the next key or text."""
        said = f"! {text}" if bad else text
        if said != self._told:
            self._told = said
            line = self.query_one("#said", Static)
            line.set_class(bad, "-bad")
            line.update(Text(visible(said)))

    def complain(self, error: XmineError) -> None:
        self.say("; ".join(filter(None, [error.message, error.hint])), bad=True)

    @contextmanager
    def complaining(self) -> Iterator[None]:
        """Show an error of xmine in the message line; the block ends with the error."""
        try:
            yield
        except XmineError as error:
            self.complain(error)

    def copy(self, text: str, said: str) -> None:
        self.app.copy_to_clipboard(text)
        self.say(said)

    def confirm(
        self, question: str, yes: Callable[[], object], no: Callable[[], object] = lambda: None
    ) -> None:
        """Ask a question that a key answers; call `yes` after y, `no` after n."""
        acts = {"y": yes, "n": no}
        self.ask(Question(text=question, answered=lambda key: acts[key.lower()](), letters="yn"))

    def ask(self, question: Question) -> None:
        self.query_one(Prompt).ask(question)

    def ask_path(self, text: str, chosen: Callable[[Path], object]) -> None:
        """Ask for a file or a folder; what the line may go on to stands above it."""
        prompt = self.query_one(Prompt)

        def look(line: str) -> None:
            self.say("  ".join(paths_from(line)[:_MOST_NAMES]))

        def answered(line: str) -> None:
            prompt.close()
            self.say("")
            if line.strip():
                chosen(Path(line.strip()).expanduser())

        self.ask(Question(text=text, answered=answered, typed=look, ways=paths_from))
        look("")

    def ask_other(self, here: Path) -> None:
        """Compare a run or a file of pairs with another one, which is asked for."""
        text = f"compare {here.name} with (tab):"
        self.ask_path(text, lambda other: self.host.compare(other, here))

    def look_for(self, query: PairQuery | None = None, cut: float | None = None) -> None:
        """Filter or sort the pairs in the background, see `rows_changed`."""
        self.host.look_for(self.view, query, cut)

    def rows_changed(self) -> None:
        """Show that the view has other rows, or another cut."""
        self.refresh_top()

    def on_job_told(self, event: JobTold) -> None:
        self.refresh_top()

    def on_text_selected(self) -> None:
        if text := self.get_selected_text():
            self.copy(text, "copied: the text that is marked")

    def on_key(self, event: Key) -> None:
        """Say what a key that does nothing here does elsewhere: a letter has one meaning."""
        typed = self.in_form or isinstance(self.focused, Input)
        if not typed and event.key not in self.active_bindings:
            meant = [row[1] for row in KEYS.values() if event.key in row[0].split(",")]
            does = f": {meant[0]}, where there is something for that" if meant else ""
            self.say(f"this key does nothing here{does}; ? lists those that do")

    def action_back(self) -> None:
        self.host.back()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.host.read_only and action in _WRITING:
            return False
        return action != "close" or not self.in_form

    def action_close(self) -> None:
        self.host.back()

    def on_resize(self, event: Resize) -> None:
        columns, rows = self.smallest
        self.set_class(event.size.width < columns or event.size.height < rows, "-small")


QUIT = bound(close="app.leave: Quit")


class OpeningScreen(BaseScreen):
    """The screen while a run or a file is read. It hears what leaves it."""

    NAME = "Opening"
    KEYS = ("escape", "q", "ctrl+q", "o", "question_mark", "f1")
    BINDINGS = QUIT
    SMALLEST = (28, 12)  # of a telephone

    def __init__(self, path: Path, before: Path | None = None) -> None:
        super().__init__()
        self._view = None  # the pairs that were open go as soon as others are there
        self.path, self.before = path, before

    def hears(self, key: str) -> bool:
        return self.stands and key in self.KEYS

    def heading(self) -> str:
        """Say what is read."""
        return f"comparing {self.before}, {self.path}" if self.before else f"opening {self.path}"
