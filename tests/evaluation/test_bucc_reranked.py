"""BUCC after reranking, by a slow loop, on loose translations."""

from pathlib import Path

import pytest

from tests.evaluation.test_bucc import (
    Named,
    halves_of,
    slow_best,
    slow_f1,
    write_loose,
)
from tests.scoring.test_margin_and_retrieval import slow_choice
from tests.toys.bucc import figure, measure
from tests.toys.reranking import slow_log_odds
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.evaluation.readers.bucc import read_gold, read_sentences_by_id
from xmine.knn.exact import search_exact
from xmine.scoring.reranking import RERANKED


def weighing(encoder: SentenceEncoder) -> SentenceEncoder:
    """Give an encoder the weights of reranking, which it would have to learn."""
    return SentenceEncoder(encoder.body, reranking=RerankingWeights())


def slow_pairs(
    encoder: SentenceEncoder, data: Path, split: str
) -> tuple[list[tuple[float, Named]], set[Named]]:
    """Rerank the candidates of a split, best first; and give the gold pairs."""
    stem = data / "bucc2018" / "zh-en" / f"zh-en.{split}"
    lines = [read_sentences_by_id(Path(f"{stem}.{language}")) for language in ("zh", "en")]
    texts = [text for _, text in lines[0]], [text for _, text in lines[1]]
    one, other = (encoder.encode_half(side).astype("float32") for side in texts)
    scores = slow_log_odds(encoder, texts, (one, other), nearest=RERANKED)
    near = search_exact(one, other, RERANKED)
    named = [
        (scores[i, j], (lines[0][i][0], lines[1][j][0]))
        for i, j in slow_choice(scores, near, "max")
    ]
    return named, set(read_gold(Path(f"{stem}.gold"), lines))


def test_bucc_after_reranking(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    data = write_loose(tmp_path, "sample", seed=9, changed=6)
    scored, gold = slow_pairs(toy_encoder, data, "sample")
    threshold, f1 = slow_best(scored, gold)
    halves = halves_of(scored, gold)
    held_out = slow_f1(*halves[1], slow_best(*halves[0])[0])
    result = measure(weighing(toy_encoder), data)
    ours = [row.name for row in result.rows if row.is_reranked]
    kinds = ("held-out", "oracle", "auto")  # the fixed thresholds are for margins
    assert ours == [f"zh-en {kind}, reranked" for kind in kinds]
    assert figure(result, "zh-en oracle, reranked") == pytest.approx(f1)
    reached = figure(result, "zh-en oracle, reranked", "threshold")
    assert reached == pytest.approx(threshold, abs=0.02)
    assert figure(result, "zh-en held-out, reranked") == pytest.approx(held_out)
    assert f1 > figure(result, "zh-en oracle")
