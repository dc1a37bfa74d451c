"""Emma-X written out again from the paper, with loops, for `test_emma_x_twin.py`.

Guo et al. (2023), Algorithm 1 and eq. 2 to 11, 19, 20; where the paper leaves a choice, that of
docs/methods/emma-x.md (A-12 to A-20). Nothing here is the trainer's but the encoder's own forward,
the sentences that it is given, and which numbers were drawn.
"""

import copy
import itertools
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from xmine.trainer.data.rows import TokenizedSide
from xmine.trainer.models.towers import Tower
from xmine.trainer.options.emma_x import EmmaXOptions

Sentence = tuple[int, ...]  # numbers of words: two sentences are the same if these are
Example = tuple[Tensor, Tensor, int]  # x, y, their rank


class Slot(NamedTuple):
    """A key in the queue, with the sentences that it belongs to, and their numbers in the run."""

    key: Tensor
    texts: tuple[Sentence, ...]
    numbers: tuple[int, ...]


def sentences(side: TokenizedSide) -> list[Sentence]:
    return [tuple(side.ids[start:end].tolist()) for start, end in pairwise(side.starts)]


def by_column(rows: Tensor, columns: int) -> list[list[Tensor]]:
    return [list(column) for column in rows.chunk(columns)]


def cosine(x: Tensor, y: Tensor) -> float:
    return (x @ y / (x.norm() * y.norm())).item()


class Mixture:
    """G (eq. 5, 19): the prior once, variances as logarithms (A-13)."""

    def __init__(self, ranks: int, dim: int) -> None:
        self.logit_pi = torch.zeros(ranks, requires_grad=True)
        self.mu = torch.zeros(ranks, dim, requires_grad=True)
        self.log_var = torch.full((ranks, dim), -math.log(dim), requires_grad=True)

    def parameters(self) -> dict[str, Tensor]:
        return {"logit_pi": self.logit_pi, "mu": self.mu, "log_var": self.log_var}

    def log_p(self, x: Tensor, y: Tensor) -> Tensor:
        """The posterior of the ranks of one pair."""
        variance = self.log_var.clamp(-14, 2).exp()
        exponent = -((x - y - self.mu) ** 2) / (2 * variance)
        density = exponent - torch.log(torch.sqrt(2 * math.pi * variance))
        joint = self.logit_pi.softmax(dim=0).log() + density.sum(dim=1)
        return joint - joint.logsumexp(dim=0)

    @torch.no_grad()
    def fit(self, examples: Sequence[Example]) -> None:
        """Take mean, variance and frequency of each rank (A-14)."""
        for rank in range(1, len(self.mu) + 1):
            d = [x - y for x, y, of_pair in examples if of_pair == rank]
            self.logit_pi[rank - 1] = math.log(max(len(d), 1) / len(examples))
            if len(d) >= 2:
                mean = torch.stack(d).mean(dim=0)
                variance = ((torch.stack(d) - mean) ** 2).mean(dim=0)
                self.mu[rank - 1] = mean
                self.log_var[rank - 1] = variance.log().clamp(-14, 2)


class Adam:
    """Adam (0.9, 0.999), with the decay of AdamW where there is one."""

    def __init__(self, parameters: Sequence[Tensor], decay: float = 0.0) -> None:
        self.parameters, self.decay, self.steps = parameters, decay, 0
        self.first = [torch.zeros_like(each) for each in parameters]
        self.second = [torch.zeros_like(each) for each in parameters]

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor], rate: float) -> None:
        self.steps += 1
        for at, (own, gradient) in enumerate(zip(self.parameters, gradients, strict=True)):
            if own.ndim > 1:  # a vector, such as a bias, does not decay
                own -= rate * self.decay * own
            self.first[at] = 0.9 * self.first[at] + 0.1 * gradient
            self.second[at] = 0.999 * self.second[at] + 0.001 * gradient**2
            mean = self.first[at] / (1 - 0.9**self.steps)
            square = self.second[at] / (1 - 0.999**self.steps)
            own -= rate * mean / (square.sqrt() + 1e-8)


class Twin:
    """The algorithm: `begin` each phase, `warm_up` or `maximise` each step, `estimate` between."""

    epsilon = 0.99  # of fewer than 5,000 steps

    def __init__(self, options: EmmaXOptions, tower: Tower) -> None:
        self.options, self.tower = options, copy.deepcopy(tower)
        self.g = Mixture(options.ranks, tower.dim)
        n = options.ranks
        self.s = [(n - rank + 1) / n for rank in range(1, n + 1)]
        self.judged: list[tuple[int, int]] = []  # c_G and c_M of all pairs

    def begin(self, rows: int, *, peak: float) -> None:
        self.done, self.peak = 0, peak
        self.key = copy.deepcopy(self.tower)
        self.slots: list[Slot | None] = [None] * (self.options.queue_size or rows // 4)
        self.next = 0
        self.of_m = Adam(list(self.tower.parameters()), decay=self.options.weight_decay)
        self.of_g = Adam(list(self.g.parameters().values()))
        auto = min(0.999, max(0.99, 1 - 20 / self.options.steps))  # A-02, of a new transformer
        wanted = self.options.momentum
        self.momentum = auto if wanted == "auto" else float(wanted)

    # what both phases do

    def rate(self) -> float:
        """The share of the peak: a cosine after a warm-up (G-07)."""
        rising, now = self.options.warmup * self.options.steps, self.done + 1
        if now <= rising:
            return now / rising
        return 0.5 * (1 + math.cos(math.pi * (now - rising) / (self.options.steps - rising)))

    def read(
        self, columns: Sequence[TokenizedSide], random: np.random.Generator, *, key_dropout: bool
    ) -> tuple[list[list[Tensor]], list[list[Tensor]]]:
        """Let M' follow M; read the keys with M', then the queries with M, column by column."""
        with torch.no_grad():
            for own, m in zip(self.key.parameters(), self.tower.parameters(), strict=True):
                own.copy_(self.momentum * own + (1 - self.momentum) * m)
            keys = self.key.train(key_dropout).embed(*columns)
        share = self.options.token_dropout
        seen = [each.without_some(share, random) for each in columns] if share else columns
        queries = self.tower.train().embed(*seen)
        return by_column(keys, len(columns)), by_column(queries, len(columns))

    def learn(self, contrast: Tensor | None, ranking: Tensor | None) -> None:
        """Eq. 8: each by its own loss and optimiser, both from what they were before the step."""
        if contrast is not None:
            gradients = torch.autograd.grad(contrast, list(self.tower.parameters()))
            length = math.sqrt(sum(float((each**2).sum()) for each in gradients))
            clip = self.options.clip or math.inf
            scale = min(1.0, clip / (length + 1e-6))
            self.of_m.step([each * scale for each in gradients], self.rate() * self.peak)
        if ranking is not None:
            gradients = torch.autograd.grad(ranking, list(self.g.parameters().values()))
            self.of_g.step(gradients, self.rate() * self.options.gmm_learning_rate)
        self.done += 1

    def queue(self) -> list[Slot]:
        return [slot for slot in self.slots if slot is not None]

    def put(self, slot: Slot) -> None:
        self.slots[self.next] = slot
        self.next = (self.next + 1) % len(self.slots)

    def put_all(
        self, keys: list[list[Tensor]], columns: Sequence[TokenizedSide], *, together: bool
    ) -> None:
        """Put keys in, row by row; one of a pair belongs to both its sentences."""
        texts = [sentences(side) for side in columns]
        for i, own in itertools.product(range(len(columns[0])), range(len(columns))):
            of_key = range(len(columns)) if together else [own]
            numbers = tuple(int(columns[column].keys[i]) for column in of_key)
            self.put(Slot(keys[own][i], tuple(texts[column][i] for column in of_key), numbers))

    # phase 1

    def warm_up(
        self, columns: Sequence[TokenizedSide], random: np.random.Generator
    ) -> tuple[dict[str, float], dict[str, float]]:
        keys, queries = self.read(columns, random, key_dropout=False)
        pairs = list(zip(*map(sentences, columns), strict=True))
        terms = []  # eq. 2, in both directions
        for side, (i, pair) in itertools.product((0, 1), enumerate(pairs)):
            tau, x = self.options.temperature, queries[side][i]
            others = [slot.key for slot in self.queue() if not {*slot.texts} & {*pair}]
            if self.options.in_batch_negatives:
                strangers = [j for j, other in enumerate(pairs) if not {*other} & {*pair}]
                others += [keys[column][j] for column in (0, 1) for j in strangers]
            logits = torch.stack([x @ key / tau for key in [keys[1 - side][i], *others]])
            terms.append(logits.logsumexp(dim=0) - logits[0])
        contrast = sum(terms[1:], terms[0]) / len(terms)
        self.learn(contrast, None)
        self.put_all(keys, columns, together=True)
        return {"contrast": contrast.item()}, {}

    # between the phases

    @torch.no_grad()
    def estimate(self, columns: Sequence[TokenizedSide], random: np.random.Generator) -> None:
        """Take G (A-14) and s_r (A-18) from examples of each rank (eq. 3, A-16)."""
        ranks, made = self.options.ranks, list[Example]()
        keys, anchors = (by_column(m.eval().embed(*columns), 2) for m in (self.key, self.tower))
        pairs = list(zip(*map(sentences, columns), strict=True))
        for side in (0, 1):
            steps = random.integers(1, len(pairs), size=(len(pairs), ranks))
            drawn = random.random((len(pairs), ranks - 1))
            for i, pair in enumerate(pairs):
                x, y = anchors[side][i], keys[1 - side][i]
                made.append((x, y, 1))
                for step, share in zip(steps[i], [1.0, *drawn[i]], strict=True):
                    j = (i + step) % len(pairs)
                    if {*pairs[j]} & {*pair}:
                        continue
                    rank = 1 + sum(share >= edge / ranks for edge in range(1, ranks))
                    made.append((x, (1 - share) * y + share * keys[1 - side][j], rank))
        for rank in range(1, ranks + 1):
            of_rank = [(x, y) for x, y, r in made if r == rank]
            self.s[rank - 1] = sum(cosine(x, y) for x, y in of_rank) / len(of_rank)
        self.g.fit(made)

    # phase 2

    def maximise(
        self, columns: Sequence[TokenizedSide], random: np.random.Generator
    ) -> tuple[dict[str, float], dict[str, float]]:
        n = self.options.ranks
        keys, queries = self.read(columns, random, key_dropout=True)
        texts = sentences(columns[0])
        others = list(zip(keys[0], texts, strict=True))
        others += [(slot.key, slot.texts[0]) for slot in self.queue()]
        members: dict[int, list[float]] = {rank: [] for rank in range(1, n + 1)}  # by c_G
        terms, costs = [], []
        for x, text in zip(queries[0], texts, strict=True):
            by_rank: dict[int, list[Tensor]] = {rank: [] for rank in range(1, n + 1)}
            for y, other in others:
                if text == other:
                    by_rank[1].append(x @ y)
                    continue
                log_p, likeness = self.g.log_p(x.detach(), y), cosine(x, y)
                c_g = int(log_p.argmax()) + 1  # eq. 9
                gaps = [abs(likeness - s) for s in self.s]
                c_m = gaps.index(min(gaps)) + 1  # eq. 10
                by_rank[c_g].append(x @ y)
                members[c_g].append(likeness)
                costs.append(-log_p[c_m - 1])
                self.judged.append((c_g, c_m))
            for rank in range(1, n):  # eq. 20
                tau = 0.05 + (rank - 1) / (n - 2) * 0.05 if n > 2 else 0.05
                worse = [each for r in range(rank, n + 1) for each in by_rank[r]]
                if by_rank[rank]:
                    of_rank, every = (torch.stack(each) / tau for each in (by_rank[rank], worse))
                    terms.append(every.logsumexp(dim=0) - of_rank.logsumexp(dim=0))
        contrast = sum(terms[1:], terms[0]) / len(texts)
        ranking = sum(costs[1:], costs[0]) / len(costs)  # eq. 6
        self.learn(contrast, ranking)
        for rank, each in members.items():  # eq. 11
            if each:
                mean = sum(each) / len(each)
                self.s[rank - 1] += (1 - self.epsilon) * (mean - self.s[rank - 1])
        self.put_all(keys, columns, together=False)
        shown = {f"share_{rank}": len(each) / len(costs) for rank, each in members.items()}
        return {"contrast": contrast.item(), "ranking": ranking.item()}, shown
