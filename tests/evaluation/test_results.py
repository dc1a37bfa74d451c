"""What all benchmarks share: results, tables, the files they read."""

import json
import math

from xmine.evaluation.reports.table import as_markdown, as_text, described
from xmine.evaluation.result import Metric, Result, Row, mean_row

ACCURACY = Metric("accuracy", "acc", "share that is right")
ERROR = Metric("error", "err", "mean distance", scale=1, digits=3, better="lower")


def a_result() -> Result:
    rows = [Row("one", 1000, {"accuracy": 0.5, "error": 1.25}), Row("two", 20, {"accuracy": 0.75})]
    return Result(
        "toy",
        "as it comes",
        "none",
        (ACCURACY, ERROR),
        [*rows, mean_row("mean", rows)],
        ("mean", "accuracy"),
        {"k": 4},
        "lines",
        ["a note"],
    )


def test_a_table_prints_shares_times_100_and_gaps_as_a_dash() -> None:
    assert as_text(a_result().cells()) == [
        "      lines   acc    err",
        "one   1,000  50.0  1.250",
        "two      20  75.0      -",
        "mean  1,020  62.5  1.250",
    ]
    assert as_markdown([["a", "b|c"], ["x", "1"]]) == [
        "| a | b\\|c |",
        "| --- | ---: |",
        "| x | 1 |",
    ]
    assert as_text([["", "n"], ["中文", "1"], ["abcd", "10"]]) == [
        "       n",
        "中文   1",
        "abcd  10",
    ]


def test_a_result_goes_through_json_unchanged() -> None:
    result = a_result()
    again = Result.from_json(json.loads(json.dumps(result.as_json(), allow_nan=False)))
    assert again.cells() == result.cells()
    assert again.as_json() == result.as_json()
    assert again.figure("two", "accuracy") == 0.75
    assert again.figure("two", "error") is None
    assert again.figure("three", "error") is None
    assert again.headline == result.headline


def test_what_is_no_number_is_null_in_json_and_a_dash_in_print() -> None:
    broken = Result("x", "", "", (ERROR,), [Row("a", 1, {"error": math.nan})], ("a", "error"))
    assert json.loads(json.dumps(broken.as_json()["rows"]))[0]["figures"] == {"error": None}
    assert broken.cells()[1] == ["a", "1", "-"]
    json.dumps(broken.as_json(), allow_nan=False)  # the headline, too


def test_an_encoder_in_one_line() -> None:
    about = dict(model="m", architecture="bert", pooling="cls", max_length=128, prompt="query: ")
    about |= dict(device="cpu", dtype="float32")
    assert (
        described(about)
        == "m, bert, cls pooling, cut after 128 tokens, prompt 'query: ', cpu float32"
    )
    plain = {**about, "max_length": None, "prompt": ""}
    assert described(plain) == "m, bert, cls pooling, not cut, no prompt, cpu float32"
