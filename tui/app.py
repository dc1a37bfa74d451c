"""The app: the pairs that are open, the screen that is shown, and the keys of all screens."""

import asyncio
import gc
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App, SystemCommand
from textual.content import Content
from textual.filter import LineFilter, NoColor
from textual.messages import ExitApp
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Input

from xmine.browsing.opened import Rows
from xmine.browsing.query import PairQuery
from xmine.browsing.view import View
from xmine.errors import XmineError
from xmine.judging.judgements import Judgements
from xmine.judging.keys import key_of, row_of

from .background import ROWS, BackgroundWork, Read, Readers, place_of, read, read_compared
from .commands import Fields, form_of, free_beside
from .ending import Ending
from .jobs import JobQueue
from .key_table import bound, own_keys
from .keys import KeyDone, TypeAhead
from .screens.base import BaseScreen, OpeningScreen
from .screens.judging_base import JudgeScreen
from .state import keep_place, keep_setting, setting, state_folder
from .terminal import DRIVERS, hear
from .text import QUIET_ON, Dim, readable
from .widgets.key_line import KeyLine
from .widgets.prompt import Prompt, Question

if TYPE_CHECKING:
    from xmine.mining.search import Hit

_EVERY = 1.0  # seconds between two readings of the judgements of others
_HITS = 20  # of a search, on each side
_DIM, _NO_COLOR = Dim(), NoColor()  # one of each: lines remember what a filter made of them
_GIVEN = (events.Key, events.Paste, events.MouseEvent)  # by the user
_LEAVE = ("q", "ctrl+q", "ctrl+c")  # these leave in a window of any size
COMMANDS = ("mine", "align", "train", "adapt")  # that have a form
# Screens that a key opens from anywhere -> module and class in `xmine.tui.screens`, and whether
# pairs must be open. They are loaded when they are first shown.
SCREENS_OF = {
    "home": ("home", "HomeScreen", False),
    "pairs": ("pairs", "PairsScreen", True),
    "threshold": ("threshold", "ThresholdScreen", True),
    **{name: ("command", "CommandScreen", False) for name in COMMANDS},
}


class XmineApp(App[None]):
    """Look at mined pairs, judge them, mine and train.

    `failure` is why the command's file is not open.
    """

    CSS_PATH = "app.tcss"
    TITLE = "xmine"
    BINDINGS = bound("pairs threshold search home mine train help redraw help-always help-typing")

    def __init__(
        self,
        path: Path | None = None,
        *,
        sample: bool = False,
        read_only: bool = False,
        fields: Fields = lambda command, method: [],
    ) -> None:
        """Open a run or a file of pairs, perhaps to judge a sample at once, or begin at home.

        An app that is `read_only` writes nothing, and opens nothing else. `fields` tells what a
        command declares of its options.
        """
        super().__init__()
        self.driver_class = DRIVERS.get(self.driver_class, self.driver_class)
        if self.no_color:
            self.add_class("-no-color")
        self.view: View | None = None
        self.judgements: Judgements | None = None
        self.jobs, self.fields = JobQueue(self), fields
        self.ending = Ending(self)
        self.failure: XmineError | None = None
        self.background = BackgroundWork(self)
        self.read_only = read_only
        self._path, self._to_sample = path, sample and not read_only
        self._opening: OpeningScreen | None = None
        self._names = list[str]()  # of what is open: a path, or of a comparison the newer first
        self._complained = self._wrong_keys = ""
        self._asked_widths = False
        self.keys = TypeAhead(self, self._give)

    async def on_event(self, event: events.Event) -> None:
        """Let keys wait for their turn; ignore those for a screen that a tiny window hides.

        A click beside an open prompt and its keys gives the prompt up, and does nothing else.
        """
        if event.is_forwarded or not isinstance(event, _GIVEN):
            await super().on_event(event)
        elif isinstance(event, events.MouseEvent):
            prompt, held = self._prompt, self.mouse_captured is not None
            own = [prompt.region, self.screen.query_one(KeyLine).region] if prompt else []
            if prompt is None or held or any(each.contains(event.x, event.y) for each in own):
                await super().on_event(event)
            elif isinstance(event, events.MouseUp):
                prompt.action_give_up()
        elif (
            not self.screen.has_class("-small")
            or self._prompt is not None
            or (isinstance(event, events.Key) and event.key in _LEAVE)
        ):
            await self.keys.take(event)

    async def _give(self, key: events.Key | events.Paste) -> None:
        """Give a key to the widget with the focus; an open prompt takes the focus back.

        What was said before has been read.
        """
        if (prompt := self._prompt) is not None:
            self.screen.set_focus(prompt.line)
        elif isinstance(self.screen, BaseScreen):
            self.screen.say("")
        if isinstance(key, events.Paste):  # a line takes the first line alone
            key = events.Paste(" ".join(key.text.split()))
        await super().on_event(key)

    def on_cursor_position(self, event: events.CursorPosition) -> None:
        """Hear the terminal's answer to the first question; see `terminal`."""
        if not self._asked_widths:
            self._asked_widths = True
            if hear(event.x):
                self.refresh_css(animate=False)  # all that is drawn is drawn anew

    async def on_key_done(self, told: KeyDone) -> None:
        await self.keys.done(told)

    @property
    def _prompt(self) -> Prompt | None:
        return next((prompt for prompt in self.screen.query(Prompt) if prompt.display), None)

    def get_css_variables(self) -> dict[str, str]:
        """Give the colours of the theme; those of a terminal are its own."""
        found = super().get_css_variables()
        if self.current_theme.ansi:
            on = dict.fromkeys(("on-panel", "on-primary", "on-secondary"), found["text"])
            on["on-cursor"] = found["block-cursor-foreground"]
            quiet = {f"quiet-on-{name}": found["text-muted"] for name in QUIET_ON}
            return {**found, **on, **quiet, "on-warning": found["background"]}
        return readable(found)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        if self.no_color:  # Textual leaves grey, and in a theme of the terminal's black on black
            return [*filters, _NO_COLOR]
        return filters if self.current_theme.ansi else [_DIM, *filters]

    def on_mount(self) -> None:
        theme = setting("theme")
        if isinstance(theme, str) and theme in self.available_themes:
            self.theme = theme
        keys, self._wrong_keys = own_keys(state_folder() / "keys.toml")
        self.set_keymap(keys)
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        asyncio.get_running_loop().set_default_executor(Readers())
        self.set_interval(_EVERY, self._refresh_judgements)
        if self._path is None:
            self.show("home")
        else:
            self.open(self._path)

    def _keep_theme(self, theme: Theme) -> None:
        try:
            keep_setting("theme", theme.name)
        except XmineError as error:
            self.complain(error)

    def open(self, path: Path) -> None:
        """Show the pairs of a run or a file; one that is not open is read in the background."""
        self._read(path, None, partial(read, path))

    def compare(self, old: Path, new: Path) -> None:
        self._read(new, old, partial(read_compared, old, new))

    def _read(self, path: Path, before: Path | None, work: Callable[[], Read]) -> None:
        """Read in the background what is not open, one at a time."""
        if self._opening in self.screen_stack:
            return
        self.keep_place()  # before it is read: the run may be the one that is open
        names = [os.path.abspath(each) for each in (path, before) if each]
        if self.view and names == self._names and not self.view.is_replaced:
            self.show("pairs")  # a double click opens twice
            return
        self._opening = opening = OpeningScreen(path, before)
        self.push_screen(opening)
        opening.call_after_refresh(  # loading polars would hold up the first frame
            self.background.run,
            "open",
            work,
            partial(self._opened, opening, names),
            partial(self._not_opened, opening),
        )

    def _not_opened(self, opening: OpeningScreen, error: XmineError) -> None:
        if opening not in self.screen_stack:
            return
        if opening.path is self._path:  # the command was asked for this file
            self.failure = error
            self.exit()
            return
        while self.screen is not opening:
            self.pop_screen()
        self.back()
        self.complain(error)

    def _opened(self, opening: OpeningScreen, names: list[str], found: Read) -> None:
        """Show pairs that were read, and no screen of others."""
        if opening not in self.screen_stack:  # the user has left that screen
            return
        if self.view is not None:
            gc.unfreeze()  # the objects of what was open may go
        (self.view, self.judgements, warned), self._names = found, names
        while len(self.screen_stack) > 1:
            self.pop_screen()
        for name, (_, _, needs) in SCREENS_OF.items():
            if needs and self.is_screen_installed(name):
                screen = self.get_screen(name)
                self.uninstall_screen(name)
                screen.remove()
        self.show("pairs")
        if self._to_sample and len(self.view.opened):
            self._to_sample = False
            self.judge_sample()
        if warned and isinstance(screen := self.screen, BaseScreen):
            bad = self.view.opened.compared is None
            screen.call_after_refresh(lambda: screen.say(warned, bad=bad))

    def action_mine_again(self) -> None:
        """Show the form of mining with the texts, the options and the verdicts of the run."""
        if self.view is None or self.judgements is None:
            return
        opened, counts = self.view.opened, self.judgements.counts()
        run = opened.compared[1].path if opened.compared else opened.path
        try:
            fields = form_of(run)
        except XmineError as error:
            self.complain(error)
            return
        if counts.accept + counts.reject:
            fields["seed_pairs"] = f"{run}/"
        self.fill("mine", fields, before=run)

    def action_teach(self) -> None:
        if self.view is not None:
            opened = self.view.opened
            run = opened.compared[1].path if opened.compared else opened.path
            output = run.with_name(f"{run.name}-taught")
            output = free_beside(output) if output.exists() else output
            self.fill("adapt", {"run": str(run), "output": str(output)})

    def fill(
        self,
        command: str,
        values: Mapping[str, str],
        *,
        before: Path | None = None,
        starts: bool = False,
    ) -> None:
        """Show the form of a command with values in its fields, and perhaps start it.

        Without an output that stays as it is; `before` is the run whose texts are mined again.
        """
        self.show(command)
        screen: Any = self.get_screen(command)

        def take() -> None:
            screen.take({"output": screen.values()["output"], **values}, before)
            if starts:
                screen.action_start()

        screen.call_after_refresh(take)

    def keep_place(self) -> None:
        if self.view is not None and not self.view.opened.compared:
            with suppress(XmineError):  # where nothing can be remembered, work goes on
                keep_place(self.view.opened.path, place_of(self.view))

    def look_for(
        self, view: View, query: PairQuery | None = None, cut: float | None = None
    ) -> None:
        """Filter or sort the pairs of a view in the background: a million texts take a second.

        The screen that is shown then hears of the result, see `BaseScreen.rows_changed`.
        """
        wanted = view.want(query, cut)

        def found(rows: Rows) -> None:
            screen = self.screen
            if view.take(wanted, rows) and isinstance(screen, BaseScreen) and view is self.view:
                screen.rows_changed()

        def failed(error: XmineError) -> None:
            moved = view.give_up(wanted)
            if view is self.view:
                self.complain(error)
                if moved:  # the cut, meanwhile
                    self.look_for(view)

        self.background.run(ROWS, partial(view.find, wanted), found, failed)

    def _refresh_judgements(self) -> None:
        self.ending.check_terminal()
        screen = next(reversed(self.screen_stack), None)  # none is left when the app ends
        try:
            if isinstance(screen, JudgeScreen):
                screen.check_there()
            changed = self.judgements is not None and self.judgements.refresh()
        except XmineError as error:
            if error.message != self._complained and isinstance(self.screen, BaseScreen):
                self._complained = error.message  # once, not at each look
                self.complain(error)
            return
        self._complained = ""
        if changed and isinstance(self.screen, JudgeScreen):
            self.screen.verdicts_changed()
            self.screen.refresh_top()

    def show(self, name: str) -> None:
        """Show one of SCREENS_OF in place of all screens."""
        if not self.is_screen_installed(name):
            module, kind, _ = SCREENS_OF[name]
            made = getattr(import_module(f"xmine.tui.screens.{module}"), kind)
            self.install_screen(made(name) if name in COMMANDS else made(), name)
        while len(self.screen_stack) > 2:
            self.pop_screen()
        if len(self.screen_stack) == 1:
            self.push_screen(name)
        elif self.screen is not self.get_screen(name):
            self.switch_screen(name)
        if not gc.isenabled():
            self.call_after_refresh(_collect_from_now_on)
        if self._wrong_keys:
            told, self._wrong_keys = XmineError(self._wrong_keys), ""
            self.screen.call_after_refresh(self.complain, told)

    def show_neighbours(self, source: int, target: int) -> None:
        from .screens.neighbours import NeighboursScreen

        assert self.view is not None and self.judgements is not None  # or no screen had a pair
        try:
            view, judgements = self.view, self.judgements
            if both := view.opened.compared:  # each side of it has the texts of its pairs alone
                opened = both[view.opened.columns["change"][source] != "gone"]
                row = row_of(opened, key_of(view.opened, source))
                view, judgements = View(opened), Judgements.open(opened, judgements.by)
                source, target = int(opened.sources[row or 0]), int(opened.targets[row or 0])
            _ = view.around
        except XmineError as error:
            self.complain(error)
        else:
            self.push_screen(NeighboursScreen((source, target), view, judgements))

    def action_search(self) -> None:
        from .screens.neighbours import NeighboursScreen

        screen, view, judgements = self.screen, self.view, self.judgements
        if not isinstance(screen, BaseScreen) or view is None or judgements is None:
            return

        def search(text: str) -> None:
            screen.say("searching: the encoder is loaded first")
            screen.background.run(
                "search", lambda: view.nearby.search(text, _HITS), found, screen.complain
            )

        def found(hits: dict[str, "list[Hit]"]) -> None:
            self.push_screen(NeighboursScreen(hits, view, judgements))

        hint = "a sentence in either language, then enter"
        screen.ask(Question(text="search:", answered=search, hint=hint))

    def judge_sample(self, plan: str = "") -> None:
        """Judge pairs drawn as a plan says."""
        from .screens.sample import SampleScreen

        self.push_screen(SampleScreen(plan))

    def action_conflicts(self) -> None:
        from .screens.sample import ConflictScreen

        if isinstance(screen := self.screen, JudgeScreen):
            screen.named(lambda: self.push_screen(ConflictScreen()))

    def complain(self, error: XmineError) -> None:
        if isinstance(self.screen, BaseScreen):
            self.screen.complain(error)

    def back(self) -> None:
        """Leave a screen for the one below it; the last one for the pairs."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.show("home" if self.view is None else "pairs")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "help":  # where one types, ? is a character
            is_help = isinstance(self.screen, BaseScreen) and self.screen.NAME == "Help"
            return not is_help and bool(parameters) == isinstance(self.screen.focused, Input)
        if action == "command_palette":  # whose actions are those of the screen
            return self._prompt is None
        if action == "show":
            return not self._in_form and self._may_show(str(parameters[0]))
        opened = None if self.view is None else self.view.opened
        if action in ("mine_again", "teach", "conflicts"):
            return not self.read_only and opened is not None
        if action == "search" and opened is None:
            return False
        return not self._in_form or action not in ("search", "leave")

    def _may_show(self, name: str) -> bool:
        """Whether a screen can be shown that is not there."""
        if self.is_screen_installed(name) and self.screen is self.get_screen(name):
            return False
        return self.view is not None if SCREENS_OF[name][2] else not self.read_only

    @property
    def _in_form(self) -> bool:
        return isinstance(self.screen, BaseScreen) and self.screen.in_form

    def action_show(self, name: str) -> None:
        self.show(name)

    def action_redraw(self) -> None:
        self.refresh(layout=True)

    async def action_quit(self) -> None:
        self.ending.leave()

    action_leave = action_quit

    def on_exit_app(self, message: ExitApp) -> None:
        """End as by a key where it is the window of a browser that asks."""
        if self.return_code is None:
            message.prevent_default()
            self.ending.begin()

    def action_help_quit(self) -> None:
        self.notify("ctrl+q quits")

    def action_help(self, where: str = "") -> None:
        from .screens.help import HelpScreen

        self.push_screen(HelpScreen(self.screen))

    def notify(self, message: str, *, markup: bool = True, **_: object) -> None:
        """Show a message of Textual in the message line, not above the texts."""
        if isinstance(self.screen, BaseScreen):
            self.screen.say(Content.from_markup(message).plain if markup else message)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """List what can be done here, and the choice of a theme."""
        from .screens.help import actions_of

        for action in actions_of(screen):
            if action.group != "Move":
                run: Callable[[], object] = partial(self.run_action, action.name, action.node)
                title = f"{action.title}  {', '.join(action.keys)}"
                yield SystemCommand(title, action.more, run)
        for command in super().get_system_commands(screen):
            if command.title == "Theme":
                yield command


def _collect_from_now_on() -> None:
    """Collect garbage, but for the objects so far: these would take 0.1 to 0.2 s each time."""
    gc.freeze()
    gc.enable()
