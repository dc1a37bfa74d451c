"""Files in several languages are mined two by two, each text encoded once."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.conftest import Run
from xmine.cli.mine_all import language_pairs
from xmine.errors import OptionError
from xmine.files.reading import read_lines
from xmine.mining.pipeline import mine
from xmine.text.by_language import language_of_name, split_by_language
from xmine.text.inputs import text_input

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        *(("c/x.en", "en"), ("c/x.de.txt", "de"), ("c/x.zh-CN.txt.gz", "zh")),
        *(("c/x_pt_BR.txt", "pt"), ("c/x-fr.md", "fr"), ("c/de/x.txt", "de")),
        *(("c/de_DE/LC_MESSAGES/django.po", "de"), ("c/x.deu", "de"), ("c/x.txt", "")),
        ("c/notes/chapter_10.txt", ""),
    ],
)
def test_a_name_says_the_language(path: str, code: str) -> None:
    assert language_of_name(path, "c") == code


def test_the_pairs_of_languages_are_chosen() -> None:
    codes = ["de", "en", "fr"]
    assert language_pairs(codes, "english") == [("en", "de"), ("en", "fr")]
    assert language_pairs(codes[::2], "english") == [("de", "fr")]
    assert language_pairs(codes, "all") == [("de", "en"), ("de", "fr"), ("en", "fr")]
    assert language_pairs(codes, "fr-de, en-de") == [("fr", "de"), ("en", "de")]
    for wrong in ("de", "de-de", "de-it"):
        with pytest.raises(OptionError, match="--pairs"):
            language_pairs(codes, wrong)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Make a folder of the examples; English and Chinese stand in one file, line by line."""
    folder = tmp_path / "corpus"
    (folder / "de").mkdir(parents=True)
    texts = {code: read_lines(EXAMPLES / f"{code}.txt") for code in ("en", "zh", "de")}
    (folder / "de" / "x.txt").write_text("\n".join(texts["de"]) + "\n", encoding="utf-8")
    mixed = [line for pair in zip(texts["en"], texts["zh"], strict=False) for line in pair]
    (folder / "mixed.txt").write_text("\n".join(mixed) + "\n", encoding="utf-8")
    return folder


def test_lines_of_a_mixed_file_keep_their_numbers(corpus: Path) -> None:
    found = split_by_language(str(corpus), ["en", "de", "zh"])
    assert list(found) == ["en", "de", "zh"]
    english, every = list(found["en"].texts()), read_lines(corpus / "mixed.txt")
    assert len(english) == len(every)
    told = [n for n, text in enumerate(english) if text]
    assert all(english[n] == every[n] for n in told)
    assert np.mean([n % 2 == 0 for n in told]) > 0.97
    assert len(told) > 340
    assert found["zh"].survey.digest != found["en"].survey.digest
    assert set(split_by_language(str(corpus), [], ["en", "fr", "zh"])) == {"de", "en", "zh"}


def test_pairs_are_those_of_runs_by_hand_and_texts_are_encoded_once(
    tmp_path: Path, xmine: Run
) -> None:
    for code in ("en", "zh", "de"):
        (tmp_path / f"x.{code}").write_bytes((EXAMPLES / f"{code}.txt").read_bytes())
    (tmp_path / "c").mkdir()
    for path in tmp_path.glob("x.*"):
        path.rename(tmp_path / "c" / path.name)
    ended = xmine(
        "mine-all", "c", "--languages", "en,zh,de", "--pairs", "all", "-o", "all/", "--json"
    )
    assert ended.returncode == 0, ended.stderr.decode()
    assert set(json.loads(ended.stdout)["languages"]) == {"en-zh", "en-de", "zh-de"}
    for target in ("zh", "de"):
        mine(tmp_path / "c" / "x.en", tmp_path / "c" / f"x.{target}", run=tmp_path / target)
        pairs = [
            pl.read_parquet(tmp_path / x / "pairs.parquet") for x in (target, f"all/en-{target}")
        ]
        assert pairs[0].equals(pairs[1].select(pairs[0].columns))
    names = [path.name for path in (tmp_path / "all" / "parts").glob("vectors-*")]
    assert len(names) == 3  # a block of each language
    assert not (tmp_path / "all" / "en-de" / "parts").exists()
    again = xmine("mine-all", "c", "--languages", "eng,zho,deu", "-o", "all/")
    assert again.returncode == 0
    refused = xmine("mine-all", "c", "--languages", "en,zh,de", "-o", "c/")
    assert b"a folder with other files in it" in refused.stderr


def test_two_lists_of_the_same_name_are_two_texts() -> None:
    texts = [text_input(read_lines(EXAMPLES / f"{code}.txt")[:200]) for code in ("en", "zh")]
    assert texts[0].given == texts[1].given
    named = mine(EXAMPLES / "en.txt", EXAMPLES / "zh.txt")
    found = mine(texts[0], texts[1])
    assert len(found.pairs) > 20
    assert found.languages == named.languages
