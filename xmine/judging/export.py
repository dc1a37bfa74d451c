"""Pairs as they stand now, with what was repaired: to learn from, and in a file; its name."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from xmine.browsing.opened import Opened, Rows
from xmine.browsing.opening import open_pairs
from xmine.display import count
from xmine.errors import FileError, XmineError
from xmine.files.reading import STDIN
from xmine.judging.exchange import holds_labels, write_labels
from xmine.judging.judgements import Judgements
from xmine.pairs.judgements import file_beside
from xmine.pairs.pair import Pair

_REPAIR = b'"repair": {'  # in a file of judgements


def standing_pairs(path: str | Path) -> Iterator[Pair]:
    """Read pairs as `read_pairs` does; of those that were repaired what stands in their place."""
    from xmine.pairs.io import read_pairs
    from xmine.pairs.paths import files_like

    if str(path) != STDIN and not files_like(path):
        with suppress(OSError):
            if _REPAIR in file_beside(path).read_bytes():
                opened = open_pairs(Path(path))
                judgements = Judgements.open(opened)
                kept = np.flatnonzero(judgements.standing().kept(opened.cut))
                return (pair for pair in judgements.pairs(kept) if pair.source and pair.target)
    return read_pairs(path)


def export(
    judgements: Judgements, opened: Opened, rows: Rows, name: str, force: bool | None = None
) -> str:
    """Write some pairs into a file as they stand now, and say how many.

    Into .csv go the labels on them, see `write_labels`. `force`: of a command that has
    this option, whether a file may be replaced.

    Raises:
        XmineError: the name will not do, or the file cannot be written.
    """
    from xmine.pairs.io import check_pair_file, write_pairs  # here: it loads every format
    from xmine.pairs.paths import refuse_turned

    path = os.path.expanduser(name)
    try:
        if holds_labels(path):
            return write_labels(judgements, rows, path, force=bool(force))
        check_pair_file(path, force=bool(force), source=opened.path)
        refuse_turned(path, opened.languages)
        written = write_pairs(judgements.pairs(rows), path, opened.languages)
    except XmineError as error:
        if force is None and "--force" in error.hint:  # an option of the command
            raise FileError(error.message, "give another name") from error
        raise
    return ", ".join([f"{name}: {count(written.count, 'pair')}", *written.notes])


def free_name(opened: Opened, cut: float | None) -> str:
    """Name a file of the working folder that is not there yet, after the run and the cut."""
    name = re.split(r"[.,]", opened.path.name)[0] or "pairs"
    name += f"-{cut:.4f}".rstrip("0") if cut else ""
    names = (f"{name}.tsv", *(f"{name}-{n}.tsv" for n in range(2, 100)))
    return next((each for each in names if not Path(each).exists()), names[0])
