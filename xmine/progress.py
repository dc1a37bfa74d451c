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
