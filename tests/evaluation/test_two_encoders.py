"""An encoder for each side: figures are those of one encoder that knows what both know."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.toys.files import write
from tests.toys.sentences import CONCEPTS, chinese_word, english_word
from tests.toys.xsim import loose
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.pair import EncoderPair, as_pair
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import BitextOptions
from xmine.evaluation.retrieval.aligned import evaluate_bitext
from xmine.progress import silent

WORDS = {"en": english_word, "zh": chinese_word}


def knowing(encoder: SentenceEncoder, *languages: str) -> SentenceEncoder:
    """Take the vectors of the words of other languages away."""
    body = encoder.body
    assert isinstance(body, StaticEmbedding)
    vectors = body.table.vectors().copy()
    for word in (make(each) for each in range(CONCEPTS) for make in WORDS.values()):
        if not any(word == WORDS[code](at) for code in languages for at in range(CONCEPTS)):
            vectors[body.pieces.ids([word])[0]] = 0
    return SentenceEncoder(StaticEmbedding(body.pieces, Table.rounded(vectors)))


@pytest.fixture(scope="module")
def towers(toy_encoder: SentenceEncoder) -> dict[str, SentenceEncoder]:
    return {code: knowing(toy_encoder, code) for code in WORDS} | {
        "both": knowing(toy_encoder, *WORDS)
    }


def pair_of(towers: dict[str, SentenceEncoder], source: str, target: str) -> EncoderPair:
    """Make a pair as training does: both say all languages, that of the source first."""
    pair = EncoderPair(towers[source], towers[target])
    for each in (pair.source, pair.target):
        each.facts = EncoderFacts((source, target))
    return pair


def rated(sides: Sequence[list[str]]) -> list[tuple[str, str, float]]:
    """Pairs whose score is the share of words that the second has of the first."""
    return [
        (sides[0][row], sides[1][row if row % 2 else row + 1], 4.5 if row % 2 else row % 5)
        for row in range(60)
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """Write files of every benchmark, in English and Chinese."""
    root = tmp_path_factory.mktemp("data")
    english, chinese = loose(61, seed=3)
    sides = {"en": english, "zh": chinese}
    for name, texts in (("eng", english), ("cmn", chinese)):
        write(root / f"tatoeba/tatoeba.cmn-eng.{name}", texts)
    sample = "bucc2018/zh-en.sample"
    for code, texts in sides.items():
        write(root / f"{sample}.{code}", [f"{code}-{at}\t{x}" for at, x in enumerate(texts)])
    write(root / f"{sample}.gold", [f"zh-{at}\ten-{at}" for at in range(40)])
    for code, texts in sides.items():
        rows = [",".join(map(str, row)) for row in rated((texts, texts))]
        write(root / f"stsb/stsb-{code}-test.csv", rows)
        write(root / f"newstest2019/ref.{code}", texts)
    return DataFolder(root)


def figures(encoder: SentenceEncoder | EncoderPair, data: DataFolder) -> dict[str, dict[str, Any]]:
    results = {
        name: benchmark.load()(encoder, data, benchmark.options(), silent)
        for name, benchmark in BENCHMARKS.items()
    }
    return {
        name: {row.name: dict(row.figures) for row in result.rows if not row.is_reranked}
        for name, result in results.items()
    }


@pytest.mark.slow
def test_every_benchmark_reads_each_language_with_its_own(
    towers: dict[str, SentenceEncoder], data: DataFolder
) -> None:
    pair = pair_of(towers, "zh", "en")
    towers["both"].facts = pair.facts
    expected, found = figures(towers["both"], data), figures(pair, data)
    assert expected.keys() >= BENCHMARKS.keys()
    for name, rows in expected.items():
        assert found[name].keys() == rows.keys()
        for row, values in rows.items():
            assert found[name][row] == pytest.approx(values, abs=1e-6, nan_ok=True), (name, row)


@pytest.mark.parametrize(
    ("source", "target", "english", "french"),
    [
        (("en", "zh"), ("en", "zh"), "source", "target"),
        (("zh", "en"), ("zh", "en"), "target", "source"),
        (("zho_Hans",), ("eng",), "target", "source"),
        (("en",), ("zh",), "source", "target"),
        (("fr", "de"), ("fr", "de"), "target", "source"),  # neither knows English
        (("fr", "en"), ("fr",), "source", "target"),  # the target does not know English
        ((), (), "source", "target"),
    ],
)
def test_which_encoder_reads_a_language(
    toy_encoder: SentenceEncoder,
    source: tuple[str, ...],
    target: tuple[str, ...],
    english: str,
    french: str,
) -> None:
    pair = EncoderPair(
        *(
            SentenceEncoder(toy_encoder.body, facts=EncoderFacts(stated))
            for stated in (source, target)
        )
    )
    for code, side in (("eng_Latn", english), ("fra", french), ("", "source")):
        assert pair.reading(code) is pair.sides[side]


def test_two_named_files_are_read_as_mining_reads_them(
    towers: dict[str, SentenceEncoder], tmp_path: Path
) -> None:
    english, chinese = loose(30, seed=5)
    write(tmp_path / "one.txt", chinese)
    write(tmp_path / "other.txt", english)
    pair = pair_of(towers, "zh", "en")
    named = BitextOptions(src=str(tmp_path / "one.txt"), tgt=str(tmp_path / "other.txt"))
    found, expected = (
        evaluate_bitext(each, DataFolder(None), named).rows[0].figures
        for each in (pair, towers["both"])
    )
    assert found == expected and found["mean"] > 0.5


def test_a_language_is_read_with_its_pack() -> None:
    encoder = SentenceEncoder.load()
    assert as_pair(encoder).reading("swe_Latn") is encoder.reading("sv") is not encoder
    assert as_pair(encoder).reading("deu") is encoder.reading("de")
