"""Garbage is looked for while nobody presses a key: to look through all objects takes 0.2 s."""

import gc
import time
from typing import Self

EVERY = 5.0  # seconds between two moments in which it may be collected
_QUIET = 2.0  # seconds without a key
_NEVER = 1_000_000_000


class Garbage:
    """Keeps Python from looking through all objects whenever it likes; see `collect`.

    What is young is collected as usual, and what nothing refers to goes at once.
    """

    def __init__(self) -> None:
        """Leave everything as it is."""
        self._usual: tuple[int, int, int] | None = None
        self._touched: float | None = time.monotonic()

    def __enter__(self) -> Self:
        """Take over."""
        self._usual = gc.get_threshold()
        gc.set_threshold(*self._usual[:2], _NEVER)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave it to Python again."""
        if self._usual is not None:
            gc.set_threshold(*self._usual)
            self._usual = None

    def touched(self) -> None:
        """Hear of a key or of the mouse."""
        self._touched = time.monotonic()

    def collect(self) -> None:
        """Collect what nobody needs, if there was a key since the last time, and now is none."""
        if self._usual is None:
            return
        if self._touched is not None and time.monotonic() - self._touched > _QUIET:
            self._touched = None
            gc.collect()
