from pathlib import Path

import numpy as np
import pytest
from papers.quality import (
    ELEVEN,
    SEVEN,
    evaluate_qe,
)

from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import EvaluationOptions
from xmine.pairs.io import ParallelText

HEAD = "index\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores\n"
Judged = list[tuple[str, str, float]]


@pytest.fixture(scope="module")
def judged(toy_pairs: ParallelText) -> Judged:
    """Translations of which a share of the words is right; that share is the assessment."""
    rows = []
    for row in range(80):
        right, wrong = toy_pairs.targets[row][:8], toy_pairs.targets[100 + row][:8]
        cut = 2 * (row % 5)  # a toy Chinese word has two characters
        source = " ".join(toy_pairs.sources[row].split()[:4])
        rows.append((source, right[:cut] + wrong[cut:], row % 5 - 2.0))
    return rows


def write_wmt21(folder: Path, pair: str, rows: Judged) -> None:
    inside = folder / f"{pair}-test21"
    (inside / "goldlabels").mkdir(parents=True)
    names = ("test21.src", "test21.mt", "goldlabels/test21.da")
    for name, lines in zip(names, zip(*rows, strict=True), strict=True):
        (inside / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_table(path: Path, rows: Judged) -> None:
    path.parent.mkdir(parents=True)
    lines = [
        f"{row}\t{one}\t{other}\t[50, 60]\t55\t[0.1, 0.2]\t{score}\t-0.4\n"
        for row, (one, other, score) in enumerate(rows)
    ]
    path.write_text(HEAD + "".join(lines), encoding="utf-8")


def test_all_pairs_of_wmt21(toy_encoder: SentenceEncoder, judged: Judged, tmp_path: Path) -> None:
    folder = tmp_path / "eval" / "mlqe-pe" / "data" / "test21_goldlabels"
    for pair in ELEVEN:
        write_wmt21(folder if pair in SEVEN else folder / "zero-shot", pair, judged)
    result = evaluate_qe(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
    names = [row.name for row in result.rows]
    assert sorted(names[:11]) == sorted(f"WMT21 {pair}" for pair in ELEVEN)
    assert names[11:] == ["WMT21, mean of 11", "WMT21, mean of 7"]
    assert [row.items for row in result.rows[10:]] == [80, 880, 560]
    assert result.headline == ("WMT21, mean of 11", "pearson")
    assert result.notes == []
    assert min(row.figures["pearson"] for row in result.rows) > 0.85


def test_direct_assessments(toy_encoder: SentenceEncoder, judged: Judged, tmp_path: Path) -> None:
    folder = tmp_path / "mlqe-pe" / "data" / "direct-assessments"
    write_table(folder / "test" / "en-zh-test" / "test20.enzh.df.short.tsv", judged)
    write_table(folder / "dev" / "et-en-dev" / "dev.eten.df.short.tsv", judged[:40])
    result = evaluate_qe(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
    assert [(row.name, row.items) for row in result.rows] == [
        *(("test20 en-zh", 80), ("dev et-en", 40)),
        *(("test20, mean of en-zh", 80), ("dev, mean of et-en", 40)),
    ]
    assert result.headline == ("test20, mean of en-zh", "pearson")


def test_pearson_is_that_of_numpy(
    toy_encoder: SentenceEncoder, judged: Judged, tmp_path: Path
) -> None:
    write_wmt21(tmp_path / "test21_goldlabels", "en-zh", judged)
    result = evaluate_qe(toy_encoder, DataFolder(tmp_path), EvaluationOptions())
    one = toy_encoder.encode([source for source, _, _ in judged])
    other = toy_encoder.encode([translation for _, translation, _ in judged])
    cosines = [float(a @ b) for a, b in zip(one, other, strict=True)]
    wanted = np.corrcoef(cosines, [row[2] for row in judged])[0, 1]
    assert result.figure("WMT21 en-zh", "pearson") == pytest.approx(wanted, abs=1e-6)
