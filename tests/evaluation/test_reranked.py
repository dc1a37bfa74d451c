"""Rows of our own: what each benchmark gives after reranking, by a slow loop; the others stay."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import xmine.encoders.token_files
import xmine.evaluation.retrieval.reranked
import xmine.mining.stages
from tests.evaluation.test_bucc import write_loose
from tests.toys.bucc import measure
from tests.toys.files import write
from tests.toys.reranking import slow_lines
from tests.toys.xsim import loose
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.token_files import ReadTokens
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import BitextOptions, TatoebaOptions, XsimOptions
from xmine.evaluation.result import Result
from xmine.evaluation.retrieval.aligned import evaluate_bitext
from xmine.evaluation.retrieval.reranked import line_reranker
from xmine.evaluation.retrieval.tatoeba import evaluate_tatoeba
from xmine.evaluation.retrieval.xsim import evaluate_xsim
from xmine.progress import silent

NOTE = "Rows named reranked are ours, not in any paper"


@pytest.fixture
def aligned(tmp_path: Path) -> DataFolder:
    """Loose translations as Tatoeba has them and as two files, and one pair that repeats."""
    english, chinese = loose(120, seed=27)
    english[7], chinese[7] = english[3], chinese[3]
    for name, language, texts in (("cmn", "cmn", chinese), ("cmn", "eng", english)):
        write(tmp_path / "tatoeba" / f"tatoeba.{name}-eng.{language}", texts)
    write(tmp_path / "x.zh", chinese)
    write(tmp_path / "x.en", english)
    return DataFolder(tmp_path)


def sides(data: DataFolder) -> tuple[list[str], list[str]]:
    assert data.path
    one, other = ((data.path / f"x.{each}").read_text(encoding="utf-8") for each in ("zh", "en"))
    return one.splitlines(), other.splitlines()


def files(data: DataFolder, **options: Any) -> dict[str, Any]:
    return {"src": f"{data.path}/x.zh", "tgt": f"{data.path}/x.en", **options}


def share(chosen: list[int], texts: list[str] | None = None) -> float:
    """Count the rows that choose themselves, or a row with the same text."""
    right = [at == row or (texts and texts[at] == texts[row]) for row, at in enumerate(chosen)]
    return sum(map(bool, right)) / len(right)


def reranked(result: Result) -> dict[str, float]:
    """Look up the one row that is ours; nothing else follows the rows of papers."""
    (row,) = (row for row in result.rows if row.is_reranked)
    assert row == result.rows[-1]
    assert row.name.endswith(", reranked")
    assert row.items == 120
    return dict(row.figures)


def test_the_nearest_ten_are_reranked_both_ways(
    toy_encoder: SentenceEncoder, aligned: DataFolder
) -> None:
    texts = sides(aligned)
    vectors = toy_encoder.encode_half(texts[0]), toy_encoder.encode_half(texts[1])
    forward, backward = slow_lines(toy_encoder, texts, vectors)
    expected = [share(forward), share(backward)]
    assert expected[0] != expected[1]
    tatoeba = evaluate_tatoeba(toy_encoder, aligned, TatoebaOptions())
    names = ["to_english", "from_english", "mean"]
    assert reranked(tatoeba) == pytest.approx(
        dict(zip(names, [*expected, sum(expected) / 2], strict=True))
    )
    assert min(expected) > tatoeba.rows[0].figures["mean"]  # else the row would be worth little
    bitext = evaluate_bitext(toy_encoder, aligned, BitextOptions(**files(aligned)))
    assert [row.name for row in bitext.rows] == ["zh-en", "zh-en, reranked"]
    assert list(reranked(bitext).values()) == pytest.approx([*expected, sum(expected) / 2])


def test_a_line_with_the_same_text_counts_after_reranking_too(
    toy_encoder: SentenceEncoder, aligned: DataFolder
) -> None:
    texts = sides(aligned)
    vectors = toy_encoder.encode_half(texts[0]), toy_encoder.encode_half(texts[1])
    forward, backward = slow_lines(toy_encoder, texts, vectors)
    expected = [share(forward, texts[1]), share(backward, texts[0])]
    assert expected[1] > share(backward)
    tatoeba = evaluate_tatoeba(toy_encoder, aligned, TatoebaOptions(textual=True))
    assert list(reranked(tatoeba).values())[:2] == pytest.approx(expected)
    options = files(aligned, textual=True)
    bitext = evaluate_bitext(toy_encoder, aligned, BitextOptions(**options))
    assert list(reranked(bitext).values())[:2] == pytest.approx(expected)
    xsim = evaluate_xsim(toy_encoder, aligned, XsimOptions(**options))
    assert list(reranked(xsim).values())[:2] == pytest.approx([1 - each for each in expected])


@pytest.mark.parametrize("neighborhood", [2, 4, 12])
def test_errors_of_xsim_after_reranking(
    toy_encoder: SentenceEncoder, aligned: DataFolder, neighborhood: int
) -> None:
    """Margins are over the neighbourhood; ten lines are reranked, or all that it has."""
    texts = sides(aligned)
    vectors = toy_encoder.encode(texts[0]), toy_encoder.encode(texts[1])
    nearest = max(10, neighborhood)
    forward, backward = slow_lines(toy_encoder, texts, vectors, neighborhood, nearest)
    options = XsimOptions(**files(aligned, neighborhood=neighborhood))
    figures = reranked(evaluate_xsim(toy_encoder, aligned, options))
    assert figures["forward"] == pytest.approx(1 - share(forward))
    assert figures["backward"] == pytest.approx(1 - share(backward))


def test_the_weights_are_those_of_the_encoder(
    toy_encoder: SentenceEncoder, aligned: DataFolder
) -> None:
    nothing: dict[str, Any] = dict.fromkeys(RerankingWeights.__dataclass_fields__, 0.0)
    weights = RerankingWeights(**{**nothing, "trees": ()})
    weights = replace(weights, missing=1.0)
    own = SentenceEncoder(toy_encoder.body, reranking=weights)
    texts = sides(aligned)
    vectors = own.encode_half(texts[0]), own.encode_half(texts[1])
    forward, _ = slow_lines(own, texts, vectors, weights=weights)
    found = reranked(evaluate_tatoeba(own, aligned, TatoebaOptions()))["to_english"]
    assert found == pytest.approx(share(forward))
    usual = reranked(evaluate_tatoeba(toy_encoder, aligned, TatoebaOptions()))["to_english"]
    assert found != usual


def test_rows_of_papers_are_those_of_before(
    toy_encoder: SentenceEncoder, aligned: DataFolder
) -> None:
    """The figures are those of xmine before there was reranking."""
    assert aligned.path
    write_loose(aligned.path, "sample", seed=9, changed=6)
    weighing = SentenceEncoder(toy_encoder.body, reranking=RerankingWeights())
    both: dict[str, list[Result]] = {}
    for rerank in ("auto", "off"):
        options = files(aligned, rerank=rerank)
        both[rerank] = [
            evaluate_tatoeba(weighing, aligned, TatoebaOptions(rerank=rerank)),
            evaluate_bitext(weighing, aligned, BitextOptions(**options)),
            evaluate_xsim(weighing, aligned, XsimOptions(**options)),
            measure(weighing, aligned.path, rerank=rerank),
        ]
    for result, without in zip(both["auto"], both["off"], strict=True):
        count = len(without.rows)
        assert len(result.rows) > count
        assert result.rows[:count] == without.rows
        assert all(row.is_reranked for row in result.rows[count:])
        assert not any(row.is_reranked for row in without.rows)
        assert NOTE in result.notes[-1]
        assert result.notes[:-1] == without.notes
        assert replace(result, rows=(), notes=()) == replace(without, rows=(), notes=())
    found = [
        [round(figure * 120) for figure in list(result.rows[0].figures.values())[:2]]
        for result in both["auto"][:3]
    ]
    assert found == [[41, 45], [41, 45], [78, 70]]
    bucc = [(row.name, row.items, round(row.figures["f1"], 6)) for row in both["off"][3].rows]
    assert bucc == [
        ("zh-en held-out", 18, 0.809524),
        ("zh-en oracle", 29, 0.708861),
        ("zh-en auto", 25, 0.666667),
        ("zh-en at 1.04", 44, 0.638298),
        ("zh-en at 1.06", 43, 0.645161),
        ("zh-en at 1.2", 29, 0.708861),
    ]


def test_without_a_ratio_margin_nothing_is_reranked(
    toy_encoder: SentenceEncoder, aligned: DataFolder
) -> None:
    assert aligned.path
    write_loose(aligned.path, "sample", seed=9, changed=6)
    for margin in ("distance", "absolute"):
        options = XsimOptions(**files(aligned, margin=margin))
        for result in (
            evaluate_xsim(toy_encoder, aligned, options),
            measure(toy_encoder, aligned.path, margin=margin),
        ):
            assert not any(row.is_reranked for row in result.rows)
            assert NOTE not in " ".join(result.notes)


def test_averages_are_made_of_reranked_rows_too(
    toy_encoder: SentenceEncoder, aligned: DataFolder, tmp_path: Path
) -> None:
    assert aligned.path
    chinese, english = sides(aligned)
    write(tmp_path / "tatoeba" / "tatoeba.deu-eng.deu", chinese[::-1])
    write(tmp_path / "tatoeba" / "tatoeba.deu-eng.eng", english[::-1])
    write(tmp_path / "x.de", chinese[::-1])
    tatoeba = evaluate_tatoeba(toy_encoder, aligned, TatoebaOptions(language=["all"]))
    names = ["cmn", "deu", "mean of all 2"]
    assert [row.name for row in tatoeba.rows] == [*names, *(f"{each}, reranked" for each in names)]
    assert tatoeba.headline == ("mean of all 2", "mean")
    figures = [tatoeba.figure(f"{each}, reranked", "mean") for each in ("cmn", "deu")]
    assert figures[0] == pytest.approx(figures[1], abs=0.02)  # the same pairs in another order
    options = BitextOptions(files=str(tmp_path / "x.{}"))
    bitext = evaluate_bitext(toy_encoder, aligned, options)
    names = ["de-en", "zh-en", "mean of 2"]
    assert [row.name for row in bitext.rows] == [*names, *(f"{each}, reranked" for each in names)]
    assert bitext.headline == ("mean of 2", "mean")
    for result in (tatoeba, bitext):
        rows = {row.name: row for row in result.rows}
        parts = [row for row in rows.values() if row.is_reranked and not row.is_mean][:2]
        (mean,) = (row for name, row in rows.items() if name.startswith("mean") and row.is_reranked)
        assert mean.is_mean
        assert mean.figures["mean"] == pytest.approx(sum(x.figures["mean"] for x in parts) / 2)


def test_the_tokens_of_the_pivot_are_read_once(
    toy_encoder: SentenceEncoder,
    aligned: DataFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path / "x.de", sides(aligned)[0][::-1])
    read = []

    def texts_read(encoder: SentenceEncoder, texts: list[str]) -> ReadTokens:
        read.append(texts[0])
        return xmine.encoders.token_files.texts_read(encoder, texts)

    monkeypatch.setattr(xmine.evaluation.retrieval.reranked, "texts_read", texts_read)
    files = str(tmp_path / "x.{}")
    evaluate_bitext(toy_encoder, aligned, BitextOptions(files=files))
    assert len(read) == len(set(read)) == 3
    evaluate_xsim(toy_encoder, aligned, XsimOptions(files=files))
    assert len(read) == 6


def test_each_side_is_read_by_the_encoder_of_its_language(
    toy_encoder: SentenceEncoder, aligned: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = {code: replace(toy_encoder) for code in ("zh", "cmn")}
    read = []

    def readers_of(self: SentenceEncoder, languages: tuple[str, ...]) -> list[SentenceEncoder]:
        return [readers.get(language, self) for language in languages]

    def texts_read(encoder: SentenceEncoder, texts: list[str]) -> ReadTokens:
        names = [code for code, reader in readers.items() if reader is encoder]
        read.append((texts, *names))
        return xmine.encoders.token_files.texts_read(encoder, texts)

    monkeypatch.setattr(SentenceEncoder, "readers", readers_of)
    monkeypatch.setattr(xmine.evaluation.retrieval.reranked, "texts_read", texts_read)
    one, other = sides(aligned)
    swapped: dict[str, Any] = {"src": f"{aligned.path}/x.en", "tgt": f"{aligned.path}/x.zh"}
    for result, expected in (
        (evaluate_tatoeba(toy_encoder, aligned, TatoebaOptions()), [(one, "cmn"), (other,)]),
        (evaluate_bitext(toy_encoder, aligned, BitextOptions(**swapped)), [(other,), (one, "zh")]),
    ):
        assert result.rows[-1].is_reranked
        assert read[:2] == expected
        del read[:2]
    rerank = line_reranker(toy_encoder, "auto")
    assert rerank is not None
    vectors = toy_encoder.encode_half(one), toy_encoder.encode_half(other)
    for code in ("en", "en", "zh", "en"):
        rerank((one, other), vectors, ("en", code), silent)
    assert [each for each in read if each[0] is other] == [(other,), (other, "zh"), (other,)]
