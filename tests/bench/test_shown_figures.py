"""Figures that README, docs and the card of the encoder show are those of bench/results."""

import json

import pytest
import shown


@pytest.mark.parametrize("name", shown.shown())
def test_the_rows_of_a_document_have_the_figures_of_the_results(name: str) -> None:
    text = (shown.ROOT / name).read_text(encoding="utf-8")
    assert shown.rewritten(text, shown.shown()[name]) == text, "run: python bench/shown.py"


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
        (benchmark, row["name"], metric): figure
        for benchmark in ("tatoeba", "bitext", "bucc")
        for row in every[benchmark]["rows"]
        for metric, figure in row["figures"].items()
    }
    assert now["tatoeba_en_zh"] == figures["tatoeba", "cmn", "from_english"]
    assert now["tatoeba_zh_en"] == figures["tatoeba", "cmn", "to_english"]
    assert now["newstest2019_en_zh"] == figures["bitext", "newstest2019 zh-en", "backward"]
    assert now["newstest2019_zh_en"] == figures["bitext", "newstest2019 zh-en", "forward"]
    assert now["bucc_oracle_f1"] == figures["bucc", "zh-en oracle", "f1"]
    assert now["bucc_auto_f1"] == figures["bucc", "zh-en auto", "f1"]


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
