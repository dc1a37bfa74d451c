"""The command: the only place that knows every package, and the one boundary for errors.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 141 when the reader of stdout left.
"""

import os
import sys
import traceback

from xmine.cli.app import app
from xmine.errors import XmineError


def run() -> None:
    """Run the command and leave with its exit code."""
    try:
        app(prog_name="xmine")
    except XmineError as error:
        if "--debug" in sys.argv:
            traceback.print_exc()
        _complain(error.message, error.hint)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # `xmine mine … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(130)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        _complain(
            f"internal error: {type(error).__name__}: {error}",
            "this is a bug; run again with --debug and report what it prints",
        )
        sys.exit(1)


def _complain(message: str, hint: str = "") -> None:
    print(f"xmine: {message}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
