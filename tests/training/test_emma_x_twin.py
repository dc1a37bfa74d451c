"""Emma-X written out again from the paper, with loops, and every state of whole runs compared.

Guo et al. (2023), Algorithm 1 and eq. 2 to 11, 19, 20; where the paper leaves a choice, that of
docs/methods/emma-x.md (A-12 to A-21). The twin has no code of the trainer but the encoder. Runs are
in float64, so that what differs by more than 1e-6 differs by more than rounding.
"""

import copy
import itertools
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from xmine.encoder import SentenceEncoder
from xmine.facts import EncoderFacts, Settings
from xmine.pairs import ParallelText
from xmine.progress import Progress, Report, silent
from xmine.trainer import rankwatch
from xmine.trainer.checkpoints import Run
from xmine.trainer.corpus import Corpus
from xmine.trainer.data import Rows, Side, TrainingData
from xmine.trainer.loop import run_steps
from xmine.trainer.method_options import EmmaXOptions
from xmine.trainer.methods import emma_x
from xmine.trainer.rankstep import RankStep
from xmine.trainer.towers import Tower, adamw
from xmine.trainer.virtual import Mixing

WORDS, DIM, BATCH = 24, 5, 4
Sentence = tuple[int, ...]  # numbers of words: two sentences are the same if these are
Example = tuple[Tensor, Tensor, int]  # x, y, their rank


class SmallTower(Tower):
    """Words -> their mean, with dropout, through a layer: small, dense, with everything trained."""

    learning_rate = 0.02

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.prompt, self.dim, self._settings = "", DIM, Settings()
        self.heads = nn.ModuleList()
        meanings = torch.randn(WORDS, DIM)
        both = [meanings + 0.3 * torch.randn(WORDS, DIM) for _ in range(2)]  # languages
        self.words = nn.Parameter(torch.cat(both))
        self.layer, self.dropout = nn.Linear(DIM, DIM), nn.Dropout(0.2)

    @property
    def device(self) -> torch.device:
        return self.words.device

    def optimizers(self, learning_rate: float, weight_decay: float = 0.01) -> list[Optimizer]:
        return [adamw(self, learning_rate, weight_decay)]

    def encoder(self, facts: EncoderFacts, card: str) -> SentenceEncoder:
        raise NotImplementedError

    def _ids(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        words = [[int(word) for word in text.split()] for text in texts]
        starts = np.cumsum([0, *(len(each) for each in words)])
        return np.array([id for each in words for id in each], dtype=np.int32), starts

    def _vectors(self, side: Side) -> Tensor:
        full = torch.from_numpy(np.diff(side.starts) > 0)
        means = [
            self.words[side.ids[start:end]].mean(dim=0) if end > start else torch.zeros(DIM)
            for start, end in pairwise(side.starts)
        ]
        return self.layer(self.dropout(torch.stack(means))) * full[:, None]


class Slot(NamedTuple):
    """A key in the queue, with the sentences that it belongs to, and their numbers in the run."""

    key: Tensor
    texts: tuple[Sentence, ...]
    numbers: tuple[int, ...]


def sentences(side: Side) -> list[Sentence]:
    return [tuple(side.ids[start:end].tolist()) for start, end in pairwise(side.starts)]


def by_column(rows: Tensor, columns: int) -> list[list[Tensor]]:
    return [list(column) for column in rows.chunk(columns)]


def cosine(x: Tensor, y: Tensor) -> float:
    return (x @ y / (x.norm() * y.norm())).item()


class Mixture:
    """G (eq. 5, 19): the prior once, variances as logarithms (A-13)."""

    def __init__(self, ranks: int) -> None:
        self.logit_pi = torch.zeros(ranks, requires_grad=True)
        self.mu = torch.zeros(ranks, DIM, requires_grad=True)
        self.log_var = torch.full((ranks, DIM), -math.log(DIM), requires_grad=True)

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
    def distances(self) -> list[float]:
        """E |d|^2 of each rank."""
        variances = self.log_var.clamp(-14, 2).exp()
        return [float((mu**2 + v).sum()) for mu, v in zip(self.mu, variances, strict=True)]

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

    def __init__(self, options: EmmaXOptions, tower: SmallTower) -> None:
        self.options, self.tower = options, copy.deepcopy(tower)
        self.g = Mixture(options.ranks)
        n = options.ranks
        self.s = [(n - rank + 1) / n for rank in range(1, n + 1)]
        self.counts = dict.fromkeys(("skipped", "disordered", "sorted", "refitted"), 0)
        self.together = max(1, options.steps // 10)  # steps that are looked at together
        self.judged: list[tuple[int, int]] = []  # c_G and c_M of all pairs

    def begin(self, *, peak: float) -> None:
        self.done, self.peak = 0, peak
        self.key = copy.deepcopy(self.tower)
        self.slots: list[Slot | None] = [None] * self.options.queue_size
        self.next = 0
        self.of_m = Adam(list(self.tower.parameters()), decay=self.options.weight_decay)
        self.of_g = Adam(list(self.g.parameters().values()))
        auto = min(0.999, max(0.0, 1 - 20 / self.options.steps))
        wanted = self.options.momentum
        self.momentum = auto if wanted == "auto" else float(wanted)
        self.window: list[Example] = []
        self.nats: list[float] = []

    # what both phases do

    def rate(self) -> float:
        """The share of the peak: a cosine after a warm-up (G-07)."""
        rising, now = self.options.warmup * self.options.steps, self.done + 1
        if now <= rising:
            return now / rising
        return 0.5 * (1 + math.cos(math.pi * (now - rising) / (self.options.steps - rising)))

    def read(
        self, columns: Sequence[Side], random: np.random.Generator, *, key_dropout: bool
    ) -> tuple[list[list[Tensor]], list[list[Tensor]]]:
        """Let M' follow M; read the keys with M', then the queries with M, column by column."""
        with torch.no_grad():
            for own, m in zip(self.key.parameters(), self.tower.parameters(), strict=True):
                own.copy_(self.momentum * own + (1 - self.momentum) * m)
            keys = self.key.train(key_dropout).embed(*columns)
        share = self.options.piece_dropout
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

    def put_all(self, keys: list[list[Tensor]], columns: Sequence[Side], *, together: bool) -> None:
        """Put keys in, row by row; one of a pair belongs to both its sentences."""
        texts = [sentences(side) for side in columns]
        for i, own in itertools.product(range(len(columns[0])), range(len(columns))):
            of_key = range(len(columns)) if together else [own]
            numbers = tuple(int(columns[column].keys[i]) for column in of_key)
            self.put(Slot(keys[own][i], tuple(texts[column][i] for column in of_key), numbers))

    # phase 1

    def warm_up(
        self, columns: Sequence[Side], drawn: Mixing, random: np.random.Generator
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
        anchors = [[x.detach() for x in column] for column in queries]
        examples = self.examples(anchors, keys, pairs, drawn)
        log_p = [self.g.log_p(x, y) for x, y, _ in examples]
        costs = [-each[rank - 1] for each, (_, _, rank) in zip(log_p, examples, strict=True)]
        right = [
            int(p.argmax()) + 1 == rank for p, (_, _, rank) in zip(log_p, examples, strict=True)
        ]
        nats = sum(costs[1:], costs[0]) / len(costs)  # eq. 4
        learns = self.options.gmm_init != "moments" or self.done >= self.together
        self.learn(contrast, nats if learns else None)
        self.window += examples
        if self.options.gmm_init == "moments" and self.done == self.together:
            self.g.fit(self.window)
        self.put_all(keys, columns, together=True)
        shown = {"rank_nats": nats.item(), "rank_accuracy": sum(right) / len(right)}
        return {"contrast": contrast.item()} | ({"ranking": nats.item()} if learns else {}), shown

    def examples(
        self,
        anchors: list[list[Tensor]],
        keys: list[list[Tensor]],
        pairs: list[tuple[Sentence, ...]],
        drawn: Mixing,
    ) -> list[Example]:
        """Translations, strangers, and what lies between (eq. 3), of known ranks (A-16)."""
        ranks, found = self.options.ranks, []
        for side, (i, pair) in itertools.product((0, 1), enumerate(pairs)):
            x, y = anchors[side][i], keys[1 - side][i]
            found.append((x, y, 1))
            shares = [1.0, *drawn.shares[side, i]]
            for j, share in zip(drawn.others[side, i], shares, strict=True):
                assert j != i and 0 <= share <= 1
                if {*pairs[j]} & {*pair}:
                    continue
                rank = math.ceil((1 - share) * 1 + share * ranks)
                if self.options.interp_rule == "uniform":
                    rank = 1 + sum(share >= edge / ranks for edge in range(1, ranks))
                found.append((x, (1 - share) * y + share * keys[1 - side][j], rank))
        return found

    # between the phases

    @torch.no_grad()
    def estimate(self, batches: Sequence[tuple[Sequence[Side], Mixing]]) -> None:
        """Take s_r from examples of each rank (A-18); G is estimated anew if that is better."""
        self.key.eval(), self.tower.eval()
        made = []
        for columns, drawn in batches:
            keys, anchors = (by_column(m.embed(*columns), 2) for m in (self.key, self.tower))
            pairs = list(zip(*map(sentences, columns), strict=True))
            made.append(self.examples(anchors, keys, pairs, drawn))
        for rank in range(1, self.options.ranks + 1):
            of_rank = [(x, y) for each in made for x, y, r in each if r == rank]
            if of_rank:
                self.s[rank - 1] = sum(cosine(x, y) for x, y in of_rank) / len(of_rank)
        if self.options.gmm_init != "moments" and self.options.phase != "2":
            return
        anew = copy.deepcopy(self.g)
        anew.fit([each for some in made[::2] for each in some])
        judged = [each for some in made[1::2] for each in some]
        right = [
            sum(int(g.log_p(x, y).argmax()) + 1 == rank for x, y, rank in judged)
            for g in (anew, self.g)
        ]
        self.g = anew if right[0] > right[1] else self.g

    # phase 2

    def maximise(
        self, columns: Sequence[Side], random: np.random.Generator
    ) -> tuple[dict[str, float], dict[str, float]]:
        options, n = self.options, self.options.ranks
        keys, queries = self.read(columns, random, key_dropout=options.self_positive)
        texts = [sentences(side) for side in columns]
        every_text = [text for of_side in texts for text in of_side]
        translations = [text for of_side in texts[::-1] for text in of_side]
        anchors = zip(itertools.chain(*queries), every_text, translations, strict=True)
        others = list(zip(itertools.chain(*keys), every_text, strict=True))
        others += [(slot.key, slot.texts[0]) for slot in self.queue()]
        examples: list[Example] = []  # of all pairs, by c_M
        members: dict[int, list[float]] = {rank: [] for rank in range(1, n + 1)}  # by c_G
        agreed, terms, costs, spread = 0, [], [], []
        for x, text, translation in anchors:
            by_rank: dict[int, list[Tensor]] = {rank: [] for rank in range(1, n + 1)}
            for y, other in others:
                log_p, likeness = self.g.log_p(x.detach(), y), cosine(x, y)
                c_g = int(log_p.argmax()) + 1  # eq. 9
                gaps = [abs(likeness - s) for s in self.s]
                c_m = gaps.index(min(gaps)) + 1  # eq. 10
                if len(columns) == 2 and other == translation:
                    c_g = c_m = 1
                if text == other:
                    if options.self_positive:
                        by_rank[1].append(x @ y)
                    continue
                by_rank[c_g].append(x @ y)
                members[c_g].append(likeness)
                examples.append((x.detach(), y, c_m))
                costs.append(-log_p[c_m - 1])
                agreed += c_g == c_m
                self.judged.append((c_g, c_m))
                spread.append(math.exp(-2 * ((x - y) ** 2).sum().item()))
            for rank in range(1, n):  # eq. 20
                low, high = options.rank_temperature_low, options.rank_temperature_high
                tau = low + (rank - 1) / (n - 2) * (high - low) if n > 2 else low
                worse = [each for r in range(rank, n + 1) for each in by_rank[r]]
                if by_rank[rank]:
                    of_rank, every = (torch.stack(each) / tau for each in (by_rank[rank], worse))
                    terms.append(every.logsumexp(dim=0) - of_rank.logsumexp(dim=0))
        losses: dict[str, Tensor] = {}
        if not options.freeze_gmm:  # eq. 6
            losses["ranking"] = sum(costs[1:], costs[0]) / len(costs)
        if terms:
            losses["contrast"] = sum(terms[1:], terms[0]) / len(every_text)
        self.counts["skipped"] += not terms
        self.learn(losses.get("contrast"), losses.get("ranking"))
        every = [each for some in members.values() for each in some]
        shown = {f"share_{rank}": len(each) / len(every) for rank, each in members.items()}
        shown |= {"agreement": agreed / len(every), "batch_likeness": sum(every) / len(every)}
        shown["uniformity"] = math.log(sum(spread) / len(spread))
        for rank, each in members.items():  # eq. 11
            if each:
                epsilon = 0.99 if options.rank_ema == "auto" else float(options.rank_ema)
                mean = sum(each) / len(each)
                self.s[rank - 1] = epsilon * self.s[rank - 1] + (1 - epsilon) * mean
        self.put_all(keys, columns, together=False)
        if "ranking" in losses:
            self.refit(losses["ranking"].item(), examples)
        self.sort()
        return {name: each.item() for name, each in losses.items()} or {"contrast": 0.0}, shown

    def refit(self, nats: float, examples: Sequence[Example]) -> None:
        """Estimate a G anew that explains nothing for a window."""
        self.nats.append(nats)
        if len(self.nats) == self.together:
            if sum(self.nats) / self.together > rankwatch._LOST and self.options.gmm_init == "moments":
                self.g.fit(examples)
                self.counts["refitted"] += 1
            self.nats.clear()

    @torch.no_grad()
    def sort(self) -> None:
        """Sort ranks by s, the memory of the optimiser included, after steps in disorder."""
        ordered = all(near > far for near, far in pairwise(self.s))
        ordered = ordered and all(near < far for near, far in pairwise(self.g.distances()))
        self.counts["disordered"] = 0 if ordered else self.counts["disordered"] + 1
        if self.counts["disordered"] < rankwatch._PATIENCE:
            return
        order = sorted(range(len(self.s)), key=lambda rank: -self.s[rank])
        self.s = [self.s[rank] for rank in order]
        for each in (*self.g.parameters().values(), *self.of_g.first, *self.of_g.second):
            each.copy_(each[order])
        self.counts["disordered"] = 0
        self.counts["sorted"] += 1


class Watch:
    """Stands beside a run: the twin takes each step with the same data, and all is compared."""

    def __init__(self, options: EmmaXOptions, monkeypatch: pytest.MonkeyPatch) -> None:
        self.options, self.tower = options, SmallTower()
        self.twin = Twin(options, self.tower)
        self.draws: list[Mixing] = []  # since the twin last looked
        self.keyed: list[Sequence[Side]] = []  # what M' read
        draw, keys_of = Mixing.drawn, RankStep.keys_of

        def drawn(batch: int, options: EmmaXOptions, random: np.random.Generator) -> Mixing:
            self.draws.append(draw(batch, options, random))
            self.after_draw = copy.deepcopy(random)
            return self.draws[-1]

        def keyed(step: RankStep, columns: tuple[Side, ...]) -> Tensor:
            self.keyed.append(columns)
            return keys_of(step, columns)

        monkeypatch.setattr(Mixing, "drawn", drawn)
        monkeypatch.setattr(RankStep, "keys_of", keyed)
        monkeypatch.setattr(emma_x, "begin", lambda *_: self.tower)
        monkeypatch.setattr(emma_x, "run_steps", self.run_steps)

    def run_steps(
        self, step: Any, data: TrainingData, options: EmmaXOptions, run: Run, report: Report
    ) -> dict[str, float]:
        """Take the steps of a phase, each followed by the twin's."""
        self.held_out = data.held_out
        losses, before = step.losses, {"phase-1": self.before_1, "phase-2": self.before_2}
        before[run.name](step, data)

        def recorded(batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
            self.given = batch, copy.deepcopy(random), torch.get_rng_state()
            self.found = losses(batch, random)
            return self.found

        def compare(progress: Progress) -> None:
            with torch.random.fork_rng():
                self.compare(step, *self.given)

        step.losses = recorded
        measures = run_steps(step, data, options, run, compare)
        del step.losses
        assert self.twin.done == self.options.steps
        return measures

    def before_1(self, step: Any, data: TrainingData) -> None:
        self.twin.begin(peak=self.options.learning_rate)
        self.prefill(step)
        self.check_state(step)

    def before_2(self, step: Any, data: TrainingData) -> None:
        """Follow what lies between the phases; then let G differ from what M believes."""
        twin = self.twin
        if self.options.phase == "2":
            twin.begin(peak=0.0)
        batches = [columns for columns in self.keyed if len(columns) == 2]
        assert len(batches) == min(50, len(step.pairs) // BATCH)
        pairs = [set(zip(*map(sentences, columns), strict=True)) for columns in batches]
        assert all(len(some) == BATCH for some in pairs), "none twice"
        self.keyed = self.keyed[len(batches) :]
        twin.estimate(list(zip(batches, self.draws, strict=True)))
        self.draws.clear()
        self.first = copy.deepcopy(twin.tower)
        self.began = accuracy(twin.tower, data.held_out)
        suits = min(self.options.learning_rate, SmallTower.learning_rate)
        twin.begin(peak=self.options.em_learning_rate or suits)
        self.prefill(step)
        self.check_state(step)
        pairs = zip(*(sentences(column) for column in step.pairs.columns), strict=True)
        self.translations = {frozenset(pair) for pair in pairs}
        with torch.no_grad():
            twin.g.log_var[-1, -1] = 2.5  # past the limit
            for name, own in twin.g.parameters().items():
                own += torch.randn(own.shape) * (0.3 if name == "mu" else 0.6)
                step.classifier.get_parameter(name).copy_(own)

    def prefill(self, step: Any) -> None:
        twin = self.twin
        for row in step.queue.rows if self.options.queue_init == "random" else ():
            twin.put(Slot(row.clone(), ((),), (-1,) * step.ids))
        assert bool(self.keyed) == (self.options.queue_init == "prefill")
        for columns in self.keyed:
            with torch.no_grad():
                keys = by_column(twin.key.eval().embed(*columns), len(columns))
            twin.put_all(keys, columns, together=step.ids == 2)
        self.keyed.clear()

    def compare(self, step: Any, batch: Rows, random: np.random.Generator, state: Tensor) -> None:
        """Take the twin's step with what the run's was given, and compare everything."""
        torch.set_rng_state(state)
        twin, columns = self.twin, batch.columns
        if step.ids == 2:
            (drawn,) = self.draws
            losses, numbers = twin.warm_up(columns, drawn, self.after_draw)
        else:
            columns = columns[:1]
            if random.random() < self.options.parallel_mix:
                rows = random.integers(len(step.pairs), size=BATCH // 2)
                columns = step.pairs.take(rows).columns
                pairs = zip(*map(sentences, columns), strict=True)
                assert {frozenset(pair) for pair in pairs} <= self.translations
            losses, numbers = twin.maximise(columns, random)
            numbers |= {f"similarity_{rank}": s for rank, s in enumerate(twin.s, start=1)}
            far = enumerate(twin.g.distances(), start=1)
            numbers |= {f"distance_{rank}": d for rank, d in far} | twin.counts
        assert {name: loss.item() for name, loss in self.found.items()} == close(losses)
        assert step.numbers() == close(numbers), (step.numbers(), numbers)
        self.check_state(step)
        self.draws.clear(), self.keyed.clear()

    def check_state(self, step: Any) -> None:
        """Compare M, M', G, s and the queue."""
        twin = self.twin
        for ours, theirs in ((step.tower, twin.tower), (step.key.tower, twin.key)):
            assert_same(dict(ours.named_parameters()), dict(theirs.named_parameters()))
        assert_same(dict(step.classifier.named_parameters()), twin.g.parameters())
        assert step.similarities.tolist() == close(twin.s)
        slots = twin.queue()
        assert len(step.queue) == len(slots) and int(step.queue.next) == twin.next
        for row, numbers, slot in zip(step.queue.keys(), step.queue.texts, slots, strict=False):
            assert_same({"key": row}, {"key": slot.key})
            assert tuple(numbers.tolist()) == slot.numbers


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-6, abs=1e-9)


def assert_same(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, theirs[name], rtol=1e-6, atol=1e-7)


@torch.no_grad()
def accuracy(tower: Tower, pairs: Rows | None) -> float:
    """The share of held-out sentences whose nearest one is their translation, both ways."""
    assert pairs is not None
    x, y = by_column(tower.eval().embed(*pairs.columns), 2)
    right = 0
    for near, far in ((x, y), (y, x)):
        for i, each in enumerate(near):
            likeness = [cosine(each, other) for other in far]
            right += likeness.index(max(likeness)) == i
    return right / (2 * len(x))


@pytest.fixture(autouse=True)
def float64(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the trainer compute in float64, where it makes float32 of what it is given, too."""
    before, threads = torch.get_default_dtype(), torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # of what is small
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    yield
    torch.set_default_dtype(before)
    torch.set_num_threads(threads)


def corpus() -> Corpus:
    """Pairs, of which some share a sentence, and text in which some sentences come again."""
    random = np.random.default_rng(5)
    meanings = [random.choice(WORDS, size=3, replace=False) for _ in range(90)]
    sources = [" ".join(map(str, words)) for words in meanings]
    targets = [" ".join(map(str, words + WORDS)) for words in meanings]
    sources[60:], targets[30:60] = sources[:30], targets[:30]
    texts = sources[:20] + targets[20:40] + sources[:10] * 3
    return Corpus(pairs=ParallelText(sources, targets, [""] * 90), texts=texts)


BASE: dict[str, Any] = {
    "batch_size": BATCH,
    "epochs": 9,
    "steps": 10,
    "evaluate_every": 10**6,
    "held_out": 10,
    "learning_rate": 0.03,
    "gmm_learning_rate": 0.02,
    "weight_decay": 0.05,
    "schedule": "cosine",
    "warmup": 0.1,
    "queue_size": 11,
    "threads": 1,
}
CASES: dict[str, dict[str, Any]] = {
    "as it comes": {"steps": 24},
    "other options": {
        "in_batch_negatives": True,
        "self_positive": False,
        "parallel_mix": 0.4,
        "clip": 0.3,
        "piece_dropout": 0.2,
        "logit_rows": 4,
        "momentum": 0.8,
        "rank_ema": 0.9,
    },
    "two ranks, and a fall": {
        "ranks": 2,
        "interp_rule": "ceil",
        "virtual_examples": 3,
        "gmm_init": "unit",
        "queue_init": "prefill",
        "em_learning_rate": 0.5,
    },
    "phase 2 alone": {"phase": "2", "freeze_gmm": True, "queue_init": "random"},
    "guards": {"rank_ema": 0.3, "steps": 20},
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_is_what_the_paper_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "guards":
        monkeypatch.setattr(rankwatch, "_PATIENCE", 3)
        monkeypatch.setattr(rankwatch, "_LOST", 1.5)
    torch.manual_seed(3)
    data, options = corpus(), EmmaXOptions(**BASE | CASES[name])
    watch = Watch(options, monkeypatch)
    made = emma_x.train(data, options, Run(tmp_path / "run", options, data), silent)
    twin, (tower,) = watch.twin, made.towers.values()
    last = accuracy(twin.tower, watch.held_out)
    fell = last < watch.began - 0.03
    left = watch.first if fell else twin.tower
    assert_same(dict(tower.named_parameters()), dict(left.named_parameters()))
    assert made.measures["accuracy"] == close(watch.began if fell else last)
    apart = sum(c_g != c_m for c_g, c_m in twin.judged) / len(twin.judged)
    print(name, fell, apart, twin.counts, watch.began, last)
    assert apart > 0.2, "G and M have to differ, or it could not be told who teaches whom"
    assert {c for each in twin.judged for c in each} == set(range(1, options.ranks + 1))
