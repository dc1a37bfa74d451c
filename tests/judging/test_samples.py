"""Samples of a run: drawn at random, what they say of it, and the lines around a pair."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.toys.opened import opened_run
from xmine.browsing.details import lines_around
from xmine.browsing.opened import Opened, TextColumn, TextSide
from xmine.errors import OptionError
from xmine.judging.counts import CODES, Codes, Counts, Share
from xmine.judging.judgements import Judgements
from xmine.judging.samples import Sample, judged_at_random, read_plan


def judged(opened: Opened, accept: object = (), reject: object = (), unsure: object = ()) -> Codes:
    codes = np.zeros(len(opened), np.int8)
    for name, rows in (("accept", accept), ("reject", reject), ("unsure", unsure)):
        codes[np.asarray(rows, np.int64)] = CODES[name]
    return codes


def test_a_sample_is_drawn_from_all_kept_pairs_and_a_longer_one_goes_on() -> None:
    opened = opened_run(1000, dropped=[3, 4])
    kept = np.flatnonzero(opened.kept(0.2))
    few, more = Sample(opened, 0.2, 20), Sample(opened, 0.2, 50)
    assert more.rows[:20].tolist() == few.rows.tolist()
    assert len(set(more.rows.tolist())) == 50 and set(more.rows.tolist()) <= set(kept.tolist())
    assert sorted(Sample(opened, 0.2, 9999).rows.tolist()) == kept.tolist()
    # Each part of the run has its share.
    places = np.searchsorted(kept, Sample(opened, 0.2, len(kept) // 2).rows) / len(kept)
    assert np.histogram(places, 4, (0, 1))[0].min() > len(kept) / 8 * 0.6
    # What another cut keeps besides stands between the pairs of before.
    wider = Sample(opened, 0.1, 9999).rows
    assert wider[np.isin(wider, kept)].tolist() == Sample(opened, 0.2, 9999).rows.tolist()


def test_a_sample_is_the_same_for_all_and_its_rest_is_dealt_whenever_one_joins(
    tmp_path: Path,
) -> None:
    opened = opened_run(1000, tmp_path / "pairs.jsonl")
    other = Sample(opened_run(1000), 0.5, 100, name="other").rows.tolist()
    assert other == Sample(opened, 0.5, 100, name="other").rows.tolist()
    sample = Sample(opened, 0.5, 100, shared=0.2)
    assert sample.rows.tolist() == Sample(opened, 0.5, 100).rows.tolist() != other
    judges = [Judgements.open(opened, name) for name in ("ann", "bob", "cem", "dan")]
    asked: dict[int, list[str]] = {}
    for turn in range(400):
        for judge in judges[: 1 + turn // 30]:  # one joins after the other
            judge.refresh()
            for row in sample.asked(judge)[:1]:
                asked.setdefault(row, []).append(judge.by)
                judge.judge(row, "accept")
    times = [len(asked[row]) for row in sample.rows.tolist()]
    assert times.count(4) == 20 and times.count(1) == 80
    assert all(len({*each}) == len(each) for each in asked.values())
    alone = [each[0] for each in asked.values() if len(each) == 1]
    assert {*alone} == {"ann", "bob", "cem"}  # all was judged when dan came
    assert len(judged_at_random(opened, judges[3].codes(given=False), 0.5)) == 100


def test_what_somebody_left_behind_goes_to_others_a_day_later(tmp_path: Path) -> None:
    opened = opened_run(1000, tmp_path / "pairs.jsonl")
    sample = Sample(opened, 0.5, 40, shared=0.1)
    ann = Judgements.open(opened, "ann")
    ann.judge(int(sample.rows[-2]), "accept")
    bob = Judgements.open(opened, "bob")
    both = {*sample.asked(ann)} | {*sample.asked(bob)}
    assert {*sample.asked(bob)} < both and len(both) == 39
    ann.path.write_text(re.sub(r"\t20\d\d-", "\t2001-", ann.path.read_text()))
    assert {*sample.asked(Judgements.open(opened, "bob"))} == both


def test_a_sample_tells_the_precision_with_its_interval_and_what_it_says_of_the_cut() -> None:
    opened = opened_run(2000)
    sample = Sample(opened, 0.5, 50)
    rows = sample.rows
    found = sample.said(judged(opened, rows[:40], rows[40:44], rows[44:45]))
    assert found.counts == (5, 40, 4, 1, 0)
    assert found.lines()[:2] == [
        "45 of 50 pairs judged, 1 unsure",
        f"precision, judged         {found.counts.right}",
    ]
    assert found.expected is not None
    low, high = found.expected
    assert f"precision, expected       {low:.2f} to {high:.2f}" in found.lines()
    fewest = next(so for so in range(51) if (Share(so, 50).interval or (0, 0))[1] >= low)
    for accept, said in (
        (range(fewest), "the cut stands"),
        (range(fewest - 1), "raise the cut: fewer"),
        (range(50), "more pairs are right" if high < 0.948 else "the cut stands"),
        (range(int(50 * (low + high) / 2)), "the cut stands"),
        (range(10), "raise the cut: fewer"),
    ):
        verdicts = judged(opened, rows[list(accept)], rows[len(accept) :])
        assert sample.said(verdicts).advice.startswith(said), len(accept)
    assert sample.said(judged(opened)).advice == ""


def test_judged_pairs_tell_of_the_run_only_if_they_are_drawn_from_it() -> None:
    opened = opened_run(2000)

    def right(cut: float = 0.5, *rows: object) -> Share:
        codes = judged(opened, *rows)
        return Counts.of(codes[judged_at_random(opened, codes, cut)]).right

    assert right(0.5, np.arange(30)).share is None
    rows = Sample(opened, 0.5, 9999).rows
    assert right(0.5, rows[:9]).share is None
    assert right(0.5, rows[:9], rows[9:12], rows[12:13]) == Share(9, 12)
    # One that was passed over, and those behind it, may be hard ones.
    assert right(0.5, rows[:20], rows[21:90]) == Share(20, 20)
    assert right(0.5, rows).of == len(rows)  # all that are kept
    assert right(1.1, rows).share is None


def test_the_lines_around_a_sentence_are_the_nearest_in_its_file() -> None:
    lines = np.array([9, 1, 2, 4, 8, 20])
    side = TextSide("x", TextColumn(pl.Series([f"t{line}" for line in lines])), lines)
    assert [lines_around(side, row) for row in range(6)] == [
        *((4, None), (None, 2), (1, 3), (2, None), (None, 0), (None, None)),
    ]
    offsets = np.array([0, 0, 0, 5, 0])
    lines = np.array([1, 2, 3, 2, 4])
    side = TextSide("x", TextColumn(pl.Series(list("abcde"))), lines, offsets)
    assert lines_around(side, 1) == (0, 3) and lines_around(side, 3) == (1, 2)


@pytest.mark.parametrize(
    ("line", "plan"),
    [
        ("50 random", (50, 1)),
        ("7, 20 % shared", (7, 0.2)),
        ("50 random, .1 shared", (50, 0.1)),
        ("", (50, 1)),
    ],
)
def test_a_plan_is_read_from_a_line(line: str, plan: tuple[object, ...]) -> None:
    assert tuple(read_plan(line)) == plan
    for wrong in (f"{line} x", "0", "±.05", "1.5"):
        with pytest.raises(OptionError, match="is no sample"):
            read_plan(wrong)
