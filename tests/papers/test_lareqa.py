"""LAReQA: answers in all languages, its candidates, wrong files."""

from pathlib import Path

import pytest
from papers.answer_files import LAREQA_LANGUAGES, read_lareqa
from papers.answers import evaluate_retrieval

from tests.toys.ranking import paragraph, write_translations, write_xquad_r
from xmine.encoders.encoder import SentenceEncoder
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
