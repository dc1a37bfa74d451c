"""xsts: the tracks of STS 2017, those added, STS-B crossed with its translation."""

from pathlib import Path

import numpy as np
import pytest
from papers.xsts import ADDED, REPEATED, TRACKS, evaluate_xsts
from scipy.stats import spearmanr

from tests.toys.sts import Pairs, easy, write_stsb
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import EvaluationOptions
from xmine.pairs.io import ParallelText


@pytest.fixture(scope="module")
def easy_pairs(toy_pairs: ParallelText) -> Pairs:
    return easy(toy_pairs)


def lay_out_tracks(folder: Path, pairs: Pairs) -> None:
    for name in ("STS2017.eval.v1.1", "STS2017.gs"):
        (folder / name).mkdir(parents=True)
    texts = "".join(f"{one}\t{other}\n" for one, other, _ in pairs)
    gold = "".join(f"{score}\n" for *_, score in pairs)
    for name in TRACKS.values():
        more = "not\tjudged\n" if "tr-en" in name else ""
        (folder / "STS2017.eval.v1.1" / f"STS.input.{name}.txt").write_text(texts + more)
        (folder / "STS2017.gs" / f"STS.gs.{name}.txt").write_text(gold)


def lay_out_extended(folder: Path, pairs: Pairs) -> None:
    (folder / "STS2017-extended").mkdir(parents=True)
    lines = "".join(f"{one}\t{other}\t{score}\n" for one, other, score in pairs)
    for name in (REPEATED | ADDED).values():
        (folder / "STS2017-extended" / f"STS.{name}.txt").write_text(lines)


class TestXsts:
    def test_tracks_with_those_added(
        self, toy_encoder: SentenceEncoder, easy_pairs: Pairs, tmp_path: Path
    ) -> None:
        lay_out_tracks(tmp_path / "eval" / "sts17", easy_pairs)
        result = evaluate_xsts(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
        assert [row.name for row in result.rows] == [*TRACKS, "mean of 5 (mSimCSE)"]
        assert [row.items for row in result.rows] == [120] * 7 + [600]
        assert result.headline == ("mean of 5 (mSimCSE)", "spearman")
        assert result.notes == ["No mean of 10 (Emma-X): de-en, fr-en, it-en, nl-en missing."]
        lay_out_extended(tmp_path / "eval" / "sts17", easy_pairs)
        result = evaluate_xsts(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
        names = [row.name for row in result.rows]
        assert names == [*TRACKS, *ADDED, "mean of 10 (Emma-X)", "mean of 5 (mSimCSE)"]
        assert result.headline == ("mean of 10 (Emma-X)", "spearman")
        assert result.rows[-2].items == 1200  # 4b is in no mean
        assert min(row.figures["spearman"] for row in result.rows) > 0.9

    def test_stsb_is_crossed_with_its_translation(
        self, toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
    ) -> None:
        """The toy encoder gives translations nearly the same vectors: crossing changes little."""
        random = np.random.default_rng(6)
        rows = random.integers(0, 60, size=(150, 2))
        rows[::2, 1] = rows[::2, 0]
        scores = [5.0 if one == other else 1.0 for one, other in rows]
        for language, texts in (("en", toy_pairs.sources), ("zh", toy_pairs.targets)):
            pairs = [(texts[a], texts[b], x) for (a, b), x in zip(rows, scores, strict=True)]
            write_stsb(tmp_path / f"stsb-{language}-test.csv", pairs)
        result = evaluate_xsts(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
        names = [row.name for row in result.rows]
        assert names == [
            *(f"STS-B {pair}" for pair in ("en-en", "zh-zh", "en-zh", "zh-en")),
            "STS-B crossed, mean of 2",
        ]
        assert result.headline == ("STS-B crossed, mean of 2", "spearman")
        english = toy_encoder.encode([toy_pairs.sources[one] for one, _ in rows])
        chinese = toy_encoder.encode([toy_pairs.targets[other] for _, other in rows])
        cosines = [
            round(sum(float(a) * float(b) for a, b in zip(one, other, strict=True)), 6)
            for one, other in zip(english, chinese, strict=True)
        ]
        expected = float(spearmanr(cosines, scores).statistic)
        assert result.figure("STS-B en-zh", "spearman") == pytest.approx(expected, abs=1e-9)
        # At least that of two equal halves without ties, at most that where translations tie.
        assert 0.866 - 0.01 < expected < 0.9382
        write_stsb(tmp_path / "stsb-zh-test.csv", [(a, b, 2.0) for a, b, _ in pairs])
        with pytest.raises(FileError, match="its scores are not those of"):
            evaluate_xsts(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
