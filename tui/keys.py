"""Keys wait for each other and for the screen that they are meant for: type-ahead is kept."""

import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from textual.app import App
from textual.events import Key, Paste
from textual.message import Message
from textual.widget import Widget

from .key_table import STAYING
from .screens.base import BaseScreen, OpeningScreen

_LOOK = 0.01  # seconds between two looks at what a key waits for
_LONGEST = 10.0  # seconds that a key waits behind the one before it: else the app is deaf


@dataclass
class KeyDone(Message):
    """Goes the way of a key, behind it, then the way of what the key made a widget tell."""

    widget: Widget
    key: Key | Paste
    over: bool = False


class TypeAhead:
    """Keys and pasted texts; each is given when all that the one before it began is done.

    A key may open a screen, or a line to type into: the next one is meant for that.
    """

    def __init__(self, app: App[Any], give: Callable[[Key | Paste], Awaitable[None]]) -> None:
        """Begin without keys; `give` hands one to the app."""
        self._app, self._give = app, give
        self._waiting: deque[Key | Paste] = deque()
        self._key: Key | Paste | None = None  # that was given, and is not done yet
        self._to: Widget | None = None  # that the key was given to
        self._since = 0.0  # when the head of the queue began to wait
        self._looks = False

    def __len__(self) -> int:
        """Count the keys that wait or are not done."""
        return len(self._waiting) + (self._key is not None)

    async def take(self, key: Key | Paste) -> None:
        if isinstance(self._app.screen, OpeningScreen) and self._is_free(key):
            self._waiting.clear()  # they were for what is given up
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(key)
        await self._next()

    async def done(self, told: KeyDone) -> None:
        """Hear that a key went its way; the messages that came of it are ahead of the second."""
        if told.key is not self._key:
            return
        follows = KeyDone(told.widget, told.key, over=True)
        if told.over or not told.widget.post_message(follows):
            self._key = self._to = None
            await self._next()

    async def _next(self) -> None:
        if self._to is not None and not self._to.is_attached:  # the key closed what it was given to
            self._key = self._to = None
        while self._waiting and (
            self._is_free(self._waiting[0]) or time.monotonic() - self._since > _LONGEST
        ):
            key, self._since = self._waiting.popleft(), time.monotonic()
            self._key = key
            self._to = self._app.focused or self._app.screen
            await self._give(key)
            if not self._to.post_message(KeyDone(self._to, key)):
                self._key = self._to = None
        if len(self) and not self._looks:
            self._looks = True
            self._app.set_timer(_LOOK, self._look)

    async def _look(self) -> None:
        self._looks = False
        await self._next()

    def _is_free(self, key: Key | Paste) -> bool:
        """Whether the screen stands, and the last key is done, or opens nothing as this one."""
        screen, name = self._app.screen, key.key if isinstance(key, Key) else ""
        if not isinstance(screen, BaseScreen):  # the palette
            return self._key is None and screen.focused is not None
        return screen.hears(name) and (
            self._key is None or (self._stays(self._key) and self._stays(key))
        )

    def _stays(self, key: Key | Paste) -> bool:
        """Whether a key opens nothing: one draws once what several of them have changed."""
        active = self._app.screen.active_bindings.get(key.key) if isinstance(key, Key) else None
        return active is not None and active.binding.id in STAYING
