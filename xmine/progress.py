"""How long work tells where it is: calls of a function that the caller may leave out."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` units of a stage are finished; `numbers` may say how it goes."""

    stage: str
    done: int
    total: int
    numbers: dict[str, float] = field(default_factory=dict)


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report nothing: the default of every function that takes a `report`."""


def ticks(report: Report, stage: str, total: int) -> Callable[[int], None]:
    """Give what reports a stage by the number of units that are done."""
    return lambda done: report(Progress(stage, done, total))
