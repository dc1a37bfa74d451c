"""Results and progress -> what a notebook shows of them, by IPython alone, which runs it."""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape

from xmine.progress import Progress, Report, drawn_bar


def html_table(rows: Sequence[Sequence[str]], below: str = "") -> str:
    """Write a table, its first row the head, and a line `below`."""
    tags = ["th", *["td"] * (len(rows) - 1)]
    lines = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(tags, rows, strict=True)
    )
    table = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{table}</table>" + f"<p>{escape(below)}</p>" * bool(below)


def is_notebook() -> bool:
    """Tell whether cells of a notebook run here."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def notebook_bar() -> Iterator[Report]:
    """Draw a bar below the cell, of the stage that goes on; the bar is gone at the end."""
    ipython = importlib.import_module("IPython.display")
    shown, last = ipython.display(ipython.HTML(""), display_id=True), ""

    def report(progress: Progress) -> None:
        nonlocal last
        value, most = progress.done, max(progress.total, 1)
        drawn = f'<progress value="{100 * value // most}" max="100"></progress>'
        if drawn + progress.stage != last:  # a hundred times a stage at most
            last = drawn + progress.stage
            said = f"{escape(progress.stage)} {value:,} of {progress.total:,}"
            shown.update(ipython.HTML(f"{drawn} {said}"))

    yield report
    shown.update(ipython.HTML(""))


def bar(report: Report, *, wanted: bool) -> AbstractContextManager[Report]:
    """Give `report`, or one that draws a bar, in a notebook or a terminal, where `wanted`."""
    if not wanted:
        return nullcontext(report)
    return notebook_bar() if is_notebook() else drawn_bar()
