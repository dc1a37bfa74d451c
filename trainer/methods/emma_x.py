"""Emma-X: an encoder and a rank classifier that teach each other on text without pairs.

Guo et al. (2023), "Emma-X: An EM-like Multilingual Pre-training Algorithm for Cross-lingual
Representation Learning". M is the encoder, M' follows it slowly, G judges which of N ranks the
relation of two sentences has: 1 is a paraphrase, N is irrelevant. Phase 1 starts both from pairs.
In phase 2 G ranks pairs of unpaired sentences for M (c_G), and M does for G (c_M).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from xmine.progress import Report

from ..data.batches import count_steps
from ..data.corpus import Corpus
from ..data.rows import Rows, TokenizedSide, TrainingData
from ..distributed import all_gather, all_sum, broadcast, part_of, processes
from ..losses.contrastive import ranking_info_nce
from ..losses.with_queue import contrast_with_queue
from ..models.queue import text_numbers
from ..models.towers import Tower, cut_together
from ..options.emma_x import EmmaXOptions
from ..ranking.monitor import TOO_WEAK, WEAK, RankCounts, RankMonitor
from ..ranking.ranks import (
    Moments,
    RankClassifier,
    better_of,
    followed,
    moments_of_grid,
    similarity_ranks,
    sums_by_rank,
)
from ..ranking.step import RankStep
from ..ranking.virtual import WINDOW, ClassifierWarmUp, Mixing, ranked_pairs, window_size
from ..run.checkpoints import TrainingRun
from ..run.devset import BEFORE
from ..run.languages import unpaired_texts
from ..run.loop import run_steps
from ..run.prepare import Split, TrainedTowers, begin, needed_pairs, with_rate

# Phase 2 has this part of the rate of a trained encoder: more loses on pairs what texts give.
_SLOWER = 6
_EPSILON = 0.99, 0.999  # of s_r, in runs of fewer than 5,000 steps and in others
_NOBODY = -2  # number of no text; -1 is that of a random key
# What phase 2 begins with: M, G, s_1 ... s_N [ranks], the accuracy of M on held-out pairs.
_Begun = tuple[Tower, RankClassifier, Tensor, float]


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
    warm_up = _WarmUp(tower, options, len(data.rows), count_steps(data.weights, options))
    warm_up.queue.across = data.languages is not None
    measures: dict[str, float] = {}
    if options.phase != "2":
        if options.queue_init == "prefill":
            warm_up.prefill(data.rows)
        measures = run_steps(warm_up, data, options, run.stage("phase-1"), report)
    if options.phase == "1":
        return TrainedTowers({"": tower}, measures, len(data.rows), seen, split.held_out)
    warm_up.estimate(data.rows)
    before = {name: x for name, x in measures.items() if name in BEFORE}  # of both phases
    began = broadcast(warm_up.measured(data))["accuracy"]
    if began < WEAK:
        run.log(step=0, remark=TOO_WEAK.format(began))
    begun = tower, warm_up.classifier, warm_up.similarities, began
    del warm_up  # M' and queue of phase 1, which a device need not hold in phase 2
    measures, texts = _maximise(begun, options, corpus, split, data, run, report)
    measures = {**measures, **before}
    return TrainedTowers({"": tower}, measures, len(data.rows) + texts, seen, split.held_out)


def _maximise(
    begun: _Begun,
    options: EmmaXOptions,
    corpus: Corpus,
    split: Split,
    pairs: TrainingData,
    run: TrainingRun,
    report: Report,
) -> tuple[dict[str, float], int]:
    """Train phase 2."""
    tower = begun[0]
    options = replace(
        options,
        epochs=options.em_epochs or options.epochs,
        learning_rate=options.em_learning_rate
        or min(options.learning_rate, type(tower).learning_rate / _SLOWER),
    )
    found = unpaired_texts(corpus, split, options.codes)
    texts = found.texts
    cut = cut_together(
        tower, [texts, split.seen.sources, split.seen.targets], [found.languages, 0, 1]
    )
    data = TrainingData(
        Rows((cut[0], cut[0])),  # twice, for what looks at two columns
        found.sampling_weights(options.codes, run),
        pairs.held_out,
        held_out_languages=pairs.held_out_languages,
    )
    steps = count_steps(data.weights, options)
    step = _Maximisation(begun, Rows(cut[1:]), options, len(texts), steps)
    if options.queue_init == "prefill":
        step.prefill(Rows(cut[:1]))
    measures = run_steps(step, data, options, run.stage("phase-2"), report)
    return measures, len(texts)


class _WarmUp(RankStep):
    """Phase 1, on pairs: InfoNCE for M (eq. 2), virtual examples for G (eq. 3 and 4)."""

    ids = 2

    def __init__(self, tower: Tower, options: EmmaXOptions, rows: int, steps: int) -> None:
        classifier = RankClassifier(options.ranks, tower.dim).to(tower.device)
        super().__init__(tower, classifier, options, rows, steps)
        self.warm_up = ClassifierWarmUp(options, tower.dim, steps, tower.device)

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        mixing = Mixing.drawn(len(batch) * processes(), self.options, random)
        k_x, k_y = self.keys_of(batch.columns).chunk(2)  # [rows, dim] each, without gradients
        h_x, h_y = self.queries_of(batch.columns, random).chunk(2)  # [rows, dim] each
        texts = text_numbers(batch, h_x.device)  # [rows, 2]
        queries, positives = torch.cat([h_x, h_y]), torch.cat([k_y, k_x])  # [2 * rows, dim]
        scale = 1 / self.options.temperature
        contrast = contrast_with_queue(
            queries, positives, texts.repeat(2, 1), self.queue, scale, self.options
        )
        keys, texts = (all_gather(k_x), all_gather(k_y)), all_gather(texts)  # of the whole batch
        own = part_of(len(texts))
        across = self.queue.across
        pairs = ranked_pairs((h_x.detach(), h_y.detach()), keys, texts, mixing, own, across=across)
        self._new = torch.cat(keys), texts
        ranking = self.warm_up.loss(self.classifier, *pairs)
        return {"contrast": contrast} | ({"ranking": ranking} if self.warm_up.ready else {})

    def finish(self) -> None:
        self.put(*self._new)
        self.warm_up.finish(self.classifier)

    @torch.no_grad()
    def estimate(self, rows: Rows) -> None:
        """Measure s_r, the mean cosine of examples of each rank (A-18), with M as it is now.

        G, which began with what M was at first, is estimated anew where that ranks better (A-14).
        Every process does all of it.
        """
        self.eval()
        random = np.random.default_rng([self.options.seed, 4])
        size, ranks = min(len(rows), self.options.batch_size), self.options.ranks
        examples = []
        for _ in range(min(WINDOW, len(rows) // size)):
            some = rows.take(random.choice(len(rows), size, replace=False))
            mixing = Mixing.drawn(size, self.options, random)
            k_x, k_y = self.keys_of(some.columns).chunk(2)
            h_x, h_y = self.tower.embed(*some.columns).chunk(2)
            texts = text_numbers(some, self.tower.device)
            across = self.queue.across
            examples.append(
                ranked_pairs((h_x, h_y), (k_x, k_y), texts, mixing, slice(size), across=across)
            )
        found = [
            sums_by_rank(nn.functional.cosine_similarity(x, y), rank, ranks)
            for x, y, rank in examples
        ]
        counts, sums = (torch.stack(each).sum(dim=0) for each in zip(*found, strict=True))
        self.similarities.copy_(followed(self.similarities, counts, sums, epsilon=0))
        better_of(self.classifier, examples)

    def numbers(self) -> dict[str, float]:
        found = {"rank_nats": self.warm_up.nats, "rank_accuracy": self.warm_up.accuracy}
        return {name: value.item() for name, value in found.items()}


class _Maximisation(RankStep):
    """Phase 2, on text without pairs: ranking InfoNCE for M by c_G, likelihood for G by c_M."""

    ids = 1

    def __init__(
        self, begun: _Begun, pairs: Rows, options: EmmaXOptions, rows: int, steps: int
    ) -> None:
        tower, classifier, similarities, accuracy = begun
        super().__init__(tower, classifier, options, rows, steps)
        self.similarities.copy_(similarities)
        self.pairs, self.monitor = pairs, RankMonitor(accuracy, window_size(steps))
        self.classifies = not options.freeze_gmm
        self.key_dropout = options.self_positive  # else a sentence would be its own key
        low, high = options.rank_temperature_low, options.rank_temperature_high
        # tau_1 ... tau_{N-1}; of two ranks there is one
        self.temperatures = np.linspace(low, high, options.ranks - 1).tolist()
        self.epsilon = _EPSILON[steps >= 5000]

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        columns = self._columns(batch, random)
        keys = self.keys_of(columns)  # [rows, dim]
        queries = self.queries_of(columns, random)  # [rows, dim]
        texts = text_numbers(Rows(columns), keys.device)  # [rows, columns]
        every_text = all_gather(texts)
        every_key = torch.cat([all_gather(each) for each in keys.chunk(len(columns))])
        candidates = torch.cat([every_key, self.queue.keys()])  # [candidates, dim]
        of_candidates = torch.cat(
            [every_text.T.reshape(-1), self.queue.texts[: len(self.queue), 0]]
        )
        self._new = every_key, every_text
        aligned = texts.flip(1) if len(columns) > 1 else torch.full_like(texts, _NOBODY)
        c_g, c_m = self._rank(
            queries.detach(), candidates, texts.T.reshape(-1), aligned.T.reshape(-1), of_candidates
        )
        self._grid = queries.detach(), candidates, c_m
        losses = {}
        if self.classifies:
            losses["ranking"] = self._likelihood(queries.detach(), candidates, c_m)
        if all_sum(((c_g > 0) & (c_g < self.options.ranks)).any().int()):
            cosines = queries @ candidates.T  # L_CTL (eq. 7, 20): candidates have no gradient
            losses["contrast"] = ranking_info_nce(cosines, c_g, self.temperatures)
        else:
            self.monitor.skipped.add_(1)
        return losses or {"contrast": queries.new_zeros(())}

    def _columns(self, batch: Rows, random: np.random.Generator) -> tuple[TokenizedSide, ...]:
        """Give the sentences of the step; a share of the steps takes pairs in their place."""
        if random.random() >= self.options.parallel_mix:
            return batch.columns[:1]
        rows = random.integers(len(self.pairs), size=max(1, len(batch) // 2) * processes())
        return self.pairs.take(rows[part_of(len(rows))]).columns

    @torch.no_grad()
    def _rank(
        self, queries: Tensor, candidates: Tensor, texts: Tensor, aligned: Tensor, others: Tensor
    ) -> tuple[Tensor, Tensor]:
        """c_G (eq. 9) and c_M (eq. 10) of every query and candidate, and what the step sees.

        `texts` and `aligned` [rows] number the queries' texts and their known translations,
        `others` those of the candidates.

        Returns:
            uint8 [rows, candidates] each; 0 is left out, as a query's own key is by c_M.
        """
        ranks, own = self.options.ranks, texts[:, None] == others
        paired = aligned[:, None] == others
        cosines = queries @ candidates.T  # [rows, candidates]
        c_g = self.classifier.of_grid(queries, candidates).argmax(dim=2) + 1
        c_m = similarity_ranks(cosines, self.similarities)
        c_g, c_m = c_g.masked_fill(paired, 1), c_m.masked_fill(paired, 1)
        c_m, judged = c_m.masked_fill(own, 0), c_g.masked_fill(own, 0)
        counts, sums = sums_by_rank(cosines, judged, ranks)
        spread = torch.exp(4 * cosines - 4).masked_fill(own, 0)  # exp(-2 |x - y|^2)
        rest = torch.stack([(judged == c_m)[~own].sum(), spread.sum()])
        total = all_sum(torch.cat([counts, sums, rest]))
        self.seen = RankCounts(total[:ranks], total[ranks:-2], total[-2], total[-1])
        c_g = c_g.masked_fill(own, 1 if self.options.self_positive else 0)
        return c_g.to(torch.uint8), c_m.to(torch.uint8)

    def _likelihood(self, queries: Tensor, candidates: Tensor, c_m: Tensor) -> Tensor:
        """L_MLE (eq. 6): mean over all pairs of -log P_G(c_M); queries have no gradient."""
        pairs = all_sum((c_m > 0).sum()) / processes()
        log_p = self.classifier.of_grid(queries, candidates)  # [rows, candidates, ranks]
        labels = c_m.long().flatten() - 1
        cost = nn.functional.nll_loss(log_p.flatten(0, 1), labels, ignore_index=-1, reduction="sum")
        self._nats = (cost / pairs).detach()
        return cost / pairs

    def finish(self) -> None:
        seen = self.seen
        self.similarities.copy_(  # eq. 11
            followed(self.similarities, seen.members, seen.sums, self.epsilon)
        )
        self.put(*self._new)
        nats = float(all_sum(self._nats)) / processes() if self.classifies else 0.0
        if self.classifies and self.monitor.is_lost(nats):
            self.monitor.refitted.add_(1)
            moments = moments_of_grid(*self._grid, self.options.ranks)
            self.classifier.fit(Moments(*(all_sum(each) for each in moments)))
        if self.monitor.must_sort(self.similarities, self.classifier.distances()):
            order = self.similarities.argsort(descending=True)
            self.similarities.copy_(self.similarities[order])
            self.classifier.reorder(order, self.of_classifier if self.classifies else None)

    def numbers(self) -> dict[str, float]:
        named = {"similarity": self.similarities.tolist(), "distance": self.classifier.distances()}
        by_rank = {
            f"{name}_{rank}": value
            for name, values in named.items()
            for rank, value in enumerate(values, start=1)
        }
        return by_rank | self.seen.numbers() | self.monitor.numbers()

    def stops(self, measures: Mapping[str, float], decides: str) -> str:
        return self.monitor.stops(measures, self.seen)
