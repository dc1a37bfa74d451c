"""The command: the only place that knows every package, and the one boundary for errors.

Exit codes: 0 done, 1 failed, 2 wrong usage, 129 when the terminal was closed, 130 interrupted, 141
when the reader of stdout left, 143 terminated.
"""

import io
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from itertools import takewhile

from xmine.cli import progress_events as events
from xmine.cli.app import app
from xmine.display import visible
from xmine.errors import XmineError, XmineWarning


def run() -> None:
    """Run the command and leave with its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # data is UTF-8, whatever the locale says
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    if sys.stderr is None:  # closed; what is said would go to stdout, among the data
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminated)
        hangup = getattr(signal, "SIGHUP", None)  # Windows has none
        if hangup and signal.getsignal(hangup) is signal.SIG_DFL:  # and not nohup
            signal.signal(hangup, _terminated)
    events.end_with_our_program()
    warnings.showwarning = partial(_warn, warnings.showwarning, set())
    try:
        words = _commanded(sys.argv[1:])
        app("".join(words[:1]))(words, prog_name="xmine")
    except SystemExit as leaving:
        if leaving.code == 130:  # so Typer leaves on Ctrl-C
            _complain("interrupted")
        raise
    except KeyboardInterrupt:  # before Typer listens
        _complain("interrupted")
        sys.exit(130)
    except XmineError as error:
        if "--debug" in sys.argv:
            error.__notes__ = []  # the hint follows the message below
            traceback.print_exc()
        if told := _to_tell(error):
            _complain(told.message, told.hint)
        sys.exit(error.exit_code)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        if isinstance(error, OSError) and error.strerror:  # a full disk, a name that is too long
            _complain(": ".join(filter(None, [error.filename, error.strerror])))
            sys.exit(1)
        if isinstance(error, MemoryError):
            _complain("out of memory", "mine fewer lines at a time, for example: split -n l/4 FILE")
            sys.exit(1)
        if type(error).__name__ == "OutOfMemoryError":  # of torch, which may not be installed
            _complain("out of memory on the GPU", "give a smaller --batch-size, or --device cpu")
            sys.exit(1)
        _complain(
            f"internal error: {type(error).__name__}: {error}",
            "this is a bug; run again with --debug and report what it prints",
        )
        sys.exit(1)


def _commanded(words: list[str]) -> list[str]:
    """Put flags of every command that stand before the command, as in `xmine -q mine`, behind."""
    first = list(
        takewhile({"-q", "--quiet", "-v", "--verbose", "--json", "--debug"}.__contains__, words)
    )
    rest = words[len(first) :]
    end = rest.index("--") if "--" in rest else len(rest)
    return [*rest[:end], *first, *rest[end:]]


def _to_tell(error: XmineError) -> XmineError | None:
    """Choose what to tell of an error: of processes that train together, one speaks."""
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return error
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from torchrun, while this process leaves
    from xmine.trainer.distributed import to_tell

    return to_tell(error)


def _terminated(number: int, _: object) -> None:
    """Leave like any other failure, so that no temporary file stays."""
    sys.exit(128 + number)


def _warn(
    otherwise: Callable[..., None],
    told: set[str],
    said: Warning | str,
    kind: type[Warning],
    *place: object,
) -> None:
    """Tell a warning of ours once, as `Console.warn` does; those of libraries as Python does."""
    if not issubclass(kind, XmineWarning):
        otherwise(said, kind, *place)
        return
    if str(said) in told:  # of a file that is read again
        return
    told.add(str(said))
    if events.wanted():
        events.tell({"warning": str(said)})
    else:
        print(f"xmine: warning: {visible(str(said))}", file=sys.stderr)


def _complain(message: str, hint: str = "") -> None:
    if events.wanted():
        events.tell({"error": message, "hint": hint})
        return
    print(f"xmine: {visible(message)}", file=sys.stderr)
    if hint:
        print(f"hint: {visible(hint)}", file=sys.stderr)
