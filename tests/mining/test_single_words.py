"""Files of single words are ranked by the margin, unless reranking is asked for."""

from pathlib import Path

import numpy as np
import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.token_files import tokens_of
from xmine.mining.aligned import score_aligned
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.pipeline import mine
from xmine.mining.reranking import SINGLE_WORDS

WORDS = [
    *"bread water tea house tree book teacher rain winter milk river".split(),
    *("doctor", "hospital", "window", "door", "chair", "train", "airport", "money", "city"),
]
CHINESE = [
    *("面包", "水", "茶", "房子", "树", "书", "老师", "雨", "冬天", "牛奶", "河"),
    *("医生", "医院", "窗户", "门", "椅子", "火车", "机场", "钱", "城市"),
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "en.txt", tmp_path / "zh.txt"
    for path, lines in zip(paths, (WORDS, CHINESE), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def test_auto_ranks_single_words_by_the_margin(files: tuple[Path, Path]) -> None:
    auto, off, tokens = (
        mine(*files, options=MiningOptions(rerank=rerank, min_prob=0.0))
        for rerank in ("auto", "off", "tokens")
    )
    assert auto.by_margin == SINGLE_WORDS and tokens.by_margin == ""
    scores = [each.candidates.chosen.scores.tolist() for each in (auto, off, tokens)]
    assert scores[0] == scores[1] != scores[2]
    scored = {
        rerank: score_aligned(*files, options=ScoringOptions(rerank=rerank))
        for rerank in ("auto", "off", "tokens")
    }
    assert scored["auto"].by_margin == SINGLE_WORDS and scored["tokens"].by_margin == ""
    assert list(scored["auto"].rows()) == list(scored["off"].rows())


@pytest.mark.parametrize(("before", "tokens"), [("", 1), ("old ", 2), ("old red ", 3)])
def test_lines_of_three_tokens_are_reranked(
    files: tuple[Path, Path], before: str, tokens: int
) -> None:
    lines = [before + word for word in WORDS]
    assert np.median(tokens_of(SentenceEncoder.load(), lines).lengths) == tokens
    for path in files:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = mine(*files, options=MiningOptions(keep_copies=True))
    assert found.by_margin == ("" if tokens == 3 else SINGLE_WORDS)


def test_auto_and_tokens_give_other_scores(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Single words go by the margin with `auto`."""
    run = tmp_path / "run"
    for rerank, has_scores in (("auto", False), ("tokens", True), ("auto", False)):
        mine(*files, options=MiningOptions(rerank=rerank, min_prob=0.0), run=run)
        assert bool(list(run.glob("*.scores.npy"))) == has_scores
