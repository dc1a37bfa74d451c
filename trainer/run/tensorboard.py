"""The metrics of a run as event files for TensorBoard, beside metrics.jsonl and with its names."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.extras import needs

if TYPE_CHECKING:
    pass


class Board:
    """A folder of event files: one folder in it for each stage of the run."""

    def __init__(self, folder: Path) -> None:
        """Prepare to write to `folder`, which is made at the first line.

        Raises:
            XmineError: TensorBoard is not installed.
        """
        needs("--tensorboard", "tensorboard")
        from torch.utils.tensorboard import SummaryWriter

        self._new, self._folder = SummaryWriter, folder
        self._writers: dict[str, SummaryWriter] = {}

    def begin(self, stage: str, step: int) -> None:
        """Begin or go on after a step; curves forget what a stopped run had after it."""
        self._writers[stage] = self._new(str(self._folder / stage), purge_step=step + 1)

    def add(self, stage: str, numbers: Mapping[str, float | str]) -> None:
        """Add the numbers of a line of the metrics to the curves of their names."""
        if stage not in self._writers:
            return
        for name, value in numbers.items():
            if name not in ("step", "epoch") and not isinstance(value, str):
                self._writers[stage].add_scalar(name, value, int(numbers["step"]))
        self._writers[stage].flush()
