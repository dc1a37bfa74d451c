"""TransAug's three stages beside a twin: the paper written out with loops, in float64.

The twin reads texts alone: it knows which English and which Chinese sentence belong together, the
pieces of a sentence and the numbers that an encoder began with. Losses, gradients, AdamW, the
queue and the learnable temperature are its own.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.toys.grids import mostly_long
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.tokenizer import Vocabulary
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.data.rows import Rows, TokenizedSide, TrainingData
from xmine.trainer.methods import transaug
from xmine.trainer.methods.transaug import _Contrast
from xmine.trainer.models.queue import KeyQueue
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.train import train

DIM, TEACHER_DIM, STUDENT_DIM = 12, 8, 10
RATES = {"distil": 0.02, "contrast": 0.01, "nli": 0.005}
DECAY = 0.01
CLOSE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6}


class Encoder:
    """A static encoder: a sentence is the mean of its pieces' vectors."""

    def __init__(self, tower: Any) -> None:
        self.vectors: Tensor = tower.vectors.detach().double().clone().requires_grad_(True)
        self.vocabulary: Vocabulary = tower.pieces
        self.still = set(self.vocabulary.meaningless())
        self.touched: set[int] = set()

    def of(self, text: str) -> Tensor:
        ids = self.vocabulary.ids([text])[0].tolist()
        self.touched |= set(ids)
        total = torch.zeros(self.vectors.shape[1], dtype=torch.float64)
        for piece in ids:
            row = self.vectors[piece]
            total = total + (row.detach() if piece in self.still else row)
        return total / len(ids)


class Moved:
    """AdamW over some rows of a parameter: beta 0.9 and 0.999, epsilon 1e-8."""

    def __init__(self, parameter: Tensor, rate: float, decay: float = 0.0) -> None:
        self.parameter, self.rate, self.decay, self.steps = parameter, rate, decay, 0
        self.first = torch.zeros_like(parameter)
        self.second = torch.zeros_like(parameter)

    @torch.no_grad()
    def step(self, gradient: Tensor | None, rows: set[int] | None = None) -> None:
        self.steps += 1
        if gradient is None:
            gradient = torch.zeros_like(self.parameter)
        places = [(row,) for row in sorted(rows)] if rows is not None else [...]
        for at in places:
            g = gradient[at]
            self.first[at] = 0.9 * self.first[at] + 0.1 * g
            self.second[at] = 0.999 * self.second[at] + 0.001 * g * g
            mean = self.first[at] / (1 - 0.9**self.steps)
            root = (self.second[at] / (1 - 0.999**self.steps)).sqrt()
            epsilon = 1e-8
            if rows is not None:  # Adam of sparse rows adds it before the correction
                epsilon /= math.sqrt(1 - 0.999**self.steps)
            kept = self.parameter[at] * (1 - self.rate * self.decay)
            self.parameter[at] = kept - self.rate * mean / (root + epsilon)


def unit(vector: Tensor) -> Tensor:
    return vector / (vector * vector).sum().sqrt()


def log_softmax_loss(logits: list[Tensor]) -> Tensor:
    """-log of the first one's share."""
    total = torch.zeros((), dtype=torch.float64)
    for logit in logits:
        total = total + (logit - logits[0]).exp()
    return total.log()


class Twins:
    """What stands in place of the loop: our steps on some batches, each beside the twin's.

    `run_steps` has the signature of the product's; the batches are rows that share sentences.
    """

    def __init__(self, corpus: Corpus, english: int) -> None:
        pairs = corpus.pairs
        assert pairs is not None
        self.english = english  # the column of English
        self.pairs = set(zip(pairs.sources, pairs.targets, strict=True))
        self.texts = {*pairs.sources, *pairs.targets}
        self.texts |= {text for column in corpus.triplets[0].columns() for text in column}
        self.text_of: list[dict[int, str]] = []  # of each column, by the numbers of its texts
        self.seen: list[str] = []

    def run_steps(self, step: Any, data: TrainingData, options: Any, run: Any, _: Any) -> Any:
        self.seen.append(run.name)
        for tower in {*step.towers()}:
            tower.double()
        step.double()
        towers = [*step.towers(), step.towers()[1 - self.english]]  # the third: English, learned
        self.text_of = [self._read(*each) for each in zip(data.rows.columns, towers, strict=False)]
        rows = self._sharing(data.rows)
        getattr(self, run.name)(step, [data.rows.take(each) for each in rows], options)
        return {"accuracy": 1.0}

    def _read(self, column: TokenizedSide, tower: Any) -> dict[int, str]:
        """Tell by its pieces which text has a number."""
        spelled = {tuple(tower.pieces.ids([text])[0].tolist()): text for text in self.texts}
        pieces = np.split(column.ids, column.starts[1:-1])
        return {
            number: spelled[tuple(each.tolist())]
            for number, each in zip(column.keys.tolist(), pieces, strict=True)
        }

    def _columns(self, batch: Rows) -> list[list[str]]:
        return [
            [named[number] for number in column.keys.tolist()]
            for named, column in zip(self.text_of, batch.columns, strict=True)
        ]

    def _sharing(self, rows: Rows) -> list[np.ndarray[Any, Any]]:
        """Choose batches in which sentences occur twice, and which meet those of earlier ones."""
        firsts: dict[tuple[int, int], list[int]] = {}
        for at, column in enumerate(rows.columns[:2]):
            for row, key in enumerate(column.keys.tolist()):
                firsts.setdefault((at, key), []).append(row)
        shared = [each for each in firsts.values() if len(each) > 1][:4]
        twice = np.array(list(dict.fromkeys(row for each in shared for row in each)))
        assert len(twice) >= 4
        return [
            np.concatenate([twice[:5], np.arange(20, 27)]),
            np.concatenate([np.arange(24, 30), twice[3:8]]),
            np.concatenate([twice[1:6], np.arange(28, 34)]),
            np.arange(18, 30),
        ]

    def _texts(self, batch: Rows) -> list[tuple[str, str]]:
        """Give (English, the other language) of a batch of pairs, and see that they are pairs."""
        source, target, *learned = self._columns(batch)
        assert set(zip(source, target, strict=True)) <= self.pairs
        english, other = (source, target) if self.english == 0 else (target, source)
        assert all(each == english for each in learned)
        return list(zip(english, other, strict=True))

    def _take(self, step: Any, optimizers: list[Any], batch: Rows) -> dict[str, Tensor]:
        """Take one step of ours, as the loop does."""
        losses: dict[str, Tensor] = step.losses(batch, np.random.default_rng(0))
        for each in optimizers:
            each.zero_grad(set_to_none=True)
        torch.autograd.backward(torch.stack(list(losses.values())).sum())
        for each in optimizers:
            each.step()
        step.finish()
        return losses

    # Section 3.2

    def distil(self, step: Any, batches: list[Rows], options: Any) -> None:
        assert options.learning_rate == RATES["distil"]
        teacher = Encoder(step.teacher.tower)
        learner = Encoder(step.distilled.tower)
        matrix = self._matrix_of(step.distilled)
        moved = Moved(learner.vectors, RATES["distil"]), Moved(matrix, RATES["distil"], DECAY)
        optimizers = step.optimizers(options.learning_rate)
        before = step.teacher.tower.vectors.clone()
        for batch in batches:
            learner.touched.clear()
            texts = self._texts(batch)
            total = torch.zeros((), dtype=torch.float64)
            for english, other in texts:
                taught, learned = teacher.of(english).detach(), matrix @ learner.of(other)
                for number in range(TEACHER_DIM):
                    total = total + (learned[number] - taught[number]) ** 2
            wanted = {"distillation": total / (len(texts) * TEACHER_DIM)}
            gradients = torch.autograd.grad(wanted["distillation"], [learner.vectors, matrix])
            moved[0].step(gradients[0], learner.touched)
            moved[1].step(gradients[1])
            found = self._take(step, optimizers, batch)
            same(found, wanted)
            same({"vectors": step.distilled.tower.vectors}, {"vectors": learner.vectors})
            same({"matrix": step.distilled.matrix.weight}, {"matrix": matrix})
        assert torch.equal(step.teacher.tower.vectors, before)
        assert not step.teacher.tower.training

        held = self._texts(batches[0])
        with torch.no_grad():
            cosines = [float(unit(matrix @ learner.of(c)) @ unit(teacher.of(e))) for e, c in held]
        assert step.measure(Rows(batches[0].columns[:2]))["cosine"] == pytest.approx(
            np.mean(cosines), abs=1e-6
        )

    # Section 3.3

    def contrast(self, step: Any, batches: list[Rows], options: Any) -> None:
        assert options.learning_rate == RATES["contrast"]
        student = Encoder(step.student.tower)
        is_shared = step.keys is step.student.tower
        distilled = step.keys if hasattr(step.keys, "vectors") else step.keys.tower
        teacher = student if is_shared else Encoder(distilled)
        learns = is_shared or options.train_teacher
        size = options.queue_size
        # A ring: a list of places, where the next key goes, and how many hold one.
        ring: list[tuple[Tensor, set[str]] | None] = [None] * size
        place = 0
        s = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
        rates = max(RATES["contrast"], 2 * math.log(100) / options.steps)
        moved = [Moved(student.vectors, RATES["contrast"])]
        matrix = Moved(self._matrix_of(step.student), RATES["contrast"], DECAY)
        if learns and not is_shared:
            moved.append(Moved(teacher.vectors, RATES["contrast"]))
        of_s = Moved(s, rates)
        is_learnable = options.temperature == "learnable"
        optimizers = step.optimizers(options.learning_rate)
        before = distilled.vectors.clone()
        for batch in batches:
            student.touched.clear()
            teacher.touched.clear()
            texts = self._texts(batch)
            queries = [unit(matrix.parameter @ student.of(english)) for english, _ in texts]
            keys = [unit(teacher.of(other)) for _, other in texts]
            if not learns:
                keys = [each.detach() for each in keys]
            scale = s.exp() if is_learnable else torch.tensor(1 / options.temperature)
            total = torch.zeros((), dtype=torch.float64)
            for row, query in enumerate(queries):
                logits = [scale * (query @ keys[row])]
                for slot in ring:
                    if slot is not None and not slot[1] & set(texts[row]):
                        logits.append(scale * (query @ slot[0]))
                for other, key in enumerate(keys):
                    shares = set(texts[other]) & set(texts[row])
                    if options.in_batch_negatives and other != row and not shares:
                        logits.append(scale * (query @ key))
                total = total + log_softmax_loss(logits)
            loss = total / len(texts)
            parameters = [each.parameter for each in moved]
            parameters += [matrix.parameter] * (not is_shared) + [s] * is_learnable
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
            if not is_shared:
                matrix.step(gradients[len(moved)])
            encoders = [student, teacher]
            for each, gradient, encoder in zip(moved, gradients, encoders, strict=False):
                each.step(gradient, encoder.touched)
            if is_learnable:
                of_s.step(gradients[-1])
                with torch.no_grad():
                    s.copy_(min(max(s, torch.tensor(0.0)), torch.tensor(math.log(100))))
            for key, both in zip(keys, texts, strict=True):
                ring[place] = key.detach(), set(both)
                place = (place + 1) % size
            same(self._take(step, optimizers, batch), {"contrast": loss})
            same({"student": step.student.tower.vectors}, {"student": student.vectors})
            same({"distilled": distilled.vectors}, {"distilled": teacher.vectors})
            same({"s": step.logit_scale}, {"s": s})
            shown = s.exp() if is_learnable else scale
            assert step.numbers()["scale"] == pytest.approx(shown.item(), rel=1e-6)
            same({"matrix": self._matrix_of(step.student)}, {"matrix": matrix.parameter})
            self._same_ring(step.queue, ring, place)
        if not learns:
            assert torch.equal(distilled.vectors, before) and not distilled.training
        self._queue_accuracy(step, queries, keys, texts, ring)
        with torch.no_grad():  # what is measured goes through the matrix, what is judged does not
            ours = torch.stack([unit(matrix.parameter @ student.of(each)) for each, _ in texts])
            theirs = torch.stack([unit(teacher.of(each)) for _, each in texts])
        wanted = (ours, theirs) if self.english == 0 else (theirs, ours)
        for measured, vectors in zip(step.embed(Rows(batch.columns[:2])), wanted, strict=True):
            np.testing.assert_allclose(measured, vectors.numpy(), atol=1e-6)
        assert step.judged() is step.student.tower

    def _matrix_of(self, projected: Any) -> Tensor:
        """Give a copy of the matrix that leads to another width; none changes nothing."""
        if isinstance(projected.matrix, torch.nn.Linear):
            assert projected.matrix.bias is None
            return projected.matrix.weight.detach().clone().requires_grad_(True)
        return torch.eye(projected.tower.dim, dtype=torch.float64)

    def _same_ring(self, queue: KeyQueue, ring: list[Any], place: int) -> None:
        """Compare the queues from the oldest key to the newest."""
        there = [slot for slot in [*ring[place:], *ring[:place]] if slot is not None]
        size, count, start = len(queue.rows), len(queue), int(queue.next)
        assert count == len(there)
        for at, (key, texts) in enumerate(there):
            slot = (start - count + at) % size
            torch.testing.assert_close(queue.rows[slot], key, **CLOSE)
            if texts:
                named = zip(self.text_of, queue.texts[slot].tolist(), strict=True)
                assert {each[number] for each, number in named} == texts

    def _queue_accuracy(self, step: Any, queries: Any, keys: Any, texts: Any, ring: Any) -> None:
        right = 0
        queries, keys = ([each.detach() for each in some] for some in (queries, keys))
        for query, key, both in zip(queries, keys, texts, strict=True):
            others = [slot[0] for slot in ring if slot is not None and not slot[1] & set(both)]
            right += all(float(query @ key) > float(query @ other) for other in others)
        assert step.numbers()["queue_accuracy"] == pytest.approx(right / len(queries))

    # Section 4.2.3

    def nli(self, step: Any, batches: list[Rows], options: Any) -> None:
        assert options.learning_rate == RATES["nli"] and options.batch_size == 17
        student = Encoder(step.student)
        moved = Moved(student.vectors, RATES["nli"])
        optimizers = step.optimizers(options.learning_rate)
        for batch in batches:
            student.touched.clear()
            columns = self._columns(batch)
            x, entailed, contradicting = (
                [(text, unit(student.of(text))) for text in column] for column in columns
            )
            total = torch.zeros((), dtype=torch.float64)
            for row, (text, vector) in enumerate(x):
                logits = [vector @ entailed[row][1] / 0.05]
                own = {text, entailed[row][0]}
                for other, (positive, key) in enumerate(entailed):
                    alike = x[other][0] == text or positive in own
                    if other != row and not alike:
                        logits.append(vector @ key / 0.05)
                for negative, key in contradicting:
                    if negative not in own:
                        logits.append(vector @ key / 0.05)
                total = total + log_softmax_loss(logits)
            loss = total / len(x)
            [gradient] = torch.autograd.grad(loss, [student.vectors])
            moved.step(gradient, student.touched)
            same(self._take(step, optimizers, batch), {"nli": loss})
            same({"student": step.student.vectors}, {"student": student.vectors})
        with torch.no_grad():
            nearer = []
            for triplet in zip(*columns, strict=True):
                a, b, c = (unit(student.of(each)) for each in triplet)
                nearer.append(float(a @ b) > float(a @ c))
        assert step.measure(batches[-1])["triplets"] == pytest.approx(np.mean(nearer))


def same(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    assert found.keys() == wanted.keys()
    for name, each in wanted.items():
        torch.testing.assert_close(found[name].detach(), each.detach(), **CLOSE, msg=name)


@pytest.fixture
def in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what the product reduces to float32 stay in float64."""
    monkeypatch.setattr(
        torch.Tensor,
        "float",
        lambda tensor: tensor if tensor.is_floating_point() else tensor.double(),
    )


@pytest.fixture(scope="session")
def repeating(toy_pairs: ParallelText) -> ParallelText:
    """Pairs of which some share the English sentence, others the Chinese one."""
    sources, targets = [*toy_pairs.sources[:90]], [*toy_pairs.targets[:90]]
    sources += [*sources[:10], *toy_pairs.sources[90:100]]
    targets += [*toy_pairs.targets[90:100], *targets[10:20]]
    return ParallelText(sources, targets, [""] * len(sources))


@pytest.fixture(scope="session")
def strangers(toy_vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make encoders to which a sentence and its translation have nothing in common."""
    folder = tmp_path_factory.mktemp("strangers")
    widths = {"teacher": TEACHER_DIM, "distilled_encoder": DIM, "encoder": STUDENT_DIM}
    for seed, (name, width) in enumerate(widths.items()):
        rows = np.random.default_rng(seed).standard_normal((len(toy_vocabulary), width))
        rows[toy_vocabulary.meaningless()] = 0
        table = Table(rows.astype(np.float32), None)
        SentenceEncoder(StaticEmbedding(toy_vocabulary, table)).save(folder / name)
    return folder


def triplets_of(pairs: ParallelText) -> Triplets:
    """Make triplets of English, some with an anchor that another row has, too."""
    words = [text.split() for text in pairs.sources[:80]]
    halves = [" ".join(each[:3]) for each in words]
    ends = [" ".join(each[-2:]) for each in words]
    anchors = [*pairs.sources[:76], *pairs.sources[:4]]
    negatives = [*ends[1:], ends[0]]
    negatives[20:24] = halves[19:23]  # contradictions that are entailed by another row
    negatives[24:28] = anchors[25:29]
    return Triplets(anchors, halves, negatives)


BASE: dict[str, Any] = dict(batch_size=12, epochs=9, distil_epochs=1, steps=40, held_out=4)
BASE |= dict(queue_size=20, learning_rate=RATES["contrast"], distil_learning_rate=RATES["distil"])
BASE |= dict(nli_learning_rate=RATES["nli"], nli_batch_size=17, threads=1)


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize("languages", mostly_long(["en,zh", "zh,en"], usual=["en,zh"]))
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"distil_epochs": 9, "in_batch_negatives": True},
        {"temperature": "0.0099", "train_teacher": True},
        *mostly_long(
            [
                {"queue_size": 7},
                {"share_encoder": True, "in_batch_negatives": True},
            ],
            usual=[],
        ),
    ],
    ids=["paper", "with-the-batch", "two-towers", "small-queue", "one-encoder"],
)
def test_every_stage_is_the_paper_written_out(
    changes: dict[str, Any],
    languages: str,
    repeating: ParallelText,
    strangers: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    english = languages.split(",").index("en")
    pairs = repeating
    if english == 1:
        pairs = ParallelText(pairs.targets, pairs.sources, pairs.origins)
    corpus = Corpus(pairs=pairs, triplets=(triplets_of(repeating),))
    names = ["encoder"]
    if "share_encoder" not in changes:
        names += ["distilled_encoder", "teacher"]
    encoders = {name: str(strangers / name) for name in names}
    options = TransaugOptions(languages=languages, **BASE | encoders | changes)
    twins = Twins(corpus, english)
    monkeypatch.setattr(transaug, "run_steps", twins.run_steps)
    made = train("transaug", corpus, options, tmp_path / "encoder")
    assert set(made.encoders) == ({""} if "share_encoder" in changes else {"source", "target"})
    stages = ["contrast", "nli"] if "share_encoder" in changes else ["distil", "contrast", "nli"]
    assert twins.seen == stages
    if "share_encoder" not in changes:  # which folder has the encoder of which language
        sides = [SentenceEncoder.load(tmp_path / "encoder" / side) for side in ("source", "target")]
        assert (sides[english].dim, sides[1 - english].dim) == (STUDENT_DIM, DIM)


def test_contrast_ends_after_twenty_evaluations_without_a_better_one(
    toy_vocabulary: Vocabulary,
) -> None:
    """A-11: a measure that is as good is not better; what counts is what decides the best state."""
    student, distilled = (StaticTower(new_static(toy_vocabulary, 8, seed)) for seed in (1, 2))
    random = np.random.default_rng(3)
    for name in ("accuracy", "spearman", "halves"):
        step = _Contrast(student, distilled, TransaugOptions(), size=8, steps=10)
        best, waited = -1.0, 0
        for _ in range(300):
            value = int(random.integers(5)) / 5  # so that the best comes again
            waited = 0 if value > best else waited + 1
            best = max(best, value)
            other = {"accuracy": 1.0 - value, "halves": 0.0}
            assert bool(step.stops({**other, name: value}, name)) == (waited >= 20)
        assert waited >= 20
