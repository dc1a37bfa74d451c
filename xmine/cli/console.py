"""What the command says besides its data: progress, warnings, one summary. All of it on stderr.

Data alone goes to stdout. Where stdout is a terminal, control characters of a corpus are shown
as visible symbols, since a terminal would obey them.
"""

import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import typer

from xmine.cli import progress_events as events
from xmine.display import visible
from xmine.errors import FileError
from xmine.files.records import json_row
from xmine.progress import Progress, Report, drawn_bar, in_words, silent

_NAME = "xmine: "
# Where no bar can be drawn, as in a log, a stage that lasts gets a line.
_LASTS = 2.0  # seconds after which a stage is told, so that a short run has no such line
_AGAIN = 30.0  # seconds between two lines of one stage
_PAUSE = 0.2  # seconds


@dataclass(frozen=True, slots=True)
class Console:
    """How much is said, and in which form."""

    quiet: bool = False
    verbose: bool = False
    as_json: bool = False
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Tell how long the command has run."""
        return time.perf_counter() - self.started

    def say(self, text: str, *, one_line: bool = False) -> None:
        """Say something worth knowing, or nothing; `one_line`: not wrapped, to be copied."""
        if self.quiet or not text:
            return
        if events.wanted():
            events.tell({"said": text})
        elif not self.as_json:
            _print(visible(text), one_line=one_line)

    def detail(self, text: str) -> None:
        """Say something only `-v` asks for."""
        if self.verbose:
            self.say(text)

    def warn(self, *texts: str) -> None:
        """Warn; `-q` does not silence it. With `--json` the object tells it instead."""
        for text in filter(None, texts):
            if events.wanted():
                events.tell({"warning": text})
            elif not self.as_json:
                _print(f"warning: {visible(text)}")

    def summary(self, text: str, facts: Mapping[str, object]) -> None:
        """End with one line or, on stdout, with one JSON object."""
        if self.as_json:
            write_rows([json_row(facts)])
        else:
            self.say(text)

    def show(self, rows: Iterable[str], facts: Mapping[str, object]) -> None:
        """Print rows of text on stdout or, with `--json`, one object of facts."""
        write_rows([json_row(facts)] if self.as_json else rows)

    def progress(self) -> AbstractContextManager[Report]:
        """Give a `report` that draws a bar on a terminal, and says a line now and then elsewhere.

        With XMINE_PROGRESS=json it writes lines for a program.
        """
        if events.wanted() and not self.quiet:
            return events.progress_events()
        if self.quiet or self.as_json:
            return nullcontext(silent)
        return drawn_bar() if _draws(sys.stderr.isatty()) else _lines(self.say)


@contextmanager
def _lines(say: Callable[[str], None]) -> Iterator[Report]:
    """Give a `report`; a thread says where the latest stage is: some report but start and end."""
    latest: Progress | None = None
    due: dict[str, float] = {}
    over = threading.Event()

    def report(progress: Progress) -> None:
        nonlocal latest
        due.setdefault(progress.stage, time.monotonic() + _LASTS)
        latest = progress

    def watch() -> None:
        while not over.wait(_PAUSE):
            now, stage = time.monotonic(), latest
            if stage and stage.done < stage.total and now >= due[stage.stage]:
                due[stage.stage] = now + _AGAIN
                told = f"{stage.stage}: {stage.done:,} of {stage.total:,}"
                say("  ".join(filter(None, [told, in_words(stage.numbers)])))

    watching = threading.Thread(target=watch, name="saying progress", daemon=True)
    watching.start()
    try:
        yield report
    finally:
        over.set()
        watching.join()


def _print(text: str, *, one_line: bool = False) -> None:
    """Print lines on stderr, behind the name of the command; no terminal breaks them in a word."""
    lines = text.split("\n")
    if sys.stderr is not None and sys.stderr.isatty() and not one_line:
        room = max(shutil.get_terminal_size().columns - len(_NAME), 20)
        wrapper = textwrap.TextWrapper(room, break_long_words=False, break_on_hyphens=False)
        lines = [part for line in lines for part in wrapper.wrap(line) or [""]]
    print(_NAME + f"\n{' ' * len(_NAME)}".join(lines), file=sys.stderr)


def has_styles(terminal: bool) -> bool:
    """Tell whether a stream, a terminal or not, is to have colours and other styles."""
    return _draws(terminal) and "NO_COLOR" not in os.environ


def _draws(terminal: bool) -> bool:
    return terminal and os.environ.get("TERM") != "dumb"


def write_rows(rows: Iterable[str], *, ready: bool = False) -> None:
    """Write rows of text to stdout; where the reader has left, leave as well.

    Rows that are `ready` have their controls replaced already, and styles of ours.
    """
    if sys.stdout is None:  # so Python says `>&-`
        raise FileError("standard output: is closed", "name a file with -o, or redirect it")
    replaces = sys.stdout.isatty() and not ready
    try:
        for row in rows:
            sys.stdout.write(visible(row) if replaces else row)
        sys.stdout.flush()
    except BrokenPipeError:  # `xmine mine … | head`
        _forget_stdout()
        raise typer.Exit(141) from None
    except OSError as error:
        _forget_stdout()
        raise FileError(f"standard output: {error.strerror}") from error


def _forget_stdout() -> None:
    """Let what is still to be written go nowhere, or Python would complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
