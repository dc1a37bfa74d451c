"""The tasks of XRETE: which there are, what is absent, and learning one."""

from pathlib import Path

import numpy as np
import pytest
from papers.benchmarks import TransferOptions
from papers.finetune import FinetunedLearner
from papers.transfer import TASKS, evaluate_transfer, read_tasks

from tests.toys.xrete import (
    MAKE,
    Row,
    review,
    write,
)
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder


def test_all_tasks_of_a_folder(tmp_path: Path) -> None:
    for make in MAKE.values():
        make(tmp_path)
    assert list(MAKE) == list(TASKS)[7:]
    tasks = read_tasks(DataFolder(tmp_path))
    assert list(tasks) == list(MAKE)
    kinds = [task.kind for [task] in tasks.values()]
    assert kinds == ["pair", "pair", "choice", "document", "number", "pair"]
    assert list(read_tasks(DataFolder(tmp_path), ["pawsx", "xnli"])) == ["xnli", "pawsx"]
    for [task] in tasks.values():
        assert all(len(each.texts) == len(each.answers) for each in task.tests.values())
        assert task.dev is not None and len(task.dev.texts) == len(task.dev.answers)


def test_a_task_is_learned_from_files_of_several_languages(tmp_path: Path) -> None:
    for make in MAKE.values():
        make(tmp_path)
    for kind, code in (("xnli", "de"), ("pawsx", "fr")):
        english = (tmp_path / kind / "train-en.tsv").read_text().replace("T", "D")
        write(tmp_path / kind / f"train-{code}.tsv", english.splitlines())
    data = DataFolder(tmp_path)
    sizes = {name: len(task.train.texts) for name, [task] in read_tasks(data).items()}
    for name, size in sizes.items():
        [task] = read_tasks(data, [name], ["all"])[name]
        times = {"xcopa": 1, "multieurlex": 3}.get(name, 2)  # its second law is in German alone
        assert len(task.train.texts) == times * size, name
    [task] = read_tasks(data, ["xnli"], ["de"])["xnli"]
    assert task.split.startswith("learned from MultiNLI train in de;")
    with pytest.raises(FileError, match=r"PAWS-X train: no de"):
        read_tasks(data, ["pawsx"], ["en", "de"])


def test_frozen_and_trained_heads_measure_it(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    words = ("baba", "bade")

    def reviews(language: str, count: int) -> list[Row]:
        stars = random.integers(2, size=count)
        return [
            review(language, int(1 + 4 * s), f"{words[s]} fifi gone{n % 7}")
            for n, s in enumerate(stars)
        ]

    for split, count in (("train", 200), ("dev", 40), ("test", 80)):
        write(tmp_path / f"multiarc/dataset_en_{split}.json", reviews("en", count))
    options = TransferOptions(task=["multiarc"], finetune=True, epochs=8, learning_rate=0.02)
    results = [
        evaluate_transfer(toy_encoder, DataFolder(tmp_path), options, learner=learner)
        for learner in (None, FinetunedLearner(options))
    ]
    for result in results:
        error = result.figure("multiarc en", "mae")
        assert error is not None and error < 1.2  # always 3: 2.0
    assert results[1].settings["learner"] == "finetuned" and results[1].settings["epochs"] == 8
