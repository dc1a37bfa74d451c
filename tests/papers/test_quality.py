from pathlib import Path

import numpy as np
import pytest
from papers.quality import (
    ELEVEN,
    SEVEN,
    evaluate_qe,
    read_assessments,
    read_wmt21,
)

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
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


def test_quotes_are_text(tmp_path: Path) -> None:
    path = tmp_path / "direct-assessments" / "dev" / "ro-en-dev" / "dev.roen.df.short.tsv"
    write_table(path, [('El a spus "nu', 'He said "no', 0.5)])
    found = read_assessments(DataFolder(tmp_path), "dev", "dev")["ro-en"]
    assert (found.first, found.gold.tolist()) == (['El a spus "nu'], [0.5])


def test_errors(toy_encoder: SentenceEncoder, judged: Judged, tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    folder = tmp_path / "test21_goldlabels"
    write_wmt21(folder, "en-de", judged)
    gold = folder / "en-de-test21" / "goldlabels" / "test21.da"
    whole = gold.read_text()
    for text, message in (
        ("0.1\n", r"test21.src has 80 lines and .*test21.da 1"),
        (whole.replace("-2.0", "good", 1), r"test21.da:1: 'good' is no assessment"),
        ("1\n" * 80, "en-de: all judgements are 1"),
    ):
        gold.write_text(text)
        with pytest.raises(FileError, match=message):
            evaluate_qe(toy_encoder, data, EvaluationOptions())
    (folder / "en-de-test21" / "test21.mt").unlink()
    with pytest.raises(FileError, match=r"en-de-test21: incomplete: test21\.mt missing"):
        read_wmt21(data)


def test_wrong_tables(tmp_path: Path) -> None:
    path = tmp_path / "direct-assessments" / "test" / "en-de-test" / "test20.ende.df.short.tsv"
    write_table(path, [])
    with pytest.raises(FileError, match="no sentences below the head"):
        read_assessments(DataFolder(tmp_path), "test", "test20")
    path.write_text(HEAD.replace("z_mean", "z") + "0\ta\tb\t[1]\t1\t[1]\t1\t1\n")
    with pytest.raises(FileError, match=":1: the head has no column z_mean"):
        read_assessments(DataFolder(tmp_path), "test", "test20")
