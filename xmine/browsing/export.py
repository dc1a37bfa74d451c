"""Some pairs -> a file, as they stand now; a name for such a file."""

import os
import re
from pathlib import Path

from xmine.browsing.judgements import Judgements
from xmine.browsing.opened import Opened, Rows
from xmine.errors import FileError, XmineError
from xmine.units import count


def export(judgements: Judgements, opened: Opened, rows: Rows, name: str) -> str:
    """Write some pairs into a file as they stand now, and say how many.

    Raises:
        XmineError: the name will not do, or the file cannot be written.
    """
    from xmine.pairs.io import check_pair_file, write_pairs  # here: it loads every format
    from xmine.pairs.paths import refuse_turned

    path = os.path.expanduser(name)
    try:
        check_pair_file(path, force=False, source=opened.path)
        refuse_turned(path, opened.languages)
        written = write_pairs(judgements.pairs(rows), path, opened.languages)
    except XmineError as error:
        if "--force" in error.hint:  # an option of the command
            raise FileError(error.message, "give another name") from error
        raise
    return ", ".join([f"{name}: {count(written.count, 'pair')}", *written.notes])


def free_name(opened: Opened, cut: float | None) -> str:
    """Name a file of the working folder that is not there yet, after the run and the cut."""
    name = re.split(r"[.,]", opened.path.name)[0] or "pairs"
    name += f"-{cut:.4f}".rstrip("0") if cut else ""
    names = (f"{name}.tsv", *(f"{name}-{n}.tsv" for n in range(2, 100)))
    return next((each for each in names if not Path(each).exists()), names[0])
