"""Mewsli-X: the reciprocal rank, mentions in their sentences, wrong files."""

import json
from pathlib import Path

import numpy as np
import pytest
from papers.answer_files import CANDIDATES, MENTIONS, read_mewsli_x
from papers.answers import evaluate_retrieval

from tests.toys.ranking import article, changed, entity, write_mewsli_x
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
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


def test_wrong_files_of_mewsli_x(tmp_path: Path) -> None:
    good, oslo = article("en", "In Oslo.", "Oslo", "Q1"), entity("Q1", "A town.")
    moved = json.loads(json.dumps(good))
    moved["mentions"][0]["mention_span"]["start"] = 0
    apart = json.loads(json.dumps(good))
    apart["context"]["sentence_spans"] = [{"start": 0, "end": 4}]
    for entities, articles, message in (
        (
            [oslo],
            [article("en", "In Oslo.", "Oslo", "Q2")],
            f"{MENTIONS}:1: {CANDIDATES} has no Q2",
        ),
        ([oslo, oslo], [good], f"{CANDIDATES}:2: Q1 is there twice"),
        ([oslo], [moved], f"{MENTIONS}:1: 'Oslo' does not stand at 0 to 7"),
        ([oslo], [apart], f"{MENTIONS}:1: 'Oslo' lies within no sentence"),
        ([oslo], [{**good, "mentions": []}], f"{MENTIONS}: has no mentions"),
    ):
        write_mewsli_x(tmp_path, entities, articles)
        with pytest.raises(FileError, match=message):
            read_mewsli_x(tmp_path)
    (tmp_path / MENTIONS).unlink()
    with pytest.raises(FileError, match=f"incomplete: {MENTIONS} missing"):
        read_mewsli_x(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("context", "In Oslo.", "not as the data set is distributed"),
        ("context.text", None, "the article has no text"),
        ("context.sentence_spans", [{"start": 0, "end": 99}], "0 to 99 lies not"),
        ("mentions.0.mention_span.start", "3", "not as the data set is distributed"),
    ],
)
def test_articles_with_values_of_another_kind(
    tmp_path: Path, path: str, value: object, message: str
) -> None:
    articles = [changed(article("en", "In Oslo.", "Oslo", "Q1"), path, value)]
    write_mewsli_x(tmp_path, [entity("Q1", "A town.")], articles)
    with pytest.raises(FileError, match=f"{MENTIONS}:1: .*{message}"):
        read_mewsli_x(tmp_path)
