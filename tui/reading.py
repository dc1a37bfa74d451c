"""A run or a file -> all that the app needs to show it."""

import warnings
from contextlib import suppress
from pathlib import Path

from xmine.browsing.judgements import Judgements
from xmine.browsing.opened import open_pairs
from xmine.browsing.recent import remember
from xmine.browsing.view import View
from xmine.errors import XmineError, XmineWarning

Read = tuple[View, Judgements, str]


def read(path: Path) -> Read:
    """Read a run or a file, what people say of its pairs, and what to warn of; empty for nothing.

    Raises:
        XmineError: it cannot be read.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", XmineWarning)
        opened = open_pairs(path)
    judgements = Judgements.open(opened)
    with suppress(XmineError):  # where nothing can be remembered, it still opens
        remember(path)
    said = [str(each.message) for each in told if issubclass(each.category, XmineWarning)]
    return View(opened, judgements.codes), judgements, "; ".join(said)
