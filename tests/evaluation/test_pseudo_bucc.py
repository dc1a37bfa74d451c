"""Pseudo-BUCC: files of BUCC's format in a folder of their own, never taken for BUCC."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.test_bucc import write_loose
from tests.toys.bucc import ToyFiles, figure, measure, writer
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.reranking import RerankingWeights
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import PairOptions
from xmine.evaluation.result import Result
from xmine.evaluation.retrieval import pseudo_bucc
from xmine.evaluation.retrieval.bucc import MinedSplit, mine_pair
from xmine.evaluation.retrieval.pseudo_bucc import evaluate_pseudo_bucc


@pytest.fixture
def data(toy_files: ToyFiles, tmp_path: Path) -> Path:
    """Chinese as it is in BUCC, which is there too; and German, with wrong gold pairs."""
    folder = writer(toy_files, tmp_path)("de-en.dev", pair="de-en", wrong=True)
    (folder / "bucc2018").rename(folder / "pseudo-bucc")
    write_loose(folder, "sample", seed=9, changed=6)
    for path in (folder / "bucc2018").rglob("zh-en.*.*"):
        shutil.copy(path, folder / "pseudo-bucc")
    return folder


def of(encoder: SentenceEncoder, folder: Path | None, **options: object) -> Result:
    given = PairOptions(**options)  # type: ignore[arg-type]
    return evaluate_pseudo_bucc(encoder, DataFolder(folder), given)


def test_the_chosen_threshold_stands_beside_the_best(
    toy_encoder: SentenceEncoder, data: Path
) -> None:
    weighing = SentenceEncoder(toy_encoder.body, reranking=RerankingWeights())
    result = of(weighing, data, pair=["all"])
    names = ["de-en", "zh-en", "mean of 2"]
    assert [row.name for row in result.rows] == [*names, *(f"{each}, reranked" for each in names)]
    assert result.headline == ("mean of 2", "auto")
    # The figures are those that BUCC's own protocol has for the same files.
    bucc = measure(weighing, data, threshold_from="oracle")
    for kind in ("", ", reranked"):
        for cut in ("oracle", "auto"):
            assert figure(result, f"zh-en{kind}", cut) == figure(bucc, f"zh-en {cut}{kind}")
            mean = (figure(result, f"zh-en{kind}", cut) + figure(result, f"de-en{kind}", cut)) / 2
            assert figure(result, f"mean of 2{kind}", cut) == pytest.approx(mean)
    for row in result.rows:
        assert row.figures["difference"] == pytest.approx(
            row.figures["auto"] - row.figures["oracle"]
        )
    assert figure(result, "de-en", "auto") < 0.2 < figure(result, "zh-en", "auto")


def test_what_is_not_reranked_counts_by_the_margin(
    toy_encoder: SentenceEncoder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mine_some(*given: Any) -> tuple[MinedSplit, MinedSplit | None]:
        first, again = mine_pair(*given)
        return first, None if given[2] == "de-en" else again

    monkeypatch.setattr(pseudo_bucc, "mine_pair", mine_some)
    weighing = SentenceEncoder(toy_encoder.body, reranking=RerankingWeights())
    result = of(weighing, data, pair=["all"])
    assert figure(result, "de-en, reranked", "oracle") == figure(result, "de-en", "oracle")
    assert figure(result, "zh-en, reranked", "oracle") > figure(result, "zh-en", "oracle")
    assert result.notes[-1] == "By the margin among them: de-en."


def test_the_pairs_are_those_of_the_encoder(toy_encoder: SentenceEncoder, data: Path) -> None:
    result = of(toy_encoder, data, rerank="off")
    assert [row.name for row in result.rows] == ["zh-en"]
    assert "--pair all measures them" in result.notes[0]
    korean = SentenceEncoder(toy_encoder.body, facts=EncoderFacts(("en", "ko")))
    with pytest.raises(MissingData, match="no files in languages of the encoder: en, ko"):
        of(korean, data)


def test_neither_set_is_taken_for_the_other(toy_encoder: SentenceEncoder, data: Path) -> None:
    inside = of(toy_encoder, data / "pseudo-bucc")
    assert inside.rows == of(toy_encoder, data).rows
    with pytest.raises(MissingData, match="expected pseudo-bucc/xx-en"):
        of(toy_encoder, data / "bucc2018")
    with pytest.raises(MissingData, match="expected BUCC 2018"):
        measure(toy_encoder, data / "pseudo-bucc")
    shutil.rmtree(data / "bucc2018")
    with pytest.raises(MissingData, match="expected BUCC 2018"):
        measure(toy_encoder, data)
    with pytest.raises(MissingData, match="no benchmark data"):
        of(toy_encoder, None)
