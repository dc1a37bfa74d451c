"""An encoder and a head on top of it, trained together on a task -> what predicts its answers.

What papers call fine-tuning; the frozen kind is `papers.transfer`.
"""

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from papers.benchmarks import TransferOptions
from papers.metrics import goodness
from papers.tasks import HeadTask, Predict, check_learnable
from xmine.encoders.pair import Encoders, as_pair
from xmine.errors import OptionError, TrainingError
from xmine.progress import Progress, Report
from xmine.trainer.data.rows import TokenizedSide
from xmine.trainer.models import tower_class, tower_of
from xmine.trainer.models.towers import Tower, adamw
from xmine.trainer.run.step import linear

Candidate = tuple[str, ...]  # what one score is given to: a text, or two
_BATCH = 32  # examples of a step, where no --batch-size is given
_HEAD_RATE = 0.001  # a new layer has further to go than the encoder
_WARM_UP = 0.1
_LONGEST_GRADIENT = 1.0
# Batches whose examples are put in order of length together: less padding, and still random.
_SORTED_TOGETHER = 32


@dataclass(frozen=True, slots=True)
class FinetunedLearner:
    """Learns a task by training a copy of the encoder with a head.

    AdamW (for the rows of a static encoder its sparse kind without decay), linear warm-up and
    decay, and the epoch that was best on dev, or the last where there is no dev. On a CPU, the
    same seed gives the same predictions.
    """

    options: TransferOptions
    protocol: str = "the encoder is trained with a head on each task"

    def __call__(self, encoder: Encoders, task: HeadTask, prompt: str, report: Report) -> Predict:
        """Train; see `papers.tasks.Learner`.

        Raises:
            FileError: all of train has one answer.
            OptionError: `joined` with an encoder that cannot tell texts apart; two encoders.
            TrainingError: the loss is no longer a number.
        """
        check_learnable(task)
        pair = as_pair(encoder)
        one = pair.source
        if one is not pair.target:
            raise OptionError(
                f"--finetune trains one encoder with the head, and {pair.name} are two",
                "give one of them",
            )
        device = torch.device(one.device)
        devices = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices):  # the caller's random numbers stay as they were
            torch.manual_seed(self.options.seed)
            tower = tower_of(one, (prompt, prompt))
            head = TaskHead(task, tower.dim, joined=self.options.joined).to(device)
            model = _Model(tower, head, self.options.batch_size or _BATCH)
            _train(model, task, self.options, self.settings(one)["learning_rate"], report)
        return lambda texts, language: model.scores(model.cut(texts))

    def settings(self, encoder: Encoders) -> dict[str, Any]:
        """Give what the training was told, with the learning rate that was used."""
        names = ("epochs", "joined", "seed")
        return {
            "learner": "finetuned",
            "learning_rate": self.options.learning_rate
            or tower_class(as_pair(encoder).source).learning_rate,
            "batch_size": self.options.batch_size or _BATCH,
            **{name: getattr(self.options, name) for name in names},
        }


@dataclass(frozen=True, slots=True)
class _Cut:
    """Examples, cut into pieces."""

    side: TokenizedSide  # all candidates of all examples
    starts: NDArray[np.int64]  # [examples + 1], where each example starts in `side`
    counts: NDArray[np.int64]  # [examples], its candidates
    lengths: NDArray[np.int64]  # [examples], its pieces


class TaskHead(nn.Module):
    """The linear layer on top of an encoder that answers one task.

    class, document: from the vector u. pair, choice: from u, v and |u - v| of two texts (Reimers
    and Gurevych, 2019), of a premise with each of its choices; joined pairs are one vector. number:
    from u.
    """

    def __init__(self, task: HeadTask, dim: int, *, joined: bool) -> None:
        """Draw the weights; numbers are learned as distances from their mean on train."""
        super().__init__()
        self.kind = task.kind
        self.doubles = task.kind in ("pair", "choice")
        self.joined = joined and self.doubles
        outputs = 1 if task.kind in ("choice", "number") else len(task.classes)
        self.linear = nn.Linear(dim * (3 if self.doubles and not self.joined else 1), outputs)
        answers = task.train.answers
        self.middle, self.spread = float(answers.mean()), float(answers.std()) or 1.0

    def candidates(self, texts: Sequence[str]) -> list[Candidate]:
        """List what is scored in an example: itself, or its premise with each of its choices."""
        if self.kind == "choice":
            return [(texts[0], choice) for choice in texts[1:]]
        return [tuple(texts)]

    def forward(self, vectors: Tensor, counts: NDArray[np.int64]) -> Tensor:
        """Score examples of so many candidates [examples], whose vectors are [candidates, dim].

        Returns [examples, classes, labels or most choices], -inf for none, or [examples] numbers.
        """
        if self.doubles and not self.joined:
            first, second = vectors[0::2], vectors[1::2]
            vectors = torch.cat([first, second, (first - second).abs()], dim=1)
        scores: Tensor = self.linear(vectors)  # [candidates, outputs]
        if self.kind == "number":
            return scores[:, 0] * self.spread + self.middle
        if self.kind != "choice":
            return scores
        there = np.arange(counts.max()) < counts[:, None]  # [examples, most choices]
        table = scores.new_full(there.shape, float("-inf"))
        table[torch.from_numpy(there).to(scores.device)] = scores[:, 0]
        return table

    def loss(self, scores: Tensor, answers: Tensor) -> Tensor:
        """Cross entropy; of each label apart for documents; the absolute error of numbers."""
        if self.kind == "document":
            return nn.functional.binary_cross_entropy_with_logits(scores, answers)
        if self.kind == "number":
            return nn.functional.l1_loss(scores, answers)
        return nn.functional.cross_entropy(scores, answers.long())


class _Model(nn.Module):
    """An encoder and a head."""

    def __init__(self, tower: Tower, head: TaskHead, batch_size: int) -> None:
        super().__init__()
        self.tower = tower
        self.head = head
        self.batch_size = batch_size

    def cut(self, texts: Sequence[tuple[str, ...]]) -> _Cut:
        examples = [self.head.candidates(each) for each in texts]
        counts = np.array([len(each) for each in examples], dtype=np.int64)
        candidates = [candidate for each in examples for candidate in each]
        if self.head.joined:
            side = self.tower.cut_pairs([(first, second) for first, second in candidates])
        else:
            side = self.tower.cut([text for each in candidates for text in each])
        starts = np.concatenate([[0], np.cumsum(counts * (len(side) // len(candidates)))])
        return _Cut(side, starts, counts, np.diff(side.starts[starts]))

    def forward(self, cut: _Cut, rows: NDArray[np.int64]) -> Tensor:
        """Score some examples."""
        texts = np.concatenate([np.arange(cut.starts[row], cut.starts[row + 1]) for row in rows])
        # Rows whose numbers are of size one, which a linear layer wants, whatever the width.
        vectors = self.tower.embed(cut.side.take(texts)) * math.sqrt(self.tower.dim)
        scores: Tensor = self.head(vectors, cut.counts[rows])
        return scores

    @torch.no_grad()
    def scores(self, cut: _Cut) -> NDArray[np.float64]:
        """Score all examples in batches of like length, as `transfer.tasks.Predict` asks."""
        self.eval()
        batches = _cut_up(np.argsort(-cut.lengths, kind="stable"), self.batch_size)
        parts = [self(cut, rows).double().cpu().numpy() for rows in batches]
        shape = (len(cut.lengths), *np.max([part.shape[1:] for part in parts], axis=0).astype(int))
        table = np.full(shape, -np.inf)
        for rows, part in zip(batches, parts, strict=True):
            if part.ndim == 1:
                table[rows] = part
            else:  # a batch may have fewer choices
                table[rows, : part.shape[1]] = part
        return table


def _train(
    model: _Model, task: HeadTask, options: TransferOptions, learning_rate: float, report: Report
) -> None:
    """Train, and leave the model in the state that was best on dev, or the last."""
    cut = model.cut(task.train.texts)
    dev = task.dev
    dev_cut = model.cut(dev.texts) if dev else None
    total = options.epochs * -(-len(cut.lengths) // model.batch_size)
    answers = torch.from_numpy(task.train.answers).float().to(model.head.linear.weight.device)
    optimizers = [*model.tower.optimizers(learning_rate), adamw(model.head, _HEAD_RATE)]
    schedules = [LambdaLR(each, lambda at: linear(at, total, _WARM_UP)) for each in optimizers]
    random = np.random.default_rng(options.seed)
    best, best_quality, done = None, -math.inf, 0
    for _ in range(options.epochs):
        model.train()
        for rows in _random_batches(cut.lengths, model.batch_size, random):
            loss = model.head.loss(model(cut, rows), answers[rows])
            model.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            gradients = ((each, each.grad) for each in model.parameters())
            dense = [each for each, found in gradients if found is not None and not found.is_sparse]
            nn.utils.clip_grad_norm_(dense, _LONGEST_GRADIENT)
            for rates in schedules:
                rates.optimizer.step()
                rates.step()
            value, done = loss.item(), done + 1
            if not math.isfinite(value):
                raise TrainingError(
                    f"{task.name}: the loss is {value} at step {done}",
                    "give a smaller --learning-rate",
                )
            report(Progress(f"training on {task.name}", done, total, {"loss": value}))
        if dev and dev_cut:
            quality = goodness(task.kind, model.scores(dev_cut), dev.answers)
            if quality > best_quality:
                best, best_quality = copy.deepcopy(model.state_dict()), quality
    if best is not None:
        model.load_state_dict(best)
    model.eval()


def _random_batches(
    lengths: NDArray[np.int64], size: int, random: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Shuffle examples into batches of like length."""
    batches: list[NDArray[np.int64]] = []
    for rows in _cut_up(random.permutation(len(lengths)), size * _SORTED_TOGETHER):
        batches += _cut_up(rows[np.argsort(lengths[rows], kind="stable")], size)
    for place in random.permutation(len(batches)):
        yield batches[place]


def _cut_up(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
