"""Options and a corpus -> how much memory and time training will take, before it begins.

Memory follows from sizes and from what a trial step holds for its gradients; time from that step,
on towers of its own, so that nothing of the run changes.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer, SparseAdam

from xmine.estimate import duration, in_words
from xmine.hardware import allowed_threads, choose_device
from xmine.memory import anonymous_memory, free_memory
from xmine.modules.static import StaticEmbedding
from xmine.trainer.corpus import Corpus
from xmine.trainer.data import Side, visits
from xmine.trainer.distributed import together
from xmine.trainer.losses import info_nce, logits_of
from xmine.trainer.options import TrainingOptions
from xmine.trainer.prepare import SCRATCH, load_encoder, new_encoder, static_start
from xmine.trainer.towers import Tower, tower_of
from xmine.trainer.training import deterministic
from xmine.trainer.transformer import TransformerTower, pieces_at_once
from xmine.vocabulary import Vocabulary

_FLOAT = 4  # bytes
# A character of the sentences that a vocabulary is made of: 23 s for 6.2 million of English and
# Chinese news, 16,000 pieces (2 cores).
_A_CHARACTER = 4e-6
_SECONDS = 0.5  # that a trial takes at least, or it says little
_LEAST, _MOST = 16, 4096  # texts of a trial
_LOGITS = 3  # tables as large as the logits: themselves, their softmax, their gradient
_PRODUCT = 256, 4096  # rows and candidates whose logits are tried


@dataclass(frozen=True, slots=True)
class TrainingEstimate:
    """What a run will take.

    Attributes:
        rows: visited in a pass.
        steps: of all passes.
        weights: of the encoders that are trained.
        memory: bytes of each process, by what they are for.
        device: where it trains.
        seconds: in all.
    """

    rows: int
    steps: int
    weights: int
    memory: dict[str, int]
    device: str
    seconds: float

    def __str__(self) -> str:
        """Say it in a line."""
        parts = ", ".join(f"{name} {in_words(size)}" for name, size in self.memory.items() if size)
        return (
            f"estimate: {self.steps:,} steps, {self.rows:,} rows a pass, "
            f"{self.weights:,} weights, {in_words(self.total_memory)} of memory "
            f"({parts}), {duration(self.seconds)} on {self.device}"
        )

    @property
    def total_memory(self) -> int:
        """Add up the bytes."""
        return sum(self.memory.values())

    def facts(self) -> dict[str, object]:
        """Tell it for programs."""
        return {**asdict(self), "total_memory": self.total_memory}

    def warnings(self, options: TrainingOptions) -> list[str]:
        """Say what will not go as it was asked for."""
        found = [self._shortage()]
        if options.batch_size > self.rows:
            found.append(
                f"--batch-size {options.batch_size:,} for {self.rows:,} rows: each pass is one step"
            )
        return list(filter(None, found))

    def _shortage(self) -> str:
        """Say that the memory will not do, and what takes less."""
        if self.device.startswith("cuda"):
            free = torch.cuda.mem_get_info(self.device)[0]
        else:
            free = free_memory() or self.total_memory
        if self.total_memory <= free:
            return ""
        return (
            f"training takes about {in_words(self.total_memory)} of memory, {in_words(free)} are "
            "free: --recompute, --logit-rows and a smaller --batch-size take less"
        )


@dataclass(frozen=True, slots=True)
class _Trial:
    """What an encoder takes.

    Attributes:
        weights, dim: its sizes.
        reading, learning: seconds a text, without and with gradients.
        step: seconds of the optimiser, whatever the batch.
        held: bytes a text, from the forward to the backward pass.
        pieces: of a text.
    """

    weights: int
    dim: int
    reading: float
    learning: float
    step: float
    held: int
    pieces: float


class _Times(NamedTuple):
    """Seconds of reading, of learning, of the optimisers; bytes held for the gradients."""

    reading: float
    learning: float
    step: float
    held: int


def estimate_training(corpus: Corpus, options: TrainingOptions) -> TrainingEstimate:
    """Estimate what a run takes.

    Args:
        corpus: what it trains on.
        options: of the method, whose `encoders`, `stages`, `followers`, `queues` and `candidates`
            tell what its steps are.

    Raises:
        TrainingError: a weight names an origin that no pair has, or the queue is too large.
        EncoderError: an encoder to begin with cannot be read.
    """
    before, processes = anonymous_memory(), int(os.environ.get("WORLD_SIZE", "1"))
    device = choose_device(options.device)
    together(torch.device(device))  # so that each process tries on a GPU of its own
    rows, members = _rows_of(corpus, options)
    batch = min(options.batch_size, rows)
    most = options.steps or math.inf  # of each stage
    steps = int(sum(min(passes * (rows // batch), most) for passes in options.stages))
    own = max(1, batch // processes)  # rows of this process
    texts = own * members // options.readers  # that each encoder reads in a step
    distinct = sum(map(len, (corpus.pairs or (), corpus.texts, *corpus.triplets[:1])))
    distinct -= _left_out(corpus, options)
    queues, candidates = options.queues(distinct), options.candidates(distinct)
    with (
        torch.random.fork_rng(range(torch.cuda.device_count())),
        deterministic(options.threads or allowed_threads()),
    ):
        tried = [
            _tried(name, _some(corpus, at, options.readers), options)
            for at, name in enumerate(options.encoders)
        ]
        following = [
            tried[options.encoders.index(name)]
            if name in options.encoders
            else _tried(name, _some(corpus, at, options.readers), options, learns=False)
            for at, name in enumerate(options.followers)
        ]
        logits = _logits_seconds(tried[0].dim, device)
    weights = sum(each.weights for each in tried)
    seconds = steps * (
        sum(each.learning * texts + each.step for each in tried)
        + sum(each.reading * texts for each in following)
        + logits * own * sum(candidates)
    )
    if SCRATCH in options.encoders and not options.start:
        seconds += _A_CHARACTER * _characters(corpus, options.vocabulary_sample)
    evaluations = steps // options.evaluate_every if options.evaluate_every else sum(options.stages)
    seconds += evaluations * 2 * options.held_out * max(each.reading for each in tried)
    memory = {
        "program": before,
        "weights and optimiser": 4 * _FLOAT * weights,  # with gradients and two moments
        "copies": _FLOAT * sum(each.weights for each in following),
        "activations": _activations(tried, texts, options, torch.device(device)),
        "queues": _FLOAT * tried[0].dim * sum(queues),
        "logits": _LOGITS * _FLOAT * min(own, options.logit_rows or own) * sum(candidates),
    }
    return TrainingEstimate(rows, steps, weights, memory, str(device), seconds)


def _activations(
    tried: Sequence[_Trial], texts: int, options: TrainingOptions, device: torch.device
) -> int:
    """Count the bytes held for gradients: of the batch, or of what is computed again together."""
    if not options.recompute:
        return sum(each.held for each in tried) * texts
    most = pieces_at_once(options.pieces_at_once, device)
    return int(sum(each.held * min(texts, most / each.pieces) for each in tried))


def _rows_of(corpus: Corpus, options: TrainingOptions) -> tuple[int, int]:
    """Count the rows of a pass, and the texts of a row."""
    rows = float(len(corpus.triplets[0])) if corpus.triplets else 0.0
    if corpus.pairs:
        visited = visits(corpus.pairs, options.source_weight, options.default_weight).sum()
        rows += visited * (1 - _left_out(corpus, options) / len(corpus.pairs))
    rows = max(0.0, rows - options.held_out) + len(corpus.texts)
    return max(1, int(rows)), 3 if corpus.kinds == ("triplets",) else 2


def _left_out(corpus: Corpus, options: TrainingOptions) -> int:
    """Count the pairs that `--limit-pairs` leaves out."""
    most = options.limit_pairs + options.held_out
    return max(0, len(corpus.pairs or ()) - most) if options.limit_pairs else 0


def _characters(corpus: Corpus, sample: int) -> float:
    """Count the characters of so many sentences."""
    columns = list(corpus.every_text())
    sentences = sum(map(len, columns))
    characters = sum(len(text) for column in columns for text in column)
    return characters * min(1.0, sample / max(1, sentences))


def _some(corpus: Corpus, number: int, encoders: int) -> list[str]:
    """Take some texts from all columns, or from those that one of several encoders reads."""
    columns = list(corpus.every_text())
    own = columns[number::encoders] or columns
    samples = [column[:: max(1, len(own) * len(column) // _MOST)] for column in own]
    texts = [text for row in zip(*samples, strict=False) for text in row]
    order = np.random.default_rng(0).permutation(len(texts))  # sources stand one after the other
    return [texts[at] for at in order]


def _tried(
    name: str, texts: Sequence[str], options: TrainingOptions, *, learns: bool = True
) -> _Trial:
    """Read some texts with an encoder, and learn from them if it is to learn."""
    tower = _tower(name, options)
    optimizers = tower.optimizers(1e-9) if learns else []
    count = 1  # at first, for what is done but once, or once for each shape
    while True:
        some = tower.cut([texts[at % len(texts)] for at in range(count)])
        first = _step(tower, some, optimizers)
        enough = first.learning + first.reading > _SECONDS and count >= _LEAST
        if count >= _MOST or enough:
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
    return _Trial(weights, tower.dim, reading / count, learning / count, step, held, pieces)


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
    if isinstance(tower, TransformerTower):
        tower.pieces_at_once = options.pieces_at_once
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


def _logits_seconds(dim: int, device: str) -> float:
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
