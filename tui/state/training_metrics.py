"""The metrics of a training run, read while they are written: its loss, its figures."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_FILE = "metrics.jsonl"


@dataclass(slots=True)
class Metrics:
    """The metrics that a run has logged so far.

    Attributes:
        output: the folder that the run makes.
        losses: stage -> steps and losses; the only stage of a run has no name.
        accuracies: stage -> steps and shares of held-out pairs that are retrieved.
        figures: the last value of each metric.
    """

    output: Path
    losses: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    accuracies: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)
    _read: int = 0  # bytes of the file

    def refresh(self) -> bool:
        """Read new lines; a file that became shorter is read from its start."""
        place = next(filter(os.path.isfile, self._places()), None)
        if place is None:
            return False
        try:
            size = place.stat().st_size
            at = self._read
            if size < at:
                self.losses, self.accuracies, self.figures, at = {}, {}, {}, 0
            if size == at:
                return False
            with place.open("rb") as file:
                file.seek(at)
                new = file.read(size - at)
        except OSError:  # it has just moved to where it stays
            return False
        whole = new.rfind(b"\n") + 1
        for line in new[:whole].splitlines():
            self._take(line)
        self._read = at + whole
        return whole > 0

    def _places(self) -> list[Path]:
        return [_begun(self.output) / _FILE, self.output / _FILE]

    def _take(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            stage, step = str(row.get("stage", "")), float(row["step"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        figures = {name: x for name, x in row.items() if isinstance(x, (int, float))}
        self.figures |= {name: x for name, x in figures.items() if name not in ("step", "epoch")}
        for name, curves in (("loss", self.losses), ("accuracy", self.accuracies)):
            if name in figures:
                _add(curves, stage, step, float(figures[name]))

    def hear(self, stage: str, step: int, numbers: Mapping[str, float]) -> None:
        """Add a loss of the progress, before the run logs it: short runs log few."""
        if "loss" in numbers:
            _add(self.losses, "" if stage == "training" else stage, step, numbers["loss"])


def _add(curves: dict[str, list[tuple[float, float]]], stage: str, step: float, x: float) -> None:
    """Add a point to a curve, unless the curve has the step."""
    curve = curves.setdefault(stage, [])
    if not curve or step > curve[-1][0]:
        curve.append((step, x))


def is_begun(output: Path) -> bool:
    """Tell whether an encoder, or a run that was stopped before its end, is there."""
    return os.path.exists(output) or os.path.exists(_begun(output))


def _begun(output: Path) -> Path:
    return Path(f"{output.absolute()}.training")
