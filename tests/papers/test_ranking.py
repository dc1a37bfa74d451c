"""Ranking: the golden value, both sets together."""

from pathlib import Path

import pytest
from papers.answers import average_precision, evaluate_retrieval

from tests.toys.ranking import article, entity, write_mewsli_x, write_translations
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import EvaluationOptions
from xmine.pairs.io import ParallelText


def test_golden_g26() -> None:
    assert average_precision([5, 1, 2, 7, 9], {2, 5, 9}, 3) == pytest.approx(0.55555556, abs=1e-6)
    assert average_precision([5, 1, 2, 7, 9], {2, 5, 9}, 20) == pytest.approx(0.75555556, abs=1e-6)
    assert average_precision([4, 1, 2, 7], {2}) == pytest.approx(1 / 3, abs=1e-6)


@pytest.fixture
def xquad_r(toy_pairs: ParallelText, tmp_path: Path) -> Path:
    return write_translations(toy_pairs, tmp_path)


def test_both_sets_give_rows(toy_encoder: SentenceEncoder, xquad_r: Path, tmp_path: Path) -> None:
    write_mewsli_x(
        tmp_path / "eval" / "mewsli-x", [entity("Q1", "ba de")], [article("de", "ba", "ba", "Q1")]
    )
    result = evaluate_retrieval(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
    assert [row.name for row in result.rows][-3:] == [
        *("Mewsli-X de", "LAReQA, mean of 11", "Mewsli-X, mean of 1")
    ]
    assert result.headline == ("LAReQA, mean of 11", "map")
