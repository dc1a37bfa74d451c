"""The loosest stretches of chosen pairs: kept in a file, whatever the order of the pairs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.sentences import example_pairs, toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.token_files import tokens_of
from xmine.encoders.tokens import TokenVectors
from xmine.flags.partial import is_partial
from xmine.mining import matching
from xmine.mining.aligned import score_aligned
from xmine.mining.matching import stretches_of_chosen
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.pipeline import mine
from xmine.run.steps import Steps
from xmine.scoring.alignment import loosest_stretches
from xmine.scoring.retrieval import ChosenPairs

TEXTS = [f"{'the river rose ' * at}and the harbour {'sank ' * (9 - at)}" for at in range(9)]
OTHERS = [f"{'河水上涨' * at}港口{'沉没' * (9 - at)}" for at in range(9)]


def chosen_pairs(x: list[int], y: list[int]) -> ChosenPairs:
    nothing = np.zeros(len(x), dtype=np.float32)
    return ChosenPairs(np.array(x), np.array(y), nothing, nothing)


@pytest.fixture(scope="module")
def tokens() -> tuple[TokenVectors, TokenVectors]:
    encoder = SentenceEncoder.load()
    return tokens_of(encoder, TEXTS), tokens_of(encoder, OTHERS)


def unread() -> Any:
    pytest.fail("tokens are read again")


def test_the_file_serves_the_same_pairs_in_any_order(
    tokens: tuple[TokenVectors, TokenVectors], tmp_path: Path
) -> None:
    steps, x, y = Steps(tmp_path / "parts"), [3, 0, 8, 3], [3, 1, 2, 0]
    expected = loosest_stretches(*tokens, np.array(x), np.array(y)).looseness
    first = stretches_of_chosen(lambda: tokens, chosen_pairs(x, y), steps, ["a"])
    turned = stretches_of_chosen(unread, chosen_pairs(x[::-1], y[::-1]), steps, ["a"])
    for mine_, theirs in ((first, expected), (turned.take(np.arange(4)[::-1]), expected)):
        np.testing.assert_array_equal(mine_.values, theirs.values)
        np.testing.assert_array_equal(mine_.weights, theirs.weights)
    others = stretches_of_chosen(lambda: tokens, chosen_pairs([1], [1]), steps, ["b"])
    assert others.values.shape == (2, 1)


def test_of_pairs_that_were_not_looked_at_nothing_is_known(
    tokens: tuple[TokenVectors, TokenVectors],
) -> None:
    x, y = np.array([3, 0, 8, 3]), np.array([3, 1, 2, 0])
    every = loosest_stretches(*tokens, x, y).looseness
    rows = np.array([0, 2])
    spread = every.take(rows).spread(rows, 4)
    np.testing.assert_array_equal(spread.values[:, rows], every.values[:, rows])
    np.testing.assert_array_equal(spread.weights[:, rows], every.weights[:, rows])
    assert not is_partial(spread, np.array([True] * 4))[[1, 3]].any()


def test_mining_looks_at_pairs_that_may_be_translations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english, chinese, _ = toy_sentences(60, seed=5)
    for name, lines in (("en", english), ("zh", chinese)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    looked: list[ChosenPairs] = []

    def noted(read: Any, chosen: ChosenPairs, *rest: Any) -> Any:
        looked.append(chosen)
        return stretches_of_chosen(read, chosen, *rest)

    monkeypatch.setattr("xmine.mining.stages.stretches_of_chosen", noted)
    mined = mine(tmp_path / "en", tmp_path / "zh", options=MiningOptions(min_prob=0.0))
    assert mined.confidence is not None
    chosen, probs = mined.candidates.chosen, mined.confidence.probs
    likely = zip(chosen.sources[probs >= 0.01], chosen.targets[probs >= 0.01], strict=True)
    assert set(likely) == set(zip(looked[0].sources, looked[0].targets, strict=True))
    assert len(looked[0]) < len(chosen)


def test_what_a_kill_leaves_is_continued(
    tokens: tuple[TokenVectors, TokenVectors], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "PAIRS_OF_A_TASK", 2)
    steps, chosen = Steps(tmp_path / "parts"), chosen_pairs([*range(7)], [*range(7)])
    done: list[int] = []

    def tick(rows: int) -> None:
        done.append(rows)
        if rows == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stretches_of_chosen(lambda: tokens, chosen, steps, ["a"], tick)
    found = stretches_of_chosen(lambda: tokens, chosen, steps, ["a"], done.append)
    assert done == [0, 2, 4, 4, 6, 7, 7, 7]
    whole = loosest_stretches(*tokens, chosen.sources, chosen.targets).looseness
    np.testing.assert_array_equal(found.values, whole.values)


def test_a_pair_whose_half_is_missing_is_flagged_where_tokens_are_compared(tmp_path: Path) -> None:
    english, chinese, _ = toy_sentences(60, seed=5)
    english[7] = "The museum bought three paintings, and farmers planted rice beside the railway."
    chinese[7] = "博物馆买了三幅画。"
    for name, lines in (("en", english), ("zh", chinese)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    flagged: dict[str, list[tuple[int, int]]] = {}
    for rerank in ("auto", "off"):
        options = MiningOptions(min_prob=0.0, rerank=rerank)
        found = mine(tmp_path / "en", tmp_path / "zh", options=options).pairs
        assert found.flags is not None
        pairs = zip(found.source_lines.tolist(), found.target_lines.tolist(), strict=True)
        flagged[rerank] = [
            pair for pair, flags in zip(pairs, found.flags, strict=True) if "partial" in flags
        ]
        scored = score_aligned(english, chinese, options=ScoringOptions(rerank=rerank))
        assert ("partial" in (list(scored.rows())[7].flags or "")) == (rerank == "auto")
    assert (8, 8) in flagged["auto"]
    assert flagged["off"] == []


def test_a_resumed_run_reads_no_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    english, chinese, _ = toy_sentences(40, seed=6)
    for name, lines in (("en", english), ("zh", chinese)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    run = tmp_path / "run"
    first = mine(tmp_path / "en", tmp_path / "zh", run=run)
    assert not list(run.glob("*tokens*"))
    monkeypatch.setattr("xmine.mining.stages.read_tokens", lambda *_: unread())
    again = mine(tmp_path / "en", tmp_path / "zh", run=run)
    assert list(again.pairs.flags or []) == list(first.pairs.flags or [])


def test_mining_flags_half_of_a_translation_that_the_line_beside_completes(tmp_path: Path) -> None:
    given = example_pairs()
    english, chinese = list(given.sources), list(given.targets)
    english[7:7] = [
        "The museum on the hill has bought three old paintings this year.",
        "The price was kept secret.",
    ]
    chinese.insert(7, "山上的博物馆今年买了三幅旧画，价格保密。")
    for name, lines in (("en", english), ("zh", chinese)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    found = mine(tmp_path / "en", tmp_path / "zh").pairs
    assert found.flags is not None
    flagged = {
        line
        for line, flags in zip(found.source_lines.tolist(), found.flags, strict=True)
        if "partial" in flags
    }
    assert 8 in flagged
    assert len(flagged) <= 3
