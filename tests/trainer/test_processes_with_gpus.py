"""Several processes on a machine with GPUs: tensors of the processor travel as those of a GPU do.

No GPU is here. The processes are told that there are two, and each kind of tensor that NCCL would
carry is carried by gloo, which has then no more to do with those of the processor than NCCL has.
"""

import atexit
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributed

from xmine.encoders.tokenizer import Vocabulary
from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.trainer import distributed as ours
from xmine.trainer import train as training
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Labelled
from xmine.trainer.models.static import new_static
from xmine.trainer.options.moco import MocoOptions
from xmine.trainer.run.step import Step

STATIC: dict[str, Any] = {
    "batch_size": 160,
    "epochs": 2,
    "held_out": 50,
    "near_batches": 16,
    "threads": 1,
    "device": "auto",
}


def keep_threads(file: Path) -> None:
    """Write the names of the threads that this process has."""
    names = sorted(each.read_text() for each in Path("/proc/self/task").glob("*/comm"))
    file.write_text("".join(names))


def train_as_one_of_two(folder: Path) -> None:
    """Train a static encoder where `--device auto` is a GPU; keep the losses in RANK.pt."""
    atexit.register(keep_threads, folder / f"{os.environ['RANK']}.threads")  # after all others
    join = distributed.init_process_group

    def joined(backend: str, **where: Any) -> None:
        if "cuda" not in backend:
            backend = f"cuda:{backend}"  # as NCCL alone: nothing of the processor
        join(backend.replace("nccl", "gloo"), **where)

    settings: dict[Any, dict[str, Any]] = {
        distributed: {"init_process_group": joined},
        torch.cuda: {"device_count": lambda: 2, "set_device": lambda number: None},
        training: {"choose_device": lambda wanted: "cuda" if wanted == "auto" else wanted},
    }
    if os.environ["RANK"] == "1":  # the first alone measures, and puts neighbours together
        settings[Step] = {"embed": None}
    for place, names in settings.items():
        for name, value in names.items():
            setattr(place, name, value)
    pairs: ParallelText = torch.load(folder / "pairs.pt", weights_only=False)
    english = pairs.sources
    labelled = Labelled(english[:90], english[90:180], np.arange(90) % 3)
    options = MocoOptions(**STATIC, encoder=str(folder / "toy"), queue_size=48, nli_batch=16)
    losses: list[float] = []

    def watch(progress: Progress) -> None:
        if "loss" in progress.numbers:
            losses.append(progress.numbers["loss"])

    made = training.train("moco", Corpus(pairs, labelled=labelled), options, folder / "new", watch)
    assert ours.World.here().size == 2
    weights = made.encoders[""].encode(english[:20]).tolist()
    torch.save((losses, made.measures, weights), folder / f"{os.environ['RANK']}.pt")


@pytest.mark.long
def test_a_static_encoder_trains_where_there_are_gpus(
    toy_pairs: ParallelText, toy_vocabulary: Vocabulary, tmp_path: Path
) -> None:
    torch.save(toy_pairs, tmp_path / "pairs.pt")
    new_static(toy_vocabulary, 16, seed=1).save(tmp_path / "toy")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    running = [
        subprocess.Popen(
            [sys.executable, __file__, str(tmp_path)],
            env={**os.environ, **meeting, "RANK": rank, "LOCAL_RANK": rank, "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in "01"
    ]
    try:
        said = [process.communicate(timeout=100)[1] for process in running]
    finally:
        for process in running:
            process.kill()
    assert [process.returncode for process in running] == [0, 0], said
    for rank in "01":
        threads = (tmp_path / f"{rank}.threads").read_text()
        assert "python" in threads and "gloo" not in threads  # one may abort what ends
    losses, *left = torch.load(tmp_path / "0.pt", weights_only=True)
    assert len(losses) == 90 // 5 and left[0]["accuracy"] > 0
    assert list(torch.load(tmp_path / "1.pt", weights_only=True)[1:]) == left


if __name__ == "__main__":
    train_as_one_of_two(Path(sys.argv[1]))
