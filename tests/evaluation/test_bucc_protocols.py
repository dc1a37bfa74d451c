"""BUCC: what each protocol measures, from which threshold, and the rows of a result."""

from pathlib import Path

import numpy as np
import pytest

from tests.toys.bucc import ToyFiles, Write, figure, measure, writer
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.errors import FileError, OptionError
from xmine.evaluation.options import BuccOptions
from xmine.evaluation.readers.bucc import read_sentences_by_id
from xmine.evaluation.retrieval.bucc import NamedPairs, half_of
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.scoring.gold import agreement


def test_halves_are_the_same_for_ever() -> None:
    assert [half_of(f"zh-{number}") for number in range(8)] == [0, 0, 0, 1, 0, 1, 0, 0]
    pairs = [(f"zh-{number}", f"en-{number}") for number in range(1000)]
    lines = [source for source, _ in pairs]
    found = NamedPairs(
        np.linspace(2, 1, 1000),
        pairs,
        frozenset(pairs[:100]),
        lines,
        (0.5, agreement([], frozenset())),
        0,
    )
    halves = found.half(0), found.half(1)
    assert sum(len(half.pairs) for half in halves) == 1000
    assert halves[0].gold | halves[1].gold == found.gold
    assert {*halves[0].lines, *halves[1].lines} == set(lines)
    assert 400 < len(halves[0].pairs) < 600
    assert (np.diff(halves[0].scores) < 0).all()


@pytest.fixture
def write(toy_files: ToyFiles, tmp_path: Path) -> Write:
    return writer(toy_files, tmp_path)


def test_the_sample_alone_is_split_in_halves(toy_encoder: SentenceEncoder, write: Write) -> None:
    result = measure(toy_encoder, write("zh-en/zh-en.sample"), rerank="off")
    names = ["held-out", "oracle", "auto", "at 1.04", "at 1.06", "at 1.2"]
    assert [row.name for row in result.rows] == [f"zh-en {name}" for name in names]
    assert result.headline == ("zh-en held-out", "f1")
    assert figure(result, "zh-en oracle") > 0.95
    assert figure(result, "zh-en held-out") > 0.85
    assert result.settings["threshold_from"] == "hash"
    assert "F1 on one half of the ids of sample" in result.protocol
    assert result.notes == [
        "zh-en.sample: 60 and 60 sentences, 30 gold pairs.",
        "held-out is over the half of the ids that the threshold was not chosen on; the other rows "
        "are over all of them.",
    ]


def test_auto_is_what_mining_chooses(
    toy_encoder: SentenceEncoder, write: Write, toy_files: ToyFiles
) -> None:
    english, chinese, gold = toy_files
    encoder = SentenceEncoder(toy_encoder.body, reranking=RerankingWeights())
    result = measure(encoder, write("zh-en.dev"))
    for name, rerank in (("zh-en auto", "off"), ("zh-en auto, reranked", "tokens")):
        mined = mine(chinese, english, encoder, MiningOptions(rerank=rerank))
        sides = mined.pairs.target_lines.tolist(), mined.pairs.source_lines.tolist()
        expected = agreement(list(zip(*sides, strict=True)), gold)
        assert figure(result, name) == pytest.approx(expected.f1)
        assert figure(result, name, "threshold") == mined.threshold.value
        row = next(row for row in result.rows if row.name == name)
        assert row.items == expected.mined


def test_each_protocol_measures_what_it_says(toy_encoder: SentenceEncoder, write: Write) -> None:
    write("zh-en/zh-en.sample")
    data = write("zh-en/zh-en.training")
    expected = {
        "heldout": ("hash", "training", "folded", "zh-en held-out"),
        "laser": ("oracle", "training", "dropped", "zh-en oracle"),
        "st": ("oracle", "training", "kept", "zh-en oracle"),
        "xtreme": ("sample", "training", "dropped", "zh-en training"),
        "msimcse": ("oracle", "sample", "kept", "zh-en oracle"),
        "moco": ("hash", "training", "kept", "zh-en held-out"),
    }
    for protocol, (source, split, duplicates, headline) in expected.items():
        result = measure(toy_encoder, data, protocol=protocol)
        settings = result.settings
        assert (settings["threshold_from"], settings["split"]) == (source, split)
        assert settings["duplicates"] == duplicates
        assert result.headline[0] == headline
        assert result.protocol.startswith(f"{protocol}: ")


def test_what_is_overridden_is_printed(toy_encoder: SentenceEncoder, write: Write) -> None:
    data = write("zh-en.dev")
    result = measure(
        toy_encoder,
        data,
        protocol="msimcse",
        margin="distance",
        neighborhood=2,
        retrieval="intersect",
        threshold_from="hash",
    )
    assert result.protocol.startswith(
        "msimcse, but --margin distance --neighborhood 2 --retrieval intersect "
        "--threshold-from hash: F1 on one half of the ids of sample"
    )
    assert result.protocol.endswith(
        "distance margin, k = 2, intersect retrieval, repeated texts kept"
    )
    assert [row.name for row in result.rows] == ["zh-en held-out", "zh-en oracle", "zh-en auto"]
    with pytest.raises(OptionError, match="--margin is 'rato'"):
        BuccOptions(margin="rato")


def test_several_language_pairs_are_averaged(toy_encoder: SentenceEncoder, write: Write) -> None:
    write("zh-en.dev")
    data = write("de-en.dev", pair="de-en", wrong=True)
    encoder = SentenceEncoder(toy_encoder.body, reranking=RerankingWeights())
    result = measure(encoder, data, protocol="msimcse")
    assert result.headline == ("mean of 2 oracle", "f1")
    parts = [figure(result, f"{pair} oracle") for pair in ("de-en", "zh-en")]
    assert figure(result, "mean of 2 oracle") == pytest.approx(sum(parts) / 2)
    kinds = ["oracle", "auto", "at 1.04", "at 1.06", "at 1.2", "oracle, reranked", "auto, reranked"]
    means = {row.name: row for row in result.rows if row.is_mean}
    assert list(means) == [f"mean of 2 {kind}" for kind in kinds]
    assert result.rows[-1].name == "mean of 2 auto, reranked"
    reranked = [figure(result, f"{pair} oracle, reranked") for pair in ("de-en", "zh-en")]
    assert figure(result, "mean of 2 oracle, reranked") == pytest.approx(sum(reranked) / 2)
    assert all(np.isnan(row.figures["threshold"]) for row in means.values())
    one = measure(toy_encoder, data, protocol="msimcse", pair=["zh-en"])
    assert one.headline == ("zh-en oracle", "f1")
    with pytest.raises(FileError, match="no gold file of fr-en"):
        measure(toy_encoder, data, pair=["fr-en"])


def test_repeated_texts_cost_recall_where_they_are_dropped(
    toy_encoder: SentenceEncoder, write: Write
) -> None:
    data = write("zh-en/zh-en.training")
    stem = data / "bucc2018" / "zh-en" / "zh-en.training"
    source, _ = read_sentences_by_id(Path(f"{stem}.gold"))[0]
    file = Path(f"{stem}.zh")
    text = dict(read_sentences_by_id(file))[source]
    file.write_text(file.read_text(encoding="utf-8") + f"zh-again\t{text}\n", encoding="utf-8")
    laser = measure(toy_encoder, data, protocol="laser")
    folded = measure(toy_encoder, data, threshold_from="oracle")
    assert figure(folded, "zh-en oracle", "recall") == 1
    assert figure(laser, "zh-en oracle", "recall") == pytest.approx(29 / 30)
    gold = Path(f"{stem}.gold")  # which may name the copy as well, as `xmine mine --gold` may
    gold.write_text(gold.read_text().replace(f"{source}\t", "zh-again\t"))
    again = measure(toy_encoder, data, threshold_from="oracle")
    assert [row.figures for row in again.rows] == [row.figures for row in folded.rows]
    assert folded.settings["gold pairs"] == "zh-en 30"
