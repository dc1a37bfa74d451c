"""LAReQA: answers in all languages, its candidates, wrong files."""

import json
from pathlib import Path

import pytest
from papers.answer_files import LAREQA_LANGUAGES, read_lareqa
from papers.answers import evaluate_retrieval

from tests.toys.ranking import changed, paragraph, write_translations, write_xquad_r
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import EvaluationOptions
from xmine.pairs.io import ParallelText


@pytest.fixture
def xquad_r(toy_pairs: ParallelText, tmp_path: Path) -> Path:
    return write_translations(toy_pairs, tmp_path)


def test_lareqa_finds_the_answers_of_all_languages(
    toy_encoder: SentenceEncoder, xquad_r: Path, tmp_path: Path
) -> None:
    result = evaluate_retrieval(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
    names = [row.name for row in result.rows]
    assert names == [*(f"LAReQA {x}" for x in LAREQA_LANGUAGES), "LAReQA, mean of 11"]
    assert [row.items for row in result.rows] == [6] * 11 + [66]
    assert (result.figure("LAReQA, mean of 11", "map") or 0) > 0.95
    assert result.split == "LAReQA (66 candidates)"


def test_lareqa_candidates_and_gold(tmp_path: Path) -> None:
    folder = tmp_path / "xquad-r"
    one = paragraph(["One ran.", "Two sat."], {"a": ("Who sat?", 1), "b": ("Who ran?", 0)})
    again = paragraph(["Yes.", "No.", "Yes."], {"c": ("Really?", 0)})
    write_xquad_r(folder, {key: [one, again] for key in LAREQA_LANGUAGES})
    task = read_lareqa(folder)
    assert len(task.candidates) == 5 * 11
    assert task.candidates[:3] == [
        *("One ran. One ran. Two sat.", "Two sat. One ran. Two sat.", "Yes. Yes. No. Yes.")
    ]
    questions = task.queries["zh"]
    assert [text for text, _ in questions] == ["Who sat?", "Who ran?", "Really?"]
    assert questions[0][1] == {1 + 5 * number for number in range(11)}
    # the same sentence twice in a paragraph is right twice
    assert questions[2][1] == {at + 5 * number for number in range(11) for at in (2, 4)}


def test_wrong_files_of_lareqa(tmp_path: Path) -> None:
    folder = tmp_path / "xquad-r"
    whole = paragraph(["One ran."], {"a": ("Who ran?", 0)})
    write_xquad_r(folder, {key: [whole] for key in LAREQA_LANGUAGES})
    other = paragraph(["x y"], {"b": ("?", 0)})
    (folder / "el.json").write_text(json.dumps({"data": [{"paragraphs": [other]}]}))
    with pytest.raises(FileError, match=r"el\.json and ar\.json differ in their questions"):
        read_lareqa(folder)
    (folder / "el.json").unlink()
    with pytest.raises(FileError, match=r"incomplete: el\.json missing"):
        read_lareqa(folder)


def test_answers_outside_of_sentences(tmp_path: Path) -> None:
    outside = paragraph(["One ran."], {"a": ("Who ran?", 0)})
    outside["qas"][0]["answers"][0]["answer_start"] = 99
    inside = paragraph(["One ran."], {"a": ("Who ran?", 0)})
    paragraphs = {language: [inside] for language in LAREQA_LANGUAGES} | {"th": [outside]}
    write_xquad_r(tmp_path / "some", paragraphs)
    task = read_lareqa(tmp_path / "some")
    assert len(task.queries["th"][0][1]) == 10
    assert task.notes == ["1 answers start in no sentence and are right nowhere."]
    write_xquad_r(tmp_path / "all", {key: [outside] for key in LAREQA_LANGUAGES})
    with pytest.raises(FileError, match="no sentence answers a"):
        read_lareqa(tmp_path / "all")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("qas.0.question", None, "the field 'question' is blank"),
        ("qas.0.answers", [], "list index out of range"),
        ("qas.0.answers.0.answer_start", "0", "not as the data set is distributed"),
        ("sentence_breaks", [[0, 8], [9, 18]], "9 to 18 lies not in its 17 characters"),
        ("sentence_breaks", [[0, 8, 9]], "not as the data set is distributed"),
    ],
)
def test_paragraphs_with_values_of_another_kind(
    tmp_path: Path, path: str, value: object, message: str
) -> None:
    good = paragraph(["One ran.", "Two sat."], {"a": ("Who ran?", 0)})
    paragraphs = {key: [good] for key in LAREQA_LANGUAGES} | {"de": [changed(good, path, value)]}
    write_xquad_r(tmp_path / "xquad-r", paragraphs)
    with pytest.raises(FileError, match=rf"de\.json: paragraph 1.*{message}"):
        read_lareqa(tmp_path / "xquad-r")
