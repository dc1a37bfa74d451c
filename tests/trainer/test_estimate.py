"""The estimate before training: a trial that leaves everything as it was."""

import ctypes
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText
from xmine.progress import Progress, Report, silent
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Labelled, Triplets
from xmine.trainer.data.rows import Side
from xmine.trainer.estimate import TrainingEstimate, estimate_training
from xmine.trainer.methods import METHODS
from xmine.trainer.models.loading import tower_of
from xmine.trainer.models.towers import Frozen
from xmine.trainer.options.moco import MocoOptions
from xmine.trainer.options.msimcse import MsimcseOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.prepare import load_encoder
from xmine.trainer.train import train
from xmine.trainer.trials import Tried

FEW: dict[str, Any] = {"batch_size": 64, "held_out": 100, "threads": 1, "epochs": 2}


@pytest.fixture
def pairs(toy_pairs: ParallelText) -> Corpus:
    return Corpus(toy_pairs)


def test_sizes_are_those_of_the_encoders_that_learn(pairs: Corpus, toy_folder: Path) -> None:
    options = MocoOptions(encoder=str(toy_folder), queue_size=300, logit_rows=16, **FEW)
    found = estimate_training(pairs, options)
    weights = sum(x.numel() for x in tower_of(load_encoder(str(toy_folder), options)).parameters())
    assert found.weights == weights
    assert (found.rows, found.steps) == (1400, 2 * 21)
    assert found.memory["weights and optimiser"] == 4 * 4 * weights
    assert found.total_memory == sum(found.memory.values()) and found.seconds > 0

    both = replace(
        options, encoder="scratch", src_encoder=str(toy_folder), tgt_encoder=str(toy_folder)
    )
    assert estimate_training(pairs, both).weights == 2 * weights


def test_a_queue_takes_its_memory(pairs: Corpus, toy_folder: Path, tmp_path: Path) -> None:
    """Two queues of 60,000 keys, 32 numbers of four bytes each, and their logits."""
    assert pairs.pairs is not None
    many = Corpus(pairs.pairs.take(np.arange(270_000) % 1500))
    options = MocoOptions(encoder=str(toy_folder), **FEW)
    ctypes.CDLL(None).malloc_trim(0)  # or the queue takes room that other tests have freed
    small, large = (
        estimate_training(many, replace(options, queue_size=size)) for size in (64, 60_000)
    )
    assert large.total_memory - small.total_memory > 2 * 59_936 * 32 * 4
    assert large.seconds > 1.2 * small.seconds


def test_what_a_teacher_says_takes_memory_where_it_is_kept(pairs: Corpus, toy_folder: Path) -> None:
    options = TransaugOptions(teacher=str(toy_folder), stage="distil", vocabulary_size=500, **FEW)
    assert estimate_training(pairs, options).memory["what teachers said"] == 1400 * 32 * 4
    once = estimate_training(pairs, replace(options, distil_epochs=1))
    assert "what teachers said" not in once.memory


def test_a_teacher_whose_vectors_are_kept_reads_each_text_once(
    pairs: Corpus, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A teacher that takes a millisecond a text: 1,400 of them, however many epochs there are."""

    def slow(self: Frozen, *sides: Side) -> torch.Tensor:
        if self._read is None:
            time.sleep(sum(map(len, sides)) / 1000)
        return called(self, *sides)

    def slow_once(self: Frozen, side: Side, report: Report = silent) -> None:
        time.sleep(len(side) / 1000)
        read_once(self, side, report)

    called, read_once = Frozen.__call__, Frozen.read_once
    monkeypatch.setattr(Frozen, "__call__", slow)
    monkeypatch.setattr(Frozen, "read_once", slow_once)
    given: dict[str, Any] = {"teacher": str(toy_folder), "stage": "distil", "vocabulary_size": 500}
    once, twelve = (
        estimate_training(pairs, TransaugOptions(**given, **FEW | {"epochs": n})).seconds
        for n in (1, 12)
    )
    assert 1.4 < once and twelve < once + 11 * 1.4 / 2


def test_a_new_encoder_has_the_vocabulary_that_was_asked_for(pairs: Corpus) -> None:
    options = MsimcseOptions(vocabulary_size=500, dim=32, **FEW)
    assert estimate_training(pairs, options).weights == 500 * 32


def test_nothing_is_drawn_and_no_weight_is_changed(pairs: Corpus, toy_folder: Path) -> None:
    before = torch.get_rng_state(), (toy_folder / "model.safetensors").read_bytes()
    threads = torch.get_num_threads()
    estimate_training(pairs, MsimcseOptions(vocabulary_size=500, dim=32, **FEW))
    estimate_training(pairs, MsimcseOptions(encoder=str(toy_folder), **FEW))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (toy_folder / "model.safetensors").read_bytes() == before[1]
    assert torch.get_num_threads() == threads


def test_rows_are_visits_and_everything_else_that_is_learned_from(
    toy_pairs: ParallelText, toy_folder: Path
) -> None:
    options = MsimcseOptions(
        encoder=str(toy_folder), source_weight={"odd": 2.0, "even": 0.0}, **FEW
    )
    some = toy_pairs.sources[:30]
    corpus = Corpus(toy_pairs, (Triplets(some, some, some),) * 2, texts=some[:20])
    found = estimate_training(corpus, options)
    assert found.rows == 2 * (750 - 100) + 30 + 20  # of 750 odd pairs, 100 are held out
    assert estimate_training(corpus, replace(options, steps=5)).steps == 5
    assert estimate_training(corpus, replace(options, batch_size=5000)).steps == 2


@pytest.mark.parametrize(
    ("method", "given", "changes"),
    [
        ("msimcse", "pairs texts", {"default_weight": 0.7}),
        ("msimcse", "triplets", {"held_out": 20}),
        ("moco", "pairs", {"steps": 9}),
        ("moco", "pairs", {"source_weight": {"odd": 0.3}}),
        ("transaug", "pairs", {"distil_epochs": 3}),
        ("transaug", "pairs triplets", {"nli_epochs": 3, "nli_batch_size": 48}),
        ("transaug", "pairs triplets", {"steps": 5, "share_encoder": True}),
        ("transaug", "pairs triplets", {"stage": "nli", "nli_batch_size": 30}),
        ("emma-x", "pairs texts", {"em_epochs": 3}),
        ("emma-x", "pairs", {"phase": "2", "source_weight": {"odd": 0.5}}),
    ],
)
def test_as_many_steps_are_taken_as_were_estimated(
    method: str,
    given: str,
    changes: dict[str, Any],
    toy_pairs: ParallelText,
    toy_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("xmine.trainer.ranking.monitor.RankMonitor.stops", lambda *_: "")
    some = toy_pairs.take(np.arange(0, 500) // np.where(np.arange(500) % 7, 1, 2))  # some twice
    english, chinese = toy_pairs.sources[500:], toy_pairs.targets[500:]
    corpus = Corpus(
        some if "pairs" in given else None,
        (Triplets(english[:300], english[300:600], english[600:900]),)
        if "triplets" in given
        else (),
        texts=[*english[:700], *chinese[:90]] if "texts" in given else (),
    )
    teaches = method == "transaug" and not {"share_encoder", "stage"} & set(changes)
    taught = ("teacher", "distilled_encoder") if teaches else ()
    teacher = dict.fromkeys(taught, str(toy_folder))
    flags = FEW | {"held_out": 50, "encoder": str(toy_folder), **teacher, **changes}
    if method == "emma-x":
        flags["queue_size"] = 48
    options = METHODS[method].options(**flags)
    taken: list[str] = []

    def watch(progress: Progress) -> None:
        if "loss" in progress.numbers:
            taken.append(progress.stage)

    estimate = estimate_training(corpus, options)
    train(method, corpus, options, tmp_path / "new", watch)
    assert len(taken) == estimate.steps


def test_a_batch_that_is_too_slow_to_try_is_on_the_line_of_smaller_ones() -> None:
    tried = Tried([16, 64, 256], [0.5, 1.0, 4.0], [1000, 2000, 8000])
    assert tried.at(256) == (4.0, 8000)
    assert tried.at(448) == pytest.approx((7.0, 14000))
    assert Tried([16], [0.5], [1000]).at(16) == (0.5, 1000)
    assert Tried([16, 64], [0.5, 0.4], [1000, 900]).at(128) == (0.4, 900)


@pytest.mark.long
def test_a_larger_batch_of_a_transformer_takes_more(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    """Each in a process of its own, as users run it: nothing freed before is there to be used."""
    rows = zip(toy_pairs.sources, toy_pairs.targets, strict=True)
    (tmp_path / "pairs.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    words = [
        sys.executable,
        "-m",
        "xmine",
        "train",
        "pairs.tsv",
        "-o",
        "new",
        "--dry-run",
        "--json",
    ]
    words += "--architecture transformer --dim 16 --layers 1 --heads 1 --threads 1".split()
    words += ["--start", str(toy_folder)]

    def taken(*more: str) -> int:
        done = subprocess.run([*words, *more], cwd=tmp_path, stdout=subprocess.PIPE, check=True)
        found: int = json.loads(done.stdout)["memory"]["steps"]
        return found

    large = ("--batch-size", "1024", "--tokens-at-once", "1000000")
    whole = taken(*large)
    assert whole > 2 * 1024 * 16 * 4 * 4 * 4  # more than a few vectors a text
    assert taken("--batch-size", "64") < 0.8 * whole


def test_a_queue_that_cannot_be_is_refused_before_work(pairs: Corpus, toy_folder: Path) -> None:
    options = MocoOptions(encoder=str(toy_folder), queue_size=400, **FEW)
    with pytest.raises(TrainingError, match="--queue-size 400 for 1,400 rows"):
        estimate_training(pairs, options)


def test_data_that_give_no_row_are_refused_before_work(pairs: Corpus) -> None:
    labelled = Labelled(["a"] * 60, ["b"] * 60, np.zeros(60, dtype=np.int64))
    with pytest.raises(TrainingError, match="there are no translations to learn from"):
        estimate_training(Corpus(labelled=labelled), MocoOptions(encoder="embedded", **FEW))
    hardly = MsimcseOptions(encoder="embedded", default_weight=1e-5, **FEW)
    with pytest.raises(TrainingError, match="takes less than a row") as error:
        estimate_training(pairs, hardly)
    assert "--default-weight" in error.value.hint


def test_rows_are_read_before_each_pass_where_near_ones_share_batches(
    pairs: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading takes a third of a step. A new encoder has nothing to tell before the first pass."""
    monkeypatch.setattr(Tried, "at", lambda *_: (3.0, 1000))
    for start, groupings in (("embedded", 4), ("scratch", 3)):
        options = MsimcseOptions(**{**FEW, "encoder": start, "epochs": 4, "batch_size": 10})
        plain = estimate_training(pairs, options)
        near = estimate_training(pairs, replace(options, near_batches=8))
        assert near.seconds - plain.seconds == pytest.approx(groupings * plain.rows / 10)
        whole = replace(options, steps=plain.rows // 10)
        one, two = (
            estimate_training(pairs, replace(whole, steps=whole.steps + more)).seconds
            for more in (0, 1)
        )
        checkpoint = 2.2e-9 * 16 * plain.weights  # seconds, as measured on a disk
        assert two - one == pytest.approx(3 + options.held_out / 10 + checkpoint)
        cut = replace(options, steps=plain.rows // 10 + 1, near_batches=8)  # in the second pass
        once = estimate_training(pairs, replace(cut, near_batches=0))
        assert estimate_training(pairs, cut).seconds - once.seconds == pytest.approx(
            (groupings - 2) * plain.rows / 10
        )


def test_keys_that_fill_a_queue_at_first_are_read(
    pairs: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tried, "at", lambda *_: (3.0, 1000))
    options = MocoOptions(**{**FEW, "encoder": "embedded", "batch_size": 10, "queue_size": 200})
    empty, full = (
        estimate_training(pairs, replace(options, queue_init=each)).seconds
        for each in ("mask", "prefill")
    )
    assert full - empty == pytest.approx(200 / 10)


def test_one_process_reads_the_rows_of_all(pairs: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tried, "at", lambda *_: (3.0, 1000))
    monkeypatch.setattr("xmine.trainer.estimate.join_processes", lambda *_: None)
    options = MsimcseOptions(**{**FEW, "encoder": "embedded", "batch_size": 10})
    found = []
    for processes in ("1", "2"):
        monkeypatch.setenv("WORLD_SIZE", processes)
        near = estimate_training(pairs, replace(options, near_batches=8)).seconds
        found.append(near - estimate_training(pairs, options).seconds)
    assert found[1] == pytest.approx(2 * found[0])


def test_what_will_not_do_is_warned_of() -> None:
    options = MsimcseOptions(encoder="embedded", **FEW)
    fits = TrainingEstimate(64, 2, 1, {"program": 1}, "cpu", 1.0)
    assert fits.warnings(options) == []
    assert "an epoch is one step" in replace(fits, rows=63).warnings(options)[0]
    (warning,) = replace(fits, memory={"program": 2**60}).warnings(options)
    assert "of memory, " in warning and "--recompute" in warning
    (warning,) = fits.warnings(replace(options, encoder="scratch"))
    assert warning.startswith("64 rows are few to train --encoder from scratch: --encoder")
    distil = TransaugOptions(encoder="embedded", distilled_encoder="scratch", **FEW)
    assert "64 rows are few to train --distilled-encoder from" in fits.warnings(distil)[0]
    assert replace(fits, rows=100_000).warnings(replace(options, encoder="scratch")) == []


def test_too_few_pairs_are_refused_before_anything_is_tried() -> None:
    few = Corpus(pairs=ParallelText(["a"] * 10, ["b"] * 10, [""] * 10))
    with pytest.raises(TrainingError, match="10 pairs are too few to hold 6 out"):
        estimate_training(few, MsimcseOptions(held_out=6))
