"""A run or a file -> all that the app needs to show it."""

from contextlib import suppress
from pathlib import Path

from xmine.browsing.judgements import Judgements
from xmine.browsing.opened import open_pairs
from xmine.browsing.recent import remember
from xmine.browsing.view import View
from xmine.errors import XmineError

Read = tuple[View, Judgements]


def read(path: Path) -> Read:
    """Read a run or a file, and what is said of its pairs.

    Raises:
        XmineError: it cannot be read.
    """
    opened = open_pairs(path)
    judgements = Judgements.open(opened)
    with suppress(XmineError):  # where nothing can be remembered, it still opens
        remember(path)
    return View(opened, judgements.codes), judgements
