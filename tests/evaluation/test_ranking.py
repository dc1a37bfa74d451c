"""Ranking: the golden value, a slow computation beside the fast one, both sets together."""

from pathlib import Path

import numpy as np
import pytest

from tests.toys.ranking import article, entity, write_mewsli_x, write_translations
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import EvaluationOptions
from xmine.evaluation.retrieval.ranking import average_precision, evaluate_retrieval, top
from xmine.pairs.io import ParallelText


def test_golden_g26() -> None:
    assert average_precision([5, 1, 2, 7, 9], {2, 5, 9}, 3) == pytest.approx(0.55555556, abs=1e-6)
    assert average_precision([5, 1, 2, 7, 9], {2, 5, 9}, 20) == pytest.approx(0.75555556, abs=1e-6)
    assert average_precision([4, 1, 2, 7], {2}) == pytest.approx(1 / 3, abs=1e-6)


@pytest.mark.parametrize("size", [1, 7, 20, 1000])
def test_blocks_of_candidates_change_nothing(size: int) -> None:
    """Vectors of a few whole numbers make many ties, which go to the lower number."""
    random = np.random.default_rng(9)
    queries, candidates = (
        (random.integers(-2, 3, (rows, 4)) / 4).astype(np.float16) for rows in (15, 90)
    )
    blocks = (candidates[row : row + size] for row in range(0, len(candidates), size))
    scores = queries.astype(np.float64) @ candidates.astype(np.float64).T
    wanted = np.argsort(-scores, axis=1, kind="stable")[:, :20]
    assert top(queries, blocks).tolist() == wanted.tolist()


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
