"""Two processes (gloo) train as one does with the same batch: losses, queues, weights.

Two processes with the variables that torchrun sets run this file and train all of CASES; a line
more there holds one more method to it. Dropout is off: each process draws its own. The pieces that
one process would leave out in each half of a batch are those of the two.

All of it is computed in float64. In float32 sums in another order differ by 1e-11 in a gradient,
and Adam divides by the gradient's own size: in a hidden unit that hardly learns, with gradients
around 1e-8, a weight differs by 1e-5 after a step. In float64 nothing differs by 1e-13.
"""

import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tests.toys.twin_training import in_float64
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import XmineError
from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Labelled, Triplets
from xmine.trainer.data.rows import TokenizedSide
from xmine.trainer.methods import METHODS
from xmine.trainer.models.static import new_static
from xmine.trainer.models.towers import joined
from xmine.trainer.run.loop import Training
from xmine.trainer.train import train

pytestmark = pytest.mark.long  # all of CASES are trained twice, by one process and by two
TOY = "the toy encoder"  # stands for a folder
SAME = 1e-10  # far above the last bits of float64, far below those of float32
STATIC: dict[str, Any] = dict(encoder=TOY, batch_size=32, epochs=1, steps=6, evaluate_every=3)
STATIC |= dict(held_out=50, learning_rate=0.02, threads=1)
TRANSFORMER = STATIC | {
    "encoder": "scratch",
    "architecture": "transformer",
    "start": TOY,
    "dim": 16,
    "layers": 1,
    "heads": 2,
    "max_tokens": 24,
    "dropout": 0.0,
    "dtype": "float32",
    "learning_rate": 0.0005,
    "clip": 1.0,
}
PIECES = {"token_dropout": 0.3}
QUEUE = {"queue_size": 48, "momentum": 0.5}
TAUGHT = {"teacher": TOY, "queue_size": 48, "clip": 1.0, **PIECES}
NEW = {"distilled_encoder": "scratch", "dim": 24, "vocabulary_size": 500}
NEW_ONE = {"encoder": "scratch", "dim": 16, "vocabulary_size": 500}
TOWERS = {"distilled_encoder": TOY, "train_teacher": True, "in_batch_negatives": True}
# A rank is the likeliest one: after some steps, the last bit of a sum makes another rank likeliest.
RANKS = {"clip": 1.0, "em_learning_rate": 0.005, "steps": 4}
TWO_ENCODERS = {"src_encoder": "scratch", "tgt_encoder": "scratch", "in_batch_negatives": True}

# name: method, options, data (see `corpora`)
MINED = {"negatives": 2, "refresh_negatives": 2}
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "moco": ("moco", STATIC | QUEUE | MINED | {"clip": 1.0, "nli_batch": 20} | PIECES, "labelled"),
    "moco-transformer": ("moco", TRANSFORMER | QUEUE | TWO_ENCODERS, "pairs"),
    "msimcse": ("msimcse", STATIC | {"symmetric": True} | MINED | PIECES, "pairs"),
    "msimcse-new": ("msimcse", STATIC | NEW_ONE | MINED, "pairs"),
    "msimcse-triplets": ("msimcse", TRANSFORMER | {"training_head": True}, "triplets"),
    "transaug": ("transaug", STATIC | TAUGHT | NEW, "english"),
    "transaug-two-towers": ("transaug", STATIC | TAUGHT | TOWERS, "pairs"),
    "transaug-in-parts": (
        "transaug",
        TRANSFORMER
        | {"teacher": TOY, "stage": "distil", "gradient_accumulation": 3, "batch_size": 32},
        "pairs",
    ),
    "emma-x": ("emma-x", STATIC | QUEUE | RANKS, "repeated"),
}
INTERRUPTED = "moco-transformer"  # is trained again, with a Ctrl-C after the fourth step
UNEVEN = ("msimcse", STATIC | {"batch_size": 33}, "pairs")


def corpora(pairs: ParallelText) -> dict[str, Corpus]:
    """What the cases learn from."""
    english, chinese = pairs.sources, pairs.targets
    tables = [Triplets(side[:200], side[200:400], side[400:600]) for side in (english, chinese)]
    labelled = Labelled(english[:90], english[90:180], np.arange(90) % 3)
    return {
        "pairs": Corpus(pairs=pairs),
        "triplets": Corpus(triplets=tuple(tables)),
        "english": Corpus(pairs=pairs, triplets=tuple(tables[:1])),
        "labelled": Corpus(pairs=pairs, labelled=labelled),
        "repeated": Corpus(pairs=pairs, texts=[*english[:60], *chinese[:60]] * 4),
    }


_WRITES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree")


@dataclass
class Seen:
    """What a process saw of a run.

    Attributes:
        losses: of all steps; the first process alone is told of them.
        states: the tensors of the `last` and the `best` state of each stage, by name.
        seeds: of torch's random numbers, where dropout would draw some.
        written: files that it wrote.
        error: what stopped it.
    """

    losses: list[float] = field(default_factory=list)
    states: dict[str, Any] = field(default_factory=dict)
    seeds: list[int] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    error: str = ""


class Halves(np.random.Generator):
    """The numbers that two processes draw, each from a generator of its own, in one process."""

    def __init__(self, shared: np.random.Generator) -> None:
        super().__init__(shared.bit_generator)
        self.own = shared.spawn(2)


without_some = TokenizedSide.without_some


def of_both(side: TokenizedSide, share: float, random: np.random.Generator) -> TokenizedSide:
    """Leave pieces out of each half of a batch as the process does that has this half.

    Where both processes leave out the same, to measure, so does one.
    """
    if not isinstance(random, Halves):
        return without_some(side, share, random)
    halves = np.array_split(np.arange(len(side)), 2)
    parts = zip(halves, random.own, strict=True)
    return joined([without_some(side.take(half), share, own) for half, own in parts])


def watched(
    case: tuple[str, dict[str, Any], str], pairs: ParallelText, output: Path, interrupt_at: int = 0
) -> Seen:
    """Train; press Ctrl-C after a step, if one is given, and go on."""
    seen, end, dropout = Seen(), Training.end, nn.Dropout.forward

    def watch(progress: Progress) -> None:
        if "loss" in progress.numbers:
            seen.losses.append(progress.numbers["loss"])
            if len(seen.losses) == interrupt_at:
                signal.raise_signal(signal.SIGINT)

    def keep(training: Training) -> dict[str, float]:
        states = {"last": training.step.state_dict(), "best": training.best["state"]}
        for name, state in states.items():
            for part, tensor in state.items():
                seen.states[f"{training.run.name} {name} {part}"] = tensor.detach().clone()
        return end(training)

    def unchanged(layer: nn.Dropout, rows: torch.Tensor) -> torch.Tensor:
        if layer.training:
            seen.seeds.append(torch.initial_seed())
        return rows

    method, flags, data = case
    toy = {name: str(output.parent / "toy") for name, value in flags.items() if value == TOY}
    options, corpus = METHODS[method].options(**flags | toy), corpora(pairs)[data]
    setattr(Training, "end", keep)  # noqa: B010 - mypy knows no such change
    setattr(nn.Dropout, "forward", unchanged)  # noqa: B010 - of the layers that judge
    try:
        with in_float64():
            if interrupt_at:
                try:
                    train(method, corpus, options, output, watch)
                except KeyboardInterrupt:
                    train(method, corpus, options, output, watch, resume=True)
            else:
                train(method, corpus, options, output, watch)
    except XmineError as error:
        seen.error = str(error)
    finally:
        setattr(Training, "end", end)  # noqa: B010
        setattr(nn.Dropout, "forward", dropout)  # noqa: B010
    return seen


def run_as_one_of_two(folder: Path) -> None:
    """Train all cases, and keep what was seen in RANK.pt."""
    written: list[str] = []

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        changes = event in _WRITES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if changes and str(folder) in str(arguments[0]):
            written.append(str(arguments[0]))

    sys.addaudithook(heard)
    seen: dict[str, Seen] = {}
    pairs = torch.load(folder / "pairs.pt", weights_only=False)
    for name, case in {**CASES, "interrupted": CASES[INTERRUPTED], "uneven": UNEVEN}.items():
        seen[name] = watched(case, pairs, folder / name, 4 if name == "interrupted" else 0)
        seen[name].written, written[:] = list(written), []
    told = {name: vars(each) for name, each in seen.items()}
    torch.save(told, folder / f"{os.environ['RANK']}.pt")


@pytest.fixture(scope="module")
def two(
    toy_pairs: ParallelText, toy_vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Seen]]:
    """What each of two processes saw of all cases."""
    folder = tmp_path_factory.mktemp("together")
    torch.save(toy_pairs, folder / "pairs.pt")
    new_static(toy_vocabulary, 16, seed=1).save(folder / "toy")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.trainer.test_distributed", str(folder)],
            cwd=Path(__file__).parents[2],
            env={**os.environ, **meeting, "RANK": rank, "LOCAL_RANK": rank, "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in "01"
    ]
    try:
        for process in running:
            _, said = process.communicate(timeout=100)
            assert process.returncode == 0, said
    finally:
        for process in running:
            process.kill()
            process.communicate()
    assert not list(folder.glob("*.training")), "runs that ended leave nothing behind"
    return [
        {name: Seen(**seen) for name, seen in torch.load(folder / f"{rank}.pt").items()}
        for rank in range(2)
    ]


@pytest.mark.parametrize("name", CASES)
def test_two_processes_do_what_one_does(
    name: str,
    two: list[dict[str, Seen]],
    toy_pairs: ParallelText,
    toy_vocabulary: Vocabulary,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new_static(toy_vocabulary, 16, seed=1).save(tmp_path / "toy")
    if "token_dropout" in CASES[name][1]:
        monkeypatch.setattr("xmine.trainer.run.step.random_of_rank", Halves)
    monkeypatch.setattr(TokenizedSide, "without_some", of_both)
    alone = watched(CASES[name], toy_pairs, tmp_path / name)
    together = two[0][name]
    assert (alone.error, together.error) == ("", "")
    assert len(alone.losses) >= 4 and max(alone.losses) > 0.01
    assert together.losses == pytest.approx(alone.losses, abs=SAME)
    assert together.states.keys() == alone.states.keys()
    for part, tensor in alone.states.items():
        torch.testing.assert_close(together.states[part], tensor, atol=SAME, rtol=SAME)


@pytest.mark.parametrize("name", CASES)
def test_both_processes_have_the_same_bits_and_the_first_writes(
    name: str, two: list[dict[str, Seen]]
) -> None:
    first, second = (seen[name] for seen in two)
    last = [part for part in first.states if " last " in part]
    if name.startswith("moco"):
        assert sum("queue" in part for part in last) == 8
    for part in last:
        assert torch.equal(first.states[part], second.states[part]), part
    assert first.written and not second.written
    assert len(first.seeds) == len(second.seeds)
    assert not set(first.seeds) & set(second.seeds)  # dropout is drawn by each process apart


def test_ctrl_c_stops_both_and_both_go_on(two: list[dict[str, Seen]]) -> None:
    whole, resumed = two[0][INTERRUPTED], two[0]["interrupted"]
    assert resumed.losses == whole.losses
    for part, tensor in whole.states.items():
        assert torch.equal(resumed.states[part], tensor), part


def test_a_batch_that_cannot_be_shared_is_an_error(two: list[dict[str, Seen]]) -> None:
    for seen in two:
        assert seen["uneven"].error == "--batch-size 33 cannot be shared by 2 processes"


if __name__ == "__main__":
    run_as_one_of_two(Path(sys.argv[1]))
