"""Whitened vectors, against a singular value decomposition."""

from pathlib import Path

import numpy as np
import pytest
from papers.benchmarks import WhitenedStsOptions
from papers.whitened import whitened_sts

from tests.toys.sts import easy, write_stsb
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.similarity.correlation import spearman
from xmine.pairs.io import ParallelText


@pytest.mark.torch
def test_whitening_is_that_of_a_singular_value_decomposition(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """Of centred vectors X = U S V': X V / S, which are U but for a factor that no cosine sees."""
    easy_pairs = easy(toy_pairs)
    (tmp_path / "stsb").mkdir()
    write_stsb(tmp_path / "stsb/stsb-en-test.csv", easy_pairs)
    texts = [text for column in (0, 1) for text in (str(pair[column]) for pair in easy_pairs)]
    raw = np.concatenate([block for _, block in toy_encoder.body.embed(texts)])
    left, sizes, _ = np.linalg.svd(raw - raw.mean(axis=0), full_matrices=False)
    left = left[:, sizes**2 > 1e-6 * sizes[0] ** 2]
    left /= np.linalg.norm(left, axis=1, keepdims=True)
    cosines = (left[: len(easy_pairs)] * left[len(easy_pairs) :]).sum(axis=1).astype(np.float64)
    expected = spearman(cosines.round(6), np.array([pair[2] for pair in easy_pairs]), "toy")
    asked = WhitenedStsOptions(whiten=True), WhitenedStsOptions()
    rows = [whitened_sts(toy_encoder, DataFolder(tmp_path), each).rows for each in asked]
    figures = [each[0].figures for each in rows]
    assert figures[0]["all"] == pytest.approx(expected, abs=2e-4)
    assert figures[0] != figures[1]
