"""Numbers of lines, as people type them -> the pair that they name."""

import numpy as np

from xmine.browsing.opened import Opened, Rows
from xmine.errors import OptionError


def rows_at(opened: Opened, source_line: int, target_line: int) -> Rows:
    """Find the pairs of two lines, int64 [found]: several where lines were cut into sentences."""
    source = opened.source.lines[opened.sources] == source_line
    target = opened.target.lines[opened.targets] == target_line
    return np.flatnonzero(source & target)


def row_at(opened: Opened, source_line: int, target_line: int) -> int:
    """Find the pair of two lines.

    Raises:
        OptionError: there is none, or there are several.
    """
    rows = rows_at(opened, source_line, target_line)
    if len(rows) != 1:
        many = f"{len(rows)} pairs" if len(rows) else "no pair"
        hint = f"xmine browse {opened.path} shows which there are"
        if opened.is_run and not len(rows):
            hint = (
                "mining had no such candidate, and only candidates can be shown and judged; what "
                "you know of others, xmine mine --seed-pairs FILE takes, from a file with the line "
                f"{source_line}<TAB>{target_line}<TAB>1 (0 for a wrong pair)"
            )
        raise OptionError(
            f"{opened.path}: {many} of line {source_line:,} and line {target_line:,}", hint
        )
    return int(rows[0])
