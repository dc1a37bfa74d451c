"""The end of the app: by a key, by a signal, or because its terminal closes."""

import asyncio
import contextlib
import os
import signal
import sys
from typing import Any, cast

from textual.app import App
from textual.worker import Worker, WorkerError

from .screens.base import BaseScreen, Host
from .widgets.prompt import Prompt

# Groups of the workers that write files.
_WRITING = ("export", "save", "write")
_GRACE = 2.0  # seconds for the app to end by itself after a signal


class Ending:
    """How the app ends: files that are being written are waited for, nothing else is."""

    def __init__(self, app: App[Any]) -> None:
        self._app, self._host = app, cast("Host", app)
        self.code = 0  # with which the process ends after a signal; 0 before
        self._has_terminal = os.isatty(0)
        self._heard = False
        self._wrote = False  # whether a file was being written when the app was last asked to end

    def hear_signals(self) -> None:
        """End the app on SIGTERM and when its terminal closes; if it does not end, the process.

        Handlers of asyncio would wait for the app, which may wait for the terminal.
        """
        if sys.platform == "win32":
            return  # which ends a process without one
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                signal.signal(number, self._signalled)
        signal.signal(signal.SIGALRM, self._insist)

    def _signalled(self, number: int, _: object) -> None:
        """Ask the app to end; a session that ends sends several signals."""
        if not self.code:
            self.code = 128 + number
            self._ask_to_end()

    def _ask_to_end(self) -> None:
        self._heard, self._wrote = False, bool(self._writing())
        signal.setitimer(signal.ITIMER_REAL, _GRACE)
        try:
            asyncio.get_running_loop().call_soon_threadsafe(self.begin)
        except RuntimeError:  # the app has not begun, or is over
            sys.exit(self.code)

    def _insist(self, *_: object) -> None:
        """End the process, unless the app is there and a file is being written, or just was."""
        if self._heard and os.isatty(0) and (self._wrote or self._writing()):
            self._ask_to_end()
        else:
            os._exit(self.code)

    def leave(self) -> None:
        """End the app; where that stops a job, ask first."""
        while len(self._app.screen_stack) > 1 and not isinstance(self._app.screen, BaseScreen):
            self._app.pop_screen()  # the palette
        if not isinstance(screen := self._app.screen, BaseScreen):
            self.begin()
            return
        screen.query_one(Prompt).action_give_up()
        if running := " and ".join(x.title for x in self._host.jobs.jobs.values() if x.runs):
            screen.confirm(f"stop {running} and quit? y/n", self.begin)
        else:
            self.begin()

    def check_terminal(self) -> None:
        """End the app if its terminal is gone: in a session of its own it gets no signal."""
        if self._has_terminal and not os.isatty(0):
            self._has_terminal = False
            self.begin()

    def begin(self) -> None:
        self._heard = True
        self._app.run_worker(self._end(), group="leave")

    async def _end(self) -> None:
        writing = self._writing()
        if writing and isinstance(self._app.screen, BaseScreen):
            self._app.screen.say("a file is being written; the app ends as soon as it is whole")
        for each in writing:
            with contextlib.suppress(WorkerError):
                await each.wait()
        self._host.keep_place()
        self._app.exit(return_code=self.code)

    def _writing(self) -> "list[Worker[object]]":
        writing = [each for each in self._app.workers if each.group.split()[0] in _WRITING]
        return [each for each in writing if not each.is_finished]
