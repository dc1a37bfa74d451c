"""Background threads: reading pairs, and work whose result only the latest request delivers.

A thread cannot be stopped: the first of two may end last, or when its screen is gone.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from xmine.browsing.compared import compare_opened
from xmine.browsing.cuts import check_cut
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery
from xmine.browsing.view import View
from xmine.errors import XmineError, XmineWarning
from xmine.judging.judgements import Judgements, judge_name
from xmine.judging.keys import key_of, row_of
from xmine.pairs.changes import counted, told
from xmine.pairs.judgements import PairKey

from .state import place_in, setting

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from textual.app import App
    from textual.widget import Widget

    from xmine.browsing.opened import Opened

ROWS = "rows"  # the kind of work that filters or sorts the open pairs
Found = TypeVar("Found")
Given = ParamSpec("Given")


class BackgroundWork:
    """Work of a widget or of the app in threads; only the latest request of a kind delivers."""

    def __init__(self, of: App[Any] | Widget) -> None:
        self._of = of
        self._turns: dict[str, int] = {}  # of each kind, how often it was asked for
        self._under_way: set[str] = set()  # kinds

    def run(
        self,
        kind: str,
        work: Callable[[], Found],
        done: Callable[[Found], object],
        failed: Callable[[XmineError], object],
    ) -> None:
        """Run `work` in a thread, then call `done` or `failed` in the thread of the app.

        A later request of the same `kind` takes the place of this one: neither function is called
        then, nor where the widget is gone.
        """
        turn = self._turns[kind] = self._turns.get(kind, 0) + 1
        self._under_way.add(kind)

        def hear(say: Callable[[], object]) -> None:
            if self._turns[kind] == turn and self._of.is_attached and self._of.is_running:
                self._under_way.discard(kind)
                say()

        def worked() -> None:
            if self._turns[kind] != turn:
                return
            try:
                say: Callable[[], object] = partial(done, work())
            except BaseException as error:  # panics of polars are no Exception
                say = partial(failed, _told(error))
            if self._of.is_running:  # or the app ends, and its loop
                self._of.app.call_from_thread(hear, say)

        # Not `exclusive`: Textual would not wait for the thread of a cancelled worker.
        self._of.run_worker(worked, thread=True, group=kind)

    def is_under_way(self, kind: str) -> bool:
        """Whether work of a kind was asked for, and has not delivered yet."""
        return kind in self._under_way


def _told(error: BaseException) -> XmineError:
    """Give the error to show: a fault in work of one kind does not end the app."""
    if isinstance(error, XmineError):
        return error
    kind = "" if isinstance(error, OSError) else f"internal error: {type(error).__name__}: "
    return XmineError(f"{kind}{error}")


_NAME = "xmine-reads"
_PATIENCE = 0.3  # seconds for threads that are nearly done


class Readers(ThreadPoolExecutor):
    """Threads of the app's workers; the end of the app waits for threads that write alone.

    See `Ending` for workers that write a file.
    """

    def __init__(self) -> None:
        super().__init__(thread_name_prefix=_NAME)

    def submit(
        self, fn: Callable[Given, Found], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Found]:
        """Run a call in a context of its own.

        Textual puts the worker of the call there; a waiting thread would keep that worker, and the
        pairs it read, until the thread's next call.
        """
        return super().submit(lambda: Context().run(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for a moment only."""
        del wait, cancel_futures
        super().shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + _PATIENCE
        for thread in _reading():
            thread.join(max(0.0, until - time.monotonic()))


def _reading() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(_NAME)]


def leave_readers(code: int) -> None:
    """End the process with an exit code if threads still read; return if none does."""
    if _reading():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


Read = tuple[View, Judgements, str]


def read(path: Path) -> Read:
    """Read a run or a file, the judgements of its pairs, and warnings (an empty text for none)."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", XmineWarning)
        opened = open_pairs(path)
        judgements = Judgements.open(opened, judge_name(setting("judge")))
    said = [str(each.message) for each in told if issubclass(each.category, XmineWarning)]
    view = view_at(place_in(path), opened, judgements.said, judgements.standing)
    return view, judgements, "; ".join(said)


def read_compared(old: Path, new: Path) -> Read:
    """Read what differs between two runs or files."""
    found = compare_opened(open_pairs(old), opened := open_pairs(new))
    judgements = Judgements.open(found, judge_name(setting("judge")), beside=new)
    said = told(counted(found.columns["change"].column.to_frame("change")))
    if opened.run.get("also", {}).get("seed_pairs"):
        said += f"; {new.name} was mined with verdicts: later ones alone count"
    return View(found, judgements.said), judgements, said


_MOST_LINES = 50  # that were typed


def place_of(view: View) -> dict[str, Any]:
    """Tell where a view is: query, cut if it was moved and not written, pair, and typed lines."""
    wanted = view.wanted
    cut = None if wanted.cut == view.opened.cut else wanted.cut
    lines = view.lines[-_MOST_LINES:]
    pair = list(key_of(view.opened, view.row)) if len(view.opened) else []
    return {"query": asdict(wanted.query), "cut": cut, "pair": pair, "lines": lines}


def view_at(place: Any, opened: Opened, said: Any, stands: Any = None) -> View:  # noqa: ANN401
    """Show the pairs of a place; those of the beginning, if there is no such place now."""
    try:
        query = PairQuery(**place["query"])
        cut = None if place["cut"] is None else float(place["cut"])
        if cut is not None:
            check_cut(opened, cut)
        view = View(opened, said, query, cut, stands)
        if place["pair"]:
            view.row = row_of(opened, PairKey(*place["pair"])) or 0
        view.lines = [*map(str, place["lines"])]
    except (AttributeError, TypeError, ValueError, KeyError, XmineError):
        return View(opened, said, stands=stands)
    return view
