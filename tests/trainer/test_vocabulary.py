"""What a vocabulary takes for one and the same text."""

import json
from pathlib import Path

import pytest

from xmine.text.nfkc import nfkc
from xmine.trainer.data.vocabulary import folding_table, model_of, normaliser_rules
from xmine.worker_process import work_apart


@pytest.mark.parametrize(
    ("typed", "folded"),
    [
        ("Straße", "STRASSE"),  # German
        ("l’eau « mot » – x", 'l\'eau " mot " - x'),  # French, typed by a typesetter
        ("İSTANBUL ISPARTA", "istanbul ısparta"),  # Turkish: I with a dot and without
        ("١٢٣ ۴۵ १२३", "123 45 123"),  # digits of Arabic, Persian, Hindi
        ("مُحَمَّدٌ أحمــد", "محمد احمد"),  # vowel signs and strokes of Arabic
        ("ﾃｽﾄ", "テスト"),  # Japanese of half width
        ("한국", "한국"),  # Korean in single letters
        ("Việt", "Vie\u0323\u0302t"),  # Vietnamese in single marks
        ("這個", "这个"),  # traditional Chinese
        ("naïve\u00a0café", "NAI\u0308VE CAFE\u0301"),
    ],
)
def test_ways_to_type_one_text_fold_to_the_same(typed: str, folded: str) -> None:
    table = folding_table()
    assert nfkc(typed).translate(table) == nfkc(folded).translate(table)


@pytest.mark.parametrize(
    ("one", "other"),
    [("schön", "schon"), ("ệ", "e"), ("й", "и"), ("ガ", "カ"), ("क़", "क"), ("ç", "c"), ("ż", "z")],
)
def test_letters_with_marks_stay_apart(one: str, other: str) -> None:
    table = folding_table()
    assert nfkc(one).translate(table) != nfkc(other).translate(table)


def test_another_process_makes_the_same_model(tmp_path: Path) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text(normaliser_rules(), encoding="utf-8")
    texts = [f"word{n} is n{n % 7} and {n * 31}" for n in range(200)]
    given = json.dumps({"texts": texts, "size": 60, "rules": str(rules)}).encode()
    name = "xmine.trainer.data.vocabulary:model_of"
    assert work_apart(name, given, "the vocabulary") == model_of(given)
