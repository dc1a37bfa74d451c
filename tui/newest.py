"""Work in threads, of which only what was asked for last is heard.

A thread cannot be stopped: the first of two may end last, or when its screen is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from xmine.errors import XmineError

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

Found = TypeVar("Found")


class Newest:
    """What a screen, or the app, does in the background."""

    def __init__(self, of: App[Any] | Screen[Any]) -> None:
        """Begin with nothing to do."""
        self._of = of
        self._turns: dict[str, int] = {}  # of each kind, how often it was asked for

    def run(
        self,
        kind: str,
        work: Callable[[], Found],
        done: Callable[[Found], object],
        failed: Callable[[XmineError], object],
    ) -> None:
        """Work in a thread, then call `done` or `failed` where the app can be changed.

        Neither is called if the same kind was asked for again meanwhile, or the screen is gone.
        What has not begun by then is not done at all.

        Args:
            kind: what takes the place of what.
            work: what to do; it changes nothing that is shown.
            done: is given what `work` gives.
            failed: is given what went wrong.
        """
        turn = self._turns[kind] = self._turns.get(kind, 0) + 1

        def hear(say: Callable[[], object]) -> None:
            if self._turns[kind] == turn and self._of.is_attached and self._of.is_running:
                say()

        def worked() -> None:
            if self._turns[kind] != turn:
                return
            tell = self._of.app.call_from_thread
            try:
                found = work()
            except XmineError as error:
                why = error  # `error` is gone when the block is left
                tell(hear, lambda: failed(why))
            else:
                tell(hear, lambda: done(found))

        # Not `exclusive`: nobody would wait for the thread of a worker that is called off.
        self._of.run_worker(worked, thread=True, group=kind)
