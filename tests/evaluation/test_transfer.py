"""transfer: which tasks are measured, their rows, means and notes, other learners, options."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.transfer import measure, two_topics, write_senteval, write_two
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import Encoders
from xmine.errors import FileError, OptionError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import TransferOptions
from xmine.evaluation.result import Result
from xmine.evaluation.transfer.frozen import FrozenLearner
from xmine.evaluation.transfer.run import XRETE, evaluate_transfer
from xmine.evaluation.transfer.senteval import SENTEVAL
from xmine.evaluation.transfer.tasks import Examples, Predict, Task, TaskSet, unlearned
from xmine.progress import Report


def test_one_task_is_asked_for(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.evaluation.transfer.frozen.STRENGTHS", (16.0,))  # to be quick
    write_two(tmp_path, "MR")
    write_two(tmp_path, "CR")
    result = measure(toy_encoder, tmp_path, "cr")
    assert [(row.name, row.is_mean) for row in result.rows] == [("cr", False)]
    assert any("a classifier trained with Adam" in note for note in result.notes)
    assert result.headline == ("cr", "accuracy")
    assert any("No average of SentEval's 7: mr," in note for note in result.notes)
    with pytest.raises(OptionError, match="no task 'imdb'"):
        measure(toy_encoder, tmp_path, "imdb")
    with pytest.raises(MissingData, match=r"SentEval's TREC, train_5500.label and TREC_10.label"):
        measure(toy_encoder, tmp_path, "trec")


def test_without_any_task_it_says_what_was_expected(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    for folder in (tmp_path, None):
        with pytest.raises(MissingData) as error:
            measure(toy_encoder, folder)
        for name, file in {
            "mr": "senteval/MR/rt-polarity.pos",
            "sst2": "senteval/SST/binary/sentiment-train",
            "pawsx": "pawsx/train-en.tsv",
        }.items():
            assert f"{name} ({file})" in error.value.message
    for name in (*SENTEVAL.readers, *XRETE.readers):
        assert f"{name} (" in error.value.message


def toy_tasks(toy: Examples) -> list[Task]:
    """Make XRETE's tasks with accuracy, all the same toy, and one with an error."""
    tests = {"en": toy, "zh": Examples(toy.texts, 1 - toy.answers)}
    names = ("americasnli", "xnli", "xcopa", "pawsx")
    made = [Task(name, "class", ("0", "1"), toy, toy, {"en": toy}, f"of {name}") for name in names]
    made[0] = replace(made[0], tests=tests)
    return [*made, Task("multiarc", "number", (), toy, toy, tests, "here")]


@pytest.fixture
def toy() -> Examples:
    return two_topics()


def of_tasks(
    encoder: SentenceEncoder, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> Result:
    def read(
        self: TaskSet, data: DataFolder, wanted: Sequence[str], note: Callable[[str], None]
    ) -> list[Task]:
        return tasks if self is XRETE else []

    monkeypatch.setattr(TaskSet, "read", read)
    return evaluate_transfer(encoder, DataFolder(None), TransferOptions())


def test_languages_have_rows_and_an_error_is_in_no_mean(
    toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch, toy: Examples
) -> None:
    result = of_tasks(toy_encoder, toy_tasks(toy), monkeypatch)
    assert [row.name for row in result.rows] == [
        *("americasnli en", "americasnli zh", "xnli en", "xcopa en", "pawsx en"),
        *("multiarc en", "multiarc zh"),
        *("americasnli, mean of 2", "multiarc, mean of 2", "XRETE, mean accuracy of 4"),
    ]
    assert [row.is_mean for row in result.rows] == [False] * 7 + [True] * 3
    assert result.figure("americasnli, mean of 2", "accuracy") == pytest.approx(0.5)
    assert result.rows[-1].figures == {"accuracy": pytest.approx(3.5 / 4)}
    assert 0 < (result.figure("multiarc en", "mae") or 0) < 0.4
    notes = " ".join(result.notes)
    assert "MAE, where lower is better, is in no mean with accuracies" in notes
    assert "SentEval" not in notes


def test_a_mean_over_tasks_is_of_all_of_them(
    toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch, toy: Examples
) -> None:
    result = of_tasks(toy_encoder, toy_tasks(toy)[1:3], monkeypatch)
    assert [row.name for row in result.rows] == ["xnli en", "xcopa en"]
    assert "No average of XRETE's 4: americasnli, pawsx missing." in result.notes
    assert result.settings["splits"] == {"xnli": "of xnli", "xcopa": "of xcopa"}


def test_a_task_that_cannot_be_learned_costs_no_other(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.evaluation.transfer.frozen.STRENGTHS", (16.0,))  # to be quick
    write_two(tmp_path, "MR")
    write_two(tmp_path, "CR")

    class Picky(FrozenLearner):
        def __call__(self, encoder: Encoders, task: Task, prompt: str, report: Report) -> Predict:
            if task.name == "cr":
                raise FileError("CR: 3 examples of the rarest class")
            return super().__call__(encoder, task, prompt, report)

    def measured(*tasks: str) -> Result:
        options = TransferOptions(task=list(tasks))
        return evaluate_transfer(toy_encoder, DataFolder(tmp_path), options, learner=Picky())

    result = measured()
    assert [row.name for row in result.rows] == ["mr"]
    assert "cr was not measured: CR: 3 examples of the rarest class" in result.notes
    assert result.failed == ["cr"]
    assert isinstance(splits := result.settings["splits"], dict) and splits.keys() == {"mr"}
    with pytest.raises(FileError, match="CR: 3 examples"):
        measured("cr", "mr")


def test_an_error_is_printed_times_a_hundred(
    toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch, toy: Examples
) -> None:
    tasks = [replace(toy_tasks(toy)[-1], tests={"en": Examples(toy.texts, toy.answers + 7)})]
    result = of_tasks(toy_encoder, tasks, monkeypatch)
    error = result.figure("multiarc en", "mae")
    assert error is not None and error == pytest.approx(7, abs=0.5)
    assert result.cells()[1][-1] == f"{100 * error:.1f}"


def test_classes_that_train_lacks_are_noted(
    toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch, toy: Examples
) -> None:
    more = Examples(toy.texts, toy.answers + 1)
    task = replace(toy_tasks(toy)[1], classes=("0", "1", "two"), tests={"en": toy, "de": more})
    notes = of_tasks(toy_encoder, [task], monkeypatch).notes
    assert "xnli asks for classes that train lacks: de: two." in notes
    labels = Task("d", "document", ("a", "b"), Examples([], np.array([[1.0, 0]])), None, {}, "")
    assert unlearned(labels, np.array([[1.0, 0], [0, 1]])) == ["b"]
    assert unlearned(labels, np.array([[1.0, 0]])) == []


class AllOnes:
    """Gives every example the second class."""

    protocol = "the second class"

    def __call__(self, encoder: Encoders, task: Task, prompt: str, report: Report) -> Predict:
        return lambda texts, language: np.tile(np.eye(len(task.classes))[1], (len(texts), 1))

    def settings(self, encoder: Encoders) -> dict[str, object]:
        return {"learner": "all ones"}

    def notes(self) -> list[str]:
        return ["Nothing was learned."]


def test_tasks_share_examples_only_where_texts_and_answers_are_the_same(tmp_path: Path) -> None:
    texts, answers = [("one",), ("two",)], np.array([0.0, 1.0])
    each = {
        "first": Examples(texts, answers),
        "same": Examples(list(texts), answers.copy()),
        "turned": Examples(texts, 1 - answers),
    }
    readers = {
        name: (lambda _, toy=toy, name=name: Task(name, "class", "01", toy, toy, {}, ""), name)
        for name, toy in each.items()
    }
    first, same, turned = TaskSet("toys", readers, []).read(DataFolder(tmp_path))
    assert same.train is first.train and same.dev is first.dev
    assert turned.train is not first.train and turned.dev is not first.dev
    assert turned.train.answers.tolist() == [1.0, 0.0]


def test_another_learner_can_be_given(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    write_senteval(tmp_path)
    result = evaluate_transfer(
        toy_encoder, DataFolder(tmp_path), TransferOptions(finetune=True), learner=AllOnes()
    )
    assert result.figure("mr", "accuracy") == result.figure("sst2", "accuracy") == 0.5
    assert result.figure("mrpc", "f1") == pytest.approx(2 / 3)
    assert result.protocol == "the second class" and result.settings["learner"] == "all ones"
    assert result.notes == ["Nothing was learned."]  # none on logistic regression


@pytest.mark.parametrize("given", [{"seed": 2}, {"epochs": 4}, {"learning_rate": 0.1}])
def test_options_of_training_are_refused_without_it(given: dict[str, Any]) -> None:
    name = next(iter(given)).replace("_", "-")
    with pytest.raises(OptionError, match=f"--{name} is for --finetune"):
        TransferOptions(**given)
    TransferOptions(**given, finetune=True)


def test_a_seed_that_no_generator_takes_is_refused() -> None:
    with pytest.raises(OptionError, match="seed"):
        TransferOptions(seed=2**63, finetune=True)
