"""Emma-X: an encoder and a rank classifier that teach each other on text without pairs.

Guo et al. (2023), "Emma-X: An EM-like Multilingual Pre-training Algorithm for Cross-lingual
Representation Learning". M is the encoder, M' follows it slowly, G judges which of N ranks the
relation of two sentences has: 1 is a paraphrase, N is irrelevant. Phase 1 starts both from pairs.
In phase 2 G ranks pairs of unpaired sentences for M (c_G), and M does for G (c_M).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from xmine.progress import Report

from ..data.batches import count_steps
from ..data.corpus import Corpus
from ..data.rows import Rows, TokenizedSide, TrainingData
from ..distributed import all_gather, all_sum, processes
from ..losses.contrastive import ranking_info_nce
from ..losses.with_queue import contrast_with_queue
from ..models.queue import KeyQueue, MomentumTower, text_numbers
from ..models.static import StaticTower
from ..models.towers import Tower, cut_together
from ..options.emma_x import EmmaXOptions
from ..ranking.ranks import (
    RankClassifier,
    followed,
    mean_similarities,
    similarity_ranks,
    sums_by_rank,
)
from ..ranking.virtual import ranked_pairs
from ..run.checkpoints import TrainingRun
from ..run.devset import BEFORE
from ..run.languages import unpaired_texts
from ..run.loop import run_steps
from ..run.prepare import Split, TrainedTowers, begin, needed_pairs, with_rate
from ..run.step import Step, drop_tokens

# Phase 2 has this part of the rate of a trained encoder: more loses on pairs what texts give.
_SLOWER = 6
_EPSILON = 0.99, 0.999  # of s_r, in runs of fewer than 5,000 steps and in others
_TEMPERATURES = 0.05, 0.1  # tau_1 and tau_{N-1} of phase 2
_EXAMPLES = 8192  # pairs from which G and s_r are estimated


class _Judges(NamedTuple):
    """G, and s_1 ... s_N [ranks], the cosine by which M judges each rank."""

    classifier: RankClassifier
    similarities: Tensor


def train(corpus: Corpus, options: EmmaXOptions, run: TrainingRun, report: Report) -> TrainedTowers:
    """Train one encoder for all languages."""
    split = Split.of(needed_pairs(corpus, "emma-x"), options)
    seen = split.seen
    columns: list[Sequence[str]] = [seen.sources, seen.targets]
    if corpus.texts and len(options.codes) > 2:  # a vocabulary needs the pieces of the others
        columns.append(corpus.texts)
    tower = begin(options.encoder, options, columns, run, report, split)
    options = with_rate(options, tower)
    data = split.cut(tower, tower, run)
    measures: dict[str, float] = {}
    warm_up = _WarmUp(tower, options, len(data.rows), count_steps(data.weights, options))
    warm_up.queue.across = data.languages is not None
    if options.phase != "2":
        measures = run_steps(warm_up, data, options, run.stage("phase-1"), report)
    if options.phase == "1":
        return TrainedTowers({"": tower}, measures, len(data.rows), seen, split.held_out)
    judges = warm_up.judges(data.rows)
    del warm_up  # M' and queue of phase 1, which a device need not hold in phase 2
    before = {name: x for name, x in measures.items() if name in BEFORE}  # of both phases
    later = replace(
        options,
        epochs=options.em_epochs or options.epochs,
        learning_rate=options.em_learning_rate
        or min(options.learning_rate, type(tower).learning_rate / _SLOWER),
    )
    found = unpaired_texts(corpus, split, options.codes)
    (texts,) = cut_together(tower, [found.texts], [found.languages])
    unpaired = TrainingData(
        Rows((texts, texts)),  # twice, for what looks at two columns
        found.sampling_weights(options.codes, run),
        data.held_out,
        held_out_languages=data.held_out_languages,
    )
    step = _Maximisation(tower, judges, later, len(texts), count_steps(unpaired.weights, later))
    measures = run_steps(step, unpaired, later, run.stage("phase-2"), report) | before
    rows = len(data.rows) + len(texts)
    return TrainedTowers({"": tower}, measures, rows, seen, split.held_out)


class _Phase(Step):
    """What both phases have: M, M', and a queue of keys of all languages."""

    def __init__(
        self, tower: Tower, options: EmmaXOptions, rows: int, steps: int, ids: int
    ) -> None:
        super().__init__()
        self.tower, self.options = tower, options
        self.momentum = options.momentum_over(steps, is_static=isinstance(tower, StaticTower))
        self.key = MomentumTower(tower)
        self.queue = KeyQueue(options.queue_for(rows), tower.dim, ids).to(tower.device)

    def begin(self) -> None:
        self.key.follow(self.tower, self.momentum)

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        return self.tower.optimizers(learning_rate, self.options.weight_decay)

    def clipped(self) -> list[nn.Parameter]:
        """Those of the encoder: gradients of a classifier are a thousand times as long."""
        return list(self.tower.parameters())

    @torch.no_grad()
    def keys_of(self, columns: Sequence[TokenizedSide]) -> Tensor:
        """Embed columns one after the other with M': unit rows [columns * rows, dim]."""
        return self.key.tower.embed(*columns)

    def queries_of(self, columns: Sequence[TokenizedSide], random: np.random.Generator) -> Tensor:
        """Embed columns one after the other with M: unit rows [columns * rows, dim]."""
        return self.tower.embed(*drop_tokens(columns, self.options.token_dropout, random))


class _WarmUp(_Phase):
    """Phase 1, on pairs: InfoNCE in both directions (eq. 2)."""

    def __init__(self, tower: Tower, options: EmmaXOptions, rows: int, steps: int) -> None:
        super().__init__(tower, options, rows, steps, ids=2)

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        keys = self.keys_of(batch.columns)  # [2 * rows, dim], sources and then targets
        queries = self.queries_of(batch.columns, random)  # [2 * rows, dim]
        texts = text_numbers(batch, queries.device)  # [rows, 2]
        positives = torch.cat(keys.chunk(2)[::-1])
        self._new = [all_gather(each) for each in keys.chunk(2)], all_gather(texts)
        scale = 1 / self.options.temperature
        contrast = contrast_with_queue(
            queries, positives, texts.repeat(2, 1), self.queue, scale, self.options
        )
        return {"contrast": contrast}

    def finish(self) -> None:
        keys, texts = self._new
        by_row = torch.stack(keys, dim=1).flatten(0, 1)  # [2 * batch, dim], the two of a pair
        self.queue.put(by_row, texts.repeat_interleave(2, dim=0))

    def train(self, mode: bool = True) -> "_WarmUp":
        """Leave dropout off in the keys (A-04)."""
        super().train(mode)
        self.key.train(False)
        return self

    @torch.no_grad()
    def judges(self, rows: Rows) -> _Judges:
        """Estimate G and s_r from examples whose rank is known, with M as it is now.

        Every process does all of it.
        """
        self.eval()
        random, ranks = np.random.default_rng([self.options.seed, 4]), self.options.ranks
        some = rows.take(random.permutation(len(rows))[:_EXAMPLES])
        texts = text_numbers(some, self.tower.device)
        anchors, keys = self.tower.embed(*some.columns), self.keys_of(some.columns)
        across = self.queue.across
        x, y, rank = ranked_pairs(anchors, keys, texts, ranks, random, across=across)
        classifier = RankClassifier(ranks, self.tower.dim).to(self.tower.device)
        classifier.fit(x - y, rank)
        return _Judges(classifier, mean_similarities(x, y, rank, ranks))


class _Maximisation(_Phase):
    """Phase 2, on text without pairs: ranking InfoNCE for M by c_G, likelihood for G by c_M.

    Keys have dropout: a sentence's own key is a paraphrase of it (A-17).
    """

    def __init__(
        self, tower: Tower, judges: _Judges, options: EmmaXOptions, rows: int, steps: int
    ) -> None:
        super().__init__(tower, options, rows, steps, ids=1)
        self.classifier = judges.classifier
        self.similarities = nn.Buffer(judges.similarities)
        # tau_1 ... tau_{N-1}; of two ranks there is one
        self.temperatures = np.linspace(*_TEMPERATURES, options.ranks - 1).tolist()
        self.epsilon = _EPSILON[steps >= 5000]

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        """Make one for M and one for G (eq. 8); G does not decay."""
        of_classifier = Adam(self.classifier.parameters(), lr=self.options.gmm_learning_rate)
        return [*super().optimizers(learning_rate), of_classifier]

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        """Ranking InfoNCE by c_G (eq. 7, 20), and the likelihood of c_M (eq. 6)."""
        columns = batch.columns[:1]
        keys = self.keys_of(columns)  # [rows, dim]
        queries = self.queries_of(columns, random)  # [rows, dim]
        texts = text_numbers(Rows(columns), keys.device)  # [rows, 1]
        self._new = every_key, every_text = all_gather(keys), all_gather(texts)
        candidates = torch.cat([every_key, self.queue.keys()])  # [candidates, dim]
        others = torch.cat([every_text, self.queue.texts[: len(self.queue)]])
        own = texts == others.T  # [rows, candidates]
        cosines = queries @ candidates.T  # [rows, candidates], without a gradient of candidates
        log_p = self.classifier.of_grid(queries.detach(), candidates)  # [rows, candidates, ranks]
        c_g = log_p.detach().argmax(dim=2) + 1  # eq. 9
        c_m = similarity_ranks(cosines.detach(), self.similarities).masked_fill(own, 0)  # eq. 10
        self._judged = cosines.detach(), c_g.masked_fill(own, 0)
        pairs = all_sum((~own).sum()) / processes()
        labels = c_m.flatten() - 1
        nats = nn.functional.nll_loss(log_p.flatten(0, 1), labels, ignore_index=-1, reduction="sum")
        contrast = ranking_info_nce(cosines, c_g.masked_fill(own, 1), self.temperatures)
        return {"contrast": contrast, "ranking": nats / pairs}

    def finish(self) -> None:
        counts, sums = sums_by_rank(*self._judged, self.options.ranks)
        self._counts = all_sum(counts)
        moved = followed(self.similarities, self._counts, all_sum(sums), self.epsilon)  # eq. 11
        self.similarities.copy_(moved)
        self.queue.put(*self._new)

    def numbers(self) -> dict[str, float]:
        shares = self._counts / self._counts.sum().clamp(min=1)
        named = {"similarity": self.similarities.tolist(), "share": shares.tolist()}
        return {
            f"{name}_{rank}": value
            for name, values in named.items()
            for rank, value in enumerate(values, start=1)
        }
