"""gain: the bootstrap beside a slow one, its figures beside those of each benchmark, and pairs."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.evaluation.test_bucc import write_loose
from tests.toys.sentences import CONCEPTS, chinese_word, english_word
from tests.toys.sts import easy, write_stsb
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import Source
from xmine.encoders.metadata import EncoderFacts, Settings
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.pair import EncoderPair
from xmine.errors import OptionError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import BuccOptions, GainOptions, StsOptions, TatoebaOptions
from xmine.evaluation.reports.gain import (
    Gain,
    Gains,
    Values,
    f1_of_counts,
    mean_accuracy,
    measure_gains,
    paired_bootstrap,
    rank_correlation,
)
from xmine.evaluation.retrieval.bucc import evaluate_bucc
from xmine.evaluation.retrieval.tatoeba import evaluate_tatoeba
from xmine.evaluation.similarity.sts import evaluate_sts
from xmine.pairs.io import ParallelText

if TYPE_CHECKING:
    from numpy.typing import NDArray


def slow_mean(rows: Sequence[Sequence[float]]) -> float:
    return sum((forward + backward) / 2 for forward, backward in rows) / len(rows)


def slow_f1(rows: Sequence[Sequence[float]]) -> float:
    kept, right, gold = (sum(row[at] for row in rows) for at in range(3))
    if not right:
        return 0.0
    precision, recall = right / kept, right / gold
    return 2 * precision * recall / (precision + recall)


def slow_spearman(rows: Sequence[Sequence[float]]) -> float:
    """Pearson's correlation of the ranks; that of equal values is the mean of their places."""
    ranks = []
    for column in zip(*rows, strict=True):
        lower = [sum(other < value for other in column) for value in column]
        same = [sum(other == value for other in column) for value in column]
        ranks.append([low + (count + 1) / 2 for low, count in zip(lower, same, strict=True)])
    x, y = ([rank - (len(rows) + 1) / 2 for rank in each] for each in ranks)
    between = sum(a * b for a, b in zip(x, y, strict=True))
    return between / (sum(a * a for a in x) * sum(b * b for b in y)) ** 0.5


def hits(random: np.random.Generator, share: float) -> Values:
    return random.random((40, 2)) < share


def counts(random: np.random.Generator, share: float) -> Values:
    gold = np.arange(40) % 2
    right = gold * (random.random(40) < share)
    return np.stack([right + (random.random(40) < 0.3), right, gold], axis=1)


def judged(random: np.random.Generator, share: float) -> Values:
    scores = np.arange(40) % 6  # ties
    return np.stack([share * scores + random.random(40).round(1), scores], axis=1)


@pytest.mark.parametrize(
    ("statistic", "slow", "make"),
    [
        (mean_accuracy, slow_mean, hits),
        (f1_of_counts, slow_f1, counts),
        (rank_correlation, slow_spearman, judged),
    ],
    ids=["accuracy", "F1", "Spearman"],
)
def test_the_bootstrap_is_that_of_a_slow_loop(
    statistic: Callable[[Values], float],
    slow: Callable[[Sequence[Sequence[float]]], float],
    make: Callable[[np.random.Generator, float], Values],
) -> None:
    before, after = (make(np.random.default_rng(2), share) for share in (0.4, 0.45))
    draws = np.random.default_rng(9)
    differences = []
    for _ in range(150):
        drawn = draws.integers(40, size=40).tolist()
        first, second = ([each[row].tolist() for row in drawn] for each in (before, after))
        differences.append(slow(second) - slow(first))
    found = paired_bootstrap(before, after, statistic, resamples=150, seed=9)
    assert found.before == pytest.approx(slow(before.tolist()))
    assert found.after == pytest.approx(slow(after.tolist()))
    assert found.gain == pytest.approx(found.after - found.before)
    ordered = sorted(differences)
    for end, share in ((found.low, 0.025), (found.high, 0.975)):
        below, part = divmod(share * 149, 1)
        expected = ordered[int(below)] * (1 - part) + ordered[int(below) + 1] * part
        assert end == pytest.approx(expected)
    no_better = sum(each <= 1e-12 for each in differences)
    assert 0 < no_better < 150
    assert found.p == pytest.approx((no_better + 1) / 151)
    assert found.items == 40


def test_golden_three_items() -> None:
    """Two items gain 1, one gains nothing: 27 resamples, one of them without any gain.

    A share of 0, 1/3, 2/3, 1 of the gains has 1, 6, 12, 8 of them; 1/27 > 2.5 %, so 0 is the lower
    end.
    """
    before = np.array([[0, 0], [0, 0], [1, 1]], dtype=bool)
    after = np.ones((3, 2), dtype=bool)
    shares = [sum(row < 2 for row in drawn) for drawn in product(range(3), repeat=3)]
    assert [shares.count(each) for each in range(4)] == [1, 6, 12, 8]
    found = paired_bootstrap(before, after, mean_accuracy, resamples=20_000)
    assert (found.before, found.after) == pytest.approx((1 / 3, 1))
    assert (found.low, found.high) == (0, 1)
    assert found.p == pytest.approx(1 / 27, abs=0.005)  # its own error is 0.0013
    assert found.verdict == "unclear"


def test_the_same_encoder_gains_nothing() -> None:
    values = hits(np.random.default_rng(1), 0.5)
    found = paired_bootstrap(values, values, mean_accuracy)
    assert found == Gain(found.before, found.before, 0, 0, 1, 40)
    assert found.verdict == "unclear"


def test_what_is_clearly_better_or_worse_is_told_apart_with_one_seed() -> None:
    random = np.random.default_rng(3)
    poor, good = hits(random, 0.3), hits(random, 0.8)
    found = paired_bootstrap(poor, good, mean_accuracy, resamples=999)
    assert (found.p, found.verdict) == (1 / 1000, "better")
    assert 0 < found.low < found.gain < found.high
    turned = paired_bootstrap(good, poor, mean_accuracy, resamples=999)
    assert (turned.p, turned.verdict) == (1, "worse")
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
    assert paired_bootstrap(poor, good, mean_accuracy, resamples=999) == found
    assert paired_bootstrap(poor, good, mean_accuracy, resamples=999, seed=2) != found


def test_the_interval_covers_the_true_gain_as_often_as_it_says() -> None:
    random, covered = np.random.default_rng(4), 0
    for _ in range(150):
        hard = random.random(60)  # the same item is as hard for both
        before, after = hard < 0.5, np.where(random.random(60) < 0.7, hard, random.random(60)) < 0.6
        found = paired_bootstrap(before, after, lambda rows: float(rows.mean()), resamples=200)
        covered += found.low <= 0.1 <= found.high
    assert 0.88 <= covered / 150 <= 0.99


def test_a_draw_without_a_figure_is_drawn_again() -> None:
    values = np.array([[0.1, 1.0], [0.4, 2.0], [0.2, 3.0]])
    found = paired_bootstrap(values, values[:, ::-1], rank_correlation, resamples=100)
    assert (found.gain, found.low, found.high) == (0, 0, 0)  # it is the same both ways round
    with pytest.raises(ValueError, match="2 and 3 items"):
        paired_bootstrap(values[:2], values, rank_correlation)


@pytest.fixture
def narrow(toy_encoder: SentenceEncoder) -> SentenceEncoder:
    """The toy encoder, of whose vectors few numbers are kept: it makes mistakes."""
    return SentenceEncoder(toy_encoder.body, (), Settings(truncated=5), toy_encoder.facts)


@pytest.fixture
def data(tmp_path: Path, toy_pairs: ParallelText) -> DataFolder:
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    for language in ("cmn", "deu"):
        for side, texts in (("eng", toy_pairs.sources), (language, toy_pairs.targets)):
            lines = "".join(f"{each}\n" for each in texts[:80])
            (folder / f"tatoeba.{language}-eng.{side}").write_text(lines, encoding="utf-8")
    write_loose(tmp_path, "sample", seed=9, changed=4)
    (tmp_path / "stsb").mkdir()
    write_stsb(tmp_path / "stsb" / "stsb-en-test.csv", easy(toy_pairs))
    return DataFolder(tmp_path)


def table(gains: Gains, at: int = 0) -> dict[str, Gain]:
    return {items.name: gain for items, gain in gains.found[at]}


FEW: dict[str, Any] = {"resamples": 100}


def test_figures_are_those_of_the_benchmarks(
    toy_encoder: SentenceEncoder, narrow: SentenceEncoder, data: DataFolder
) -> None:
    gains = measure_gains([narrow, toy_encoder, narrow], data, GainOptions(**FEW))
    assert (gains.skipped, gains.failed) == ({}, [])
    found = table(gains)
    names = ["tatoeba cmn", "bucc zh-en held-out", "bucc zh-en oracle", "stsb"]
    assert list(found) == names
    for encoder, figures in (
        (narrow, {name: gain.before for name, gain in found.items()}),
        (toy_encoder, {name: gain.after for name, gain in found.items()}),
    ):
        tatoeba = evaluate_tatoeba(encoder, data, TatoebaOptions())
        bucc = evaluate_bucc(encoder, data, BuccOptions())
        sts = evaluate_sts(encoder, data, StsOptions())
        assert list(figures.values()) == [
            tatoeba.figure("cmn", "mean"),
            bucc.figure("zh-en held-out", "f1"),
            bucc.figure("zh-en oracle", "f1"),
            sts.figure("STS-B", "all"),
        ]
        assert 0.05 < min(figures.values())
    assert all(gain.verdict == "better" for gain in found.values())
    assert [found[name].items for name in ("tatoeba cmn", "stsb")] == [80, 120]
    assert found["bucc zh-en held-out"].items < found["bucc zh-en oracle"].items == 65
    assert {gain.p for gain in table(gains, 1).values()} == {1}


def test_the_threshold_may_come_from_another_split(
    toy_encoder: SentenceEncoder, narrow: SentenceEncoder, data: DataFolder
) -> None:
    assert data.path
    write_loose(data.path, "training", seed=10, changed=4)
    write_loose(data.path, "test", seed=11, changed=4)
    gains = measure_gains([narrow, toy_encoder], data, GainOptions(task=["bucc"], **FEW))
    result = evaluate_bucc(toy_encoder, data, BuccOptions())
    for name in ("zh-en test", "zh-en oracle"):
        assert table(gains)[f"bucc {name}"].after == result.figure(name, "f1")
        assert table(gains)[f"bucc {name}"].items == 65


def test_languages_are_those_that_all_encoders_know(
    toy_encoder: SentenceEncoder, narrow: SentenceEncoder, data: DataFolder
) -> None:
    silent = SentenceEncoder(toy_encoder.body)
    german = SentenceEncoder(toy_encoder.body, facts=EncoderFacts(("de", "en", "zh")))

    def rows(one: SentenceEncoder, other: SentenceEncoder, *language: str) -> list[str]:
        options = GainOptions(task=["tatoeba", "stsb"], language=list(language), **FEW)
        return list(table(measure_gains([one, other], data, options)))

    assert rows(german, german) == ["tatoeba cmn", "tatoeba deu", "stsb"]
    assert rows(german, narrow) == rows(narrow, silent) == ["tatoeba cmn", "stsb"]
    assert rows(silent, silent) == ["stsb"]
    assert rows(silent, silent, "de") == rows(narrow, silent, "deu") == ["tatoeba deu", "stsb"]
    unknown = measure_gains([silent, silent], data, GainOptions(**FEW))
    assert list(unknown.skipped) == ["tatoeba", "bucc"]
    assert "give --language" in unknown.skipped["bucc"]


def blind(encoder: SentenceEncoder, words: Sequence[str]) -> SentenceEncoder:
    """Take the vectors of words away, so that the encoder knows the other language alone."""
    body = encoder.body
    assert isinstance(body, StaticEmbedding)
    vectors: NDArray[np.float32] = body.table.vectors().copy()
    for word in words:
        vectors[body.pieces.ids([word])[0]] = 0
    return SentenceEncoder(StaticEmbedding(body.pieces, Table.rounded(vectors)))


def test_of_a_pair_each_language_is_read_by_its_own_encoder(
    toy_encoder: SentenceEncoder, data: DataFolder
) -> None:
    english = blind(toy_encoder, [chinese_word(each) for each in range(CONCEPTS)])
    chinese = blind(toy_encoder, [english_word(each) for each in range(CONCEPTS)])
    english.facts = chinese.facts = EncoderFacts(("zh", "en"))
    gains = measure_gains([toy_encoder, EncoderPair(chinese, english)], data, GainOptions(**FEW))
    assert gains.failed == []
    assert [gain.gain for gain in table(gains).values()] == pytest.approx([0, 0, 0, 0], abs=0.01)
    english.facts = chinese.facts = EncoderFacts(("en", "zh"))
    again = measure_gains([toy_encoder, EncoderPair(english, chinese)], data, GainOptions(**FEW))
    assert table(again) == table(gains)
    wrong = measure_gains([toy_encoder, EncoderPair(chinese, english)], data, GainOptions(**FEW))
    assert wrong.found == [[]]
    assert [each.split(": ")[1] for each in wrong.failed] == ["tatoeba", "bucc", "stsb"]


def test_what_is_missing_is_left_out_and_nothing_at_all_is_an_error(
    toy_encoder: SentenceEncoder, narrow: SentenceEncoder, tmp_path: Path, toy_pairs: ParallelText
) -> None:
    both = [narrow, toy_encoder]
    with pytest.raises(MissingData, match="nothing to compare on: tatoeba: expected LASER"):
        measure_gains(both, DataFolder(tmp_path), GainOptions())
    with pytest.raises(MissingData, match="no benchmark data"):
        measure_gains(both, DataFolder(None), GainOptions())
    with pytest.raises(OptionError, match="--task is 'sts'"):
        GainOptions(task=["sts"])
    write_stsb(tmp_path / "stsb-en-test.csv", easy(toy_pairs))
    gains = measure_gains(both, DataFolder(tmp_path), GainOptions(**FEW))
    assert (list(table(gains)), list(gains.skipped)) == (["stsb"], ["tatoeba", "bucc"])
    assert (
        "bucc"
        not in measure_gains(both, DataFolder(tmp_path), GainOptions(task=["stsb"], **FEW)).skipped
    )


def test_what_an_encoder_cannot_be_measured_on_stops_nothing_else(
    toy_encoder: SentenceEncoder, data: DataFolder
) -> None:
    chinese = blind(toy_encoder, [english_word(each) for each in range(CONCEPTS)])
    chinese.facts, chinese.source = toy_encoder.facts, Source(Path("chinese"), [], "chinese")
    gains = measure_gains([toy_encoder, chinese, toy_encoder], data, GainOptions(**FEW))
    assert len(table(gains, 1)) == 4
    assert list(table(gains)) == ["tatoeba cmn"]  # at 0: one side has no vectors
    assert [each.split(": ")[:2] for each in gains.failed] == [
        ["chinese", "bucc"],
        ["chinese", "stsb"],
    ]
    first = measure_gains([chinese, toy_encoder], data, GainOptions(task=["stsb"], **FEW))
    assert (first.found, len(first.failed)) == ([[]], 1)


def test_an_interval_on_both_sides_of_zero_is_unclear() -> None:
    ends = {(0.1, 0.2): "better", (-0.2, -0.1): "worse", (-0.1, 0.1): "unclear"}
    for (low, high), verdict in ends.items():
        assert Gain(0.5, 0.5, low, high, 0.5, 9).verdict == verdict
