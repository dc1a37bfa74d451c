"""Several files of pairs: which languages each is in, and in which order they are read."""

from pathlib import Path

import numpy as np
import pytest

from tests.toys.languages import write_pairs
from xmine.errors import FileError
from xmine.pairs.io import read_parallel
from xmine.pairs.language_pairs import named_languages, settle_languages

Told = tuple[str, str] | None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("en-de.tsv", ("en", "de")),
        ("/data/my-set/news.en-pt-BR.tsv.gz", ("en", "pt-BR")),
        ("train_zh_CN-en_v2.jsonl", ("zh_CN", "en")),
        ("eng_Latn-ceb_Latn.parquet", ("eng_Latn", "ceb_Latn")),
        ("deu-eng.tmx.zst", ("deu", "eng")),
        ("en-de", ("en", "de")),
        ("new-set.tsv", None),  # words of three letters that are no known codes
        ("my-en-de.tsv", None),  # two readings
        ("en-de.en-fr.tsv", None),
        ("en-dem.tsv", None),
        ("ten-de.tsv", None),
        ("en-de/pairs.tsv", None),
        ("EN-DE.tsv", None),
        ("-", None),
    ],
)
def test_a_name_says_two_codes_or_nothing(name: str, told: Told) -> None:
    assert named_languages(name) == told


def settled(*names: str, said: dict[str, Told] | None = None) -> list[tuple[tuple[str, str], bool]]:
    return settle_languages(names, [(said or {}).get(name) for name in names])


def test_a_language_of_all_files_is_on_the_side_of_the_first() -> None:
    assert settled("en-de.tsv", "fr-en.tsv", "en-ko.tsv") == [
        (("en", "de"), False),
        (("en", "fr"), True),
        (("en", "ko"), False),
    ]
    turns = [turn for _, turn in settled("de-en.tsv", "fr-en.tsv", "en-ko.tsv")]
    assert turns == [False, False, True]
    # None is in all: nothing is swapped.
    assert [pair for pair, _ in settled("en-de.tsv", "fr-en.tsv", "de-fr.tsv")] == [
        ("en", "de"),
        ("fr", "en"),
        ("de", "fr"),
    ]


def test_what_a_file_says_is_the_order_of_its_sides_and_its_codes_may_be_longer() -> None:
    said: dict[str, Told] = {"en-de.tmx": ("de-DE", "en-US"), "b.tmx": ("en", "fr")}
    assert settled("en-de.tmx", "b.tmx", said=said) == [
        (("de-DE", "en"), False),
        (("fr", "en"), True),
    ]


def test_files_without_languages_or_with_the_wrong_ones_are_refused() -> None:
    with pytest.raises(FileError, match=r"b\.tsv\.gz: no languages: neither") as error:
        settled("en-de.tsv", "b.tsv.gz")
    assert "name the file after its languages" in error.value.hint
    with pytest.raises(FileError, match=r"a\.en-fr\.tsv and fr-en\.tsv: both are in en and fr"):
        settled("en-de.tsv", "a.en-fr.tsv", "fr-en.tsv")
    with pytest.raises(FileError, match=r"en-en\.tsv: both sides are in en"):
        settled("en-de.tsv", "en-en.tsv")
    with pytest.raises(FileError, match=r"en-de\.tmx: its languages are en and fr, not en and de"):
        settled("en-ko.tsv", "en-de.tmx", said={"en-de.tmx": ("en", "fr")})


def test_several_files_are_read_one_behind_the_other_with_their_languages(tmp_path: Path) -> None:
    files = [write_pairs(tmp_path, "en-zh", 40), write_pairs(tmp_path, "ko-en", 30, origin="x")]
    both = read_parallel(*files)
    first, second = map(read_parallel, files)
    assert list(both.sources) == [*first.sources, *second.targets]
    assert list(both.targets) == [*first.targets, *second.sources]
    assert both.origins == [""] * 40 + ["x"] * 30
    assert both.languages is not None
    assert both.languages.names == ("en-zh", "en-ko")
    assert both.languages.languages == ("en", "zh", "ko")
    assert both.languages.of_rows.tolist() == [0] * 40 + [1] * 30
    some = both.take(np.array([39, 40, 69]))
    assert some.languages is not None and some.languages.of_rows.tolist() == [0, 1, 1]
    assert [rows.tolist() for rows in some.languages.rows()] == [[0], [1, 2]]
    assert first.languages is None


def test_a_file_that_is_empty_or_in_another_language_is_refused(tmp_path: Path) -> None:
    good, empty = write_pairs(tmp_path, "en-zh", 40), tmp_path / "en-ru.tsv"
    empty.write_text("a\t\n")
    with pytest.raises(FileError, match=r"en-ru\.tsv: no pairs in it"):
        read_parallel(good, empty)
    wrong = write_pairs(tmp_path, "en-ko", 90).rename(tmp_path / "en-ru.tsv")
    with pytest.raises(
        FileError, match=r"en-ru\.tsv: its languages are en and ru, and the text is"
    ):
        read_parallel(good, wrong)
