"""The app: what is open, which screen shows it, and the keys that work everywhere."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import NoColor
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Input

from xmine.browsing.judgements import Judgements
from xmine.browsing.opened import Rows
from xmine.browsing.view import View, Wanted
from xmine.errors import XmineError

from .actions import actions_of
from .background import Newest, Read, read
from .garbage import EVERY, Garbage
from .job_queue import Working
from .screens.base import Asking, Opening, Viewing
from .screens.judging_base import Judging
from .state.state import keep_theme, settings
from .terminal import TerminalDriver

_EVERY = 1.0  # seconds between looks at what others judge
_LEAVE = ("q", "ctrl+q", "ctrl+c")  # these do so in a window of any size
# The screens that a key leads to from anywhere: their class in `xmine.tui.screens`, and whether
# something must be open. They are loaded when they are first shown.
SCREENS_OF = {
    "home": ("home", "HomeScreen", False),
    "pairs": ("pairs", "PairsScreen", True),
    "threshold": ("threshold", "ThresholdScreen", True),
    "search": ("search", "SearchScreen", True),
    "map": ("map", "MapScreen", True),
    "mine": ("mining", "MiningScreen", False),
    "train": ("training", "TrainingScreen", False),
}


def _to(key: str, screen: str, title: str) -> Binding:
    """Bind a key to a screen. It has priority: see `XmineApp.on_event`."""
    return Binding(key, f"show('{screen}')", title, id=f"show.{screen}", show=False, priority=True)


class XmineApp(App[None]):
    """Look at mined pairs, judge them, mine and train.

    Attributes:
        view: what is open; None as long as nothing is.
        judgements: what is said of its pairs.
        jobs: mining and training, which go on whatever is shown.
        working: what is being done in the background, for the top line; empty if nothing is.
        newest: what the app does in the background.
        garbage: keeps the collector quiet while keys are pressed; enter it around `run`.
        failure: why what was asked for could not be opened, for whoever started the app.
    """

    CSS_PATH = "app.tcss"
    TITLE = "xmine"
    BINDINGS: ClassVar[list[BindingType]] = [
        _to("p", "pairs", "Pairs"),
        _to("t", "threshold", "Threshold"),
        _to("F", "search", "Search a sentence"),
        _to("m", "map", "Map"),
        _to("h", "home", "Home"),
        _to("M", "mine", "Mine"),
        _to("T", "train", "Train"),
        Binding("question_mark,f1", "help", "Help", id="help", key_display="?"),
        Binding("q", "leave", "Quit", id="quit", tooltip="Judgements are kept already."),
    ]

    def __init__(self, path: Path | None = None, ahead: Future[Read] | None = None) -> None:
        """Open a run or a file of pairs, or begin at home.

        Args:
            path: what to open.
            ahead: gives what is in `path`, if somebody reads it already.
        """
        super().__init__()
        if self.driver_class is LinuxDriver:
            self.driver_class = TerminalDriver
        if self.no_color:  # Textual leaves grey, and in a theme of the terminal's black on black
            self._filters.append(NoColor())
        self.view: View | None = None
        self.judgements: Judgements | None = None
        self.working = ""
        self.jobs = Working(self)
        self.failure: XmineError | None = None
        self.newest = Newest(self)
        self.garbage = Garbage()
        self._path = path
        self._ahead = ahead
        self._opening: Opening | None = None
        self._complained = ""
        self._deaf_until = 0.0

    async def on_event(self, event: events.Event) -> None:
        """Let no key act on what cannot be seen: below a screen that opens, in a tiny window.

        The keys that open a screen have priority: they are done before the next is looked at.
        """
        if isinstance(event, events.Key):
            if time.monotonic() < self._deaf_until:
                return
            if self.screen.has_class("-small") and event.key not in _LEAVE and not self._asked:
                return
        if isinstance(event, events.InputEvent):
            self.garbage.touched()
        await super().on_event(event)

    @property
    def _asked(self) -> bool:
        return any(asking.display for asking in self.screen.query(Asking))

    def turn(self) -> None:
        """Hear no key until the next screen is there, or for a second."""
        self._deaf_until = time.monotonic() + 1.0

    def turned(self) -> None:
        """Hear keys again: the screen is there."""
        self._deaf_until = 0.0

    def on_mount(self) -> None:
        """Show what was asked for; look again and again at what others judge."""
        self._take_settings()
        self.jobs.begin()
        self.set_interval(_EVERY, self._refresh_judgements)
        self.set_interval(EVERY, self.garbage.collect)
        if self._path is None:
            self.show("home")
        else:
            self.open(self._path)

    def _take_settings(self) -> None:
        """Take theme and keys as they were chosen, and remember the theme that is chosen next."""
        chosen = settings()
        if chosen.theme in self.available_themes:
            self.theme = chosen.theme
        self.set_keymap(chosen.keys)
        self.theme_changed_signal.subscribe(self, self._keep_theme)

    def _keep_theme(self, theme: Theme) -> None:
        try:
            keep_theme(theme.name)
        except XmineError as error:
            if isinstance(self.screen, Viewing):
                self.screen.complain(error)

    def open(self, path: Path) -> None:
        """Read a run or a file in the background, and show its pairs.

        Nothing is opened while something else is being read; leaving that screen gives it up.
        """
        if self._opening in self.screen_stack:
            return
        ahead, self._ahead = self._ahead, None
        self._opening = opening = Opening(path)
        self.push_screen(opening)
        self.newest.run(
            "open",
            partial(read, path) if ahead is None else ahead.result,
            partial(self._opened, opening),
            partial(self._not_opened, opening),
        )

    def _not_opened(self, opening: Opening, error: XmineError) -> None:
        if opening not in self.screen_stack:
            return
        if opening.path is self._path:  # the command was asked for this file
            self.failure = error
            self.exit()
            return
        while self.screen is not opening:
            self.pop_screen()
        self.back()
        if isinstance(self.screen, Viewing):
            self.screen.complain(error)

    def _opened(self, opening: Opening, found: Read) -> None:
        if opening not in self.screen_stack:  # somebody went elsewhere meanwhile
            return
        self.view, self.judgements, warned = found
        while len(self.screen_stack) > 1:
            self.pop_screen()
        for name, (_, _, needs) in SCREENS_OF.items():
            if needs and self.is_screen_installed(name):
                screen = self.get_screen(name)
                self.uninstall_screen(name)
                screen.remove()
        self.show("pairs")
        if warned and isinstance(screen := self.screen, Viewing):
            screen.call_after_refresh(screen.say, warned, bad=True)

    def take_rows(self, view: View, wanted: Wanted, rows: Rows) -> None:
        """Show what was found, see `Viewing.look_for`."""
        screen = self.screen
        if view.take(wanted, rows) and isinstance(screen, Viewing) and view is self.view:
            screen.rows_changed()

    def no_rows(self, view: View, wanted: Wanted, error: XmineError) -> None:
        """Say why nothing can be found; a cut that was moved meanwhile is looked for."""
        moved = view.give_up(wanted)
        if isinstance(self.screen, Viewing) and view is self.view:
            self.screen.complain(error)
            if moved:
                self.screen.look_for()

    def _refresh_judgements(self) -> None:
        try:
            changed = self.judgements is not None and self.judgements.refresh()
        except XmineError as error:
            if error.message != self._complained and isinstance(self.screen, Viewing):
                self._complained = error.message  # once, not at each look
                self.screen.complain(error)
            return
        self._complained = ""
        if changed and isinstance(self.screen, Judging):
            self.screen.verdicts_changed()
            self.screen.refresh_top()

    def show(self, name: str) -> None:
        """Show one of the screens in place of all that are shown now."""
        module, kind, needs = SCREENS_OF[name]
        if needs and self.view is None:
            if isinstance(self.screen, Viewing):
                self.screen.say("nothing is open: choose a run or a file of pairs first", bad=True)
            return
        if not self.is_screen_installed(name):
            screen = getattr(import_module(f"xmine.tui.screens.{module}"), kind)
            self.install_screen(screen(), name)
        while len(self.screen_stack) > 2:
            self.pop_screen()
        self.turn()
        if len(self.screen_stack) == 1:
            self.push_screen(name)
        elif self.screen is not self.get_screen(name):
            self.switch_screen(name)
        else:
            self.turned()

    def mine_with(self, model: str) -> None:
        """Show the form of mining, with an encoder in it."""
        from .screens.mining import MiningScreen

        self.show("mine")
        screen = self.get_screen("mine")
        assert isinstance(screen, MiningScreen)
        self.call_after_refresh(screen.take_model, model)

    def refresh_top(self) -> None:
        """Show in the top line what is being done now."""
        if isinstance(self.screen, Viewing) and self.screen.is_mounted:
            self.screen.refresh_top()

    def back(self) -> None:
        """Leave a screen for the one below it; the last one for the pairs."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.show("home" if self.view is None else "pairs")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave letters to a form, wherever its focus is."""
        screen = self.screen
        if action not in ("show", "leave") or not isinstance(screen, Viewing):
            return True
        return not screen.in_form and not isinstance(screen.focused, Input)

    def action_show(self, name: str) -> None:
        """Show a screen by its name."""
        self.show(name)

    def action_leave(self) -> None:
        """Leave by a letter, which in a form is none."""
        self.jobs.leave()

    async def action_quit(self) -> None:
        """Leave; if something is mined or trained, ask first."""
        self.jobs.leave()

    def action_help(self) -> None:
        """Tell the keys of the screen that is shown."""
        from .screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def notify(  # what Textual itself has to say, it says in our line
        self, message: str, **_: object
    ) -> None:
        """Say something in the line that speaks, not above the texts."""
        if isinstance(self.screen, Viewing):
            self.screen.say(message)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """List every action that has a key here, then what Textual offers."""
        for action in actions_of(screen):
            run: Callable[[], object] = partial(self.run_action, action.name, action.node)
            yield SystemCommand(f"{action.title}  {', '.join(action.keys)}", action.more, run)
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Screenshot"):
                yield command
