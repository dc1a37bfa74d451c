"""transfer: which tasks are measured, their rows, means and notes, other learners, options."""

from dataclasses import replace
from pathlib import Path

import pytest
from papers import transfer as run
from papers.benchmarks import TransferOptions
from papers.tasks import Examples, HeadTask
from papers.transfer import evaluate_transfer

from tests.toys.transfer import measure, two_topics, write_two
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import OptionError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.result import Result


def test_one_task_is_asked_for(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("papers.frozen.STRENGTHS", (16.0,))  # to be quick
    write_two(tmp_path, "MR")
    write_two(tmp_path, "CR")
    result = measure(toy_encoder, tmp_path, "cr")
    assert [(row.name, row.is_mean) for row in result.rows] == [("cr", False)]
    assert any("a classifier trained with Adam" in note for note in result.notes)
    assert result.headline == ("cr", "accuracy")
    assert any("No SentEval, mean accuracy of 7: mr," in note for note in result.notes)
    with pytest.raises(OptionError, match="--task is 'imdb'"):
        measure(toy_encoder, tmp_path, "imdb")
    with pytest.raises(MissingData, match=r"SentEval's TREC, train_5500.label and TREC_10.label"):
        measure(toy_encoder, tmp_path, "trec")


def toy_tasks(toy: Examples) -> list[HeadTask]:
    """Make XRETE's tasks with accuracy, all the same toy, and one with an error."""
    tests = {"en": toy, "zh": Examples(toy.texts, 1 - toy.answers)}
    names = ("americasnli", "xnli", "xcopa", "pawsx")
    made = [
        HeadTask(name, "class", ("0", "1"), toy, toy, {"en": toy}, f"of {name}") for name in names
    ]
    made[0] = replace(made[0], tests=tests)
    return [*made, HeadTask("multiarc", "number", (), toy, toy, tests, "here")]


@pytest.fixture
def toy() -> Examples:
    return two_topics()


def of_tasks(
    encoder: SentenceEncoder, tasks: list[HeadTask], monkeypatch: pytest.MonkeyPatch
) -> Result:
    made = {task.name: [task] for task in tasks}
    monkeypatch.setattr(run, "read_tasks", lambda data, wanted, learned: made)
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
