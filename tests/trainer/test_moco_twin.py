"""Dual momentum contrast as its paper says, in float64 and loops, beside ours step by step.

Wang, Zhao, Liu (2021): eq. 1 (momentum copies), eq. 2 (one direction), eq. 3 (the sum of both),
table 9 and appendix A (optimiser, schedule, clipping), appendix B (inference). Pairs share texts
here within a batch and with the queues, so that masks matter.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.toys.grids import mostly_long
from tests.toys.twin_training import (
    Pieces,
    Weight,
    beside,
    compare_weights,
    in_float64,
    pieces_of,
    rate_at,
    read,
    same,
    unit,
    weights_of,
    without_some,
)
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.heads import Dense
from xmine.encoders.tokenizer import Vocabulary
from xmine.pairs.io import ParallelText
from xmine.trainer.data.inference import Labelled
from xmine.trainer.methods.moco import InferenceTask, _Step
from xmine.trainer.models.queue import KeyQueue
from xmine.trainer.models.scratch import new_transformer
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.models.towers import Tower
from xmine.trainer.models.transformer import TransformerTower
from xmine.trainer.options.contrast import MocoOptions
from xmine.trainer.run.prepare import cut_pairs, with_rate
from xmine.trainer.run.step import Step

ROWS, BATCH, SIZE, STEPS = 64, 6, 15, 7
USUAL: dict[str, Any] = dict(temperature=0.1, momentum=0.7, batch_size=BATCH, steps=STEPS, epochs=1)
USUAL |= dict(learning_rate=0.02, threads=1)


@dataclass
class Key:
    """A key of a queue and the two texts that it belongs to; none at random."""

    vector: Tensor
    texts: tuple[str, str] | None


@dataclass
class Paper:
    """The method: what it trains, what follows, what it remembers."""

    x: Tower
    y: Tower
    pairs: list[tuple[str, str]]
    options: MocoOptions
    labelled: Labelled | None = None
    judge: nn.Module | None = None  # of appendix B: 256 units, ReLU, dropout, 3 scores
    queue_x: list[Key] = field(default_factory=list)  # from the oldest to the newest
    queue_y: list[Key] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.shared = self.x is self.y
        self.key_x = copy.deepcopy(self.x)
        self.key_y = self.key_x if self.shared else copy.deepcopy(self.y)
        for each in (self.x, self.y):
            each.train()

    def weights(self) -> list[Weight]:
        rate, decay = self.options.learning_rate, self.options.weight_decay
        found = weights_of(self.x, rate or self.x.learning_rate, decay)
        if not self.shared:
            found += weights_of(self.y, rate or self.y.learning_rate, decay)
        if self.judge:
            found += weights_of(self.judge, rate or self.x.learning_rate, decay)
        return found

    def losses(self, rows: Sequence[int], random: np.random.Generator) -> dict[str, Tensor]:
        pairs = [self.pairs[row] for row in rows]
        self.seen = set()
        for key, query in ((self.key_x, self.x), (self.key_y, self.y))[: 1 if self.shared else 2]:
            self.follow(key, query)
        for key in (self.key_x, self.key_y):
            key.eval()
        with torch.no_grad():
            self.k_x = unit(read(self.key_x, pieces_of(self.x, [x for x, _ in pairs])))
            self.k_y = unit(read(self.key_y, pieces_of(self.y, [y for _, y in pairs])))
        pieces_x = self.noted(pieces_of(self.x, [x for x, _ in pairs]), random)
        pieces_y = self.noted(pieces_of(self.y, [y for _, y in pairs]), random)
        if self.shared:
            h_x, h_y = unit(read(self.x, pieces_x + pieces_y)).chunk(2)
        else:
            h_x, h_y = unit(read(self.x, pieces_x)), unit(read(self.y, pieces_y))
        self.last = pairs
        losses = {
            "source_to_target": self.one_direction(h_x, self.k_y, self.queue_y, pairs),
            "target_to_source": self.one_direction(h_y, self.k_x, self.queue_x, pairs),
        }
        if self.labelled:
            losses["inference"] = 0.1 * self.inference(random)
        return losses

    def follow(self, key: Tower, query: Tower) -> None:
        """Eq. 1: theta' <- m theta' + (1 - m) theta."""
        m = float(self.options.momentum)
        with torch.no_grad():
            for own, theirs in zip(key.parameters(), query.parameters(), strict=True):
                own.copy_(m * own + (1 - m) * theirs)

    def noted(self, pieces: Pieces, random: np.random.Generator) -> Pieces:
        """Leave pieces out, where that is wanted, and remember what is read."""
        if self.options.token_dropout:
            pieces = without_some(pieces, self.options.token_dropout, random)
        self.seen |= {piece for each in pieces for piece in each}
        return pieces

    def one_direction(
        self, queries: Tensor, keys: Tensor, queue: list[Key], pairs: list[tuple[str, str]]
    ) -> Tensor:
        """Eq. 2: the translation's key against the queue of its language, mean over rows."""
        tau, total = self.options.temperature, torch.zeros(())
        for row, (query, texts) in enumerate(zip(queries, pairs, strict=True)):
            own = (query @ keys[row] / tau).exp()
            below = own
            for key in queue:
                if key.texts is None or not share_a_text(key.texts, texts):
                    below = below + (query @ key.vector / tau).exp()
            for other, key_of_other in enumerate(keys):
                if self.options.in_batch_negatives and not share_a_text(pairs[other], texts):
                    below = below + (query @ key_of_other / tau).exp()
            total = total - (own / below).log()
        return total / len(queries)

    def inference(self, random: np.random.Generator) -> Tensor:
        """Appendix B: cross entropy of what a hypothesis is to its premise, in English."""
        assert self.labelled and isinstance(self.judge, nn.Sequential)
        count = min(self.options.nli_batch, len(self.labelled))
        drawn = random.choice(len(self.labelled), count, replace=False).tolist()
        premises = pieces_of(self.x, [self.labelled.premises[row] for row in drawn])
        hypotheses = pieces_of(self.x, [self.labelled.hypotheses[row] for row in drawn])
        self.seen |= {piece for each in premises + hypotheses for piece in each}
        u, v = unit(read(self.x, premises + hypotheses)).chunk(2)
        below, above = self.judge[0], self.judge[3]
        assert isinstance(below, nn.Linear) and isinstance(above, nn.Linear)
        features = torch.cat([u, v, (u - v).abs()], dim=1)
        units = (features @ below.weight.T + below.bias).clamp(min=0)
        units = nn.functional.dropout(units, 0.1)
        scores = units @ above.weight.T + above.bias
        total = torch.zeros(())
        for row, found in zip(drawn, scores, strict=True):
            total = total - (found.exp() / found.exp().sum()).log()[int(self.labelled.labels[row])]
        return total / count

    def read_pieces(self) -> set[int]:
        return self.seen

    def finish(self) -> None:
        for queue, keys in ((self.queue_x, self.k_x), (self.queue_y, self.k_y)):
            queue += [Key(key, texts) for key, texts in zip(keys, self.last, strict=True)]
            del queue[:-SIZE]

    def compare(self, step: Step) -> None:
        assert isinstance(step, _Step)
        compare_weights(step.x, self.x)
        compare_weights(step.y, self.y)
        compare_weights(step.key_x, self.key_x)
        compare_weights(step.key_y, self.key_y)
        if self.judge:
            assert step.inference
            compare_weights(step.inference, self.judge)
        for queue, expected in ((step.queue_x, self.queue_x), (step.queue_y, self.queue_y)):
            self.compare_queue(queue, expected)

    def compare_queue(self, queue: KeyQueue, expected: list[Key]) -> None:
        assert len(queue) == len(expected) <= SIZE
        for at, row in zip(by_age(queue), expected, strict=True):
            same(queue.rows[at], row.vector)


def share_a_text(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one[0] == other[0] or one[1] == other[1]


def by_age(queue: KeyQueue) -> list[int]:
    """Give the places of the keys from the oldest to the newest."""
    first = int(queue.next) if len(queue) == len(queue.rows) else 0
    return [(first + at) % len(queue.rows) for at in range(len(queue))]


def static(vocabulary: Vocabulary, seed: int, **options: Any) -> Tower:
    del options
    return StaticTower(new_static(vocabulary, 8, seed)).double()


def with_head(vocabulary: Vocabulary, seed: int, **options: Any) -> Tower:
    del options
    torch.manual_seed(seed)
    body = new_static(vocabulary, 8, seed).body
    return StaticTower(SentenceEncoder(body, [Dense(8, 8)])).double()


def transformer(vocabulary: Vocabulary, seed: int, **options: Any) -> Tower:
    sizes = {"architecture": "transformer", "dim": 8, "layers": 1, "heads": 2, "max_tokens": 24}
    flags: dict[str, Any] = sizes | {"seed": seed, "dtype": "float32"} | options
    return TransformerTower(new_transformer(vocabulary, MocoOptions(**flags))).double()


TrainedTowers = Callable[..., Tower]
TWO: list[TrainedTowers] = [static, static]
PAPER = {"schedule": "cosine", "warmup": 0.4, "clip": 0.5, "weight_decay": 0.3}
TRAINED = {"encoder": "embedded", "learning_rate": 0.0}  # each learns at the rate of its kind
SLOW = {"learning_rate": 0.003}  # of a transformer, which makes more of the last bits
CASES: dict[str, tuple[list[TrainedTowers], dict[str, Any]]] = {
    "two encoders": (TWO, {}),
    "one encoder": ([static], {}),
    "one encoder, with the batch": ([static], {"in_batch_negatives": True, "clip": 0.1}),
    "with the batch": (TWO, {"in_batch_negatives": True, "warmup": 0.3}),
    "a cosine": (TWO, {"schedule": "cosine"}),
    "fewer pieces": (TWO, {"token_dropout": 0.4}),
    "a head": ([with_head, static], PAPER),
    "two transformers": (
        [transformer] * 2,
        PAPER | {"dropout": 0.3} | SLOW,
    ),
    "one transformer": ([transformer], PAPER | {"dropout": 0.2} | SLOW),
    "two kinds": ([static, transformer], TRAINED),
    "scaled losses": (TWO, PAPER | {"dtype": "float16", "in_batch_negatives": True}),
    "inference": (TWO, PAPER | {"nli_batch": 10}),
    "inference, one transformer": ([transformer], PAPER | {"nli_batch": 4, "dropout": 0.2} | SLOW),
    "inference, few labels": ([static], {"nli_batch": 40}),
}


USUAL_CASES = ["two encoders", "one encoder, with the batch", "fewer pieces"]
USUAL_CASES += ["two transformers", "inference"]


@pytest.mark.parametrize("name", mostly_long(CASES, USUAL_CASES))
def test_ours_is_the_paper(
    name: str, toy_vocabulary: Vocabulary, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    kinds, flags = CASES[name]
    options = MocoOptions(**USUAL | flags)
    pairs = [(toy_pairs.sources[row % 25], toy_pairs.targets[row % 21]) for row in range(ROWS)]
    with in_float64():
        drop = {"dropout": flags.get("dropout", 0.0)}
        towers = [make(toy_vocabulary, seed, **drop) for seed, make in enumerate(kinds)]
        x, y = towers[0], towers[-1]
        step = _Step(x, y, options, SIZE, STEPS)
        labelled = None
        if "inference" in name:
            text = toy_pairs.sources
            labelled = Labelled(text[100:130], text[130:160], np.arange(30) * 7 % 3)
            step.inference = InferenceTask(step.judged(), labelled, options)
        sources, targets = (list(side) for side in zip(*pairs, strict=True))
        rows = cut_pairs(ParallelText(sources, targets, [""] * ROWS), x, y)
        own = [copy.deepcopy(each) for each in (towers if len(towers) == 1 else (x, y))]
        head = copy.deepcopy(step.inference.head.layers) if step.inference else None
        paper = Paper(own[0], own[-1], pairs, options, labelled, head)
        seen: list[dict[str, Tensor]] = []
        done = beside(step, paper, rows, with_rate(options, x), tmp_path / "run", seen.append)
    assert done == STEPS and len(seen) == STEPS
    assert (
        seen[0]["source_to_target"] > 0
    ) == options.in_batch_negatives  # else there are no negatives yet
    assert seen[-1]["source_to_target"] > 0.1 and seen[-1]["target_to_source"] > 0.1


def test_the_rates_are_those_of_the_paper() -> None:
    """Table 9 and G-07: warm-up of 400 steps, 4e-5 at its end, half of it in the middle, then 0."""
    options = MocoOptions(schedule="cosine", warmup=400 / 73_240, learning_rate=4e-5)
    expected = {1: 1e-7, 200: 2e-5, 400: 4e-5, 36_820: 2e-5, 73_240: 0.0}
    for step, rate in expected.items():
        assert 4e-5 * rate_at(step - 1, 73_240, options) == pytest.approx(rate, abs=1e-12)
