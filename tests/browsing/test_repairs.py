"""Repairs and notes: kept beside the verdicts, exported, taken back; old files go on."""

from pathlib import Path

import numpy as np
import pytest

from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery, select
from xmine.browsing.repairs import Bead, Repair, Unit
from xmine.judging.export import standing_pairs
from xmine.judging.judgements import Judgements
from xmine.pairs.io import read_pairs, read_parallel, write_pairs
from xmine.pairs.judgements import HEADER
from xmine.pairs.known import read_known
from xmine.pairs.pair import Pair

ODD = "a\ttab, a\nline, a \\ and \r, \u2028 and “quotes”, 一二"
V1 = b"# judgements of xmine, version 1: source_line target_line source_offset target_offset "
V1 += b"judgement judge texts time\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = [Pair(f"s{n}", f"t{n}", 1.0, n + 5, n + 9, flags="partial") for n in range(1500)]
    write_pairs(rows, str(tmp_path / "pairs.tsv"))
    return tmp_path / "pairs.tsv"


def repair(text: str = ODD, lines: str = "6-7") -> Repair:
    bead = Bead((Unit(lines, text),), (Unit("10", "t1"),))
    return Repair("merge,edit", (bead, bead))


def exported(judgements: Judgements, to: Path) -> bytes:
    rows = np.arange(1500)
    write_pairs(judgements.pairs(rows), str(to))
    return to.read_bytes()


def test_a_repair_and_its_undo_leave_the_export_as_it_was(path: Path, tmp_path: Path) -> None:
    judgements = Judgements.open(open_pairs(path), "ann")
    judgements.judge(1, "reject")
    before = exported(judgements, tmp_path / "before.tsv")
    judgements.repair({1: repair(), 2: Repair("move", ())})
    assert judgements.of(1) == "accept" and judgements.of(2) == ""  # nothing of it to accept
    judgements.note(1, "a\tnote\n")
    assert exported(judgements, tmp_path / "now.tsv") != before
    judgements.undo()
    judgements.undo()
    assert exported(judgements, tmp_path / "after.tsv") == before
    again = Judgements.open(open_pairs(path), "bob")
    assert again.of(1) == "reject" and again.repair_of(1) is None and not again.notes(1)


def test_what_others_read_is_what_was_repaired_whatever_the_text(
    path: Path, tmp_path: Path
) -> None:
    judgements = Judgements.open(open_pairs(path), "ann")
    judgements.repair({1400: repair()})
    judgements.note(1400, ODD)
    judgements.judge(1400, "unsure")  # keeps repair and note
    judgements.judge(1400, "reject")
    again = Judgements.open(open_pairs(path), "bob")
    assert again.repair_of(1400) == repair() and again.notes(1400) == {"ann": ODD}
    pairs = list(again.pairs(np.array([0, 1400])))
    assert [each.source for each in pairs] == ["s0", ODD, ODD]
    assert (pairs[1].source_line, pairs[1].target_line) == (6, 10)
    assert (pairs[1].flags, pairs[1].score, pairs[1].repaired) == ("", None, "merge,edit")
    texts = [(each.source, each.target) for each in again.pairs(np.arange(1500))]
    assert texts[1399:1403] == [
        ("s1399", "t1399"),
        *[(ODD, "t1")] * 2,
        ("s1401", "t1401"),
    ]
    learnt = read_parallel(path, read=standing_pairs)
    assert [*zip(learnt.sources, learnt.targets, strict=True)] == texts
    judgements.judge(7, "accept")
    assert [each.source for each in read_known(path).pairs] == [12]  # not of what was repaired
    write_pairs(again.pairs(np.arange(1500)), str(tmp_path / "o.tsv"))
    late = list(read_pairs(tmp_path / "o.tsv"))[1401]  # behind what TSV looks at for its columns
    assert late.repaired == "merge,edit" and late.note and late.note.startswith("a tab")


def test_an_old_file_is_read_and_goes_on(path: Path) -> None:
    opened = open_pairs(path)
    judgements = Judgements.open(opened, "ann")
    judgements.judge(0, "accept")
    lines = judgements.path.read_bytes().removeprefix(HEADER)
    judgements.path.write_bytes(V1 + lines)
    old = Judgements.open(opened, "ann")
    old.judge(1, "reject")
    assert judgements.path.read_bytes().startswith(V1)  # an older xmine still reads all of it
    old.note(1, "why")
    again = Judgements.open(opened)
    assert again.of(0) == "accept" and again.notes(1) == {"ann": "why"}


@pytest.mark.filterwarnings("ignore:.*not a whole line")
def test_a_repair_cut_short_is_none_and_one_that_is_odd_is_passed_over(path: Path) -> None:
    opened = open_pairs(path)
    judgements = Judgements.open(opened, "ann")
    judgements.repair({1: repair()})
    whole = judgements.path.read_bytes()
    for length in range(len(HEADER), len(whole) - 1, 7):
        judgements.path.write_bytes(whole[:length])
        assert Judgements.open(opened).repair_of(1) is None and not Judgements.open(opened).of(1)
    for more in (b'{"repair": {"how": 3}}', b'{"repair": [[]]}', b'{"note": 3}', b"{no json}"):
        judgements.path.write_bytes(whole[: whole.index(b"{")] + more + whole[-22:])
        torn = Judgements.open(opened)
        assert torn.repair_of(1) is None and not torn.notes(1)
        assert torn.of(1) == ("" if b"json" in more else "accept")


def test_repaired_pairs_conflicts_and_judges_are_found(path: Path) -> None:
    opened = open_pairs(path)
    ann, bob = Judgements.open(opened, "ann"), Judgements.open(opened, "Bob B")
    ann.judge_all([1, 2, 3], "accept")
    bob.judge_all([2, 4], "reject")
    bob.judge(3, "unsure")
    ann.repair({5: repair()})
    ann.refresh()

    def found(line: str) -> list[int]:
        return select(opened, PairQuery(line), said=ann.said).tolist()

    assert found("verdict = repaired") == [5] and found("verdict = conflict") == [2]
    assert found("judge = ann") == [1, 2, 3, 5] and found("judge = 'Bob B: reject'") == [2, 4]
    assert found("verdict = reject") == [4]
    assert found("verdict = repaired AND judge = 'Bob B'") == []
    ann.judge(5, "none")
    assert found("verdict = repaired") == [5]  # with any verdict, or none
