"""The loop: Ctrl-C, SIGTERM, checkpoints, scaled and reduced number types, long gradients."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tests.toys.grids import mostly_long
from tests.toys.killed import Killed
from tests.toys.small_transformer import TRANSFORMER as SMALL_TRANSFORMER
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import FileError, TrainingError
from xmine.pairs.io import ParallelText
from xmine.progress import Progress, Report
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Labelled
from xmine.trainer.distributed import Gradients
from xmine.trainer.models.queue import MomentumTower
from xmine.trainer.models.static import new_static
from xmine.trainer.options.contrast import MocoOptions, MsimcseOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run import loop
from xmine.trainer.run.checkpoints import TrainingRun, run_folder
from xmine.trainer.run.loop import _clip
from xmine.trainer.run.step import Step
from xmine.trainer.train import train

STATIC: dict[str, Any] = dict(batch_size=32, steps=8, evaluate_every=3, held_out=50)
STATIC |= dict(learning_rate=0.01, momentum=0.5, queue_size=48, threads=1)
TRANSFORMER = STATIC | SMALL_TRANSFORMER | {"learning_rate": 0.001}


@pytest.fixture
def start(toy_vocabulary: Vocabulary, tmp_path: Path) -> str:
    """A folder with an encoder that knows nothing."""
    new_static(toy_vocabulary, 16, seed=1).save(tmp_path / "start")
    return str(tmp_path / "start")


def watching(losses: list[float], act: Callable[[int], None] = lambda _: None) -> Report:
    def watch(progress: Progress) -> None:
        if progress.stage == "training":
            losses.append(progress.numbers["loss"])
            act(progress.done)

    return watch


def pressing(
    step: int, times: int = 1, number: signal.Signals = signal.SIGINT
) -> Callable[[int], None]:
    """Press Ctrl-C after a step, or send another signal."""

    def act(done: int) -> None:
        for _ in range(times if done == step else 0):
            signal.raise_signal(number)

    return act


def logged(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [{name: x for name, x in row.items() if name != "pairs_per_second"} for row in rows]


@pytest.mark.parametrize("step", mostly_long([1, 4, 6], [4]))  # 3 and 6 are saved anyway
def test_ctrl_c_saves_and_the_run_goes_on_bit_for_bit(
    step: int, start: str, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    flags = TRANSFORMER | {"dropout": 0.2, "token_dropout": 0.1}
    flags |= {"src_encoder": "scratch", "tgt_encoder": "scratch", "start": start}
    english = toy_pairs.sources
    labelled = Labelled(english[:90], english[90:180], np.arange(90) % 3)
    corpus, options = Corpus(pairs=toy_pairs, labelled=labelled), MocoOptions(**flags)
    found: list[list[float]] = [[], []]
    train("moco", corpus, options, tmp_path / "whole", watching(found[0]))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train("moco", corpus, options, tmp_path / "new", watching(found[1], pressing(step)))
    assert signal.getsignal(signal.SIGINT) == before
    assert len(found[1]) == step and not (tmp_path / "new").exists()
    train("moco", corpus, options, tmp_path / "new", watching(found[1]), resume=True)
    assert found[0] == found[1] and len(found[0]) == 8
    for name in ("source", "target"):
        weights = [
            (tmp_path / which / name / "model.safetensors").read_bytes()
            for which in ("whole", "new")
        ]
        assert weights[0] == weights[1]
    assert logged(tmp_path / "new") == logged(tmp_path / "whole")


@pytest.fixture
def terminated() -> Iterator[None]:
    """Let SIGTERM end as it ends the command."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    yield
    assert signal.signal(signal.SIGTERM, before) is leave


def always_saved(changed: pytest.MonkeyPatch) -> None:
    """Save a checkpoint after each step."""
    changed.setattr(loop, "_SAVE_EVERY", -1.0)
    changed.setattr(loop, "_SAVING", 0)


def kill_at(step: int) -> Callable[[int], None]:
    def act(done: int) -> None:
        if done == step:
            raise Killed

    return act


@pytest.mark.usefixtures("terminated")
def test_sigterm_saves_and_ends_as_it_would_have_ended(
    start: str, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """Twice: Slurm ends the processes of torchrun, as torchrun does."""
    corpus, options = Corpus(pairs=toy_pairs), MocoOptions(**STATIC, encoder=start)
    found: list[list[float]] = [[], []]
    whole = train("moco", corpus, options, tmp_path / "whole", watching(found[0]))
    with pytest.raises(SystemExit, match="143"):
        act = pressing(4, 2, signal.SIGTERM)
        train("moco", corpus, options, tmp_path / "new", watching(found[1], act))
    assert len(found[1]) == 4
    again = train("moco", corpus, options, tmp_path / "new", watching(found[1]), resume=True)
    assert found[0] == found[1] and again.measures == whole.measures
    assert logged(tmp_path / "new") == logged(tmp_path / "whole")


def test_parts_of_a_batch_are_the_batch_where_no_row_is_a_negative_of_another(
    start: str, toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """32 rows in 1, 3 and 32 parts; a part counts by its rows."""
    learned: list[list[float]] = []
    backward = Gradients.backward

    def heard(gradients: Gradients, loss: torch.Tensor, *, is_last: bool) -> None:
        learned[-1].append(loss.item())
        backward(gradients, loss, is_last=is_last)
        learned.extend([[]] if is_last else [])

    monkeypatch.setattr(Gradients, "backward", heard)
    flags = STATIC | {"teacher": start, "stage": "distil", "vocabulary_size": 500, "dim": 16}
    flags = {name: x for name, x in flags.items() if name not in ("momentum", "queue_size")}
    corpus, found = Corpus(pairs=toy_pairs), []
    for parts in (1, 3, 100):
        losses: list[float] = []
        learned[:] = [[]]
        options = TransaugOptions(**flags | {"batch_size": 32, "gradient_accumulation": parts})

        def watch(progress: Progress, losses: list[float] = losses) -> None:
            if "loss" in progress.numbers:
                losses.append(progress.numbers["loss"])

        train("transaug", corpus, options, tmp_path / f"{parts}", watch)
        found.append(losses)
        assert [len(each) for each in learned] == [min(parts, 32)] * 8 + [0]
        assert [sum(each) for each in learned[:-1]] == pytest.approx(losses, rel=1e-5)
    for losses in found[1:]:
        assert losses == pytest.approx(found[0], rel=1e-4)


def test_a_key_encoder_follows_once_a_step_and_the_queue_has_all_parts(
    start: str, toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[float] = []
    monkeypatch.setattr(
        MomentumTower, "follow", lambda _, query, momentum: followed.append(momentum)
    )
    options = MocoOptions(
        **STATIC | {"batch_size": 32, "steps": 3, "gradient_accumulation": 4}, encoder=start
    )
    train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new")
    assert len(followed) == 3


def test_a_signal_to_any_of_several_processes_stops_all(
    start: str, toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two nodes, one may be stopped alone."""
    options, losses = MocoOptions(**STATIC, encoder=start), list[float]()

    def gathered(own: torch.Tensor) -> torch.Tensor:
        stops = signal.SIGINT if len(losses) == 2 else 0
        return torch.cat([own, torch.tensor([[own[0, 0], stops, 0]])])

    monkeypatch.setattr("xmine.trainer.run.loop.all_gather", gathered)
    monkeypatch.setattr("xmine.trainer.run.loop.processes", lambda: 2)
    monkeypatch.setattr("xmine.trainer.run.loop.part_of", slice)
    with pytest.raises(KeyboardInterrupt):
        train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new", watching(losses))
    assert len(losses) == 3
    saved = torch.load(tmp_path / "new.training" / "checkpoint.pt", weights_only=True)
    assert saved["done"] == 3


def test_a_killed_run_of_one_pass_goes_on_from_a_checkpoint_a_minute_old_at_most(
    start: str, toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert loop._SAVE_EVERY == 60
    flags = STATIC | {"steps": 0, "epochs": 1, "evaluate_every": 0, "batch_size": 100}
    corpus, options = Corpus(pairs=toy_pairs), MocoOptions(**flags, encoder=start)
    found: list[list[float]] = [[], [], []]
    saved: list[str] = []
    with monkeypatch.context() as counted:
        counted.setattr(TrainingRun, "save", lambda run, name, state: saved.append(name))
        train("moco", corpus, options, tmp_path / "whole", watching(found[0]))
    assert len(found[0]) == 14 and saved == ["checkpoint"], "at the end alone"
    now = [0.0]
    monkeypatch.setattr("xmine.trainer.run.loop.time.monotonic", lambda: now[0])

    def time_passes(done: int) -> None:  # saved after steps 4 and 8
        now[0] += 20
        if done == 11:
            raise Killed

    with pytest.raises(Killed):
        train("moco", corpus, options, tmp_path / "new", watching(found[1], time_passes))
    with (run_folder(tmp_path / "new") / "metrics.jsonl").open("a") as file:
        file.write('broken\n{"step": 10, "accuracy": 0.5}\n')
        file.write('{"step": 1, "accuracy": 0.5}')  # as a kill leaves a line
    train("moco", corpus, options, tmp_path / "new", watching(found[2]), resume=True)
    assert found[2] == found[0][8:]
    assert logged(tmp_path / "new") == logged(tmp_path / "whole")


@pytest.mark.parametrize("most", [loop._IN_MEMORY, 0])
def test_the_best_state_is_what_is_left_in_memory_or_of_a_large_model_in_a_file(
    most: int,
    start: str,
    toy_pairs: ParallelText,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The measure rises and falls; of two that are equal, the later state is kept."""
    monkeypatch.setattr(loop, "_IN_MEMORY", most)
    accuracies = iter([0.0, 0.2, 0.6, 0.6, 0.1, 0.3])  # before the first step, and after each
    states: list[bytes] = []
    reads: list[str] = []
    load = TrainingRun.load

    def measure(step: Step, held_out: object) -> dict[str, float]:
        states.append(vectors_of(step))
        return {"accuracy": next(accuracies)}

    def vectors_of(step: Step) -> bytes:
        vectors = step.towers()[0].get_parameter("vectors")
        return vectors.detach().numpy().tobytes()

    def read(run: TrainingRun, name: str) -> Any:
        reads.append(name)
        return load(run, name)

    monkeypatch.setattr(Step, "measure", measure)
    monkeypatch.setattr(TrainingRun, "load", read)
    steps: list[Step] = []
    take = loop.Training.take

    def taken(training: Any, *rest: Any) -> None:
        steps[:] = [training.step]
        take(training, *rest)

    monkeypatch.setattr(loop.Training, "take", taken)
    flags = STATIC | {"steps": 5, "evaluate_every": 1}
    options = MocoOptions(**flags, encoder=start)
    with pytest.raises(KeyboardInterrupt):
        train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new", watching([], pressing(4)))
    assert (run_folder(tmp_path / "new") / "best.pt").exists() == (not most)
    made = train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new", resume=True)
    assert reads == ["checkpoint", "checkpoint"] + ["best"] * (not most)  # at the end
    assert made.measures == {"accuracy": 0.6, "before": 0.0}
    assert len(states) == 6 and states.count(states[3]) == 1
    assert vectors_of(steps[0]) == states[3]


@pytest.mark.parametrize(
    ("found", "steps", "kept", "said"),
    [
        # accuracy, and likeness: before the first step, and after each
        ([(0.5, 0.1), (0.4, 0.3), (0.45, 0.39), (0.3, 0.2)], 3, 0.5, "training found nothing"),
        ([(0.5, 0.1), (0.6, 0.9), (0.3, 0.39), (0.3, 0.41)], 3, 0.6, "mean cosine 0.41"),
        ([(0.5, 0.1), *[(0.3, 0.97)] * 2], 2, 0.5, "ended at step 2: sentences grow alike, mean"),
    ],
    ids=["falls", "rises, then collapses", "collapses"],
)
def test_the_start_is_the_best_state_until_a_better_one_and_a_collapse_ends_the_run(
    found: list[tuple[float, float]],
    steps: int,
    kept: float,
    said: str,
    start: str,
    toy_pairs: ParallelText,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measures, losses = iter(found), list[float]()

    def measure(step: Step, held_out: object) -> dict[str, float]:
        return dict(zip(("accuracy", "likeness"), next(measures), strict=True))

    monkeypatch.setattr(Step, "measure", measure)
    more = {"steps": 3, "evaluate_every": 1, "in_batch_negatives": True}
    options = MocoOptions(**STATIC | more, encoder=start)
    output = tmp_path / "new"
    made = train("moco", Corpus(pairs=toy_pairs), options, output, watching(losses))
    assert len(losses) == steps
    assert (made.measures["accuracy"], made.measures["before"]) == (kept, 0.5)
    assert any(said in each for each in made.remarks) and not made.is_worse
    is_start = any("its start, which is kept" in each for each in made.remarks)
    assert is_start == (kept == 0.5)
    read = [SentenceEncoder.load(each).encode(toy_pairs.sources[:50]) for each in (start, output)]
    assert (np.abs(read[0] - read[1]).max() < 0.01) == is_start


@pytest.mark.parametrize(("after", "is_worse"), [(0.76, False), (0.75, True), (0.95, False)])
def test_a_fall_beyond_noise_is_said(
    after: float,
    is_worse: bool,
    start: str,
    toy_pairs: ParallelText,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 50 pairs two standard errors are 2 sqrt((0.9 * 0.1 + 0.75 * 0.25) / 50) = 0.149."""
    found = iter([(0.9, 0.9, 0.9, 0.1), (after, after, after, 0.2)])

    def measure(step: Step, held_out: object) -> dict[str, float]:
        names = ("accuracy", "forward", "backward", "halves")
        return dict(zip(names, next(found), strict=True))

    monkeypatch.setattr(Step, "measure", measure)
    options = MocoOptions(**TRANSFORMER | {"steps": 1}, encoder="scratch", start=start)
    made = train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new")
    assert made.measures["halves"] == 0.2 and made.is_worse == is_worse
    assert any("retrieves less than the one" in each for each in made.remarks) == is_worse
    card = (tmp_path / "new" / "README.md").read_text(encoding="utf-8")
    assert f"It began as `{start}` (--start)." in card
    assert f"The mean is {after:.1%}; training began with 90.0%." in card
    assert ("retrieves less than its start" in card) == is_worse


@pytest.mark.parametrize(("encoder", "kept"), [("start", 0.3), ("scratch", 0.2)])
def test_of_a_trained_encoder_the_state_is_left_that_retrieves_most_by_halves(
    start: str,
    toy_pairs: ParallelText,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    encoder: str,
    kept: float,
) -> None:
    """Whole texts are all retrieved after the first step, and by one less after the second."""
    found = iter([(0.9, 0.1), (1.0, 0.2), (0.9, 0.3), (0.9, 0.2)])

    def measure(step: Step, held_out: object) -> dict[str, float]:
        return dict(zip(("accuracy", "halves"), next(found), strict=True))

    monkeypatch.setattr(Step, "measure", measure)
    flags = STATIC | {"steps": 3, "evaluate_every": 1}
    options = MocoOptions(**flags, encoder=start if encoder == "start" else encoder)
    made = train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new")
    assert made.measures["halves"] == kept


def test_what_differs_from_the_stopped_run_is_named_with_both_values(
    start: str, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    output = tmp_path / "new"

    def go_on(pairs: ParallelText, **changes: Any) -> str:
        options = MocoOptions(**STATIC | {"epochs": 3} | changes, encoder=start)
        with pytest.raises(TrainingError) as error:
            train("moco", Corpus(pairs=pairs), options, output, resume=True)
        return error.value.message.partition("other options or other data: ")[2]

    options = MocoOptions(**STATIC, epochs=3, encoder=start)
    with pytest.raises(Killed):
        train("moco", Corpus(pairs=toy_pairs), options, output, watching([], kill_at(1)))
    said = "--batch-size is 64 here and 32 there"
    assert go_on(toy_pairs, batch_size=64) == said
    assert go_on(toy_pairs, batch_size=64, dev="") == said
    weights = {"odd": 2.0}
    assert go_on(toy_pairs, source_weight=weights, seed=2) == (
        "--seed is 2 here and 1 there, --source-weight is {'odd': 2.0} here and not given there"
    )
    fewer = toy_pairs.take(np.arange(1400))
    assert go_on(fewer) == "other data"
    assert go_on(fewer, batch_size=64) == f"other data, {said}"
    with pytest.raises(TrainingError, match="data: the run is of another --method, which has --in"):
        train("msimcse", Corpus(pairs=toy_pairs), MsimcseOptions(), output, resume=True)


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(
    start: str, toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, options = Corpus(pairs=toy_pairs), MocoOptions(**STATIC, encoder=start)
    found: list[list[float]] = [[], []]
    saved: list[object] = []

    def disk_is_full(state: object, path: Path, save: Any = torch.save) -> None:
        saved.append(path)
        if len(saved) == 4:
            path.write_bytes(b"half")
            raise RuntimeError("No space left")  # as torch says it
        save(state, path)

    with monkeypatch.context() as full:
        always_saved(full)
        full.setattr(torch, "save", disk_is_full)
        with pytest.raises(FileError, match="No space left"):
            train("moco", corpus, options, tmp_path / "new", watching(found[0]))
    train("moco", corpus, options, tmp_path / "new", watching(found[1]), resume=True)
    assert found[1][:1] == found[0][3:] and len(found[1]) == 5


@pytest.mark.parametrize("kept", [0, -1, None], ids=["empty", "cut short", "a bit flipped"])
def test_a_checkpoint_that_is_broken_is_an_error_that_says_what_to_do(
    kept: int | None,
    start: str,
    toy_pairs: ParallelText,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus, options = Corpus(pairs=toy_pairs), MocoOptions(**STATIC, encoder=start)
    always_saved(monkeypatch)
    found: list[list[float]] = [[], []]
    with pytest.raises(Killed):
        train("moco", corpus, options, tmp_path / "new", watching(found[0], kill_at(5)))
    path = run_folder(tmp_path / "new") / "checkpoint.pt"
    whole = path.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes(changed if kept is None else whole[:kept])
    with pytest.raises(TrainingError, match="cut short") as error:
        train("moco", corpus, options, tmp_path / "new", resume=True)
    assert f"{path}: " in error.value.message
    assert "delete checkpoint.pt and best.pt there" in error.value.hint
    path.write_bytes(whole)
    saved = torch.load(path, weights_only=True)
    torch.save({name: x for name, x in saved.items() if name != "guard"}, path)
    with pytest.raises(TrainingError, match="an earlier version of xmine"):
        train("moco", corpus, options, tmp_path / "new", resume=True)
    path.unlink()
    train("moco", corpus, options, tmp_path / "new", watching(found[1]), resume=True)
    assert found[1][:5] == found[0] and len(found[1]) == 8


def test_a_second_ctrl_c_does_not_wait_for_the_step(
    start: str, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    options = MocoOptions(**STATIC, encoder=start)
    with pytest.raises(KeyboardInterrupt):
        train(
            "moco", Corpus(pairs=toy_pairs), options, tmp_path / "new", watching([], pressing(2, 2))
        )
    assert not (run_folder(tmp_path / "new") / "checkpoint.pt").exists()


def test_a_step_whose_scaled_gradients_overflow_is_left_out(
    start: str, toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the next have half the scale, after a resume, too."""
    options = MocoOptions(**STATIC | {"steps": 5}, encoder=start, dtype="float16")
    scales: list[float] = []
    unscale = torch.amp.GradScaler.unscale_

    def overflow(scaler: torch.amp.GradScaler, optimizer: torch.optim.Optimizer) -> None:
        scales.append(scaler.get_scale())
        if len(scales) == 3:
            optimizer.param_groups[0]["params"][0].grad._values()[0, 0] = float("inf")
        unscale(scaler, optimizer)

    monkeypatch.setattr(torch.amp.GradScaler, "unscale_", overflow)
    losses: list[float] = []
    with pytest.raises(KeyboardInterrupt):
        act = pressing(4)
        train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new", watching(losses, act))
    corpus, output = Corpus(pairs=toy_pairs), tmp_path / "new"
    trained = train("moco", corpus, options, output, watching(losses), resume=True)
    assert scales == [65536.0] * 3 + [32768.0] * 2
    assert np.isfinite(losses).all() and len(losses) == 5
    assert np.isfinite(trained.encoders[""].encode(toy_pairs.sources[:50])).all()


def test_long_gradients_are_scaled_down_together_sparse_ones_too() -> None:
    for longest, expected in ((2.5, 0.5), (9.0, 1.0)):
        dense, sparse, none = (nn.Parameter(torch.zeros(3, 1)) for _ in range(3))
        dense.grad = torch.tensor([[0.0], [3.0], [0.0]])
        sparse.grad = torch.sparse_coo_tensor(
            torch.tensor([[2, 0, 2]]),
            torch.tensor([[1.0], [0.0], [3.0]]),
            (3, 1),
            check_invariants=True,
        )
        _clip([dense, sparse, none], longest)
        assert none.grad is None
        assert dense.grad[:, 0].tolist() == pytest.approx([0, 3 * expected, 0], abs=1e-5)
        rows = sparse.grad.to_dense()[:, 0].tolist()
        assert rows == pytest.approx([0, 0, 4 * expected], abs=1e-5)
