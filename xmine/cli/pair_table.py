"""What `xmine mine` shows on a terminal without `-o`: its first pairs, and what to type next."""

import shlex
import shutil
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.display import count

if TYPE_CHECKING:
    from xmine.pairs.pair import Pair

# Rows: at most a dozen, and few enough that the head of the table stays on a screen of 24 lines
# together with what is said before and after it.
_FEWEST, _MOST, _AROUND = 5, 12, 17
_NARROWEST = 10  # cells of a text
_GAP = 2  # cells between columns


def is_terminal() -> bool:
    """Tell whether a person looks at stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def show_pairs(pairs: "Iterable[Pair]", total: int) -> None:
    """Print the first of `total` pairs on stdout, a line each, as wide as the terminal.

    A text that does not fit ends in `…`. No markup and no control in a text is obeyed.
    """
    if not total:
        return
    from rich.console import Console
    from rich.table import Table

    from xmine.tui.text import cut

    screen = Console(color_system=None, highlight=False, markup=False, emoji=False)
    most = max(_FEWEST, min(_MOST, screen.height - _AROUND))
    rows = list(islice(pairs, most))
    figures = [name for name in ("prob", "score") if getattr(rows[0], name) is not None]
    numbers = [[f"{getattr(pair, name):.4f}" for name in figures] for pair in rows]
    widest = [max(map(len, column)) for column in zip(*numbers, strict=True)]
    gaps = _GAP * (len(figures) + 1)
    room = max((screen.width - sum(widest) - gaps) // 2, _NARROWEST)
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    for name in figures:
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("source", "target"):
        table.add_column(name, no_wrap=True, width=room)
    for pair, told in zip(rows, numbers, strict=True):
        table.add_row(*told, cut(pair.source, room), cut(pair.target, room))
    if more := total - len(rows):
        table.add_row(*("…" for _ in figures), count(more, "more pair"), "…")
    screen.print(table)


def next_steps(run: str | None, *, keeps_run: bool = True) -> str:
    """Say how to look at the pairs of a run and, without one, first how to keep all, in one."""
    program, found = sys.argv[0], shutil.which("xmine")
    if Path(program).name != "xmine" or (
        found and Path(found).resolve() == Path(program).resolve()
    ):
        program = "xmine"  # as this shell finds it; else by its path
    kept = run or ("run/" if keeps_run else "pairs.tsv")
    browse = shlex.join([program, "browse", kept])
    if run:
        return f"next: {browse}"
    again = shlex.join([program, *sys.argv[1:], "-o", kept])
    other = " (or -o pairs.tsv)" * keeps_run
    return f"next, to keep all pairs{other} and to look at them:\n{again}\n{browse}"
