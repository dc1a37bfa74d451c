"""Whole runs of Emma-X against the same written out from the paper, `emma_x_by_hand.py`.

After each step every state is compared: losses, M, M', G, s, the queue. Runs are in float64, so
that what differs by more than 1e-6 differs by more than rounding.
"""

import copy
import gc
import weakref
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from tests.toys.emma_x_by_hand import Sentence, Twin, by_column, cosine, sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts, EncoderSettings
from xmine.pairs.io import ParallelText
from xmine.progress import Progress, Report, silent
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.rows import Rows, TokenizedSide, TrainingData
from xmine.trainer.methods import emma_x
from xmine.trainer.models.towers import Tower, adamw
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.ranking.virtual import ranked_pairs
from xmine.trainer.run import languages as languages_module
from xmine.trainer.run.checkpoints import TrainingRun
from xmine.trainer.run.loop import run_steps

WORDS, DIM, BATCH = 24, 5, 4


class SmallTower(Tower):
    """Words -> their mean, with dropout, through a layer: small, dense, with everything trained."""

    learning_rate = 0.02

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.prompts, self.prompts_read, self.judged_place = ("", ""), set(), 0
        self.dim, self._settings = DIM, EncoderSettings()
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
        words = read(texts)
        starts = np.cumsum([0, *(len(each) for each in words)])
        return np.array([id for each in words for id in each], dtype=np.int32), starts

    def _vectors(self, side: TokenizedSide) -> Tensor:
        full = torch.from_numpy(np.diff(side.starts) > 0)
        means = [
            self.words[side.ids[start:end]].mean(dim=0) if end > start else torch.zeros(DIM)
            for start, end in pairwise(side.starts)
        ]
        return self.layer(self.dropout(torch.stack(means))) * full[:, None]


def read(texts: Sequence[str]) -> list[Sentence]:
    return [tuple(map(int, text.split())) for text in texts]


def pairs_of(columns: Sequence[TokenizedSide]) -> set[tuple[Sentence, ...]]:
    return set(zip(*map(sentences, columns), strict=True))


class Watch:
    """Stands beside a run: the twin takes each step with the same data, and all is compared."""

    def __init__(
        self, options: EmmaXOptions, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.options, self.tower = options, SmallTower()
        assert corpus.pairs
        self.pairs: set[tuple[Sentence, ...]] = set(
            zip(read(corpus.pairs.sources), read(corpus.pairs.targets), strict=True)
        )
        self.texts = set(read(corpus.texts))
        self.twin = Twin(options, self.tower)
        self.keyed: list[Sequence[TokenizedSide]] = []  # what M' read
        self.held: list[weakref.ref[nn.Module]] = []  # what an earlier phase had
        keys_of = emma_x._Phase.keys_of

        def keyed(step: Any, columns: Sequence[TokenizedSide]) -> Tensor:
            self.keyed.append(columns)
            return keys_of(step, columns)

        def ranked(*given: Any, **more: Any) -> Any:
            self.before_draw = copy.deepcopy(given[4])
            return ranked_pairs(*given, **more)

        monkeypatch.setattr(emma_x._Phase, "keys_of", keyed)
        monkeypatch.setattr(emma_x, "ranked_pairs", ranked)
        monkeypatch.setattr(emma_x, "begin", lambda *_: self.tower)
        monkeypatch.setattr(languages_module, "guess_language", self.language)
        monkeypatch.setattr(
            languages_module, "tell_apart", lambda text, codes: self.language([text], codes)
        )
        monkeypatch.setattr(emma_x, "run_steps", self.run_steps)

    def language(self, texts: Sequence[str], codes: Sequence[str]) -> str:
        return codes[read(texts)[0][0] >= WORDS]

    def run_steps(
        self, step: Any, data: TrainingData, options: EmmaXOptions, run: TrainingRun, report: Report
    ) -> dict[str, float]:
        """Take the steps of a phase, each followed by the twin's."""
        self.held_out = data.held_out
        losses, before = step.losses, {"phase-1": self.before_1, "phase-2": self.before_2}
        gc.collect()
        assert not [each for each in self.held if each() is not None], "phase 1 still has its M'"
        self.held = [weakref.ref(each) for each in (step, step.key, step.queue)]
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
        own = (run.name == "phase-2" and self.options.em_epochs) or self.options.epochs
        assert options.epochs == own
        return measures

    def before_1(self, step: Any, data: TrainingData) -> None:
        self.twin.begin(len(data.rows), peak=self.options.learning_rate)
        self.before = accuracy(self.tower, data.held_out)
        self.check_state(step)
        self.start = copy.deepcopy(self.twin)

    def before_2(self, step: Any, data: TrainingData) -> None:
        """Follow what lies between the phases; then let G differ from what M believes."""
        twin = self.twin
        if self.options.phase == "2":
            twin.begin(65, peak=0.0)
        elif accuracy(twin.tower, data.held_out) < self.before:
            self.twin = twin = self.start  # the best state of phase 1
        (columns,) = self.keyed
        assert data.held_out is not None
        self.pairs -= pairs_of(data.held_out.columns)
        assert pairs_of(columns) <= self.pairs
        self.seen = len(columns[0])
        assert len(pairs_of(columns)) == self.seen == 65, "all of them, each once"
        self.keyed.clear()
        twin.estimate(columns, self.before_draw)
        self.first = copy.deepcopy(twin.tower)
        self.began = accuracy(twin.tower, data.held_out)
        suits = min(self.options.learning_rate, SmallTower.learning_rate / 6)
        twin.begin(len(data.rows), peak=self.options.em_learning_rate or suits)
        english, other = 0, 0
        for text in sentences(data.rows.columns[0]):
            english, other = english + (text[0] < WORDS), other + (text[0] >= WORDS)
        shares = [count / (english + other) for count in (english, other)]
        wanted = [share**0.3 / sum(each**0.3 for each in shares) for share in shares]
        often = [w / share for w, share in zip(wanted, shares, strict=True)]
        weights = [often[text[0] >= WORDS] for text in sentences(data.rows.columns[0])]
        assert data.weights.tolist() == close(weights)
        self.learned_from = self.seen + len(data.rows)
        self.check_state(step)
        with torch.no_grad():
            for name, own in twin.g.parameters().items():
                own += torch.randn(own.shape) * (0.3 if name == "mu" else 0.6)
                own[-1] = 2.5 if name == "log_var" else own[-1]  # past the limit
                step.classifier.get_parameter(name).copy_(own)

    def compare(self, step: Any, batch: Rows, random: np.random.Generator, state: Tensor) -> None:
        """Take the twin's step with what the run's was given, and compare everything."""
        torch.set_rng_state(state)
        twin, columns = self.twin, batch.columns
        if isinstance(step, emma_x._WarmUp):
            losses, numbers = twin.warm_up(columns, random)
        else:
            losses, numbers = twin.maximise(columns[:1], random)
            numbers |= {f"similarity_{rank}": s for rank, s in enumerate(twin.s, start=1)}
        # A small loss is the difference of float32 numbers, which processors round in other ways.
        found = {name: loss.item() for name, loss in self.found.items()}
        assert found == pytest.approx(losses, rel=1e-6, abs=2e-8)
        assert step.numbers() == close(numbers), (step.numbers(), numbers)
        self.check_state(step)
        self.keyed.clear()

    def check_state(self, step: Any) -> None:
        """Compare M, M', G, s and the queue."""
        twin = self.twin
        for ours, theirs in ((step.tower, twin.tower), (step.key.tower, twin.key)):
            assert_same(dict(ours.named_parameters()), dict(theirs.named_parameters()))
        if not isinstance(step, emma_x._WarmUp):
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
        torch.testing.assert_close(tensor, theirs[name], rtol=1e-6, atol=1e-6)


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


BASE: dict[str, Any] = dict(encoder="scratch", batch_size=BATCH, epochs=9, steps=10)
BASE |= dict(evaluate_every=10**6, held_out=10, learning_rate=0.03, gmm_learning_rate=0.02)
BASE |= dict(weight_decay=0.05, schedule="cosine", warmup=0.1, queue_size=11, threads=1, ranks=4)
BASE |= dict(in_batch_negatives=False, em_learning_rate=0.02)
CASES: dict[str, dict[str, Any]] = {
    "as it comes": {"ranks": 2, "in_batch_negatives": True, "em_learning_rate": 0.0},
    "four ranks": {"steps": 24},
    "other options": {
        "in_batch_negatives": True,
        "clip": 0.3,
        "token_dropout": 0.2,
        "momentum": 0.8,
    },
    "two ranks": {"ranks": 2, "momentum": 0.0, "em_learning_rate": 0.1, "em_epochs": 7},
    "phase 2 alone": {"phase": "2", "queue_size": 0},
    "frozen": {"gmm_learning_rate": 0.0, "steps": 5},
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_is_what_the_paper_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(3)
    data, options = corpus(), EmmaXOptions(**BASE | CASES[name])
    watch = Watch(options, data, monkeypatch)
    made = emma_x.train(data, options, TrainingRun(tmp_path / "run", options, data), silent)
    twin, (tower,) = watch.twin, made.towers.values()
    last = accuracy(twin.tower, watch.held_out)
    fell = last < watch.began
    assert fell == (
        name not in ("as it comes", "four ranks", "frozen")
    )  # both happen: phase 1 is given back, or is not
    left = watch.first if fell else twin.tower
    assert_same(dict(tower.named_parameters()), dict(left.named_parameters()))
    assert made.measures["accuracy"] == close(watch.began if fell else last)
    if options.phase != "2":
        assert made.measures["before"] == close(watch.before)
    assert made.rows == watch.learned_from
    apart = sum(c_g != c_m for c_g, c_m in twin.judged) / len(twin.judged)
    assert apart > 0.1, "G and M have to differ, or it could not be told who teaches whom"
    assert {c for each in twin.judged for c in each} == set(range(1, options.ranks + 1))
