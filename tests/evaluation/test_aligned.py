"""Retrieval accuracy: the metric, Tatoeba, and aligned files of any kind."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.toys.files import write
from tests.toys.nineteen import LINES
from xmine.encoders.encoder import SentenceEncoder, normalised
from xmine.encoders.metadata import EncoderFacts
from xmine.errors import FileError, OptionError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import BitextOptions, TatoebaOptions
from xmine.evaluation.result import Result
from xmine.evaluation.retrieval.aligned import (
    evaluate_bitext,
    hits_of,
    nearest_lines,
    retrieval_accuracy,
)
from xmine.evaluation.retrieval.parallel import AlignedSet
from xmine.evaluation.retrieval.tatoeba import FOURTEEN, THIRTY_SIX, evaluate_tatoeba
from xmine.pairs.io import ParallelText
from xmine.text.languages import ISO_639_3

NOWHERE = DataFolder(None)


def row(result: Result, name: str) -> dict[str, float]:
    return dict(next(each for each in result.rows if each.name == name).figures)


@pytest.fixture
def tatoeba(tmp_path: Path, toy_pairs: ParallelText) -> DataFolder:
    """Chinese as it should be, German shuffled, 40 pairs each."""
    english, chinese = toy_pairs.sources[:40], toy_pairs.targets[:40]
    shuffled = [chinese[at] for at in np.random.default_rng(1).permutation(40)]
    for language, texts in (("cmn", chinese), ("deu", shuffled)):
        write(tmp_path / "tatoeba" / f"tatoeba.{language}-eng.{language}", list(texts))
        write(tmp_path / "tatoeba" / f"tatoeba.{language}-eng.eng", list(english))
    return DataFolder(tmp_path)


def test_golden_g19_retrieval_both_ways() -> None:
    """Rows of the matrix stand for sources, unit vectors for targets: cosines as in G-19."""
    cosines = np.array([[0.9, 0.2, 0.1], [0.3, 0.4, 0.5], [0.2, 0.6, 0.8]], dtype=np.float32)
    both = retrieval_accuracy(cosines, np.eye(3, dtype=np.float32))
    assert both == pytest.approx((2 / 3, 2 / 3))


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_agrees_with_a_loop(seed: int) -> None:
    random = np.random.default_rng(seed)
    source = random.standard_normal((50, 8)).astype(np.float32)
    target = source + random.standard_normal((50, 8)).astype(np.float32)
    source, target = normalised(source), normalised(target)
    texts = ([str(at % 9) for at in range(50)], [str(at % 7) for at in range(50)])
    cosines = source @ target.T
    right = {"forward": 0, "backward": 0, "textual forward": 0, "textual backward": 0}
    for at in range(50):
        best, back = int(np.argmax(cosines[at])), int(np.argmax(cosines[:, at]))
        right["forward"] += best == at
        right["backward"] += back == at
        right["textual forward"] += texts[1][best] == texts[1][at]
        right["textual backward"] += texts[0][back] == texts[0][at]
    plain = retrieval_accuracy(source, target)
    textual = hits_of(nearest_lines(source, target), texts).sum(axis=0).tolist()
    assert [round(each * 50) for each in plain] == [right["forward"], right["backward"]]
    assert textual == [right["textual forward"], right["textual backward"]]


def test_the_languages_averaged_are_those_of_the_papers() -> None:
    """ISO 639-1 as XTREME lists them; the files have ISO 639-3."""
    fourteen = "ar bg zh de el fr hi ru es sw th tr ur vi".split()
    more = "af bn et eu fi he hu id it ja jv ka kk ko ml mr nl fa pt ta te tl".split()
    assert set(FOURTEEN) == {ISO_639_3[code] for code in fourteen}
    assert set(THIRTY_SIX) == {ISO_639_3[code] for code in fourteen + more}
    assert (len(FOURTEEN), len(THIRTY_SIX)) == (14, 36)
    assert [
        ISO_639_3[code] for code in ("zh", "sw", "ar", "fa", "ms")
    ] == "cmn swh ara pes zsm".split()


def test_directions_are_what_they_are_called(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """An English line stands twice: once as the translation of another, which it is not."""
    english, chinese = list(toy_pairs.sources[:20]), list(toy_pairs.targets[:20])
    english[5] = english[6]
    write(tmp_path / "tatoeba" / "tatoeba.cmn-eng.cmn", chinese)
    write(tmp_path / "tatoeba" / "tatoeba.cmn-eng.eng", english)
    one, other = write(tmp_path / "x.zh", chinese), write(tmp_path / "x.en", english)
    result = evaluate_tatoeba(toy_encoder, DataFolder(tmp_path), TatoebaOptions())
    assert row(result, "cmn")["to_english"] == 18 / 20  # lines 5 and 6: the lower of equals
    assert row(result, "cmn")["from_english"] == 19 / 20
    result = evaluate_bitext(toy_encoder, NOWHERE, BitextOptions(src=str(one), tgt=str(other)))
    assert result.rows[0].name == "zh-en"
    assert result.rows[0].figures["forward"] == 18 / 20
    assert result.rows[0].figures["backward"] == 19 / 20


def test_tatoeba_measures_each_language_and_averages(
    toy_encoder: SentenceEncoder, tatoeba: DataFolder
) -> None:
    options = TatoebaOptions(language=["all"], rerank="off")
    result = evaluate_tatoeba(toy_encoder, tatoeba, options)
    chinese, german = row(result, "cmn"), row(result, "deu")
    assert chinese["to_english"] == chinese["from_english"] == 1
    assert german["mean"] < 0.2
    assert row(result, "mean of all 2")["mean"] == (chinese["mean"] + german["mean"]) / 2
    assert result.headline == ("mean of all 2", "mean")
    means = {each.name for each in result.rows if each.is_mean}
    assert means == {"mean of all 2"}
    notes = " ".join(result.notes)
    assert "No mean of 14: ara, bul, " in notes


def test_tatoeba_of_some_languages(toy_encoder: SentenceEncoder, tatoeba: DataFolder) -> None:
    result = evaluate_tatoeba(toy_encoder, tatoeba, TatoebaOptions(language=["cmn", "zh"]))
    assert [each.name for each in result.rows] == ["cmn", "cmn, reranked"]
    assert result.headline == ("cmn", "mean")
    with pytest.raises(FileError, match=r"tatoeba: no tatoeba\.fra-eng\.fra"):
        evaluate_tatoeba(toy_encoder, tatoeba, TatoebaOptions(language=["fra"]))


def test_the_languages_are_those_of_the_encoder(
    toy_encoder: SentenceEncoder, tatoeba: DataFolder
) -> None:
    result = evaluate_tatoeba(toy_encoder, tatoeba, TatoebaOptions(rerank="off"))
    assert [each.name for each in result.rows] == ["cmn"]  # a toy for English and Chinese
    assert result.notes == [
        "1 that the encoder was not made for are left out; --language all measures them."
    ]
    unknown = SentenceEncoder(toy_encoder.body)
    result = evaluate_tatoeba(unknown, tatoeba, TatoebaOptions(rerank="off"))
    assert [each.name for each in result.rows] == ["cmn", "deu", "mean of all 2"]
    korean = SentenceEncoder(toy_encoder.body, facts=EncoderFacts(("en", "ko")))
    with pytest.raises(MissingData, match="no files in languages of the encoder: en, ko") as caught:
        evaluate_tatoeba(korean, tatoeba, TatoebaOptions())
    assert caught.value.hint.startswith("there are cmn, deu; all in place")


def test_wrong_tatoeba_folders(
    toy_encoder: SentenceEncoder, tatoeba: DataFolder, tmp_path: Path
) -> None:
    folder = tmp_path / "tatoeba"
    write(folder / "tatoeba.deu-eng.deu", ["one line"])
    with pytest.raises(FileError, match=r"deu-eng.deu has 1 line and .*deu-eng.eng 40"):
        evaluate_tatoeba(toy_encoder, tatoeba, TatoebaOptions(language=["deu"]))
    (folder / "tatoeba.deu-eng.eng").unlink()
    with pytest.raises(FileError, match=r"tatoeba\.deu-eng\.eng: no such file"):
        evaluate_tatoeba(toy_encoder, tatoeba, TatoebaOptions(language=["deu"]))
    (folder / "tatoeba.cmn-eng.eng").write_text("")
    with pytest.raises(FileError, match=r"tatoeba\.cmn-eng\.eng: the file is empty"):
        evaluate_tatoeba(toy_encoder, tatoeba, TatoebaOptions())


def test_bitext_on_two_files_a_folder_and_the_known_sets(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    english, chinese = list(toy_pairs.sources[:30]), list(toy_pairs.targets[:30])
    one = write(tmp_path / "newstest2019" / "ref.en", english)
    other = write(tmp_path / "newstest2019" / "ref.zh", chinese)
    for language, texts in (("deu", english[::-1]), ("eng", english), ("zho", chinese)):
        write(tmp_path / "flores101" / "dev" / f"{language}.dev", texts)
    two = BitextOptions(src=str(one), tgt=str(other), rerank="off")
    result = evaluate_bitext(toy_encoder, NOWHERE, two)
    assert [(each.name, each.items) for each in result.rows] == [("en-zh", 30)]
    assert result.figure(*result.headline) == 1

    pattern = str(tmp_path / "flores101" / "dev" / "{}.dev")
    files = BitextOptions(files=pattern, rerank="off")
    result = evaluate_bitext(toy_encoder, NOWHERE, files)
    names = [each.name for each in result.rows]
    assert names == ["deu-eng", "zho-eng", "mean of 2"]
    assert row(result, "deu-eng")["mean"] < 0.2
    assert result.headline == ("mean of 2", "mean")

    options = BitextOptions(language=["all"], rerank="off")
    result = evaluate_bitext(toy_encoder, DataFolder(tmp_path), options)
    assert result.split == "newstest2019, FLORES-101 dev"
    assert [each.name for each in result.rows] == [
        "newstest2019 zh-en",
        "FLORES-101 dev deu-eng",
        "FLORES-101 dev zho-eng",
        "FLORES-101 dev, mean of 2",
    ]
    assert result.headline == ("FLORES-101 dev, mean of 2", "mean")  # the most languages
    for place, split in (
        ("newstest2019", "newstest2019"),
        ("flores101", "FLORES-101 dev"),
        ("flores101/dev", "FLORES-101 dev"),
    ):
        result = evaluate_bitext(toy_encoder, DataFolder(tmp_path / place), BitextOptions())
        assert result.split == split
        left_out = "1 that the encoder was not made for are left out; --language all measures them."
        assert (left_out in result.notes) == ("FLORES" in split)  # German
    german = BitextOptions(language=["de"], rerank="off")
    result = evaluate_bitext(toy_encoder, DataFolder(tmp_path), german)
    for language, texts in (("eng_Latn", english), ("zho_Hans", chinese)):
        write(tmp_path / "new" / "dev" / f"{language}.dev", texts)
    result = evaluate_bitext(toy_encoder, DataFolder(tmp_path / "new"), BitextOptions())
    assert result.split == "FLORES-200 dev"


def test_ntrex_is_read_plain_and_with_gzip(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    english, chinese = list(toy_pairs.sources[:30]), list(toy_pairs.targets[:30])
    folder = tmp_path / "eval" / "ntrex"
    write(folder / "zh.txt", chinese)
    for code, texts in (("de", english[::-1]), ("en", english)):
        (folder / f"{code}.txt.gz").write_bytes(gzip.compress("\n".join(texts).encode()))
    whole = BitextOptions(language=["all"], pivot="en", rerank="off")
    for data in (tmp_path, tmp_path / "eval", folder):
        result = evaluate_bitext(toy_encoder, DataFolder(data), whole)
        assert result.split == "NTREX"
        names = ["NTREX de-en", "NTREX zh-en", "NTREX, mean of 2"]
        assert [each.name for each in result.rows] == names
        assert row(result, "NTREX zh-en")["mean"] == 1 > 0.2 > row(result, "NTREX de-en")["mean"]
    encoder = SentenceEncoder(toy_encoder.body, facts=EncoderFacts(("en", "zh", "fr")))
    result = evaluate_bitext(encoder, DataFolder(tmp_path), BitextOptions(rerank="off"))
    assert [each.name for each in result.rows] == ["NTREX zh-en"]
    folder.rename(tmp_path / "eval" / "other")  # any two texts are called so
    with pytest.raises(MissingData, match=r"ntrex/\{\}\.txt"):
        evaluate_bitext(toy_encoder, DataFolder(tmp_path / "eval" / "other"), whole)


def test_a_language_is_that_of_a_name_or_of_the_text() -> None:
    texts = {"a.txt": LINES["de"], "txt": LINES["ru"], "zho_Hans": LINES["en"]}
    aligned = AlignedSet("", texts, [("a.txt", "txt")], is_named=True, has_sides=True)
    assert [aligned.code(each, ()) for each in texts] == ["de", "ru", "zho_Hans"]


def test_bitext_of_pairs_and_without_english(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """Two files for each pair of languages; those of the same English text are one set."""
    english, chinese = list(toy_pairs.sources[:30]), list(toy_pairs.targets[:30])
    texts = {"en": english, "zh": chinese, "de": english, "ru": chinese[::-1]}
    for stem, lines in {
        "newstest/news2.eng-zho": 30,
        "newstest/news2.deu-eng": 30,
        "newstest/newsB2.deu-eng": 30,  # a second translation of the same
        "newstest/news1.eng-zho": 20,
        "newstest/other2.eng-rus": 30,
        "multi30k/test.ces-eng": 30,
    }.items():
        second = {"zho": "zh", "deu": "de", "rus": "ru", "ces": "zh"}
        (other,) = (second[code] for code in stem.split(".")[1].split("-") if code != "eng")
        for code in ("en", other):
            named = "cs" if stem.startswith("multi") and code != "en" else code
            write(tmp_path / f"{stem}.{named}", texts[code][:lines])
    encoder = SentenceEncoder(toy_encoder.body, facts=EncoderFacts(("de", "en", "zh", "ru")))
    result = evaluate_bitext(encoder, DataFolder(tmp_path), BitextOptions(rerank="off"))
    assert result.split == "newstest"
    assert [(each.name, each.items) for each in result.rows] == [
        *(("newstest zh-en", 50), ("newstest de-en", 60), ("newstest ru-en", 30)),
        *(("newstest de-zh", 30), ("newstest de-ru", 30), ("newstest zh-ru", 30)),
        *(("newstest, mean of 3 without en", 90), ("newstest, mean of 3", 140)),
    ]
    assert row(result, "newstest de-zh")["mean"] == 1
    assert row(result, "newstest zh-ru")["mean"] < 0.2
    assert result.headline == ("newstest, mean of 3", "mean")
    with_english = BitextOptions(pivot="en", rerank="off")
    names = [
        each.name for each in evaluate_bitext(encoder, DataFolder(tmp_path), with_english).rows
    ]
    assert names == [f"newstest {each}-en" for each in ("zh", "de", "ru")] + ["newstest, mean of 3"]
    whole = BitextOptions(language=["all"], rerank="off")
    names = [each.name for each in evaluate_bitext(encoder, DataFolder(tmp_path), whole).rows]
    assert "Multi30k cs-en" in names and "newstest de-ru" in names
    some = BitextOptions(language=["ru", "cs"], rerank="off")
    result = evaluate_bitext(encoder, DataFolder(tmp_path), some)
    assert [each.name for each in result.rows] == ["newstest ru-en", "Multi30k cs-en"]
    for options, language in (({"language": ["ko"]}, "ko"), ({"pivot": "fr"}, "fr")):
        with pytest.raises(FileError, match=f"there is no language '{language}'"):
            evaluate_bitext(encoder, DataFolder(tmp_path), BitextOptions(**options))
    korean = SentenceEncoder(toy_encoder.body, facts=EncoderFacts(("ko",)))
    with pytest.raises(MissingData, match="languages of the encoder: ko"):
        evaluate_bitext(korean, DataFolder(tmp_path), BitextOptions())
    (tmp_path / "multi30k" / "test.ces-eng.cs").unlink()
    with pytest.raises(FileError, match=r"multi30k: test\.ces-eng has one file"):
        evaluate_bitext(encoder, DataFolder(tmp_path), BitextOptions())


def test_wrong_aligned_files(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    for language in ("en", "zh"):
        write(tmp_path / "few" / f"one.{language}", ["ba"])
        write(tmp_path / "few" / f"blank.{language}", ["", " "])
    for stem, message in {"one": "1 line; two at least", "blank": "no line has a vector"}.items():
        with pytest.raises(FileError, match=message):
            evaluate_bitext(
                toy_encoder, NOWHERE, BitextOptions(files=str(tmp_path / "few" / f"{stem}.{{}}"))
            )
    write(tmp_path / "x.en", ["ba", "de"])
    write(tmp_path / "x.zh", ["ba"])
    pair = BitextOptions(src=str(tmp_path / "x.en"), tgt=str(tmp_path / "x.zh"))
    for options, message in [
        (pair, r"x\.en has 2 lines and .*x\.zh 1"),
        (BitextOptions(files=str(tmp_path / "{}.en")), "1 files; two languages at least"),
    ]:
        with pytest.raises(FileError, match=message):
            evaluate_bitext(toy_encoder, NOWHERE, options)
    with pytest.raises(OptionError, match="--files stands in the place of"):
        BitextOptions(src="one", tgt="other", files="{}")
    with pytest.raises(OptionError, match=r"--files is .x\.en."):
        BitextOptions(files="x.en")
