"""What is dropped wherever the cut is: a score, a flag, copies, what is known to be wrong."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.mining.selection import COPY, WRONG, Eligible, find_eligible, outcomes

SCORES = np.array([1.5, 1.4, 1.3, 1.3, 1.2, 1.1, 1.0, 0.9], dtype=np.float32)
RAISED = ["", "copy,language", "number", "near-copy", "", "number,high", "hub", "copy"]
COPIES = np.array([0, 1, 0, 0, 0, 0, 0, 1], dtype=bool)
UNKNOWN = np.full(8, -1, dtype=np.int8)


def flags_of(names: list[str]) -> Flags:
    each = [set(name.split(",")) for name in names]
    return Flags.of({name: np.array([name in one for one in each], dtype=bool) for name in FLAGS})


def selected(known: dict[int, int] | None = None, **options: object) -> Eligible:
    """Select with copies kept, unless the options say otherwise."""
    labels = UNKNOWN.copy()
    for row, label in (known or {}).items():
        labels[row] = label
    asked = MiningOptions(**{"keep_copies": True, **options})  # type: ignore[arg-type]
    found = find_eligible(SCORES, flags_of(RAISED), COPIES, labels, asked)
    assert (np.diff(found.rows) > 0).all()
    assert all(rows.shape == SCORES.shape and rows.dtype == bool for rows in found.reasons.values())
    return found


def above(rows: int) -> NDArray[np.bool_]:
    """Mark the best `rows` candidates."""
    return np.arange(len(SCORES)) < rows


def test_without_options_all_may_be_kept() -> None:
    for options in ({}, {"top": 2}, {"precision": 0.5}, {"min_prob": 0.5}):
        found = selected(**options)
        assert found.rows.tolist() == list(range(8))
        assert found.dropped(above(8)) == {}


@pytest.mark.parametrize(
    "drop", [["copy"], ["number"], ["copy,number"], [" number", "copy ,"], ["hub", "high,number"]]
)
def test_flags_are_dropped_and_counted(drop: list[str]) -> None:
    names = {name.strip() for each in drop for name in each.split(",")} - {""}
    found = selected(drop=drop)
    flags = [set(each.split(",")) for each in RAISED]
    assert found.rows.tolist() == [row for row in range(8) if not names & flags[row]]
    for size in (0, 2, 6, 8):
        counts = {name: sum(name in each for each in flags[:size]) for name in FLAGS}
        counts["copy"] = 2  # wherever the cut is
        assert found.dropped(above(size)) == {
            name: counts[name] for name in FLAGS if name in names and counts[name]
        }
    # In the order of FLAGS, however they were asked for.
    assert list(found.reasons) == [WRONG, *(name for name in FLAGS if name in names)]


def test_a_flag_whose_name_is_part_of_another_is_another_one() -> None:
    assert selected(drop=["copy"]).rows.tolist() == [0, 2, 3, 4, 5, 6]
    assert selected(drop=["near-copy"]).rows.tolist() == [0, 1, 2, 4, 5, 6, 7]


def test_a_pair_with_two_reasons_counts_for_both() -> None:
    found = selected({1: 0, 4: 0}, drop=["number,language"])
    assert found.rows.tolist() == [0, 3, 6, 7]
    options = {"language": 1, "number": 1}
    assert found.dropped(above(3)) == {WRONG: 2, **options}
    assert found.dropped(above(8)) == {WRONG: 2, **options, "number": 2}


@pytest.mark.parametrize(
    "options", [{}, {"precision": 0.5}, {"threshold": 0.0}, {"min_prob": 0.0}, {"top": 5}]
)
def test_what_is_wrong_goes_in_every_mode_and_is_counted_wherever_the_cut_is(
    options: dict[str, object],
) -> None:
    found = selected({0: 0, 4: 0}, keep_copies=False, **options)
    assert found.rows.tolist() == [2, 3, 5, 6]
    assert found.dropped(above(0)) == found.dropped(above(8)) == {WRONG: 2, COPY: 2}


@pytest.mark.parametrize(
    "options", [{"threshold": 9.0}, {"drop": ["copy", "number"]}, {"keep_copies": False}]
)
def test_what_is_known_to_be_right_stays_in_every_mode(options: dict[str, object]) -> None:
    found = selected(dict.fromkeys((1, 2, 7), 1), **options)
    assert {1, 2, 7} <= set(found.rows.tolist())
    assert not any(rows[[1, 2, 7]].any() for rows in found.reasons.values())


@pytest.mark.parametrize("lowest", [-np.inf, 0.0, 1.25, 1.3, 9.0])
def test_a_number_as_the_threshold_is_the_lowest_score(lowest: float) -> None:
    found = selected(threshold=lowest)
    assert found.rows.tolist() == [row for row in range(8) if float(SCORES[row]) >= lowest]
    assert found.dropped(above(8)) == {}


def test_no_candidates() -> None:
    options = MiningOptions(drop=["copy"], precision=0.9)
    nothing = np.zeros(0, dtype=bool)
    labels = np.zeros(0, dtype=np.int8)
    found = find_eligible(np.zeros(0, dtype=np.float32), flags_of([]), nothing, labels, options)
    assert (found.rows.tolist(), found.dropped(nothing)) == ([], {})


def test_a_run_says_of_each_candidate_what_became_of_it_and_why(tmp_path: Path) -> None:
    files = [Path(__file__).parents[2] / "examples" / name for name in ("en.txt", "zh.txt")]
    asked = MiningOptions(drop=["number", "duplicate"], min_prob=0.3, top=150)
    mined = mine(files[0], files[1], options=asked, run=tmp_path / "run")
    table = pl.read_parquet(tmp_path / "run" / "candidates.parquet")
    kept = table.filter("kept")
    assert len(kept) == len(mined.pairs) == 150 and set(kept["outcome"]) == {"kept"}
    assert kept["reason"].null_count() == 150
    assert (table.filter(pl.col("outcome") == "below")["prob"] < kept["prob"].min()).all()
    dropped = table.filter(pl.col("outcome") == "dropped")
    for flags, why, prob in dropped[["flags", "reason", "prob"]].rows():
        name = why.rpartition(": ")[2].split(", ")[0]
        is_beyond = "beyond the best 150 that --top asks for" in why and prob == kept["prob"].min()
        is_copy = "same text" in why and "copy" in flags
        assert is_beyond or is_copy or (name in asked.drop and name in flags.split(","))
    for flags, evidence, rival in table[["flags", "evidence", "rival"]].rows():
        lines = evidence.split("\n") if evidence else []
        told = [name for name in flags.split(",") if name in ("hub", "length", "high", "duplicate")]
        assert [line.split(": ")[0] for line in lines] == told
        assert (rival is not None) == ("duplicate" in flags)


def test_what_a_flag_drops_too_does_not_hide_that_a_pair_is_a_copy() -> None:
    files = [Path(__file__).parents[2] / "examples" / name for name in ("en.txt", "zh.txt")]
    mined = mine(files[0], files[1])
    first, second = (np.arange(len(mined.candidates.chosen)) == row for row in (0, 1))
    refused = {COPY: first, "language": first | second, "number": first | second}
    kinds, reasons = outcomes(replace(mined, refused=refused))
    assert kinds[:3].tolist() == [2, 2, 0] and reasons[2] is None
    assert str(reasons[0]).endswith("--keep-copies keeps it")
    assert reasons[1] == "dropped for its flag: language, number"
