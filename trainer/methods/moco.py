"""Dual momentum contrast: an encoder for each language, and queues of the other one's keys.

Wang, Zhao, Liu (2021), "Aligning Cross-lingual Sentence Representations with Dual Momentum
Contrast". E_x and E_y read the two languages, E'_x and E'_y follow them slowly,
theta' <- m theta' + (1 - m) theta, and queues Q_x and Q_y hold what these made of earlier batches.
One encoder for both (E_x = E_y, still two queues) is our extension, for multilingual encoders.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from xmine.encoders.modules.heads import on_device
from xmine.errors import TrainingError
from xmine.progress import Report

from ..data.batches import count_steps
from ..data.corpus import Corpus
from ..data.inference import Labelled
from ..data.rows import Rows
from ..distributed import all_gather, part_of, processes
from ..losses.with_queue import Member, contrast_with_queue
from ..models.queue import KeyQueue, MomentumTower, text_numbers
from ..models.static import StaticTower
from ..models.towers import Tower, adamw, shared_device
from ..options.contrast import MocoOptions
from ..run.checkpoints import TrainingRun
from ..run.loop import run_steps
from ..run.prepare import Split, TrainedTowers, begin, needed_pairs, with_rate
from ..run.step import Step, drop_tokens


def train(corpus: Corpus, options: MocoOptions, run: TrainingRun, report: Report) -> TrainedTowers:
    """Train one encoder for both sides, or one for each."""
    split = Split.of(needed_pairs(corpus, "moco"), options)
    texts = [split.seen.sources, split.seen.targets]
    several = split.seen.languages
    x = begin(options.src_encoder or options.encoder, options, texts, run, report, split)
    y = x
    if options.tgt_encoder:
        y = begin(options.tgt_encoder, options, texts, run, report, split)
    if x.dim != y.dim:
        raise TrainingError(
            f"--src-encoder makes vectors of {x.dim} numbers, --tgt-encoder of {y.dim}",
            "give two of one width",
        )
    data = split.cut(x, y, run)
    step = _Step(
        x, y, options, options.queue_for(len(data.rows)), count_steps(data.weights, options)
    )
    step.queue_x.across = step.queue_y.across = several is not None
    if corpus.labelled:
        step.inference = InferenceTask(step.judged(), corpus.labelled, options)
    measures = run_steps(step, data, with_rate(options, x), run, report)
    towers = {"": x} if x is y else {"source": x, "target": y}
    return TrainedTowers(towers, measures, len(data.rows), split.seen, split.held_out)


class _Step(Step):
    """L = L(x, y) + L(y, x), eq. 2 and 3: a sum, since the learning rate was tuned with one."""

    takes_negatives = True

    def __init__(self, x: Tower, y: Tower, options: MocoOptions, size: int, steps: int) -> None:
        super().__init__()
        self.x, self.y, self.options = x, y, options
        self.shared = x is y
        self.rate_y = options.learning_rate or y.learning_rate  # they may differ in kind
        self.momentum = options.momentum_over(
            steps, is_static=all(isinstance(each, StaticTower) for each in (x, y))
        )
        self.key_x = MomentumTower(x)
        self.key_y = self.key_x if self.shared else MomentumTower(y)
        self.device = shared_device(x, y)
        self.queue_x, self.queue_y = (
            KeyQueue(size, x.dim, ids=2).to(self.device) for _ in range(2)
        )
        self.inference: InferenceTask | None = None

    def begin(self) -> None:
        self.key_x.follow(self.x, self.momentum)
        if not self.shared:
            self.key_y.follow(self.y, self.momentum)

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        k_x, k_y = self._keys(batch)  # [rows, dim] each, without gradients
        source, target = drop_tokens(batch.columns, self.options.token_dropout, random)
        if self.shared:
            h_x, h_y = self.x.embed(source, target).chunk(2)  # [rows, dim] each
        else:
            h_x, h_y = self.x.embed(source).to(self.device), self.y.embed(target).to(self.device)
        texts = text_numbers(batch, h_x.device)  # [rows, 2]
        self._new = all_gather(k_x), all_gather(k_y), all_gather(texts)  # of all processes
        hard = self._hard(batch)
        losses = {
            "source_to_target": self._contrast(h_x, k_y, self.queue_y, texts, hard[0]),
            "target_to_source": self._contrast(h_y, k_x, self.queue_x, texts, hard[1]),
        }
        if self.inference:
            inference = self.inference.loss(self.judged(), random)
            losses["inference"] = self.options.nli_weight * inference
        return losses

    def finish(self) -> None:
        k_x, k_y, texts = self._new
        self.queue_x.put(k_x, texts)
        self.queue_y.put(k_y, texts)

    @torch.no_grad()
    def _keys(self, batch: Rows) -> tuple[Tensor, Tensor]:
        source, target = batch.columns
        k_x, k_y = self.key_x.tower.embed(source), self.key_y.tower.embed(target)
        return k_x.to(self.device), k_y.to(self.device)

    @torch.no_grad()
    def _hard(self, batch: Rows) -> list[Member | None]:
        """Make keys of the hard negatives of x, and of those of y."""
        keys = self.key_y.tower, self.key_x.tower
        found: list[Member | None] = [None, None]
        for at, rows in enumerate(batch.negatives):
            vectors = keys[at].embed(rows.columns[1 - at]).to(self.device)
            found[at] = Member(vectors, text_numbers(rows, self.device))
        return found

    def _contrast(
        self, query: Tensor, key: Tensor, queue: KeyQueue, texts: Tensor, hard: Member | None
    ) -> Tensor:
        """Eq. 2: the key of the translation against the queue as it was before this batch."""
        scale = 1 / self.options.temperature
        return contrast_with_queue(query, key, texts, queue, scale, self.options, hard)

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        decay = self.options.weight_decay
        found = self.x.optimizers(learning_rate, decay)
        if not self.shared:
            found += self.y.optimizers(self.rate_y, decay)
        if self.inference:
            rate = learning_rate if self.judged() is self.x else self.rate_y
            found.append(adamw(self.inference, rate, decay))
        return found

    def towers(self) -> tuple[Tower, Tower]:
        return self.x, self.y

    def judged(self) -> Tower:
        """Give the encoder that reads English, see `TrainingOptions.judged_column`."""
        return self.towers()[self.options.judged_column]

    def train(self, mode: bool = True) -> "_Step":
        """Leave dropout off in the keys (A-04)."""
        super().train(mode)
        for key in (self.key_x, self.key_y):
            key.eval()
        return self


class InferenceHead(nn.Module):
    """What one sentence says of another: entailment, neutral, contradiction.

    Wang et al. (2021), appendix B: Linear(features, 256), ReLU, Dropout(0.1), Linear(256, 3). What
    is put in is not stated there; (u, v, |u - v|) is Sentence-BERT's choice (A-05).
    """

    def __init__(self, dim: int) -> None:
        """Draw the weights."""
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(3 * dim, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 3)
        )

    def forward(self, premises: Tensor, hypotheses: Tensor) -> Tensor:
        """Score unit rows [pairs, dim] of both: [pairs, 3]."""
        u, v = premises, hypotheses
        scores: Tensor = self.layers(torch.cat([u, v, (u - v).abs()], dim=1))
        return scores


class InferenceTask(nn.Module):
    """Labelled pairs of English and the layers that judge them (appendix B); without momentum.

    The vectors are those of an encoder.
    """

    def __init__(self, tower: Tower, labelled: Labelled, options: MocoOptions) -> None:
        """Cut the sentences, and draw the weights."""
        super().__init__()
        self.head = InferenceHead(tower.dim).to(tower.device)
        self._premises = tower.cut(labelled.premises)
        self._hypotheses = tower.cut(labelled.hypotheses)
        self._labels = labelled.labels
        self._batch_size = min(options.nli_batch, len(labelled))

    def loss(self, tower: Tower, random: np.random.Generator) -> Tensor:
        """Draw pairs and give the cross entropy of their labels."""
        size = processes()
        count = max(1, self._batch_size // size) * size
        rows = random.choice(len(self._labels), count, replace=count > len(self._labels))
        rows = rows[part_of(count)]
        sides = self._premises.take(rows), self._hypotheses.take(rows)
        premises, hypotheses = tower.embed(*sides).chunk(2)  # [rows, dim] each
        labels = on_device(self._labels[rows], premises.device)
        return nn.functional.cross_entropy(self.head(premises, hypotheses), labels)
