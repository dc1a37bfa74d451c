"""An encoder -> what it takes to read and to learn from a text, tried on a tower of its own."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer, SparseAdam

from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.tokenizer import Vocabulary

from ..data.rows import Side
from ..losses.contrastive import info_nce, logits_of
from ..models.loading import tower_of
from ..models.towers import Tower
from ..options.shared import SCRATCH, TrainingOptions
from ..run.prepare import load_encoder, new_encoder, set_up, static_start

_SECONDS = 0.5  # that a trial takes at least, or it says little
_LEAST, MOST = 16, 4096  # texts of a trial
_PRODUCT = 256, 4096  # rows and candidates whose logits are tried


@dataclass(frozen=True, slots=True)
class Trial:
    """What an encoder takes.

    Attributes:
        weights, dim: its sizes.
        reading, learning: seconds a text, without and with gradients.
        step: seconds of the optimiser, whatever the batch.
        held: bytes a text, from the forward to the backward pass.
        pieces: of a text.
        device: where it runs; a static encoder always on the processor.
    """

    weights: int
    dim: int
    reading: float
    learning: float
    step: float
    held: int
    pieces: float
    device: str


class _Times(NamedTuple):
    """Seconds of reading, of learning, of the optimisers; bytes held for the gradients."""

    reading: float
    learning: float
    step: float
    held: int


def tried_on(
    name: str, texts: Sequence[str], options: TrainingOptions, *, learns: bool = True
) -> Trial:
    """Read some texts with an encoder, and learn from them if it is to learn."""
    tower = _tower(name, options if learns else options.of_frozen())
    optimizers = tower.optimizers(1e-9) if learns else []
    count = 1  # at first, for what is done but once, or once for each shape
    while True:
        some = tower.cut([texts[at % len(texts)] for at in range(count)])
        first = _step(tower, some, optimizers)
        enough = first.learning + first.reading > _SECONDS and count >= _LEAST
        if count >= MOST or enough:
            break
        count *= 4
    # The better of two: a machine that does something else makes times longer, never shorter.
    again = _step(tower, some, optimizers)
    reading, learning = min(first.reading, again.reading), min(first.learning, again.learning)
    step = min(first.step, again.step)
    if any(isinstance(each, SparseAdam) for each in optimizers):  # which goes by the texts
        learning, step = learning + step, 0.0
    weights = sum(each.numel() for each in tower.parameters())
    if name == SCRATCH and not options.start:  # it will have another vocabulary
        weights += (options.vocabulary_size - len(_known_vocabulary(options))) * options.width
    held, pieces = again.held // count, len(some.ids) / count
    sizes = weights, tower.dim
    return Trial(*sizes, reading / count, learning / count, step, held, pieces, str(tower.device))


def _step(tower: Tower, side: Side, optimizers: Sequence[Optimizer]) -> _Times:
    """Read some texts, learn from them, and let the optimisers act, if there are any."""

    def read() -> None:
        with torch.no_grad():
            tower.embed(side)

    def step() -> None:
        for each in optimizers:
            each.step()
            each.zero_grad(set_to_none=True)

    reading, _ = _timed(read, tower.device)
    if not optimizers:
        return _Times(reading, 0.0, 0.0, 0)
    learning, held = _timed(lambda: _learn(tower.embed(side).sum()), tower.device)
    return _Times(reading, learning, _timed(step, tower.device)[0], held)


def _known_vocabulary(options: TrainingOptions) -> Vocabulary:
    """Give the vocabulary that a new encoder begins with, or the embedded one in its place."""
    body = static_start(options) or load_encoder("embedded", options).body
    assert isinstance(body, StaticEmbedding) and isinstance(body.pieces, Vocabulary)
    return body.pieces


def _tower(name: str, options: TrainingOptions) -> Tower:
    """Make a tower as training will; a new vocabulary is not there yet, so it has a known one."""
    if name == SCRATCH:
        encoder = new_encoder(_known_vocabulary(options), options)
    else:
        encoder = load_encoder(name, options)
    tower = tower_of(encoder).train()
    set_up(tower, name, replace(options, recompute=False))  # what is held follows from the whole
    return tower


def _learn(loss: Tensor) -> None:
    torch.autograd.backward(loss)


def _timed(work: Callable[[], object], device: torch.device) -> tuple[float, int]:
    """Give the seconds that work takes, and the bytes that it holds for its gradients."""
    held: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        if not tensor.is_leaf:  # weights are held anyway
            storage = tensor.untyped_storage()
            held[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _wait(device)
        started = time.perf_counter()
        work()
        _wait(device)
    return time.perf_counter() - started, sum(held.values())


def logits_seconds(dim: int, device: str) -> float:
    """Give the seconds that a logit takes with its gradient."""
    rows, candidates = _PRODUCT
    query = torch.randn(rows, dim, device=device, requires_grad=True)
    keys = torch.randn(candidates, dim, device=device)
    own = torch.arange(rows, device=device)
    best = math.inf
    for _ in range(3):
        seconds, _ = _timed(
            lambda: _learn(info_nce(logits_of(query, keys, 1.0), own)), query.device
        )
        best = min(best, seconds)
    return best / (rows * candidates)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
