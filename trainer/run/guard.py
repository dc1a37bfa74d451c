"""Evaluations and losses of a run -> a sign that training goes wrong, and the option to change."""

from collections.abc import Mapping
from typing import Any

from ..options.shared import TrainingOptions
from .devset import fell

LIKER, FLEE = 0.3, -0.1  # rise of the mean cosine of strangers: a collapse; and what is too low
LESS = 0.03  # retrieval below that of the start
RISE = 1.2  # of the mean loss, over its lowest one between two evaluations
PATIENCE = 0.2  # share of the steps that a sign has to stand for before training ends


class Guard:
    """Watches a run, or a stage of it.

    Attributes:
        sign: what is wrong since the step `since`, with advice; empty if nothing is.
    """

    def __init__(self, options: TrainingOptions, total: int) -> None:
        """Begin before the first step."""
        self.options, self.total = options, total
        self.sign, self.since = "", 0
        self.losses, self.steps = 0.0, 0  # since the last evaluation
        self.lowest = float("inf")

    def see(self, loss: float) -> None:
        """See the loss of a step."""
        self.losses, self.steps = self.losses + loss, self.steps + 1

    def judge(
        self,
        now: Mapping[str, float],
        before: Mapping[str, float],
        best: Mapping[str, float],
        done: int,
    ) -> bool:
        """Judge an evaluation after `done` steps; tell whether training should end.

        A new encoder's sentences grow alike for some steps, and a trained one loses a little at the
        highest learning rate: a sign has to stand for some time, with retrieval below its best.
        """
        loss, lowest = self.losses / max(1, self.steps), self.lowest
        self.losses, self.steps, self.lowest = 0.0, 0, min(lowest, loss)
        likeness, begun = (each.get("likeness", 0.0) for each in (now, before))
        accuracy, first, most = (each.get("accuracy", 0.0) for each in (now, before, best))
        falls = fell({"accuracy": accuracy, "before": most}, max(1, self.options.held_out))
        follows = hasattr(self.options, "momentum")
        slower = "a smaller --learning-rate"
        signs = {  # what is wrong, and the option to change -> whether it is so
            f"sentences grow alike, mean cosine {likeness:.2f}: try "
            + ("--momentum nearer to 1" if follows else slower): likeness > begun + LIKER,
            f"sentences flee each other, mean cosine {likeness:.2f}: try "
            + ("a smaller --momentum" if follows else "a larger --temperature"): likeness < FLEE,
            f"the loss rose from {lowest:.3g} to {loss:.3g}: try {slower}"
            + " or --momentum" * follows: loss > RISE * lowest,
            f"held-out retrieval fell from {first:.1%} to {accuracy:.1%}: try {slower} or fewer "
            "--epochs": accuracy < first - LESS,
        }
        found = next((sign for sign, is_so in signs.items() if is_so and falls), "")
        if not (found and self.sign):
            self.since = done
        self.sign = found
        return bool(found) and done - self.since >= PATIENCE * self.total

    def state(self) -> dict[str, Any]:
        """Give what a resumed run needs."""
        return {name: each for name, each in vars(self).items() if name not in ("options", "total")}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where `state` was given."""
        vars(self).update(state)
