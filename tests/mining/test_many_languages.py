"""Files in several languages are mined two by two, each text encoded once."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.conftest import Run
from xmine.errors import OptionError
from xmine.files.reading import read_lines
from xmine.mining.many_languages import (
    MinedLanguages,
    _following,
    language_pairs,
    mine_languages,
)
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.pairs.known import ConfirmedPairs
from xmine.text.by_language import language_of_name, split_by_language
from xmine.text.inputs import text_input

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("c/x.en", "en"),
        ("c/x.de.txt", "de"),
        ("c/x.zh-CN.txt.gz", "zh"),
        ("c/x_pt_BR.txt", "pt"),
        ("c/x-fr.md", "fr"),
        ("c/de/x.txt", "de"),
        ("c/de_DE/LC_MESSAGES/django.po", "de"),
        ("c/x.deu", "de"),
        ("c/x.txt", ""),
        ("c/notes/chapter_10.txt", ""),
    ],
)
def test_a_name_says_the_language(path: str, code: str) -> None:
    assert language_of_name(path, "c") == code


def test_the_pairs_of_languages_are_chosen() -> None:
    codes = ["de", "en", "fr"]
    assert language_pairs(codes) == [("en", "de"), ("en", "fr")]
    assert language_pairs(codes[::2]) == [("de", "fr")]
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
    ended = xmine("mine", "c", "--languages", "en,zh,de", "-o", "all/", "--json")
    assert ended.returncode == 0, ended.stderr.decode()
    assert set(json.loads(ended.stdout)["languages"]) == {"en-zh", "en-de"}
    for target in ("zh", "de"):
        mine(tmp_path / "c" / "x.en", tmp_path / "c" / f"x.{target}", run=tmp_path / target)
        pairs = [
            pl.read_parquet(tmp_path / x / "pairs.parquet") for x in (target, f"all/en-{target}")
        ]
        assert pairs[0].equals(pairs[1].select(pairs[0].columns))
    names = [path.name for path in (tmp_path / "all" / "parts").glob("vectors-*")]
    assert len(names) == 3  # a block of each language
    assert not (tmp_path / "all" / "en-de" / "parts").exists()
    again = xmine("mine", "c", "--languages", "eng,zho,deu", "-o", "all/")
    assert again.returncode == 0
    refused = xmine("mine", "c", "--languages", "en,zh,de", "-o", "c/")
    assert b"a folder with other files in it" in refused.stderr


def test_what_belongs_to_one_pair_of_languages_is_refused(xmine: Run) -> None:
    for option in ("--dry-run", "--plot", "--src-lang en", "--src-vectors a.npy"):
        words = "mine", "c", "--languages", "en,de", "-o", "all/", *option.split()
        assert f"--languages and {option.split()[0]}".encode() in xmine(*words).stderr


def test_two_lists_of_the_same_name_are_two_texts() -> None:
    texts = [text_input(read_lines(EXAMPLES / f"{code}.txt")[:200]) for code in ("en", "zh")]
    assert texts[0].given == texts[1].given
    named = mine(EXAMPLES / "en.txt", EXAMPLES / "zh.txt")
    found = mine(texts[0], texts[1])
    assert len(found.pairs) > 20
    assert found.languages == named.languages


def test_a_third_language_confirms(tmp_path: Path) -> None:
    gold = [tuple(map(int, row.split("\t"))) for row in read_lines(EXAMPLES / "gold.tsv")][:40]
    english, chinese = (read_lines(EXAMPLES / f"{code}.txt") for code in ("en", "zh"))
    texts = {
        "en": [english[x - 1] for x, _ in gold],
        "fr": [f"{english[x - 1]} ." for x, _ in gold],  # a dialect
        "zh": [chinese[y - 1] for _, y in gold],
    }
    (tmp_path / "c").mkdir()
    for code, lines in texts.items():
        (tmp_path / "c" / f"x.{code}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = split_by_language(str(tmp_path / "c"), list(texts))
    pairs = language_pairs(list(texts), "all")
    done = mine_languages(found, pairs, tmp_path / "run", options=MiningOptions(keep_copies=True))
    assert done["en", "zh"].confirmed >= 35
    table = pl.read_parquet(tmp_path / "run" / "en-zh" / "pairs.parquet")
    assert set(table["confirmed"].drop_nulls()) == {"fr"}


def test_the_mining_without_other_languages_is_no_earlier_state_of_a_run(tmp_path: Path) -> None:
    found = split_by_language(f"{EXAMPLES}/*.txt", ["de", "en", "zh"])
    for _ in range(2):
        mine_languages(found, language_pairs(list(found), "all"), tmp_path / "run")
        assert not list((tmp_path / "run").glob("*/since.parquet"))


def test_what_follows_is_as_probable_as_both_legs() -> None:
    def mined(*pairs: tuple[int, int, float]) -> MinedLanguages:
        lines, probs = np.array([pair[:2] for pair in pairs]), np.array([p[2] for p in pairs])
        return MinedLanguages(Path("run"), {}, lines, probs, 0)

    found = {
        ("en", "de"): mined((1, 11, 0.9), (2, 12, 1.0)),
        ("fr", "de"): mined((21, 11, 0.95), (22, 13, 1.0)),
        ("en", "it"): mined((1, 31, 1.0)),
        ("it", "fr"): mined((31, 21, 0.92), (30, 22, 1.0)),
    }
    following = _following(("en", "fr"), found)
    assert following.lines.tolist() == [[1, 21]]
    assert following.probs == pytest.approx([0.92])  # the surer of .9 * .95 and 1 * .92
    assert following.by == ("de,it",)


def test_a_confirmed_pair_rises_and_others_hardly_fall() -> None:
    given = EXAMPLES / "en.txt", EXAMPLES / "zh.txt"
    before = probs_of(mine(*given))
    doubtful = min(before, key=lambda pair: abs(before[pair] - 0.5))
    confirmed = ConfirmedPairs(np.array([doubtful]), np.array([0.95]), by=["fr"])
    after = probs_of(mine(*given, confirmed=confirmed))
    assert after[doubtful] > before[doubtful] + 0.2
    others = [after[pair] - before[pair] for pair in before.keys() & after.keys() - {doubtful}]
    assert min(others) > -0.1


def probs_of(mined: Mined) -> dict[tuple[int, int], float]:
    """Give the probability of each candidate, by its lines."""
    assert mined.confidence is not None
    x, y = (each.tolist() for each in mined.candidates.lines())
    return dict(zip(zip(x, y, strict=True), mined.confidence.probs.tolist(), strict=True))
