from pathlib import Path

import numpy as np
import pytest

from xmine.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.agreement import agreement, best_threshold, read_id_pairs
from xmine.evaluation.bucc import evaluate_bucc
from xmine.evaluation.retrieval import evaluate_aligned, retrieval_accuracy

ToyFiles = tuple[Path, Path, set[tuple[int, int]]]


def test_golden_g18_best_threshold() -> None:
    scores = [1.30, 1.20, 1.10, 1.05, 0.95]
    pairs = ["a", "b", "wrong", "c", "also wrong"]
    gold = ["a", "b", "c", "never found"]
    f1 = [agreement(pairs[:size], gold).f1 for size in range(1, 6)]
    assert f1 == pytest.approx([0.4, 0.6667, 0.5714, 0.75, 0.6667], abs=5e-5)
    best = best_threshold(scores, pairs, gold)
    assert best.agreement.f1 == 0.75
    assert best.threshold == pytest.approx(1.00)


def test_the_best_cut_may_keep_everything_or_nothing() -> None:
    everything = best_threshold([1.2, 1.1], ["a", "b"], ["a", "b"])
    assert everything.threshold == 1.1
    assert everything.agreement.f1 == 1
    nothing = best_threshold([1.2], ["a"], ["b"])
    assert nothing.threshold == float("inf")
    assert nothing.agreement.mined == 0
    assert best_threshold([], [], []).agreement.f1 == 0


def test_agreement_without_pairs_or_gold_is_zero() -> None:
    assert agreement([], ["a"]).precision == 0
    assert agreement(["a"], []).recall == 0


def test_golden_g19_retrieval_both_ways() -> None:
    """Rows of the matrix stand for sources, unit vectors for targets: cosines as in G-19."""
    cosines = np.array([[0.9, 0.2, 0.1], [0.3, 0.4, 0.5], [0.2, 0.6, 0.8]], dtype=np.float32)
    accuracy = retrieval_accuracy(cosines, np.eye(3, dtype=np.float32))
    assert accuracy.forward == pytest.approx(2 / 3)
    assert accuracy.backward == pytest.approx(2 / 3)
    assert accuracy.mean == pytest.approx(2 / 3)


def test_aligned_files_must_have_equally_many_lines(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    (tmp_path / "one").write_text("ba\nde\n")
    (tmp_path / "other").write_text("ba\n")
    with pytest.raises(FileError, match=r"one has 2 lines and .*other 1"):
        evaluate_aligned(toy_encoder, tmp_path / "one", tmp_path / "other")


def test_bucc_files_are_mined_and_compared_by_id(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles, tmp_path: Path
) -> None:
    english, chinese, gold = toy_files
    lines = {
        "en": english.read_text(encoding="utf-8").splitlines(),
        "zh": chinese.read_text(encoding="utf-8").splitlines(),
    }
    for language, texts in lines.items():
        rows = [f"{language}-{number}\t{text}\n" for number, text in enumerate(texts, start=1)]
        (tmp_path / f"zh-en.dev.{language}").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "zh-en.dev.gold").write_text(
        "".join(f"zh-{target}\ten-{source}\n" for source, target in gold)
    )
    scores = evaluate_bucc(toy_encoder, tmp_path)
    assert (scores.sources, scores.targets) == (60, 60)
    assert scores.oracle.agreement.f1 > 0.95
    assert scores.oracle.agreement.gold == 30


def test_a_line_without_tab_is_named(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("1\t2\n3 4\n")
    with pytest.raises(FileError, match="gold:2: expected two columns"):
        read_id_pairs(tmp_path / "gold")
