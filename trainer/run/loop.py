"""Batches through a step: optimise, schedule, log, measure, save; resume where it stopped."""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from inspect import unwrap
from types import MethodType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xmine.errors import TrainingError
from xmine.hardware import forget_most_memory, most_memory
from xmine.progress import Progress, Report, silent

from ..data.batches import (
    count_steps,
    cut_batches,
    ends_of_passes,
    grouped_order,
    in_few_dimensions,
    language_batches,
    pass_order,
)
from ..data.rows import Rows, TrainingData
from ..distributed import (
    Gradients,
    all_gather,
    broadcast,
    gather_objects,
    leads,
    part_of,
    processes,
    rank_here,
    wait_for_all,
)
from ..models.static import StaticTower
from ..models.towers import shared_device
from ..options.shared import TrainingOptions
from .checkpoints import Pace, TrainingRun, restore
from .devset import BEFORE, DevSet, Diverged, worst_language
from .guard import Guard
from .interruption import end_by, held_signals
from .negatives import Miner
from .step import SCHEDULES, Step

_LOG_EVERY, _PACED = 20, 3  # steps, and those after which a run says how long it takes
_KNOWS = 20  # steps after which a new encoder finds near sentences, or half of its first pass
_SAVE_EVERY = 60.0  # seconds between checkpoints: what a crash costs
_SAVING = 20  # times as long as a checkpoint takes to write, training goes on before the next
_IN_MEMORY = 10**9  # bytes of a best state that is kept in memory; larger ones are written at once
_EMBED_AT_ONCE = 8192


class EndedOnTrial(Exception):
    """A run was only to take its first steps, and has taken them."""


def run_steps(
    step: Step, data: TrainingData, options: TrainingOptions, run: TrainingRun, report: Report
) -> dict[str, float]:
    """Train for all passes and leave `step` in the state that was best on the held-out pairs.

    A run that was stopped is continued, and ends with the same weights as one that was not.

    Returns:
        The measures of the best state, which is the start where no later one measures as much.

    Raises:
        Diverged: the loss, or a vector of a held-out sentence, is no longer a number.
        EndedOnTrial: `run.paced` wanted no more than the first steps.
        KeyboardInterrupt: Ctrl-C; what was done is saved. So it is on SIGTERM, which then does what
            it would have done at once: the command ends with exit code 143.
    """
    forget_most_memory()
    training = Training(step, data, options, run)
    began = time.perf_counter()
    if not training.done:
        training.begin()
    measuring, arrived, marks = time.perf_counter() - began, 0, list[float]()
    step.train()
    shown = min(_PACED, training.total - training.done)
    with held_signals() as newest:
        while training.done < training.total and not training.ended_early and not arrived:
            training.take(training.next_rows(report), report, newest)
            marks.append(training.seconds)
            if len(marks) == shown and broadcast(
                bool(run.paced and run.paced(training.pace(marks, measuring)))
            ):
                raise EndedOnTrial
            told = training.told if processes() > 1 else training.own_state(newest)
            arrived, is_due = told
            if arrived or is_due:
                training.save()
        training.save()  # of the end, unless a run that had ended was resumed
        arrived = arrived or max(gather_objects(newest()))  # since the last step began
    if arrived:
        end_by(arrived)
    torch.manual_seed(options.seed)  # so that a next stage draws what it draws after a resume
    return training.end()


class Training:
    """How far a run is, and what moves it on.

    Attributes:
        done: steps that were taken, of all processes together.
        total: steps that there will be.
        saved_at: the step of the last checkpoint.
        ended_early: whether the method asked for the end.
        told: the signal that any process had before the end of the last step, or 0; and whether
            the last checkpoint is old, for which the first process decides.
        measured: what decides, as it was at the last evaluation.
    """

    def __init__(
        self, step: Step, data: TrainingData, options: TrainingOptions, run: TrainingRun
    ) -> None:
        """Take up the run where it was saved."""
        self.step, self.data, self.options, self.run = step, data, options, run
        self.until = ends_of_passes(data.weights, options)
        self.total = count_steps(data.weights, options)
        self.guard = Guard(options, self.total)
        self.optimizers = step.optimizers(options.learning_rate)
        for each in self.optimizers:  # one of torch's decorators loads the compiler, for a second
            own = torch.no_grad()(unwrap(type(each).step))
            each.step = MethodType(own, each)  # type: ignore[method-assign]
        self.peaks = [[group["lr"] for group in each.param_groups] for each in self.optimizers]
        is_sparse = any(isinstance(each, StaticTower) for each in step.modules())
        self.gradients = Gradients(step, is_sparse=is_sparse)
        self.device = shared_device(*step.towers())
        if self.device.type == "cuda" and not options.deterministic:
            torch.set_deterministic_debug_mode("default")
        # torch.manual_seed keeps the stack of each call, for kinds of devices that are not there.
        cpu = self.device.type == "cpu"
        self.seed: Callable[[int], object] = (
            torch.default_generator.manual_seed if cpu else torch.manual_seed
        )
        is_half = any(getattr(x, "dtype", "") == "float16" for x in [options, *step.modules()])
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=is_half)
        self.dev = DevSet(options.dev, step.judged()) if options.dev else None
        self.done, self.ended_early, self.told = 0, False, (0, False)
        self.seconds, self.rows = 0.0, 0  # of steps of this process
        self.measured: dict[str, float] = {}  # at the last evaluation
        self.before: dict[str, float] = {}  # of all steps
        self.best: dict[str, Any] = {}  # step, measures, and the state or a file `best` that has it
        self.saved_at, self.saved_when, self.pause = 0, time.monotonic(), _SAVE_EVERY
        self.grouped: NDArray[np.int64] | None = None
        by_language = options.batches == "language" and data.languages
        self.one_language = by_language.of_rows if by_language else None  # [rows]
        self._batches: list[NDArray[np.int64]] = []
        mines = options.negatives and step.takes_negatives
        self.miner = Miner(step, data, options) if mines else None
        self.mined: NDArray[np.int64] | None = None  # what it has found for the next steps
        self._untold: Callable[[], None] = lambda: None  # tells of the last step
        self._thread, self._ready = ThreadPoolExecutor(1), list[Future[list[Rows]]]()
        self._resume()

    def next_rows(self, report: Report = silent) -> NDArray[np.int64]:
        """Give the rows of the next batch."""
        epoch = self.epoch
        before = int(self.until[epoch - 1]) if epoch else 0
        if not self._batches or self.done == before:
            order = pass_order(self.data.weights, self.options.seed, epoch)
            near = self.options.near_batches
            if near and (epoch or self.options.starts_trained) and self.grouped is None:
                self.grouped = self._group(order, epoch, report)
            order = order if self.grouped is None else self.grouped
            self._batches = cut_batches(order, self.options.batch_size, processes())
            if self.one_language is not None:
                size, seed = self.options.batch_size, self.options.seed
                self._batches = language_batches(
                    order, self.one_language, size, seed, epoch, processes()
                )
        since = self.done - before
        if not epoch and not self.options.starts_trained:  # a new encoder finds nothing near
            since -= max(1, min(_KNOWS, min(self.total, int(self.until[0])) // 2))
        if self.miner and since >= 0 and not since % self.miner.steps:
            rows = np.concatenate(self._batches[self.done - before :][: self.miner.steps])
            self.mined = broadcast(self.miner.mine(rows, report) if leads() else None)
            self._ready.clear()
        rows, *self._following = self._batches[self.done - before :][:2]
        return rows

    @property
    def decides(self) -> str:
        """Name the measure that tells which state is the best."""
        if self.dev:
            return "spearman"
        by_halves = self.options.starts_trained and self.step.decides == "accuracy"
        # A trained encoder retrieves nearly every whole text.
        return "halves" if by_halves and "halves" in self.before else self.step.decides

    def pace(self, marks: Sequence[float], measuring: float) -> Pace:
        """Tell how fast it goes, by the seconds at the end of each step and those of measuring."""
        steps = len(marks)
        seconds = (marks[-1] - marks[0]) / (steps - 1) if steps > 1 else marks[0]
        left, every = self.total - self.done, self.options.evaluate_every
        evaluations = -(-left // every) if every else len(self.until) - self.epoch
        is_gpu = self.device.type == "cuda" and torch.cuda.is_available()
        memory = torch.cuda.max_memory_allocated(self.device) if is_gpu else most_memory()
        left_seconds = left * seconds + evaluations * measuring
        return Pace(self.run.name, steps, self.total, seconds, left_seconds, memory)

    @property
    def epoch(self) -> int:
        """The pass, from 0."""
        return int(np.searchsorted(self.until, self.done, side="right"))

    def take(
        self, rows: NDArray[np.int64], report: Report, newest: Callable[[], int] = lambda: 0
    ) -> None:
        """Take a step with some rows; nothing waits for a GPU before it has the work of all.

        On a GPU the step before is told of then, so that the next one is ready when this one ends.
        """
        started, epoch = time.perf_counter(), self.epoch
        rate = SCHEDULES[self.options.schedule](self.done, self.total, self.options.warmup)
        for optimizer, peaks in zip(self.optimizers, self.peaks, strict=True):
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = rate * peak
        random = np.random.default_rng([self.options.seed, 3, self.done])  # also after a resume
        self.seed(int(random.integers(2**62)) + rank_here())  # of dropout
        parts = self._gathered(rows)
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        self.step.begin()
        losses: dict[str, Tensor] = {}  # of all parts
        for number, part in enumerate(parts, start=1):
            if losses:
                self.step.finish()  # the part before
            share = len(part) / sum(map(len, parts))
            found = self.step.losses(part, random)
            loss = torch.stack([each.to(self.device) for each in found.values()]).sum() * share
            for name, each in found.items():
                losses[name] = losses.get(name, 0) + each.detach() * share
            self.gradients.backward(self.scaler.scale(loss), is_last=number == len(parts))
        self._optimize()
        self.step.finish()
        every = torch.stack([each.to(self.device) for each in losses.values()])
        self.done += 1
        value = _on_its_way(every.sum())
        tell, self._untold = self._untold, partial(self._tell, self.done, value, report, newest)
        tell()
        spent = time.perf_counter()
        self.seconds += spent - started
        self.rows += len(rows)
        is_logged = self.done % _LOG_EVERY == 0 or self.done == self.total
        if is_logged or self.device.type == "cpu":
            self.settle()
        self.seconds += time.perf_counter() - spent
        if is_logged:
            speed = len(rows) / (time.perf_counter() - started)
            named = {name: part.item() for name, part in losses.items()} | self.step.numbers()
            named["loss"] = self.loss
            rate *= self.options.learning_rate
            self.run.log(step=self.done, epoch=epoch, lr=rate, pairs_per_second=speed, **named)
        self._end_of_step()

    def _gathered(self, rows: NDArray[np.int64]) -> list[Rows]:
        """Give the parts of a batch, and let a thread gather the next one while the step runs."""
        found = self._ready[0].result() if self._ready else self._parts(rows)
        self._ready = [self._thread.submit(self._parts, each) for each in self._following]
        return found

    def _parts(self, rows: NDArray[np.int64]) -> list[Rows]:
        own = rows[part_of(len(rows))]
        parts = np.array_split(own, min(self.options.gradient_accumulation, len(own)))
        return list(map(self._batch, parts))

    def _batch(self, part: NDArray[np.int64]) -> Rows:
        """Gather rows and their hard negatives."""
        batch = self.data.rows.take(part)
        if self.mined is None:
            return batch
        found = self.mined[np.searchsorted(self.mined[:, 0], part), 1:]  # [part, 2 k]
        both = (self.data.rows.take(each.ravel()) for each in np.split(found, 2, axis=1))
        return replace(batch, negatives=tuple(both))

    def own_state(self, newest: Callable[[], int]) -> tuple[int, bool]:
        """Give the signal that this process has had, and whether its last checkpoint is old."""
        return newest(), time.monotonic() - self.saved_when > self.pause

    def settle(self) -> None:
        """Tell of the last step, if nobody has; then its loss is known to be a number."""
        tell, self._untold = self._untold, lambda: None
        tell()

    def _tell(
        self, done: int, loss: Callable[[], float], report: Report, newest: Callable[[], int]
    ) -> None:
        """Report a step; tell the others its loss, a signal, and whether to save."""
        own = torch.tensor([[loss(), *self.own_state(newest)]], dtype=torch.float64)
        every = all_gather(own).numpy()  # [processes, 3]
        self.told = int(every[:, 1].max()), bool(every[0, 2])
        self.loss = float(every[:, 0].mean())
        if not math.isfinite(self.loss):
            raise Diverged(f"the loss is {self.loss} at step {done - 1}")
        self.guard.see(self.loss)
        shown = {"loss": self.loss, **self.measured, "rows/s": self.rows / self.seconds}
        report(Progress(self.run.name or "training", done, self.total, shown))

    def _optimize(self) -> None:
        learning = [
            each
            for each in self.optimizers
            if any(x.grad is not None for group in each.param_groups for x in group["params"])
        ]
        for optimizer in learning:
            self.scaler.unscale_(optimizer)
        if self.options.clip:
            _clip(self.step.clipped(), self.options.clip)
        for optimizer in learning:
            self.scaler.step(optimizer)
        if learning:
            self.scaler.update()

    def _end_of_step(self) -> None:
        """Measure, where it is time."""
        ends_pass = self.done in self.until
        if ends_pass:
            self.grouped = None
        every = self.options.evaluate_every
        if (self.done % every == 0 if every else ends_pass) or self.done == self.total:
            self.settle()
            self._evaluate()

    def begin(self) -> None:
        """Measure the start, the first state that may be the best."""
        self.before = self._measures()
        self._keep(self.before)

    def _measures(self) -> dict[str, float]:
        measures: dict[str, float] = {}
        if leads():
            measures = self.step.measured(self.data)
            if self.dev:
                measures["spearman"] = self.dev.spearman(self.step.judged())
        return dict(broadcast(measures))

    def _keep(self, measures: dict[str, float]) -> None:
        start = {name: self.before[of] for name, of in BEFORE.items() if of in self.before}
        self.best = {"step": self.done, "measures": {**measures, **start}}
        state = self.step.state_dict()
        if sum(each.nbytes for each in state.values()) > _IN_MEMORY:
            self.run.save("best", state)
        else:
            self.best["state"] = {name: each.to("cpu", copy=True) for name, each in state.items()}

    def _evaluate(self) -> None:
        """Measure, log, keep the state if it is the best so far; end where it has collapsed."""
        measures, decides = self._measures(), self.decides
        self.run.log(step=self.done, **measures)
        self.measured = {name: x for name, x in measures.items() if name == decides}
        self.measured |= worst_language(measures)
        is_best = measures.get(decides, 0) >= self.best["measures"].get(decides, 0)
        if is_best:
            self._keep(measures)
        goes_wrong = self.guard.judge(measures, self.before, self.best["measures"], self.done)
        reason = self.step.stops(measures, decides) or (self.guard.sign if goes_wrong else "")
        self.ended_early = bool(reason)
        if reason:
            self.run.log(step=self.done, stopped=reason)
        elif self.guard.sign and self.done == self.total:
            self.run.log(step=self.done, remark=f"{self.run.name or 'training'}: {self.guard.sign}")

    def save(self) -> None:
        """Save all that a later process needs to go on; of steps that are over, the best state."""
        if self.saved_at == self.done:
            return
        self.settle()
        names = "done", "ended_early", "before", "measured", "best"
        state: dict[str, Any] = {name: getattr(self, name) for name in names}
        state["guard"] = self.guard.state()
        if self.done < self.total and not self.ended_early:
            state["steps"] = {
                "state": self.step.state_dict(),
                "optimizers": [each.state_dict() for each in self.optimizers],
                "scaler": self.scaler.state_dict(),
                "grouped": None if self.grouped is None else torch.from_numpy(self.grouped),
                "mined": None if self.mined is None else torch.from_numpy(self.mined),
            }
        elif not self.best["step"]:
            decides, stage = self.decides, self.run.name or "training"
            self.run.log(
                step=self.done,
                remark=f"{stage} found nothing better than its start, which is kept: {decides} "
                f"{self.best['measures'][decides]:.3f}, {self.measured[decides]:.3f} at the end; a "
                "smaller learning rate, or more data, may help",
            )
        began = time.monotonic()
        self.run.save("checkpoint", state)
        self.saved_at, self.saved_when = self.done, time.monotonic()
        self.pause = max(_SAVE_EVERY, _SAVING * (self.saved_when - began))

    def end(self) -> dict[str, float]:
        """Go back to the best state, and give its measures."""
        wait_for_all()  # the first has written it then
        restore(self.step.state_dict(), self.best.get("state") or self.run.load("best") or {})
        measures: dict[str, float] = self.best["measures"]
        return measures

    def _resume(self) -> None:
        saved = self.run.load("checkpoint")
        if saved is not None and "guard" not in saved:
            said = f"{self.run.folder}: the checkpoint is of an earlier version of xmine"
            raise TrainingError(said, "--force starts anew")
        self.run.forget_after(0 if saved is None else saved["done"])
        if saved is None:
            return
        steps = saved.pop("steps", None)
        self.guard.resume(saved.pop("guard"))
        for name, value in saved.items():
            setattr(self, name, value)
        self.saved_at = self.done
        if steps is None:
            return
        restore(self.step.state_dict(), steps["state"])
        for optimizer, state in zip(self.optimizers, steps["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        self.scaler.load_state_dict(steps["scaler"])
        self.grouped, self.mined = (
            None if steps[name] is None else steps[name].numpy() for name in ("grouped", "mined")
        )

    def _group(self, order: NDArray[np.int64], epoch: int, report: Report) -> NDArray[np.int64]:
        """Order a pass by nearness of the rows as the encoder of the first process sees them now.

        One bit of another sum would give another process other batches.
        """

        def embed(rows: NDArray[np.int64]) -> NDArray[np.float32]:
            found = []
            for at in range(0, len(rows), _EMBED_AT_ONCE):
                block = rows[at : at + _EMBED_AT_ONCE]
                sums = np.add(*self.step.embed(self.data.rows.take(block)))
                found.append(in_few_dimensions(sums, self.options.seed))
                report(Progress("looking for near rows", at + len(block), len(rows)))
            return np.concatenate(found)

        if leads():
            near, seed = self.options.near_batches, self.options.seed
            parts = [order]
            if self.one_language is not None:
                of_rows = self.one_language[order]
                parts = [order[of_rows == each] for each in np.unique(of_rows)]
            grouped = [grouped_order(part, embed, near, seed, epoch) for part in parts]
            order = np.concatenate(grouped)
        regrouped: NDArray[np.int64] = broadcast(order)
        return regrouped


def _on_its_way(number: Tensor) -> Callable[[], float]:
    """Send a number to the processor; who asks for it waits for nothing that a GPU does later."""
    if number.device.type != "cuda":
        return number.item
    here, sent = number.to("cpu", non_blocking=True), torch.cuda.Event()  # type: ignore[no-untyped-call]
    sent.record(torch.cuda.current_stream(number.device))

    def value() -> float:
        sent.synchronize()
        return here.item()

    return value


def _clip(parameters: Sequence[nn.Parameter], longest: float) -> None:
    """Scale all gradients down by one number if together they are longer, sparse ones included."""
    gradients = []
    for each in parameters:
        if each.grad is not None and each.grad.is_sparse:
            each.grad = each.grad.coalesce()
            gradients.append(each.grad.values())
        elif each.grad is not None:
            gradients.append(each.grad)
    if gradients:
        total = nn.utils.get_total_norm(gradients)
        for gradient in gradients:
            gradient.mul_((longest / (total + 1e-6)).clamp(max=1).to(gradient.device))
