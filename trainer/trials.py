"""A few steps of a method on some rows of its corpus -> seconds and bytes of a step."""

import time
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from xmine.encoders.tokenizer import Vocabulary
from xmine.hardware import forget_most_memory, most_memory
from xmine.progress import silent

from .data.corpus import Corpus
from .data.rows import TrainingData
from .distributed import broadcast
from .options.shared import TrainingOptions
from .run.checkpoints import Run
from .run.loop import Training
from .run.step import Step

_SECONDS = 0.5  # of a step, after which no larger batch is tried
_LEAST, _MOST = 16, 4096  # rows of the first batch, and of the corpus
OptionsT = TypeVar("OptionsT", bound=TrainingOptions)


def small(corpus: Corpus) -> Corpus:
    """Take rows of all parts of a corpus, at equal distances; pairs as those of one file."""

    def some(rows: int) -> Any:  # noqa: ANN401 - an array, whatever takes it as index
        return np.arange(rows)[:: max(1, -(-rows // _MOST))]

    return replace(
        corpus,
        pairs=corpus.pairs and replace(corpus.pairs.take(some(len(corpus.pairs))), languages=None),
        triplets=tuple(each.take(some(len(each))) for each in corpus.triplets),
        texts=[corpus.texts[row] for row in some(len(corpus.texts))],
        text_files=corpus.text_files[some(len(corpus.text_files))],
    )


def small_options(options: OptionsT, queue: int) -> OptionsT:
    """Fit options to few rows, but for the queue, whose size is that of the run."""
    kind = type(options)
    own = {"queue_for": lambda *_: queue, "remembered": lambda *_: 0}
    of_trial: Any = type(kind.__name__, (kind,), own)
    given = {each.name: getattr(options, each.name) for each in fields(options)}
    given |= {
        "held_out": 2,
        "limit_pairs": 0,
        "source_weight": {},
        "default_weight": 1.0,
        "dev": "",
    }
    if "queue_init" in given:
        given["queue_init"] = "random"  # prefilling is no part of a step
    fitted: OptionsT = of_trial(**given)
    return fitted


@dataclass
class Tried:
    """Rows, seconds, and bytes at most, of batches of a growing size.

    `reading` is seconds a row that a step does not take where `Step.remember` was called before.
    """

    sizes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    most: list[int] = field(default_factory=list)
    reading: float = 0.0

    def at(self, batch: int) -> tuple[float, float]:
        """Give seconds and bytes of a batch, on the line through the two largest."""
        return self._line(self.seconds, batch), self._line(self.most, batch)

    def _line(self, values: list[float] | list[int], batch: int) -> float:
        if len(values) == 1:
            return values[0]
        slope = max(0.0, (values[-1] - values[-2]) / (self.sizes[-1] - self.sizes[-2]))
        return values[-1] + slope * (batch - self.sizes[-1])


class Trial(Run):
    """A run without files that takes a few steps of each stage.

    Attributes:
        steps: of each stage, what a step took.
        learned: the parameters of the encoders that are trained -> their sizes.
        device: where the encoders learn.
        dim: of the vectors of the first encoder that does not learn, a teacher.
    """

    def __init__(self, vocabulary: Vocabulary | None) -> None:
        """Give a vocabulary for new encoders."""
        self.folder, self.name, self._vocabulary = Path(), "", vocabulary
        self.steps: list[Tried] = []
        self.learned: dict[nn.Parameter, int] = {}
        self.device, self.dim = "cpu", 0

    def take_over(
        self, step: Step, data: TrainingData, options: TrainingOptions
    ) -> dict[str, float]:
        """Take steps with larger and larger batches, up to that of the run or to half a second."""
        training = _Steps(step, data, options, self)
        training.peaks = [[0.0] * len(each) for each in training.peaks]  # nothing diverges
        training.total = 2**31  # more than a trial takes
        step.train()
        changed = {each for one in training.optimizers for each in training.changed_by(one)}
        of_encoders = [each for tower in step.towers() for each in tower.parameters()]
        self.learned |= {each: each.numel() for each in of_encoders if each in changed}
        for tower in step.towers():
            if not self.dim and changed.isdisjoint(tower.parameters()):
                self.dim = tower.dim
        if training.device.type == "cuda":
            self.device = str(training.device)
        order = np.random.default_rng(0).permutation(len(data.rows))
        tried, size = Tried(), min(_LEAST, options.batch_size)
        while True:
            rows = order[np.arange(size) % len(order)]
            _forget_most(training.device)
            seconds = min(_seconds(training, rows) for _ in range(2))
            tried.sizes.append(size)
            tried.seconds.append(seconds)
            tried.most.append(_most(training.device))
            is_enough = broadcast(seconds > _SECONDS)
            if size == options.batch_size or (is_enough and len(tried.sizes) > 1):
                break
            size = min(4 * size, options.batch_size)
        batch, started = data.rows.take(rows), time.perf_counter()
        step.remember(batch)
        took, of_step = time.perf_counter() - started, training.world.size * tried.seconds[-1]
        tried.reading = min(took, of_step) / len(rows)
        self.steps.append(tried)
        return {"accuracy": 0.0}

    def stage(self, name: str) -> "Trial":
        """Go on to a stage."""
        self.name = name
        return self

    def vocabulary(self) -> Vocabulary | None:
        """Give the vocabulary for new encoders."""
        return self._vocabulary

    def load(self, name: str) -> None:
        """Give no state: the trial begins anew."""

    def log(self, **numbers: float | str) -> None:
        """Keep no log."""

    def forget_after(self, step: int) -> None:
        """Keep no log."""


class _Steps(Training):
    """The steps of a run without evaluations and checkpoints."""

    def _end_of_step(self) -> None:
        pass


def _seconds(training: Training, rows: Any) -> float:  # noqa: ANN401 - an array of row numbers
    started = time.perf_counter()
    training.take(rows, silent)
    if training.device.type == "cuda":
        torch.cuda.synchronize(training.device)
    return time.perf_counter() - started


def _forget_most(device: torch.device) -> None:
    if device.type == "cuda" and torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats(device)
    forget_most_memory()


def _most(device: torch.device) -> int:
    if device.type == "cuda" and torch.cuda.is_available():
        return torch.cuda.max_memory_allocated(device)
    return most_memory()
