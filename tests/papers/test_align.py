"""Alignment and uniformity of STS-B and of aligned files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from papers.align import evaluate_align

from tests.papers.test_uniformity import slow_uniformity
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import AlignedOptions
from xmine.pairs.io import ParallelText


def write_lines(folder: Path, texts: Mapping[str, Sequence[str]]) -> None:
    folder.mkdir(parents=True)
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_the_whole_benchmark(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    english, chinese = toy_pairs.sources[:60], toy_pairs.targets[:60]
    write_lines(tmp_path / "eval" / "newstest2019", {"ref.en": english, "ref.zh": chinese})
    stsb = tmp_path / "eval" / "stsb"
    rows = [f"{text},{text},5" for text in english] + [
        f"{english[0]},{english[1]},4",
        f" ,{english[2]},4.5",
    ]
    write_lines(stsb, {"stsb-en-test.csv": rows})
    result = evaluate_align(toy_encoder, DataFolder(tmp_path), AlignedOptions())
    assert [(row.name, row.items) for row in result.rows] == [
        ("STS-B test", 60),  # a score of 4 is not above 4, and a blank text has no vector
        ("newstest2019 zh-en", 60),
    ]
    assert result.headline == ("STS-B test", "align")
    assert result.figure("STS-B test", "align") == pytest.approx(0, abs=1e-6)
    assert result.figure("STS-B test", "sentences") == 123
    assert result.notes == ["Left out, for want of a vector: 1 sentence."]
    one, other = toy_encoder.encode(english), toy_encoder.encode(chinese)
    assert result.figure("newstest2019 zh-en", "align") == pytest.approx(
        float(((one - other) ** 2).sum(axis=1).mean()), abs=1e-5
    )
    assert result.figure("newstest2019 zh-en", "uniform") == pytest.approx(
        slow_uniformity(np.concatenate([one, other]).astype(np.float64)), abs=1e-5
    )


def test_lines_in_another_order_are_not_aligned(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    english, chinese = toy_pairs.sources[:60], toy_pairs.targets[:60]
    texts = {"a.en": english, "a.zh": chinese, "b.zh": [*chinese[1:], *chinese[:1]]}
    write_lines(tmp_path / "files", texts)
    folder, figures = tmp_path / "files", []
    for name in ("a.zh", "b.zh"):
        options = AlignedOptions(src=str(folder / "a.en"), tgt=str(folder / name))
        result = evaluate_align(toy_encoder, DataFolder(None), options)
        assert len(result.rows) == 1
        figures.append(result.rows[0].figures)
    assert figures[0]["align"] < figures[1]["align"] / 3
    assert figures[0]["uniform"] == pytest.approx(figures[1]["uniform"], abs=1e-6)
