"""How long work tells where it is: calls of a function that the caller may leave out.

In a terminal and in a notebook a bar shows that, and a notebook shows results as tables.
"""

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from html import escape

from xmine.display import short


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` units of a stage are finished; `numbers` may say how it goes."""

    stage: str
    done: int
    total: int
    numbers: dict[str, float] = field(default_factory=dict)


Report = Callable[[Progress], None]


def silent(*told: object) -> None:
    """Say nothing: the default of every function that takes a `report`, a `warn` or a `tick`."""


def ticks(report: Report, stage: str, total: int) -> Callable[[int], None]:
    """Give what reports a stage by the number of units that are done."""
    return lambda done: report(Progress(stage, done, total))


@contextmanager
def drawn_bar() -> Iterator[Report]:
    """Draw a line for each stage that is not done, with colours where these are wanted."""
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=None, table_column=Column(ratio=1)),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[numbers]}"),
    )
    # The bar has the room that is left, so that on 80 columns no number is cut off.
    drawn = Bar(*columns, console=RichConsole(stderr=True), transient=True, expand=True)
    with drawn as bar:
        tasks: dict[str, int] = {}

        def report(progress: Progress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bar.add_task(progress.stage, numbers="")
            task = bar.tasks[tasks[progress.stage]].id
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                numbers=in_words(progress.numbers),
                visible=progress.done < progress.total,  # what is done is out of the way
            )

        yield report


def in_words(numbers: dict[str, float]) -> str:
    """Write the numbers of a stage, such as the loss."""
    return "  ".join(f"{name} {short(number)}" for name, number in numbers.items())


def html_table(rows: Sequence[Sequence[str]], below: str = "") -> str:
    """Write a table, its first row the head, and a line `below`."""
    tags = ["th", *["td"] * (len(rows) - 1)]
    lines = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(tags, rows, strict=True)
    )
    table = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{table}</table>" + f"<p>{escape(below)}</p>" * bool(below)


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
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    in_cell = type(shell).__name__ == "ZMQInteractiveShell"
    return notebook_bar() if in_cell else drawn_bar()
