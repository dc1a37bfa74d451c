"""Figures that README, docs and the card of the encoder show are those of bench/results."""

import json

import pytest
import shown
from language_tables import MINING, PEERS, TATOEBA, WITHOUT_ENGLISH, language_tables

from xmine.text.languages import ISO_639_3


@pytest.mark.parametrize("name", sorted({*shown.shown(), *shown.tables()}))
def test_the_rows_of_a_document_have_the_figures_of_the_results(name: str) -> None:
    text = (shown.ROOT / name).read_text(encoding="utf-8")
    assert shown.as_shown(name, text) == text, "run: python bench/shown.py"


def test_every_row_of_the_readme_is_held() -> None:
    text = (shown.ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("## How good is the embedded encoder?")[1].split("\n\n")[2].splitlines()
    assert [row.split("|")[1].strip() for row in table[2:]] == list(shown.shown()["README.md"])


def test_both_results_of_the_encoder_that_ships_agree() -> None:
    """One is measured by bench/embedded.py --shipped, the other by xmine eval all."""
    results = [
        json.loads((shown.RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("embedded", "embedded-eval")
    ]
    now, every = results[0]["shipped"], results[1]["results"]
    figures = {
        f"{benchmark} {row['name']} {metric}": figure
        for benchmark in ("tatoeba", "bitext", "bucc")
        for row in every[benchmark]["rows"]
        for metric, figure in row["figures"].items()
    }
    for set_ in (
        "tatoeba cmn",
        "bitext newstest2019 zh-en",
        "bucc zh-en oracle",
        "bucc zh-en auto",
    ):
        both = {name for name in figures if name.startswith(f"{set_} ")} & now.keys()
        assert both
        assert {name: now[name] for name in both} == {name: figures[name] for name in both}


@pytest.mark.parametrize(
    ("figure", "digits", "written"),
    [(0.9885, 3, "0.989"), (3.15, 1, "3.2"), (0.9049586776859504, 4, "0.9050"), (1, 2, "1.00")],
)
def test_a_half_goes_up(figure: float, digits: int, written: str) -> None:
    assert shown.rounded(figure, digits) == written


def test_a_row_that_is_not_there_is_told() -> None:
    assert shown.rewritten("| a | 1 | keep |", {"a": ["2"]}) == "| a | 2 | keep |"
    with pytest.raises(SystemExit, match="0 rows begin"):
        shown.rewritten("| b | 1 |", {"a": ["2"]})


FIGURES = {
    "megabytes": 50.4,
    "tatoeba deu to_english": 0.96,
    "tatoeba deu from_english": 0.95,
    "tatoeba deu, reranked to_english": 0.97,
    "tatoeba deu, reranked from_english": 0.98,
    "tatoeba vie to_english": 0.5,
    "tatoeba vie from_english": 0.6,
    "tatoeba vie, reranked to_english": 0.7,
    "tatoeba vie, reranked from_english": 0.8,
    "bitext newstest de-en forward": 0.91,
    "bitext newstest de-en backward": 0.92,
    "bitext newstest de-en, reranked forward": 0.93,
    "bitext newstest de-en, reranked backward": 0.94,
    "bitext FLORES-101 dev deu-zho_simpl forward": 0.7,
    "bitext FLORES-101 dev, mean of 4 forward": 0.9,
    "bitext FLORES-101 dev, mean of 6 without eng forward": 0.81,
    "bitext FLORES-101 dev, mean of 6 without eng backward": 0.82,
    "pseudo-bucc de-en oracle": 0.9,
    "pseudo-bucc de-en auto": 0.89,
    "pseudo-bucc de-en, reranked oracle": 0.96,
    "pseudo-bucc de-en, reranked auto": 0.945,
}


def test_tables_of_languages_have_a_row_for_each_that_was_measured() -> None:
    tables = language_tables(FIGURES, 12345)
    assert tables[TATOEBA] == [
        "| de | 96.0 / 95.0 | 97.0 / 98.0 | 96.5 | 99.4 |",
        "| vi | 50.0 / 60.0 | 70.0 / 80.0 | – | – |",
        "| mean of 2 | 73.0 / 77.5 | 83.5 / 89.0 | – | – |",
        "| size | 50 MB | 50 MB | 433 MB | 1.8 GB |",
        "| lines per CPU-second | 12,345 | – | – | – |",
    ]
    assert tables[MINING] == [
        "| de | 91.0 / 92.0 | 93.0 / 94.0 | 90.0 / 89.0 | 96.0 / 94.5 | -1.5 |"
    ]
    assert tables[WITHOUT_ENGLISH] == ["| FLORES-101 dev | mean of 6 | 81.0 / 82.0 | – |"]
    more = FIGURES | {
        f"pseudo-bucc mean of 9{kind} {cut}": 0.5
        for kind in ("", ", reranked")
        for cut in ("oracle", "auto")
    }
    last = language_tables(more, 1)[MINING][-1]
    assert last == "| mean of 9 | – | – | 50.0 / 50.0 | 50.0 / 50.0 | +0.0 |"


def test_peers_are_averaged_over_what_they_published() -> None:
    known = [code for code in ISO_639_3 if code in PEERS["LaBSE"][1]]
    ways = [
        f"{kind} {way}" for kind in ("", ", reranked") for way in ("to_english", "from_english")
    ]
    figures = {f"tatoeba {ISO_639_3[code]}{way}": 0.9 for code in [*known, "vi"] for way in ways}
    rows = language_tables({"megabytes": 1.0, **figures}, 1)[TATOEBA]
    assert rows[9:11] == [
        "| mean of 8 | 90.0 / 90.0 | 90.0 / 90.0 | 88.8 | 95.8 |",
        "| mean of 9 | 90.0 / 90.0 | 90.0 / 90.0 | – | – |",
    ]


def test_a_table_is_written_below_its_head() -> None:
    text = "a\n\n| x |\n|---|\n| 1 |\n| 2 |\n\nb\n"
    assert shown.with_table(text, "| x |", ["| 3 |"]) == "a\n\n| x |\n|---|\n| 3 |\n\nb\n"
    ending = "| x |\n|---|"
    assert shown.with_table(ending, "| x |", ["| 3 |"]) == "| x |\n|---|\n| 3 |"
    with pytest.raises(SystemExit, match="0 tables begin with this row"):
        shown.with_table(text, "| y |", [])
