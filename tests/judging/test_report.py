"""What several judges say: agreement by published figures, work, conflicts, who decides."""

from pathlib import Path

import pytest

from tests.toys.opened import opened_run
from xmine.browsing.cuts import Cuts
from xmine.judging.counts import CODES
from xmine.judging.judgements import Judgements
from xmine.judging.report import Report, alpha_of, conflicts

# Krippendorff, Computing Krippendorff's alpha-reliability (2011), section C: 4 observers, 12 units.
OBSERVED = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]


def test_alpha_is_that_of_krippendorffs_example() -> None:
    units = [[each for each in unit if each != "."] for unit in zip(*OBSERVED, strict=True)]
    assert alpha_of(units) == pytest.approx(0.743, abs=5e-4)
    assert alpha_of([["a", "a"], ["b", "b", "b"], ["a"]]) == 1.0
    assert alpha_of([["a", "a"]]) is None is alpha_of([["a"], []])


def test_labels_are_compared_with_the_estimate_and_each_other(tmp_path: Path) -> None:
    opened = opened_run(200, tmp_path / "pairs.jsonl")
    kept = int(opened.kept(0.5).sum())
    ann, bob = Judgements.open(opened, "ann"), Judgements.open(opened, "bob")
    for row in (0, 1, 2, kept):
        ann.judge(row, "accept")
    ann.judge(3, "unsure")
    ann.judge(199, "reject")
    bob.refresh()
    for row, verdict in ((0, "accept"), (1, "accept"), (2, "reject"), (199, "reject")):
        bob.judge(row, verdict)
    report = Report(opened, bob)
    assert report.everybody.right.of == 0  # the best pairs alone do not tell how good all are
    assert report.expected == pytest.approx(float(Cuts(opened).at(0.5).precision or 0), abs=1e-6)
    ((first, second, same),) = report.twos
    assert (first, second) == ("ann", "bob") and (same.so, same.of) == (3, 4)
    said = report.lines()
    assert (said["ann"], said["bob"]) == ("6 pairs", "4 pairs")
    assert said["ann, bob"] == str(same)
    assert said["all judges"] == "alpha 0.53, 4 common pairs"


def test_conflicts_are_left_until_somebody_decides_who_overwrites_nobody(tmp_path: Path) -> None:
    opened = opened_run(40, tmp_path / "pairs.jsonl")
    ann, bob, eve = (Judgements.open(opened, name) for name in ("ann", "bob", "eve"))
    ann.judge_all(range(8), "accept")
    bob.judge_all(range(4, 12), "partial")
    eve.refresh()
    assert conflicts(eve) == [4, 5, 6, 7] and eve.of(4) == "unsure"
    eve.judge(4, "source", adjudicates=True)
    eve.judge(5, "accept", adjudicates=True)
    assert ann.refresh() and bob.refresh()
    for each in (ann, bob, eve, Judgements.open(opened, "cem")):
        assert conflicts(each) == [6, 7]
        assert (each.word(4), each.of(4), each.of(5)) == ("source", "reject", "accept")
        assert each.words(4) == {"ann": "accept", "bob": "partial"}
        assert (each.decided(4) or ())[:3] == (4, "eve", "source")
        assert each.codes()[[4, 5]].tolist() == [CODES["reject"], CODES["accept"]]
    report = Report(opened, ann)
    assert (report.open, report.everybody.decided) == (2, 2)
    assert (report.judges["eve"].counts.judged, report.judges["eve"].decided) == (0, 2)
    assert report.judges["bob"].kinds == {"partial": 8} and report.everybody.kinds["source"] == 1
    ((_, _, same),) = report.twos
    assert (same.so, same.of) == (0, 4)  # what was decided says nothing of how they agree
    assert eve.undo() == [5] and conflicts(eve) == [5, 6, 7]
    assert eve.undo() == [4] and eve.of(4) == "unsure" and not eve.undo()
