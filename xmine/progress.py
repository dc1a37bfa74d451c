"""How long work tells where it is: calls of a function that the caller may leave out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from xmine.units import short


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
