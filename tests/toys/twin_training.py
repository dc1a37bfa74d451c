"""What the literal twins of training methods share: vectors, optimisers and rates, by the book.

A twin is a method's paper in float64 and loops. It reads texts with copies of the encoders, and has
losses, gradients' use, masks and queues of its own. `beside` trains product and twin together.
"""

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokenizer import Vocabulary
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.rows import Rows, TokenizedSide, TrainingData
from xmine.trainer.models import tower_of
from xmine.trainer.models.static import StaticTower
from xmine.trainer.models.towers import Tower
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.run import prepare
from xmine.trainer.run.checkpoints import TrainingRun
from xmine.trainer.run.loop import run_steps
from xmine.trainer.run.step import Step

SAME = 1e-8  # of float64, after some steps of Adam
Pieces = list[list[int]]


def same(ours: Tensor, theirs: Tensor, what: str = "") -> None:
    """Compare what the product has with what its twin has."""
    torch.testing.assert_close(
        ours.detach(), theirs.detach(), atol=SAME, rtol=SAME, msg=lambda said: f"{what}: {said}"
    )


@contextmanager
def in_float64() -> Iterator[None]:
    """Compute everything in float64, also where the product asks for float32."""

    def double_tower(encoder: SentenceEncoder, *given: tuple[str, str]) -> Tower:
        return tower_of(encoder, *given).double()

    narrow = torch.Tensor.float

    def wide(tensor: Tensor) -> Tensor:  # GradScaler needs its one number as it is
        return tensor.double() if tensor.ndim else narrow(tensor)

    torch.set_default_dtype(torch.float64)
    setattr(torch.Tensor, "float", wide)  # noqa: B010 - mypy knows no such change
    setattr(prepare, "tower_of", double_tower)  # noqa: B010
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)
        setattr(torch.Tensor, "float", narrow)  # noqa: B010
        setattr(prepare, "tower_of", tower_of)  # noqa: B010


def pieces_of(tower: Tower, texts: Sequence[str]) -> Pieces:
    """Cut texts, one by one."""
    return [tower.cut([text]).ids.tolist() for text in texts]


def without_some(
    pieces: Pieces, shares: float | Sequence[float], random: np.random.Generator
) -> Pieces:
    """Leave a piece out where the number that is drawn for this piece is below the share."""
    lots = iter(random.random(sum(map(len, pieces))))
    if isinstance(shares, float):
        shares = [shares] * len(pieces)
    rows = zip(pieces, shares, strict=True)
    return [[piece for piece in each if next(lots) >= share] for each, share in rows]


def read(tower: Tower, pieces: Pieces) -> Tensor:
    """Make vectors [texts, dim], not scaled: of a static encoder the mean of the pieces."""
    if not isinstance(tower, StaticTower):
        lengths = [len(each) for each in pieces]
        starts = np.cumsum([0, *lengths])
        ids = np.array([piece for each in pieces for piece in each], dtype=np.int32)
        vectors: Tensor = tower(TokenizedSide(ids, starts, np.arange(len(pieces))))
        return vectors
    rows = []
    for each in pieces:
        row = torch.zeros(tower.vectors.shape[1])
        for piece in each:
            row = row + tower.vectors[piece] / len(each)
        for head in tower.heads:
            row = head(row[None])[0]
        rows.append(row if each else torch.zeros(tower.dim))
    return torch.stack(rows)


def unit(vectors: Tensor) -> Tensor:
    """Scale each row to length one; zeros stay."""
    return torch.stack([row / row.norm() if row.any() else row * 0 for row in vectors])


def rate_at(step: int, total: int, options: TrainingOptions) -> float:
    """Give the share of the peak rate at a step, from 0."""
    rising = options.warmup * total
    if options.schedule == "cosine":  # G-07: of the step's number from 1
        if step + 1 <= rising:
            return (step + 1) / rising
        return 0.5 * (1 + math.cos(math.pi * (step + 1 - rising) / (total - rising)))
    return min(1.0, (step + 1) / rising) if step < rising else (total - step) / (total - rising)


@dataclass
class Weight:
    """A parameter of the twin, and what Adam knows of its gradients.

    Attributes:
        value: the parameter.
        peak: of its learning rate.
        decay: of the weight, in a step at rate 1.
        still: rows that never change.
        sparse: whether Adam looks at the rows of a batch alone.
    """

    value: nn.Parameter
    peak: float
    decay: float = 0.0
    still: Sequence[int] = ()
    sparse: bool = False
    first: Tensor = field(init=False)
    second: Tensor = field(init=False)
    steps: int = 0

    def __post_init__(self) -> None:
        self.first = torch.zeros_like(self.value)
        self.second = torch.zeros_like(self.value)

    @torch.no_grad()
    def update(self, share: float, read: set[int]) -> None:
        """Take a step of AdamW, or of Adam for the rows that were read."""
        gradient = self.value.grad
        if gradient is None:
            return
        self.steps += 1
        rate = share * self.peak
        rows = sorted(read) if self.sparse else slice(None)
        if not self.sparse:
            self.value.mul_(1 - rate * self.decay)
        g = gradient[rows]
        self.first[rows] = 0.9 * self.first[rows] + 0.1 * g
        self.second[rows] = 0.999 * self.second[rows] + 0.001 * g**2
        first = self.first[rows] / (1 - 0.9**self.steps)
        second = self.second[rows] / (1 - 0.999**self.steps)
        epsilon = 1e-8
        if self.sparse:  # of which torch adds epsilon before the correction
            epsilon /= math.sqrt(1 - 0.999**self.steps)
        self.value[rows] -= rate * first / (second.sqrt() + epsilon)


def weights_of(module: nn.Module, peak: float, decay: float) -> list[Weight]:
    """List what is trained: piece vectors and single vectors (biases, gains) do not decay."""
    found = []
    for name, value in module.named_parameters():
        if isinstance(module, StaticTower) and name == "vectors":
            assert isinstance(module.pieces, Vocabulary)
            still = module.pieces.meaningless()
            found.append(Weight(value, peak, still=still, sparse=True))
        else:
            found.append(Weight(value, peak, decay if value.ndim > 1 else 0.0))
    return found


class Twin(Protocol):
    """What is written out in a test file."""

    def losses(self, rows: Sequence[int], random: np.random.Generator) -> dict[str, Tensor]:
        """Compute the losses of a step by name."""
        ...

    def weights(self) -> list[Weight]:
        """List what is trained."""
        ...

    def read_pieces(self) -> set[int]:
        """Give the pieces that were read with gradients in this step."""
        ...

    def finish(self) -> None:
        """Do what comes after the optimiser."""
        ...

    def compare(self, step: Step) -> None:
        """Compare every state with that of the product."""
        ...


class Noted:
    """Rows that tell which of them a batch has; the next one is taken before it is read."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.columns = rows, rows.columns
        self.taken: dict[int, list[int]] = {}

    def take(self, rows: NDArray[np.int64]) -> Rows:
        found = self.rows.take(rows)
        self.taken[id(found.columns)] = rows.tolist()
        return found

    def __len__(self) -> int:
        return len(self.rows)


def beside(
    step: Step,
    twin: Twin,
    rows: Rows,
    options: TrainingOptions,
    folder: Path,
    watch: Callable[[dict[str, Tensor]], None] = lambda _: None,
) -> int:
    """Train with the product's loop, the twin beside it; compare after each step; count them."""
    weights, done = twin.weights(), 0
    of_step, finish = step.losses, step.finish
    noted = Noted(rows)

    def learn(losses: dict[str, Tensor]) -> None:
        for each in weights:
            each.value.grad = None
        total = torch.zeros(())
        for loss in losses.values():
            total = total + loss
        torch.autograd.backward(total)
        there = [each for each in weights if each.value.grad is not None]
        gradients = []
        for each in there:
            assert each.value.grad is not None
            each.value.grad[list(each.still)] = 0
            gradients.append(each.value.grad)
        if options.clip:
            length = math.sqrt(sum(float((grad**2).sum()) for grad in gradients))
            for grad in gradients:
                grad *= min(1.0, options.clip / (length + 1e-6))
        for each in there:
            each.update(rate_at(done, options.steps, options), twin.read_pieces())

    def losses(batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        state = torch.get_rng_state()
        expected = twin.losses(noted.taken[id(batch.columns)], copy.deepcopy(random))
        torch.set_rng_state(state)
        found = of_step(batch, random)
        assert list(found) == list(expected)
        for name, loss in expected.items():
            same(found[name], loss, f"loss {name} of step {done}")
        watch(expected)
        learn(expected)
        return found

    def compare() -> None:
        nonlocal done
        finish()
        twin.finish()
        done += 1
        twin.compare(step)

    setattr(step, "losses", losses)  # noqa: B010 - mypy knows no such change
    setattr(step, "finish", compare)  # noqa: B010
    data = TrainingData(cast("Rows", noted), np.ones(len(rows)), None)
    run_steps(step, data, options, TrainingRun(folder, options, Corpus()), lambda _: None)
    return done


def compare_weights(ours: nn.Module, theirs: nn.Module) -> None:
    """Compare all parameters."""
    pairs = zip(ours.named_parameters(), theirs.parameters(), strict=True)
    for (name, own), other in pairs:
        same(own, other, name)
