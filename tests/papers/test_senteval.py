"""SentEval: its seven tasks read and learned, wrong files of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from papers.frozen import FrozenLearner
from papers.transfer import read_tasks

from tests.toys.files import write
from tests.toys.transfer import measure, text, write_senteval, write_two
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.progress import Report, silent
from xmine.text.checks import ListOfTexts, as_list


def test_texts_are_encoded_once(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("papers.frozen.STRENGTHS", (1 / 64, 64.0))  # to be quick
    write_two(tmp_path, "MR")
    seen: list[str] = []

    class Counting(SentenceEncoder):
        def encode(
            self, texts: str | ListOfTexts, report: Report = silent, prompt: str = "", **more: Any
        ) -> NDArray[np.float32]:
            seen.extend(as_list(texts) if not isinstance(texts, str) else [texts])
            return super().encode(texts, report, prompt, **more)

    measure(Counting(toy_encoder.body), tmp_path)
    assert len(seen) == len(set(seen)) == 40


@pytest.mark.long
@pytest.mark.parametrize("root", ["senteval", "senteval/data/downstream"])
def test_all_seven_are_read_and_learned(
    toy_encoder: SentenceEncoder, tmp_path: Path, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_senteval(tmp_path / root)
    if root != "senteval":
        found = {name: len(folds) for name, folds in read_tasks(DataFolder(tmp_path)).items()}
        two_files = dict.fromkeys(("mr", "cr", "subj", "mpqa"), 10)
        assert found == two_files | {"sst2": 1, "trec": 1, "mrpc": 1}
        return
    monkeypatch.setattr("papers.frozen.STRENGTHS", (1 / 64, 64.0))  # to be quick
    result = measure(toy_encoder, tmp_path)
    assert result.headline == ("SentEval, mean accuracy of 7", "accuracy")
    figures = [result.figure(name, "accuracy") for name in ("mr", "sst2", "trec", "mrpc")]
    assert all(figure is not None and figure >= 0.8 for figure in figures), figures
    assert [row.name for row in result.rows if "f1" in row.figures] == ["mrpc"]
    assert [metric.name for metric in result.metrics] == ["accuracy", "f1"]
    assert {row.name: row.items for row in result.rows}["mr"] == 40
    mean = np.mean([row.figures["accuracy"] for row in result.rows[:7]])
    assert result.figure(*result.headline) == pytest.approx(mean)


def test_one_answer_cannot_be_learned(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    write_senteval(tmp_path)
    write(tmp_path / "SST/binary/sentiment-train", [f"{text(1, at)}\t1" for at in range(20)])
    with pytest.raises(FileError, match="sst2, train: the answer of all 20 examples is positive"):
        measure(toy_encoder, tmp_path, "sst2")


def test_the_order_of_a_pair_says_nothing_in_mrpc(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    write_senteval(tmp_path)
    [task] = read_tasks(DataFolder(tmp_path), ["mrpc"])["mrpc"]
    pairs = task.tests["en"].texts
    swapped = [(second, first) for first, second in pairs]
    for symmetric, differ in ((True, False), (False, True)):
        like_it = task if symmetric else replace(task, symmetric=False)
        predict = FrozenLearner()(toy_encoder, like_it, "", silent)
        assert (np.abs(predict(pairs, "en") - predict(swapped, "en")).max() > 1e-3) == differ


def test_questions_may_have_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    for file in ("train_5500.label", "TREC_10.label"):
        write(tmp_path / "TREC" / file, ["LOC:city Where is the Café Zürich ?", ""], "latin-1")
    [task] = read_tasks(DataFolder(tmp_path), ["trec"])["trec"]
    assert task.train.texts == [("Where is the Café Zürich ?",)]
    assert task.train.answers.tolist() == [4]


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("MR/rt-polarity.neg", None, "MR: incomplete: rt-polarity.neg missing"),
        ("MR/rt-polarity.pos", "good\n" * 9, "MR: 9 examples of the rarest class"),
        ("SST/binary/sentiment-dev", "fine film\t4\n", "sentiment-dev:1: '4' is no label of SST"),
        ("TREC/TREC_10.label", "WHO:x Who ?\n", "TREC_10.label:1: 'WHO' is no class of questions"),
        ("TREC/TREC_10.label", "NUM:dist\n", "TREC_10.label:1: no question"),
        ("MRPC/msr_paraphrase_test.txt", "1\ta\tb\n", "no column Quality"),
    ],
)
def test_a_wrong_file_is_refused(
    tmp_path: Path, path: str, content: str | None, message: str
) -> None:
    write_senteval(tmp_path)
    if content is None:
        (tmp_path / path).unlink()
    else:
        (tmp_path / path).write_text(content)
    with pytest.raises(FileError, match=message):
        read_tasks(DataFolder(tmp_path))
