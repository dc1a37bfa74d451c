"""TransAug: a teacher is distilled into another language, and teaches a student from there.

Wang (2021), "TransAug: Translate as Augmentation for Sentence Embeddings". Three encoders: T reads
English (or whatever --teacher-language says) and is given; S' reads the other language; S reads
English. Three stages, each with a checkpoint of its own:

    distil     S'(c) comes near T(e), for translations e and c; T is frozen          section 3.2
    contrast   S(e) is to tell its S'(c) from those of a queue; S' is frozen         section 3.3
    nli        S learns what sentences entail and contradict, as SimCSE does         section 4.2.3

There is no momentum: the keys of a frozen encoder never age, however long the queue is.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from xmine.encoders.hub import find_encoder
from xmine.encoders.layout import MODULES_FILE
from xmine.encoders.modules.heads import on_device
from xmine.errors import TrainingError
from xmine.progress import Report

from ..data.batches import count_steps
from ..data.corpus import Corpus
from ..data.inference import Triplets
from ..data.rows import Rows, TokenizedSide, TrainingData
from ..distributed import all_gather, processes
from ..losses.contrastive import distillation, scaled_cosines
from ..losses.with_queue import Member, contrast_in_batch, contrast_with_queue
from ..models.queue import KeyQueue, same_texts, text_numbers
from ..models.towers import Frozen, Projected, Tower, cut_together
from ..options.transaug import TransaugOptions
from ..run.checkpoints import TrainingRun
from ..run.devset import measure
from ..run.loop import run_steps
from ..run.prepare import (
    Split,
    TrainedTowers,
    begin,
    needed_pairs,
    needed_triplets,
    tuned_apart,
    with_rate,
)
from ..run.step import Embedder, Step, Vectors, drop_tokens

Either = TypeVar("Either")

_LARGEST_SCALE = math.log(100)  # log of what logits are multiplied by at most, as in CLIP
_PATIENCE = 20  # evaluations without a better one, after which the stage contrast ends
_MOST_KEPT = 2**27  # numbers of a teacher's vectors, 512 MB; more are read in every pass
_WATCHED = 256  # rows of a batch that are looked up in the queue for the log


def train(
    corpus: Corpus, options: TransaugOptions, run: TrainingRun, report: Report
) -> TrainedTowers:
    """Run all stages, or one of them; a stage that has ended gives its best state again.

    Returns:
        The encoders of both languages; that of one in the stages distil and nli.
    """
    reads_teacher = options.stage in ("all", "distil") and not options.share_encoder
    is_said = options.teacher_pooling or not reads_teacher
    if not is_said and not (find_encoder(options.teacher) / MODULES_FILE).exists():
        raise TrainingError(  # it would be read by the mean
            f"--teacher {options.teacher}: a checkpoint that does not say how its vectors are "
            f"pooled (it has no {MODULES_FILE})",
            "give teacher_pooling: cls_mlp for a supervised SimCSE, cls for an unsupervised one, "
            "mean where tokens are averaged",
        )
    is_tuned = options.stage == "nli" or (options.stage == "all" and bool(corpus.triplets))
    triplets = needed_triplets(corpus) if is_tuned else None
    if options.stage == "nli":
        assert triplets
        student = begin(options.encoder, options, triplets.columns(), run, report)
        measures, count = _fine_tune(student, triplets, options, run, report)
        return TrainedTowers({"": student}, measures, count)
    split = Split.of(needed_pairs(corpus, "transaug"), options)
    texts, count = [split.seen.sources, split.seen.targets], len(split.seen)
    if options.stage == "distil":
        distilled = begin(options.distilled_encoder, options, texts, run, report, split)
        measures = _distil(distilled, split, options, run, report)
        return TrainedTowers({"": distilled}, measures, count, split.seen)
    options.queue_for(count)  # an error now, not after a stage
    student = distilled = begin(options.encoder, options, texts, run, report, split)
    if not options.share_encoder:
        own = options if options.learning[1] else options.of_frozen()
        distilled = begin(options.distilled_encoder, own, texts, run, report, split)
        if options.stage == "all":
            _distil(distilled, split, options, run, report)
    step, data, measures = _contrast(student, distilled, split, options, run, report)
    if triplets:
        tuned, _ = _fine_tune(student, triplets, options, run, report)
        measures = {**measures, **step.measured(data), **tuned}
    if student is distilled:
        return TrainedTowers({"": student}, measures, count, split.seen, split.held_out)
    source, target = _in_order(student, distilled, options)
    return TrainedTowers({"source": source, "target": target}, measures, count, split.seen)


def _in_order(one: Either, other: Either, options: TransaugOptions) -> tuple[Either, Either]:
    """Turn (English, other language) into (source, target), or that into this."""
    return (other, one) if options.judged_column else (one, other)


def _sentences(batch: Rows, options: TransaugOptions) -> tuple[TokenizedSide, TokenizedSide]:
    """Give the sentences of English and of the other language."""
    source, target = batch.columns[:2]
    return _in_order(source, target, options)


# Stage distil, section 3.2


def _distil(
    distilled: Tower, split: Split, options: TransaugOptions, run: TrainingRun, report: Report
) -> dict[str, float]:
    options = with_rate(options.of_distillation(), distilled)
    # Its vectors are those of its own pooling, whatever that of the others is.
    pooling = options.teacher_pooling
    of_teacher = replace(options.of_frozen(), pooling=pooling, src_prompt="", tgt_prompt="")
    teacher = begin(options.teacher, of_teacher, [], run, report)
    torch.manual_seed(options.seed)  # of the matrix, whatever was drawn before
    step = _Distillation(teacher, distilled, options)
    data = split.cut(*_in_order(teacher, distilled, options), run.stage("distil"))
    # What T says does not change: kept where a process would read a row more than once.
    read = options.epochs * len(data.rows)
    read = min(read, options.steps * options.batch_size) if options.steps else read
    is_kept = len(data.rows) * teacher.dim <= _MOST_KEPT
    if is_kept and read / processes() > len(data.rows):
        step.teacher.read_once(_sentences(data.rows, options)[0], report)
    return run_steps(step, data, options, run.stage("distil"), report)


class _Distillation(Step):
    """L = mean (S'(c) - T(e))^2, over all elements of vectors of any length (A-08)."""

    def __init__(self, teacher: Tower, distilled: Tower, options: TransaugOptions) -> None:
        super().__init__()
        self.options = options
        self.teacher = Frozen(teacher)
        self.distilled = Projected(distilled, teacher.dim)

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        english, other = _sentences(batch, self.options)
        learned = self.distilled(*drop_tokens([other], self.options.token_dropout, random))
        taught = self.teacher(english).to(learned.device)  # [rows, dim], without gradients
        return {"distillation": distillation(learned, taught)}

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        return self.distilled.optimizers(learning_rate, self.options.weight_decay)

    def towers(self) -> tuple[Tower, Tower]:
        return _in_order(self.teacher.tower, self.distilled.tower, self.options)

    def embedders(self) -> tuple[Embedder, Embedder]:
        return _in_order(self.teacher, self.distilled, self.options)

    def of_vectors(self, source: Vectors, target: Vectors) -> dict[str, float]:
        """Measure retrieval, and the cosine of what is learned with what is taught."""
        cosine = float((source * target).sum(axis=1).mean())
        return measure(source, target) | {"cosine": cosine}


# Stage contrast, section 3.3


def _contrast(
    student: Tower,
    distilled: Tower,
    split: Split,
    options: TransaugOptions,
    run: TrainingRun,
    report: Report,
) -> "tuple[_Contrast, TrainingData, dict[str, float]]":
    data = split.cut(*_in_order(student, distilled, options), run.stage("contrast"))
    torch.manual_seed(options.seed)
    step = _Contrast(
        student,
        distilled,
        options,
        options.queue_for(len(data.rows)),
        count_steps(data.weights, options),
    )
    step.queue.across = data.languages is not None
    stage = run.stage("contrast")
    measures = run_steps(step, data, with_rate(options, student), stage, report)
    return step, data, measures


class _Contrast(Step):
    """InfoNCE one way, of exp(s) cos(S(e), S'(c)): the translation against a queue of keys S'(c).

    s = log(1 / temperature) is learned, within [0, ln 100] (A-10).
    """

    takes_negatives = True

    def __init__(
        self, student: Tower, distilled: Tower, options: TransaugOptions, size: int, steps: int
    ) -> None:
        super().__init__()
        self.options = options
        self.student = Projected(student, distilled.dim)  # if widths differ
        self.shared = student is distilled
        is_trained = options.train_teacher or self.shared
        self.keys = distilled if is_trained else Frozen(distilled)
        self.queue = KeyQueue(size, distilled.dim, ids=2).to(student.device)
        first = torch.tensor(0.0, device=student.device)
        self.logit_scale = nn.Parameter(first, requires_grad=options.temperature == "learnable")
        # At 2e-4 for the 48,600 steps of the paper's pass, s could just go from 0 to ln 100; at
        # that rate a run of a thousand steps would leave it where it began.
        self.scale_rate = 2 * _LARGEST_SCALE / steps
        self.best_measure = nn.Buffer(torch.tensor(-1.0, dtype=torch.float64))
        self.worse_since = nn.Buffer(torch.zeros((), dtype=torch.int64))

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        english, other = _sentences(batch, self.options)
        (english,) = drop_tokens([english], self.options.token_dropout, random)
        query = self.student.embed(english)  # [rows, dim]
        key = self.keys.embed(other).to(query.device)  # [rows, dim], mostly without gradients
        texts = text_numbers(batch, query.device)  # [rows, 2]
        self._last = query.detach(), key.detach(), texts
        hard, at = None, self.options.judged_column
        if batch.negatives:
            rows = batch.negatives[at]
            keys = self.keys.embed(rows.columns[1 - at]).to(query.device)
            hard = Member(keys, text_numbers(rows, query.device))
        scale = self.scale
        loss = contrast_with_queue(query, key, texts, self.queue, scale, self.options, hard)
        return {"contrast": loss}

    @property
    def scale(self) -> float | Tensor:
        """What cosines are multiplied by: 1 / temperature."""
        if isinstance(self.options.temperature, float):
            return 1 / self.options.temperature
        return self.logit_scale.exp()

    @torch.no_grad()
    def finish(self) -> None:
        self.logit_scale.clamp_(0, _LARGEST_SCALE)
        _, key, texts = self._last
        self.queue.put(all_gather(key), all_gather(texts))

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        decay = self.options.weight_decay
        found = self.student.optimizers(learning_rate, decay)
        if isinstance(self.keys, Tower) and not self.shared:
            rate = self.options.learning_rate or self.keys.learning_rate  # they may differ in kind
            found += self.keys.optimizers(rate, decay)
        if self.logit_scale.requires_grad:
            rate = max(learning_rate, self.scale_rate)
            found.append(AdamW([self.logit_scale], lr=rate, weight_decay=0.0))
        return found

    def towers(self) -> tuple[Tower, Tower]:
        distilled = self.keys.tower if isinstance(self.keys, Frozen) else self.keys
        return _in_order(self.student.tower, distilled, self.options)

    def embedders(self) -> tuple[Embedder, Embedder]:
        return _in_order(self.student, self.keys, self.options)

    def judged(self) -> Tower:
        """Give the student without the matrix, as it will be used."""
        return self.student.tower

    @torch.no_grad()
    def numbers(self) -> dict[str, float]:
        """Give the scale, and the share of rows whose translation is nearer than all the queue.

        The loss alone says little: at scale 1 it cannot fall below ln(1 + K e^-2).
        """
        query, key, texts = (each[:_WATCHED] for each in self._last)
        of_keys = self.queue.texts[: len(self.queue)]
        same = same_texts(texts, of_keys, across=self.queue.across)  # [rows, keys]
        near = scaled_cosines(query, self.queue.keys(), 1.0, same)
        own = (query * key).sum(dim=1, keepdim=True)  # [rows, 1]
        found = (own > near).all(dim=1).float().mean().item()
        return {"scale": float(self.scale), "queue_accuracy": found}

    def stops(self, measures: Mapping[str, float], decides: str) -> str:
        """End after so many evaluations without a better one (A-11)."""
        measure = measures[decides]
        if measure > self.best_measure:
            self.best_measure.fill_(measure)
            self.worse_since.zero_()
        else:
            self.worse_since.add_(1)
        return "no better evaluation for long" if self.worse_since >= _PATIENCE else ""


# Stage nli, section 4.2.3


def _fine_tune(
    student: Tower, triplets: Triplets, options: TransaugOptions, run: TrainingRun, report: Report
) -> tuple[dict[str, float], int]:
    options = options.of_nli(type(student).learning_rate)
    rows, held = tuned_apart(triplets, options)
    seen, held_out = (
        Rows(cut_together(student, triplets.take(each).columns())) for each in (rows, held)
    )
    data = TrainingData(seen, np.ones(len(rows)), held_out)
    step = _FineTuning(student, options)
    return run_steps(step, data, options, run.stage("nli"), report), len(rows)


class _FineTuning(Step):
    """SimCSE's supervised loss: the entailed sentence against the others' and contradictions."""

    decides: ClassVar[str] = "triplets"

    def __init__(self, student: Tower, options: TransaugOptions) -> None:
        super().__init__()
        self.student, self.options = student, options

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        members = drop_tokens(batch.columns, self.options.token_dropout, random)
        vectors = self.student.embed(*members)  # [3 * rows, dim]
        texts = on_device(np.stack([each.keys for each in members]), vectors.device)
        x, entailed, contradicting = (
            Member(rows, keys[:, None]) for rows, keys in zip(vectors.chunk(3), texts, strict=True)
        )
        scale = 1 / self.options.nli_temperature
        return {"nli": contrast_in_batch(x, entailed, contradicting, scale)}

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        return self.student.optimizers(learning_rate, self.options.weight_decay)

    def towers(self) -> tuple[Tower, Tower]:
        return self.student, self.student

    @torch.no_grad()
    def measure(self, held_out: Rows) -> dict[str, float]:
        """Measure in how many triplets the entailed sentence is nearer than the contradicting."""
        was_training = self.training
        self.eval()
        anchors, entailed, contradicting = self.student.embed(*held_out.columns).chunk(3)
        self.train(was_training)
        nearer = (anchors * entailed).sum(dim=1) > (anchors * contradicting).sum(dim=1)
        return {"triplets": nearer.float().mean().item()}
