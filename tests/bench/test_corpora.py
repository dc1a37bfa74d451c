"""Generated corpora: the same for everyone, all lines different, as near to each other as news."""

import hashlib
import json
import re
from pathlib import Path

import corpora
import numpy as np
import pytest
from drawn_lines import DOCUMENT, Corpus
from wordlists import word_lists

from xmine.encoders.encoder import EMBEDDED
from xmine.encoders.modules.static import StaticEmbedding
from xmine.files.reading import read_lines

LINES = 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("corpora")
    corpora.write_corpora(made, LINES, seed=3, translated=0.4)
    return made


def test_the_files_are_the_same_on_any_machine(folder: Path) -> None:
    names = ("en.txt", "zh.txt", "gold.tsv")
    digests = [hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16] for name in names]
    assert digests == ["71bc8689ac49d5db", "98c710867bd43eba", "02596686ebbb7904"]


def test_a_line_does_not_depend_on_the_lines_beside_it() -> None:
    corpus = Corpus(100, seed=7)
    numbers = np.arange(100)
    alone = [corpus.chinese(numbers[at : at + 1])[0] for at in range(100)]
    assert corpus.chinese(numbers) == alone
    backwards = corpus.english(numbers[::-1])
    assert backwards[::-1] == corpus.english(numbers)


def test_seeds_differ() -> None:
    numbers = np.arange(50)
    ours, theirs = (Corpus(50, seed).english(numbers) for seed in (1, 2))
    assert not set(ours) & set(theirs)


def test_gold_names_the_translations_and_no_others(folder: Path) -> None:
    english, chinese = (list(read_lines(folder / name)) for name in ("en.txt", "zh.txt"))
    rows = [line.split("\t") for line in read_lines(folder / "gold.tsv")]
    gold = {(english[int(ours) - 1], chinese[int(theirs) - 1]) for ours, theirs in rows}
    assert len(english) == len(chinese) == LINES
    assert len(rows) == len(gold) == 0.4 * LINES
    corpus = Corpus(2 * LINES - len(rows), seed=3)
    numbers = np.arange(2 * LINES - len(rows))
    ours, theirs = corpus.english(numbers), corpus.chinese(numbers)
    assert gold == set(zip(ours[: len(rows)], theirs[: len(rows)], strict=True))
    assert sorted(english) == sorted(ours[:LINES])
    assert sorted(chinese) == sorted(theirs[: len(rows)] + theirs[LINES:])


def test_the_lines_are_in_no_order(folder: Path) -> None:
    rows = np.array([line.split("\t") for line in read_lines(folder / "gold.tsv")], dtype=int)
    assert (np.diff(rows[:, 0]) > 0).all()
    assert abs(np.corrcoef(rows.T)[0, 1]) < 0.1


@pytest.mark.parametrize("translated", [0.0, 1.0])
def test_none_or_all_lines_have_a_translation(tmp_path: Path, translated: float) -> None:
    corpora.write_corpora(tmp_path, 50, seed=1, translated=translated)
    assert (tmp_path / "gold.tsv").read_text().count("\n") == 50 * translated
    assert len(read_lines(tmp_path / "en.txt")) == len(read_lines(tmp_path / "zh.txt")) == 50


def test_one_line() -> None:
    assert len(Corpus(1, seed=1).english(np.arange(1))) == 1


def test_lines_are_written_as_text_is(folder: Path) -> None:
    english, chinese = (read_lines(folder / name) for name in ("en.txt", "zh.txt"))
    assert all(re.fullmatch(r"[A-Z0-9]\w*(,? \w+)*\.", line) for line in english)
    assert all(
        re.fullmatch("[\u4e00-\u9fff0-9]+(，[\u4e00-\u9fff0-9]+)*。", line) for line in chinese
    )
    for lines in (english, chinese):
        assert 0.1 < np.mean([bool(re.search(r"\d", line)) for line in lines]) < 0.7


def test_a_translation_is_the_nearest_chinese_piece() -> None:
    lists = word_lists(topics=4, members=10)
    body = StaticEmbedding.load(EMBEDDED)
    pieces = [piece for piece, _ in json.loads(body.pieces.tokenizer)["model"]["vocab"]]
    unit = body.vectors / np.maximum(np.linalg.norm(body.vectors, axis=1, keepdims=True), 1e-9)
    chinese = [
        row for row, piece in enumerate(pieces) if re.fullmatch("[\u4e00-\u9fff]{1,4}", piece)
    ]
    for word in ("wait", "basic", "there"):
        at = lists.english.index(word)
        cosines = unit[chinese] @ unit[pieces.index(f"▁{word}")]
        first, second = np.argsort(-cosines)[:2]
        assert lists.chinese[at] == pieces[chinese[first]]
        assert lists.others[at] == pieces[chinese[second]]
    assert lists.english[lists.words :] == lists.chinese[lists.words :]


def test_a_topic_is_a_word_and_those_nearest_to_it() -> None:
    lists = word_lists(topics=4, members=10)
    assert lists.topics.shape == (4, 10)
    assert (lists.topics[:, 0] == 150 + np.arange(4) * (lists.words - 150) // 4).all()
    assert lists.topics.max() < lists.words


def test_documents_share_words() -> None:
    """Lines of one document have more words in common than lines of two."""
    corpus = Corpus(240, seed=1)
    few = Corpus(DOCUMENT, seed=1)  # one document
    numbers = np.arange(12)

    def common(lines: list[str]) -> float:
        sets = [set(line.lower().split()) for line in lines]
        return float(np.mean([len(a & b) for a in sets for b in sets if a is not b]))

    assert common(few.english(numbers)) > common(corpus.english(numbers))
