"""What is dropped whatever the cut is: too high a score, a flag, what is known to be wrong."""

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.flagged import Flags
from xmine.options import FLAGS, MiningOptions
from xmine.selection import Selection, select

SCORES = np.array([1.5, 1.4, 1.3, 1.3, 1.2, 1.1, 1.0, 0.9], dtype=np.float32)
RAISED = ["", "copy,script", "number", "near-copy", "", "number,high", "hub", "copy"]
WRONG = np.array([0, 1, 0, 0, 1, 0, 0, 1], dtype=bool)


def flags_of(names: list[str]) -> Flags:
    each = [set(name.split(",")) for name in names]
    return Flags.of({name: np.array([name in one for one in each], dtype=bool) for name in FLAGS})


def selected(**options: object) -> Selection:
    found = select(SCORES, flags_of(RAISED), WRONG, MiningOptions(**options))  # type: ignore[arg-type]
    assert (np.diff(found.rows) > 0).all()
    assert all(rows.shape == SCORES.shape and rows.dtype == bool for rows in found.reasons.values())
    return found


def above(rows: int) -> NDArray[np.bool_]:
    """Mark the best `rows` candidates."""
    return np.arange(len(SCORES)) < rows


def test_without_options_all_may_be_kept() -> None:
    for options in ({}, {"drop": ["", " ,"]}, {"top": 2}, {"threshold": 1.25}):
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
        assert found.dropped(above(size)) == {
            name: counts[name] for name in FLAGS if name in names and counts[name]
        }
    # In the order of FLAGS, however they were asked for.
    assert list(found.reasons) == [name for name in FLAGS if name in names]


def test_a_flag_whose_name_is_part_of_another_is_another_one() -> None:
    assert selected(drop=["copy"]).rows.tolist() == [0, 2, 3, 4, 5, 6]
    assert selected(drop=["near-copy"]).rows.tolist() == [0, 1, 2, 4, 5, 6, 7]


def test_a_pair_with_two_reasons_counts_for_both() -> None:
    found = selected(drop=["copy,script"], score_max=1.4, precision=0.9)
    assert found.rows.tolist() == [2, 3, 5, 6]
    assert found.dropped(above(3)) == {
        "above --score-max": 1,
        "copy": 1,
        "script": 1,
    }
    assert found.dropped(above(8)) == {
        "above --score-max": 1,
        "copy": 2,
        "script": 1,
        "known to be wrong": 1,  # of three; what a flag has dropped is not counted again
    }


@pytest.mark.parametrize("highest", [1.5, 1.4, 1.3, 1.29999, 0.0, -1.0, float("inf")])
def test_scores_that_are_too_high_are_dropped_and_counted(highest: float) -> None:
    """Compared as the numbers that single precision holds: 1.4 of it is a little less than 1.4."""
    found = selected(score_max=highest)
    stay = [row for row, score in enumerate(SCORES.tolist()) if score <= highest]
    assert found.rows.tolist() == stay
    beyond = 8 - len(stay)
    assert found.dropped(above(8)) == ({"above --score-max": beyond} if beyond else {})
    assert found.dropped(above(1)) == ({"above --score-max": 1} if beyond else {})


def test_what_is_known_to_be_wrong_goes_if_a_precision_is_wanted_alone() -> None:
    found = selected(precision=0.5)
    assert found.rows.tolist() == [0, 2, 3, 5, 6]
    assert found.dropped(above(5)) == {"known to be wrong": 2}
    assert selected(threshold=0.0).rows.tolist() == list(range(8))


def test_no_candidates() -> None:
    options = MiningOptions(drop=["copy"], score_max=1.0, precision=0.9)
    nothing = np.zeros(0, dtype=bool)
    found = select(np.zeros(0, dtype=np.float32), flags_of([]), nothing, options)
    assert (found.rows.tolist(), found.dropped(nothing)) == ([], {})
