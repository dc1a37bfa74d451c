"""Correlations: golden values, a slow computation beside the fast one."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray
from papers.correlations import pearson

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import EncoderError, FileError
from xmine.evaluation.readers.scored_pairs import ScoredPairs
from xmine.evaluation.similarity.correlation import Values, rate, spearman
from xmine.evaluation.similarity.sts import aggregate
from xmine.progress import Report, silent


class TestCorrelation:
    subsets = (
        (np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 3, 2, 4]), "A"),
        (np.array([0.9, 0.8, 0.7]), np.array([1.0, 2, 3]), "B"),
    )

    def test_golden_g20(self) -> None:
        a, b = (spearman(*each) for each in self.subsets)
        assert (a, b) == pytest.approx((0.8, -1), abs=1e-6)
        figures = aggregate(self.subsets)
        assert figures["mean"] == pytest.approx(-0.1, abs=1e-6)
        assert figures["wmean"] == pytest.approx(0.02857143, abs=1e-6)
        assert figures["all"] == pytest.approx(-0.07342231, abs=1e-6)
        cosines, gold = (np.concatenate([each[at] for each in self.subsets]) for at in (0, 1))
        assert pearson(cosines, gold, "A, B") == pytest.approx(-0.12980856, abs=1e-6)

    def test_golden_g20_ties(self) -> None:
        figure = spearman(np.array([1.0, 2, 2, 3]), np.array([1.0, 2, 3, 4]), "ties")
        assert figure == pytest.approx(0.94868330, abs=1e-6)

    @pytest.mark.parametrize("measure", [spearman, pearson])
    def test_what_has_no_correlation_is_an_error(
        self, measure: Callable[[Values, Values, str], float]
    ) -> None:
        rising, same = np.array([1.0, 2, 3]), np.full(3, 4.0)
        with pytest.raises(FileError, match="here: all judgements are 4"):
            measure(rising, same, "here")
        with pytest.raises(EncoderError, match="here: the encoder gives every pair"):
            measure(same, rising, "here")
        with pytest.raises(FileError, match="here: 1 judged pairs"):
            measure(rising[:1], rising[:1], "here")


def test_a_pair_is_blank_where_either_text_has_no_vector() -> None:
    class Letters:
        def reading(self, language: str) -> "Letters":
            return self

        def encode(self, texts: list[str], report: Report, prompt: str) -> NDArray[np.float32]:
            return np.array([[text == "a", text == "b"] for text in texts], dtype=np.float32)

    encoder = cast("SentenceEncoder", Letters())
    pairs = ScoredPairs("here", ["a", "", "b", "a"], ["", "b", "b", "b"], np.zeros(4))
    cosines, blank = rate(encoder, pairs, silent, "")
    assert (blank, cosines.tolist()) == (2, [0, 0, 1, 0])


def test_a_text_is_as_near_to_itself_as_another_is_to_itself(toy_encoder: SentenceEncoder) -> None:
    texts = ["bade fifi", "golu mane", "bade bade golu", "fifi"]
    pairs = ScoredPairs("here", texts, texts, np.arange(4.0))
    with pytest.raises(EncoderError, match=r"every pair the cosine 1\.0000"):
        spearman(rate(toy_encoder, pairs, silent, "")[0], pairs.gold, "here")
