from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from papers.benchmarks import LangidOptions
from papers.labelled_pairs import XNLI_LABELS, ClassifiedPair, read_xnli
from papers.langid import evaluate_langid, probe_accuracy

from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.result import Result

Pairs = dict[str, list[ClassifiedPair]]
HEAD = "language\tgold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpromptID\tpairID\tgenre"


def toy_pairs(premises: int = 30, languages: tuple[str, ...] = ("en", "zh")) -> Pairs:
    """Three hypotheses for each premise; languages besides zh have English texts."""
    english, chinese, _ = toy_sentences(4 * premises, seed=31)
    pairs: Pairs = {language: [] for language in languages}
    for language, of_language in pairs.items():
        texts = chinese if language == "zh" else english
        for at in range(3 * premises):
            premise, hypothesis = texts[at // 3], texts[premises + at]
            of_language.append(ClassifiedPair(str(at + 1), (premise, hypothesis), at % 3))
    return pairs


def write_columns(folder: Path, pairs: Pairs, split: str = "dev") -> None:
    """As XTREME lays it out."""
    (folder / "xnli").mkdir(exist_ok=True)
    for language, of_language in pairs.items():
        rows = [f"{x.texts[0]}\t{x.texts[1]}\t{XNLI_LABELS[x.label]}\n" for x in of_language]
        path = folder / "xnli" / f"{split}-{language}.tsv"
        path.write_text("".join(rows), encoding="utf-8")


def write_whole(folder: Path, pairs: Pairs, split: str = "dev") -> None:
    """As the distributor has it."""
    (folder / "XNLI-1.0").mkdir(exist_ok=True)
    rows = [
        f"{language}\t{XNLI_LABELS[x.label]}\t( a )\t{x.texts[0]}\t{x.texts[1]}\t1\t{x.item}\tg\n"
        for language, of_language in pairs.items()
        for x in of_language
    ]
    path = folder / "XNLI-1.0" / f"xnli.{split}.tsv"
    path.write_text(HEAD + "\n" + "".join(rows), encoding="utf-8")


def measured(encoder: SentenceEncoder, folder: Path, *languages: str) -> Result:
    options = LangidOptions(language=list(languages))
    return evaluate_langid(encoder, DataFolder(folder), options)


@pytest.mark.parametrize("write", [write_columns, write_whole])
def test_both_formats_of_xnli_are_read(tmp_path: Path, write: Callable[..., None]) -> None:
    pairs = toy_pairs()
    write(tmp_path, pairs)
    assert read_xnli(DataFolder(tmp_path), "dev") == pairs
    with pytest.raises(MissingData, match=r"xnli\.test\.tsv"):
        read_xnli(DataFolder(tmp_path), "test")


def test_the_probe_is_that_of_scikit_learn_with_c_of_one() -> None:
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(2)

    def half() -> dict[str, NDArray[np.float32]]:
        """Three languages around points of their own, the first two nearly the same point."""
        places = [[0, 0.0, 0], [0.3, 0.3, 0], [0.9, 0, 0.6]]
        noise = random.standard_normal((3, 150, 3)) * [0.1, 0.5, 0.9]
        rows = [place + own for place, own in zip(np.array(places), noise, strict=True)]
        return dict(zip("abc", [each.astype(np.float32) for each in rows], strict=True))

    train, test = half(), half()
    classes = np.repeat([0, 1, 2], 150)
    shares = [
        LogisticRegression(C=strength, max_iter=2000)
        .fit(np.concatenate(list(train.values())), classes)
        .score(np.concatenate(list(test.values())), classes)
        for strength in (1.0, 0.01, 100.0)
    ]
    assert shares[0] not in shares[1:]
    assert probe_accuracy(train, test) == pytest.approx(shares[0])


def test_languages_with_the_same_vectors_cannot_be_told(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    write_columns(tmp_path, toy_pairs(languages=("de", "en")))
    result = measured(toy_encoder, tmp_path)
    assert result.rows[0].name == "de en"
    assert result.rows[0].items == 2 * (15 + 45)  # half of the premises once, their hypotheses
    assert result.figure(*result.headline) == pytest.approx(0.5)
    assert result.figure("de en", "chance") == 0.5
    assert any("Not comparable" in note for note in result.notes)


def test_the_papers_sets_are_used_where_they_are(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    write_columns(tmp_path, toy_pairs(6, ("en", "de", "fr", "hi", "zh")))
    result = measured(toy_encoder, tmp_path)
    assert [row.name for row in result.rows] == ["en de fr hi"]
    assert result.figure("en de fr hi", "chance") == 0.25
    assert list(result.notes) == ["No set en tr ar bg: tr, ar, bg missing."]
    named = measured(toy_encoder, tmp_path, "zh", "en")
    assert [row.name for row in named.rows] == ["zh en"]
    assert named.notes == []


def test_the_test_split_is_tested_on_where_it_is(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    write_columns(tmp_path, toy_pairs(10))
    write_columns(tmp_path, toy_pairs(5), "test")
    result = measured(toy_encoder, tmp_path)
    assert result.split == "trained on XNLI dev, tested on XNLI test"
    assert result.rows[0].items == 2 * (5 + 15)
    (tmp_path / "xnli" / "test-zh.tsv").unlink()
    with pytest.raises(FileError, match="dev or test lacks zh"):
        measured(toy_encoder, tmp_path)
