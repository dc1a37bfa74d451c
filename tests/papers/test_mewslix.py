"""Mewsli-X: the reciprocal rank, mentions in their sentences, wrong files."""

from pathlib import Path

import numpy as np
import pytest
from papers.answer_files import read_mewsli_x
from papers.answers import evaluate_retrieval

from tests.toys.ranking import article, entity, write_mewsli_x
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import EvaluationOptions
from xmine.pairs.io import ParallelText


def test_mewsli_x_is_the_reciprocal_rank(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    entities = [entity(f"Q{row}", toy_pairs.sources[row]) for row in range(40)]
    articles = [
        article(
            "ja" if row % 2 else "ar", toy_pairs.targets[row], toy_pairs.targets[row], f"Q{row}"
        )
        for row in range(10)
    ]
    write_mewsli_x(tmp_path / "mewsli-x", entities, articles)
    result = evaluate_retrieval(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
    assert [(row.name, row.items) for row in result.rows] == [
        *(("Mewsli-X ar", 5), ("Mewsli-X ja", 5), ("Mewsli-X, mean of 2", 10))
    ]
    assert (result.figure("Mewsli-X, mean of 2", "map") or 0) > 0.95
    task = read_mewsli_x(tmp_path / "mewsli-x")
    queries = [query for each in task.queries.values() for query in each]
    scores = (
        toy_encoder.encode([text for text, _ in queries]) @ toy_encoder.encode(task.candidates).T
    )
    ranks = [
        1 + int((row > row[next(iter(gold))]).sum())
        for row, (_, gold) in zip(scores, queries, strict=True)
    ]
    wanted = np.mean([1 / rank if rank <= 20 else 0 for rank in ranks])
    assert result.figure("Mewsli-X, mean of 2", "map") == pytest.approx(wanted, abs=1e-6)


def test_a_mention_is_marked_in_its_sentence(tmp_path: Path) -> None:
    text = "It rained.\nThe mayor of  Oslo resigned. Snow fell."
    write_mewsli_x(tmp_path, [entity("Q585", "A\ntown.")], [article("en", text, "Oslo", "Q585")])
    task = read_mewsli_x(tmp_path)
    assert task.queries["en"][0][0] == "Oslo: The mayor of { Oslo } resigned."
    assert task.candidates == ["A town."]
