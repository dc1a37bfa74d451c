"""The loop against itself written out in numpy: order, rates, gradients, clipping, AdamW, best.

The step learns a matrix and a vector, in float64, from rows, from numbers that `random` draws and
from those that torch draws, as dropout does. Its twin is AdamW as Loshchilov and Hutter (2019)
write it, behind gradients by hand.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.trainer import distributed
from xmine.trainer.data.batches import pass_order
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.rows import Rows, TokenizedSide, TrainingData
from xmine.trainer.models.towers import adamw
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.run import loop
from xmine.trainer.run.checkpoints import TrainingRun
from xmine.trainer.run.loop import run_steps
from xmine.trainer.run.step import Step

ROWS, WIDE, NARROW = 50, 4, 3
RANDOM = np.random.default_rng(7)
FEATURES = RANDOM.standard_normal((ROWS, WIDE))
VISITS = np.concatenate([np.ones(30), np.full(10, 0.4), np.full(10, 1.7)])
FIRST = RANDOM.standard_normal((WIDE, NARROW))
# Before the first step, and at steps 7, 14, ... and the last; the best is reached twice.
ACCURACIES = [0.1, 0.2, 0.5, 0.4, 0.5, 0.3, 0.45]
FLAGS: dict[str, Any] = dict(epochs=3, steps=40, batch_size=3, evaluate_every=7, learning_rate=0.02)
FLAGS |= dict(warmup=0.2, weight_decay=0.1, clip=0.4, seed=5)


def rows_of(count: int) -> Rows:
    numbers = np.arange(count, dtype=np.int64)
    side = TokenizedSide(numbers.astype(np.int32), np.arange(count + 1), numbers)
    return Rows((side, side))


class Learner(Step):
    """Losses over the rows that `keys` number."""

    finished: Tensor

    def __init__(self, decay: float, accuracies: list[float]) -> None:
        super().__init__()
        self.matrix = nn.Parameter(torch.from_numpy(FIRST.copy()))
        self.bias = nn.Parameter(torch.zeros(NARROW, dtype=torch.float64))
        self.register_buffer("finished", torch.zeros((), dtype=torch.float64))
        self.decay, self.accuracies = decay, accuracies
        self.seen: list[list[int]] = []

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        return [adamw(self, learning_rate, self.decay)]

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        assert self.training
        rows = batch.columns[0].keys
        self.seen.append(rows.tolist())
        out = torch.from_numpy(FEATURES[rows]) @ self.matrix + self.bias
        out = out + torch.from_numpy(random.standard_normal(NARROW))
        dropped = torch.rand(len(rows), NARROW, dtype=torch.float64)
        return {"square": (out**2).mean(), "product": (out * dropped).sum() / len(rows)}

    def clipped(self) -> list[nn.Parameter]:
        return [self.matrix]

    def finish(self) -> None:
        self.finished += self.matrix.detach().sum()

    def towers(self) -> Any:
        tower = SimpleNamespace(device=torch.device("cpu"), is_half=False)
        return tower, tower

    def measure(self, held_out: Rows) -> dict[str, float]:
        return {"accuracy": self.accuracies.pop(0)}

    def numbers(self) -> dict[str, float]:
        return {"finished": float(self.finished)}


@dataclass
class Twin:
    """What is expected after each step: rows, loss, rate, matrix, vector, `finished`."""

    batch: list[int]
    parts: dict[str, float]
    rate: float
    epoch: int
    matrix: NDArray[np.float64]
    bias: NDArray[np.float64]
    finished: float


def twin() -> list[Twin]:
    batches: list[tuple[int, list[int]]] = []
    for epoch in range(FLAGS["epochs"]):
        random = np.random.default_rng([FLAGS["seed"], 1, epoch])
        drawn = random.random(ROWS)
        order = [row for row in range(ROWS) for _ in range(int(VISITS[row] + drawn[row]))]
        order_of = np.array(order)
        random.shuffle(order_of)
        for at in range(0, len(order) - FLAGS["batch_size"] + 1, FLAGS["batch_size"]):
            batches.append((epoch, order_of[at : at + FLAGS["batch_size"]].tolist()))
    batches = batches[: FLAGS["steps"]]
    matrix, bias, finished = FIRST.copy(), np.zeros(NARROW), 0.0
    means = [np.zeros((WIDE, NARROW)), np.zeros(NARROW)]
    squares = [np.zeros((WIDE, NARROW)), np.zeros(NARROW)]
    found = []
    for done, (epoch, batch) in enumerate(batches):
        rising = FLAGS["warmup"] * len(batches)
        share = (
            (done + 1) / rising
            if done < rising
            else (len(batches) - done) / (len(batches) - rising)
        )
        rate = FLAGS["learning_rate"] * share
        random = np.random.default_rng([FLAGS["seed"], 3, done])
        generator = torch.Generator().manual_seed(int(random.integers(2**62)))
        noise = random.standard_normal(NARROW)
        dropped = torch.rand(len(batch), NARROW, dtype=torch.float64, generator=generator).numpy()
        out = FEATURES[batch] @ matrix + bias + noise
        parts = {
            "square": float((out**2).mean()),
            "product": float((out * dropped).sum() / len(batch)),
        }
        slope = 2 * out / out.size + dropped / len(batch)
        gradients = [FEATURES[batch].T @ slope, slope.sum(axis=0)]
        length = np.sqrt((gradients[0] ** 2).sum())  # that of the matrix alone is clipped
        if length > FLAGS["clip"]:
            gradients[0] *= FLAGS["clip"] / (length + 1e-6)
        for at, (weights, decay) in enumerate(((matrix, FLAGS["weight_decay"]), (bias, 0.0))):
            weights *= 1 - rate * decay
            means[at] = 0.9 * means[at] + 0.1 * gradients[at]
            squares[at] = 0.999 * squares[at] + 0.001 * gradients[at] ** 2
            mean = means[at] / (1 - 0.9 ** (done + 1))
            square = squares[at] / (1 - 0.999 ** (done + 1))
            weights -= rate * mean / (np.sqrt(square) + 1e-8)
        finished += float(matrix.sum())
        found.append(Twin(batch, parts, rate, epoch, matrix.copy(), bias.copy(), finished))
    return found


def run_in(folder: Path, **changes: Any) -> tuple[TrainingRun, MsimcseOptions]:
    options = MsimcseOptions(**FLAGS | changes)
    folder.mkdir(exist_ok=True)
    return TrainingRun(folder / "run", options, Corpus(ParallelText(["a"], ["b"], [""]))), options


def test_every_step_and_what_is_left_are_those_of_the_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, options = run_in(tmp_path)
    step = Learner(options.weight_decay, list(ACCURACIES))
    step.eval()  # as an encoder is that was read
    expected = twin()
    assert len(expected) == 40 and expected[-1].epoch == 2  # of three passes, not all of the last
    shown: list[float] = []
    rates: list[float] = []
    states: list[tuple[Any, ...]] = []
    optimize = loop.Training._optimize

    def optimized(training: Any) -> None:
        optimize(training)
        rates.append(training.optimizers[0].param_groups[0]["lr"])
        assert training.optimizers[0].param_groups[1]["lr"] == rates[-1]

    def watch(progress: Progress) -> None:
        shown.append(progress.numbers["loss"])
        assert (progress.stage, progress.done, progress.total) == ("training", len(shown), 40)
        states.append(tuple(x.detach().clone().numpy() for x in (step.matrix, step.bias)))

    monkeypatch.setattr(loop.Training, "_optimize", optimized)
    data = TrainingData(rows_of(ROWS), VISITS, rows_of(5))
    measures = run_steps(step, data, options, run, watch)

    assert step.seen == [each.batch for each in expected]
    assert shown == pytest.approx([sum(each.parts.values()) for each in expected], abs=1e-9)
    assert rates == pytest.approx([each.rate for each in expected], abs=1e-12)
    for (matrix, bias), each in zip(states, expected, strict=True):
        np.testing.assert_allclose(matrix, each.matrix, atol=1e-9)
        np.testing.assert_allclose(bias, each.bias, atol=1e-9)

    assert torch.initial_seed() == FLAGS["seed"]  # for what a next stage draws
    best = expected[28 - 1]  # 0.5 at step 14 and at step 28
    assert measures == {"accuracy": 0.5, "before": 0.1}
    np.testing.assert_allclose(step.matrix.detach().numpy(), best.matrix, atol=1e-9)
    assert float(step.finished) == pytest.approx(best.finished, abs=1e-9)

    lines = [
        json.loads(line)
        for line in (tmp_path / "run" / "metrics.jsonl").read_text().split("\n")[:-1]
    ]
    assert [line["step"] for line in lines] == [7, 14, 20, 21, 28, 35, 40, 40]
    for line, each in zip((lines[2], lines[6]), (expected[19], expected[39]), strict=True):
        assert line.pop("pairs_per_second") > 0
        assert line == pytest.approx(
            {
                "step": line["step"],
                "epoch": each.epoch,
                "lr": each.rate,
                "loss": sum(each.parts.values()),
                "finished": each.finished,
                **each.parts,
            }
        )
    assert [line["accuracy"] for line in lines if "accuracy" in line] == ACCURACIES[1:]


def test_rates_stand_in_proportion_and_passes_end_with_evaluations(tmp_path: Path) -> None:
    """Two optimisers of other peaks; no `--evaluate-every`, no clipping, all passes, a cosine."""
    flags: dict[str, Any] = {"evaluate_every": 0, "steps": 0, "clip": 0.0, "epochs": 2}
    run, options = run_in(tmp_path, **flags, schedule="cosine")
    step = Learner(0.0, [0.0, 0.9, 0.3])
    made: list[Optimizer] = []

    def optimizers(learning_rate: float) -> list[Optimizer]:
        made[:] = [
            torch.optim.SGD([step.matrix], lr=learning_rate),
            torch.optim.SGD([step.bias], lr=10 * learning_rate),
        ]
        return made

    step.optimizers = optimizers  # type: ignore[method-assign]
    seen: list[tuple[float, float]] = []

    def watch(progress: Progress) -> None:
        seen.append((made[0].param_groups[0]["lr"], made[1].param_groups[0]["lr"]))

    data = TrainingData(rows_of(ROWS), VISITS, rows_of(5))
    assert run_steps(step, data, options, run, watch)["accuracy"] == 0.9
    assert step.accuracies == [] and len(seen) == len(step.seen)
    assert all(other == pytest.approx(10 * one) for one, other in seen)
    assert max(one for one, _ in seen) == pytest.approx(FLAGS["learning_rate"], rel=0.2)
    assert seen[-1][0] == pytest.approx(0, abs=1e-12)  # in a straight line it would be 0.02 / 26
    lines = [
        json.loads(x) for x in (tmp_path / "run" / "metrics.jsonl").read_text().split("\n")[:-1]
    ]
    ends = [line["step"] for line in lines if "accuracy" in line]
    sizes = [
        int(np.floor(VISITS + np.random.default_rng([5, 1, at]).random(ROWS)).sum()) // 3
        for at in (0, 1)
    ]
    assert ends == [sizes[0], sum(sizes)] == [ends[0], len(seen)]


def test_what_no_loss_of_a_step_touches_does_not_move(tmp_path: Path) -> None:
    """Not by the momentum of an optimiser either."""
    run, options = run_in(tmp_path, steps=5, clip=0.0, evaluate_every=0)
    step = Learner(0.0, [0.0] * 9)
    biases: list[list[float]] = []

    def losses(batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        touched = step.matrix.sum() + (step.bias.sum() if len(biases) in (0, 3) else 0)
        return {"sum": touched}

    def optimizers(learning_rate: float) -> list[Optimizer]:
        return [torch.optim.Adam([each], lr=learning_rate) for each in (step.matrix, step.bias)]

    step.losses = losses  # type: ignore[method-assign]
    step.optimizers = optimizers  # type: ignore[method-assign]
    data = TrainingData(rows_of(ROWS), VISITS, rows_of(5))
    run_steps(step, data, options, run, lambda _: biases.append(step.bias.tolist()))
    assert biases[0] == biases[1] == biases[2] != biases[3] == biases[4]


def test_a_method_ends_its_run_with_a_reason(tmp_path: Path) -> None:
    run, options = run_in(tmp_path)
    step = Learner(0.0, list(ACCURACIES))

    def stops(measures: Mapping[str, float], decides: str) -> str:
        assert decides == "accuracy"
        return "enough" if measures["accuracy"] == 0.5 else ""

    setattr(step, "stops", stops)  # noqa: B010 - mypy refuses to assign to a method
    data = TrainingData(rows_of(ROWS), VISITS, rows_of(5))
    run_steps(step, data, options, run, lambda _: None)
    assert len(step.seen) == 14
    last = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1]
    assert json.loads(last) == {"step": 14, "stopped": "enough"}
    again = Learner(0.0, [])
    assert run_steps(again, data, options, run, lambda _: None)["accuracy"] == 0.5
    assert again.seen == []  # it has ended
    assert torch.equal(again.matrix, step.matrix)


@pytest.mark.parametrize("trained", [False, True])
def test_near_neighbours_are_put_together_anew_for_each_pass(
    trained: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an encoder that knows something from the first pass on, else from the second."""
    run, options = run_in(
        tmp_path, near_batches=6, steps=0, encoder="embedded" if trained else "scratch"
    )
    asked: list[tuple[int, int, int]] = []
    orders: list[list[int]] = []

    def grouped(order: NDArray[np.int64], embed: Any, size: int, seed: int, epoch: int) -> Any:
        assert embed(order[:4]).tolist() == [[2.0 * row] for row in order[:4]]
        asked.append((size, seed, epoch))
        orders.append(order[::-1].tolist())
        return order[::-1].copy()

    monkeypatch.setattr(loop, "grouped_order", grouped)
    monkeypatch.setattr(loop, "_EMBED_AT_ONCE", 3)
    step = Learner(0.0, [0.0] * 99)

    def embed(rows: Rows) -> Any:
        keys = rows.columns[0].keys.astype(np.float32)[:, None]
        return keys, keys

    setattr(step, "embed", embed)  # noqa: B010
    told: list[Progress] = []
    run_steps(step, TrainingData(rows_of(ROWS), VISITS, rows_of(5)), options, run, told.append)
    assert asked == [(6, 5, epoch) for epoch in range(0 if trained else 1, 3)]
    near = [each for each in told if each.stage == "looking for near rows"]
    assert [(each.done, each.total) for each in near] == [(3, 4), (4, 4)] * len(asked)
    ends = np.cumsum([len(order) // 3 for order in orders]).tolist()
    seen = step.seen[len(step.seen) - ends[-1] :]
    for order, start, end in zip(orders, [0, *ends], ends, strict=False):
        assert [row for rows in seen[start:end] for row in rows] == order[: 3 * (end - start)]


def test_each_process_has_its_part_of_a_batch_and_dropout_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two; numbers of `random` are those of both."""
    run, options = run_in(tmp_path, batch_size=6)
    expected = pass_order(VISITS, 5, 0)[:6]
    for name, value in (("processes", 2), ("rank_here", 1)):
        for module in (distributed, loop):
            monkeypatch.setattr(module, name, lambda value=value: value)
    other = torch.tensor([[1.0, 0, 0]], dtype=torch.float64)
    monkeypatch.setattr(loop, "all_gather", lambda own: torch.cat([other, own]))
    met: list[bool] = []

    class Met:
        def __init__(self, module: nn.Module, *, is_sparse: bool) -> None:
            assert not is_sparse

        def backward(self, loss: torch.Tensor, *, is_last: bool) -> None:
            torch.autograd.backward(loss)
            met.append(is_last)

    monkeypatch.setattr(loop, "Gradients", Met)
    step = Learner(0.0, [])
    training = loop.Training(step, TrainingData(rows_of(ROWS), VISITS, rows_of(5)), options, run)
    shown: list[float] = []
    training.take(training.next_rows(), lambda progress: shown.append(progress.numbers["loss"]))
    assert step.seen == [expected[3:].tolist()] and met == [True]
    random = np.random.default_rng([5, 3, 0])
    generator = torch.Generator().manual_seed(int(random.integers(2**62)) + 1)
    out = FEATURES[expected[3:]] @ FIRST + random.standard_normal(NARROW)
    dropped = torch.rand(3, NARROW, dtype=torch.float64, generator=generator).numpy()
    own = (out**2).mean() + (out * dropped).sum() / 3
    assert shown == [pytest.approx((own + 1) / 2)]
