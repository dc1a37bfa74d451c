"""Any cut: what it keeps and how precise that is, as mining says it; the pairs around it."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.toys.opened import opened_run
from xmine.browsing.cuts import Cuts, check_cut, flag_of
from xmine.browsing.opening import open_pairs
from xmine.errors import OptionError
from xmine.judging.counts import Share
from xmine.scoring.probability import Confidence
from xmine.scoring.threshold import expected


def test_a_cut_keeps_and_expects_what_mining_says() -> None:
    opened = opened_run(1000, dropped=[*range(3, 1000, 10), 0, 1])
    cuts = Cuts(opened)
    assert opened.probs is not None
    left = opened.allowed
    assert cuts.rows.tolist() == np.flatnonzero(left).tolist()
    probs = opened.probs[left].astype(np.float64).round(4)
    confidence = Confidence(probs, 150.0)
    for cut in (0.0, 0.0001, 0.1, float(probs[7]), float(probs[150]), 0.5, 0.9999, 1.0):
        found, mined = cuts.at(cut), expected(probs, confidence, cut)
        assert (found.pairs, found.cut) == (mined.pairs, mined.cut)
        assert (found.precision is None) == (mined.pairs == 0)
        if found.precision is not None:
            # Probabilities are kept as 32-bit numbers.
            assert found.precision == pytest.approx(mined.precision, abs=1e-7)
            assert found.interval == pytest.approx(mined.interval, abs=1e-7)


def test_a_cut_keeps_a_share_of_all_translations_in_the_files(tmp_path: Path) -> None:
    opened = replace(opened_run(1000), summary={"translations": 700.0})
    assert opened.probs is not None
    cuts, probs = Cuts(opened), opened.probs.astype(np.float64)
    for cut in (0.0, 0.3, 0.9, 1.1):
        found = float(probs[probs >= cut].sum()) / 700
        assert cuts.recall(cut) == cuts.facts(cut)["recall"] == pytest.approx(found, abs=1e-3)
    assert 0 < float(cuts.recall(0.9) or 0) < float(cuts.recall(0.0) or 0) < 1
    assert Cuts(replace(opened, summary={"translations": None})).recall(0.5) is None
    assert Cuts(replace(opened, summary={"translations": 100.0})).recall(0.0) == 1
    path = tmp_path / "pairs.tsv"
    path.write_text("source\ttarget\tscore\tprob\na\tb\t1\t0.8\nc\td\t1\t0.2\n")
    assert Cuts(open_pairs(path)).recall(0.5) == pytest.approx(0.8)  # of those that the file has


def test_what_top_left_out_is_not_counted_but_named_and_what_is_wrong_counts_nowhere() -> None:
    opened = opened_run(1000, dropped=[0, 4])
    left_out = np.isin(np.arange(1000), range(2, 30, 3))
    opened = opened.with_columns(eligible=opened.eligible & ~left_out)
    cuts = Cuts(opened)
    for cut in (0.1, 0.5, float(cuts.ranks[5])):
        assert opened.ranks is not None
        assert cuts.kept_by(cut) == int(opened.kept(cut).sum())
        more = int((~opened.eligible & opened.allowed & (opened.ranks >= cut)).sum())
        assert cuts.taken_back(cut) == cuts.facts(cut)["taken_back"] == more > 0
    assert cuts.near(1.1, 5)[1].tolist() == [1, 3, 6, 7, 9]
    every = Cuts(opened, np.flatnonzero(opened.allowed))
    assert every.kept_by(0) == cuts.kept_by(0) + 10 == 998


def test_the_pairs_around_a_cut_are_the_nearest_on_both_sides() -> None:
    cuts = Cuts(opened_run(1000))
    above, below = cuts.near(0.5, 20)
    kept = cuts.kept_by(0.5)
    assert above.tolist() == list(range(kept - 20, kept))
    assert below.tolist() == list(range(kept, kept + 20))
    assert [len(rows) for rows in cuts.near(1.1, 20)] == [0, 20]
    assert [len(rows) for rows in cuts.near(0, 20)] == [20, 0]


def test_a_cut_stays_among_the_probabilities_and_near_the_scores(tmp_path: Path) -> None:
    opened = opened_run(1000)
    assert opened.probs is not None
    for best, highest in ((0.95, 0.9501), (1.0, 1.0)):  # no option makes a cut above 1
        probs = np.minimum(opened.probs, np.float32(best))
        probs[0] = best
        run = Cuts(opened.with_columns(prob=probs))
        assert [run.within(cut) for cut in (-0.2, 0.0, 0.3, 7.0)] == [0, 0, 0.3, highest]
    path = tmp_path / "pairs.jsonl"
    rows = (
        f'{{"source": "a", "target": "b", "score": {score}}}' for score in (1.23456, 1.1, 0.9505)
    )
    path.write_text("\n".join(rows) + "\n")
    file = Cuts(open_pairs(path))
    # All are kept at the one end, and none at the other.
    assert [file.within(cut) for cut in (-9, 1.0, 9)] == [0.9505, 1.0, 1.2347]


def test_a_cut_that_no_option_makes_is_refused(tmp_path: Path) -> None:
    run = opened_run(10)
    for cut in (0.0, 0.4892, 1.0):
        check_cut(run, cut)
    for cut in (-0.01, 1.2, math.inf):
        with pytest.raises(OptionError, match="cut by probability") as refused:
            check_cut(run, cut)
        assert f"--threshold {cut:g}" in (refused.value.hint or "")
    scored = run.with_columns(prob=pl.lit(None, pl.Float32))
    check_cut(scored, 1.2)
    for opened in (run, scored):
        with pytest.raises(OptionError, match="a cut at nan"):
            check_cut(opened, math.nan)


def test_files_without_scores_or_estimates(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"source": "a", "target": "b"}\n')
    with pytest.raises(OptionError, match="has no scores"):
        Cuts(open_pairs(path))
    path.write_text(
        '{"source": "a", "target": "b", "score": 1.23456}\n{"source": "c", "target": "d"}\n'
    )
    cuts = Cuts(open_pairs(path))
    assert (len(cuts), cuts.start(), cuts.at(1.0).pairs) == (1, 1.2345, 1)
    assert cuts.at(1.0).precision is None
    lowest = tmp_path / "lowest.tsv"
    lowest.write_text("-inf\ta\tb\n1.0\tc\td\n")
    cuts = Cuts(open_pairs(lowest))
    assert (cuts.start(), cuts.at(cuts.start()).pairs, cuts.at(0.0).pairs) == (-np.inf, 2, 1)


def test_the_flag_makes_the_very_cut() -> None:
    run = opened_run(10)
    scored = run.with_columns(prob=pl.lit(None, pl.Float32))
    for opened, wanted in ((run, "--min-prob"), (scored, "--threshold")):
        for cut in (1.0, 0.05, 0.4892, 1e-4):
            option, value = flag_of(opened, cut).split()
            assert option == wanted and float(value) == cut


def test_wilsons_interval_is_that_of_the_books() -> None:
    # 90 %: z = 1.645; 8 of 10 by hand.
    assert Share(8, 10).interval == pytest.approx((0.5408, 0.9314), abs=5e-4)
    assert Share(10, 10).interval == pytest.approx((0.7870, 1.0), abs=5e-4)
    assert Share(0, 0).interval is None and Share(0, 0).share is None
