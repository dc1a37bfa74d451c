"""Texts of a folder: told by their names, counted, paired."""

import gzip
from pathlib import Path

import pytest

from xmine.text import glance as module
from xmine.text.glance import glance, is_text, pairs_of


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("en.txt book.en book.de.gz x_en.txt page.html a.srt.xz de.po en.json 句子.txt.zst", True),
        (
            "setup.cfg main.py mk.py pairs.tsv en.tsv package.json README Makefile ci.yml",
            False,
        ),
    ],
)
def test_texts_are_told_by_their_names(names: str, told: bool) -> None:
    assert {name: is_text(name) for name in names.split()} == dict.fromkeys(names.split(), told)


@pytest.mark.parametrize(
    ("texts", "pairs"),
    [
        ({"en.txt": "en", "zh.txt": "zh"}, "en.txt zh.txt"),
        ({"book.de": "de", "book.en": "en", "other.fr": "fr"}, "book.en book.de"),
        ({"x_fr.tsv": "und", "x_de.tsv.gz": "und"}, "x_de.tsv.gz x_fr.tsv"),
        ({"a.en.txt": "und", "b.de.txt": "und"}, ""),
        ({"chapter.txt": "en", "kapitel.txt": "de"}, "chapter.txt kapitel.txt"),
        ({"one.txt": "en", "two.txt": "en"}, ""),
        ({"one.txt": "en", "two.txt": "und"}, ""),
        ({"one.txt": "en", "two.txt": "de", "three.txt": "fr"}, ""),
        ({"fr.po": "fr", "de.po": "de", "en.po": "en"}, "en.po de.po en.po fr.po"),
    ],
)
def test_names_that_differ_in_a_language_make_a_pair(texts: dict[str, str], pairs: str) -> None:
    assert " ".join(name for pair in pairs_of(texts.items()) for name in pair) == pairs


def test_a_text_is_counted_and_a_long_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "The cat sat on the mat, and it was happy with all that there is.\n" * 3000
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode()))
    both = [str(tmp_path / name) for name in ("a.txt", "b.txt.gz")]
    assert [*map(glance, both)] == [("3,000 lines", "en")] * 2
    monkeypatch.setattr(module, "_COUNTED", 100)
    module._glance.cache_clear()
    assert [*map(glance, both)] == [("", "en")] * 2
