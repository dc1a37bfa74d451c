"""Verdicts on pairs: on the disk at once, by several at the same time, whole after a kill."""

import fcntl
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.errors import FileError, OptionError, XmineWarning
from xmine.judging.counts import CODES
from xmine.judging.judgements import Judgements
from xmine.pairs.judgements import HEADER, append, broken_lines, read_from, settled

# One process that becomes one for each judge, so that all of them begin at once.
JUDGING = """
import os, sys
from pathlib import Path
from xmine.judging.judgements import Judgements
from xmine.browsing.opening import open_pairs
opened, count, names = open_pairs(Path(sys.argv[1])), int(sys.argv[2]), sys.argv[3:]
while len(names) > 1 and os.fork():
    names.pop(0)
name = names[0]
judgements = Judgements.open(opened, name, patience=5.0)
for row in range(count):
    judgements.judge(row, "accept" if row % 2 else "reject")
    print(row, flush=True)
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = (
        f'{{"source": "s{n}", "target": "t{n}", "source_line": {n + 5}, "target_line": {n + 9}}}\n'
        for n in range(200)
    )
    path.write_text("".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def opened(pairs: Path) -> Opened:
    return open_pairs(pairs)


def judging(pairs: Path, count: int, *judges: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", JUDGING, str(pairs), str(count), *judges]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_verdict_is_in_the_file_as_soon_as_it_is_given(opened: Opened, pairs: Path) -> None:
    judgements = Judgements.open(opened, "ann")
    assert not judgements.path.exists() and judgements.problem == ""
    judgements.judge(3, "accept")
    text = Path(f"{pairs}.judgements.tsv").read_text(encoding="utf-8")
    assert text.splitlines()[1].split("\t")[:6] == ["8", "12", "", "", "accept", "ann"]
    assert Judgements.open(opened, "bob").of(3) == "accept"


def test_a_later_verdict_beats_an_earlier_one_and_undo_brings_it_back(opened: Opened) -> None:
    judgements = Judgements.open(opened, "ann")
    for verdict in ("accept", "unsure", "reject"):
        judgements.judge(0, verdict)
    judgements.judge(1, "accept")
    found = []
    while rows := judgements.undo():
        found.append((*rows, judgements.of(0), judgements.of(1)))
    assert found == [(1, "reject", ""), (0, "unsure", ""), (0, "accept", ""), (0, "", "")]
    assert Judgements.open(opened).counts().judged == 0


def test_one_undo_takes_back_what_was_said_of_many(opened: Opened, pairs: Path) -> None:
    judgements = Judgements.open(opened, "ann")
    Judgements.open(opened, "bob").judge(4, "reject")
    judgements.judge(2, "unsure")
    judgements.judge_all(range(2, 100), "accept")
    assert judgements.counts().accept == 98
    again = Judgements.open(opened, "ann")
    assert again.codes().tolist() == judgements.codes().tolist()
    assert judgements.undo() == list(range(2, 100))
    assert [judgements.of(row) for row in (2, 3, 4)] == ["unsure", "", "reject"]
    assert judgements.counts().judged == 1
    assert judgements.undo() == [2] and judgements.undo() == []


def test_a_kind_rejects_and_ends_with_the_next_verdict(opened: Opened) -> None:
    ann, bob = Judgements.open(opened, "ann"), Judgements.open(opened, "bob")
    assert ann.judge(0, "partial") and not ann.judge(0, "partial")
    ann.note(0, "only half of it")
    assert bob.refresh() and bob.of(0) == "reject" and bob.words(0) == {"ann": "partial"}
    assert {"partial", "reject"} <= {*bob.said("verdict")[0][1]}
    assert {"ann: partial", "ann: reject"} <= {*bob.said("judge")[0][1]}
    (pair,) = bob.pairs(np.array([0]))
    assert (pair.kind, pair.note) == ("partial", "only half of it")
    ann.judge(0, "reject")
    assert ann.word(0) == "reject" and ann.undo() == [0] and ann.word(0) == "partial"
    with pytest.raises(OptionError, match="'odd' is no judgement"):
        ann.judge(0, "odd")
    labels = read_from(ann.path, 0)[0]
    assert [(each.judgement, each.word) for each in labels[:3]] == [
        ("reject", "partial"),
        ("reject", "partial"),
        ("reject", "reject"),
    ]


def test_of_many_verdicts_the_most_count_and_as_many_on_both_sides_are_unsure() -> None:
    for said, stands in {
        "": "",
        "unsure": "unsure",
        "accept reject": "unsure",
        "accept unsure": "accept",
        "partial language accept partial": "partial",
        "accept accept reject": "accept",
    }.items():
        words = {(False, f"judge {n}"): word for n, word in enumerate(said.split())}
        assert settled(words) == stands
        assert settled({(True, "eve"): "source", **words}, "judge 0") == "source"
        assert settled(words, "judge 0") == (said.split() or [""])[0]


def test_ones_own_verdict_comes_first_and_is_counted_alone(opened: Opened) -> None:
    ann, bob, cem = (Judgements.open(opened, name) for name in ("ann", "bob", "cem"))
    ann.judge(7, "accept")
    bob.judge_all([7, 8], "reject")
    assert not ann.differ(7)  # not looked yet
    assert ann.refresh() and cem.refresh() and not ann.refresh()
    assert list(ann.words(7).items()) == [("ann", "accept"), ("bob", "reject")]
    for who, signs, counted in ((ann, "ar", 1), (bob, "rr", 2), (cem, "ur", 0)):
        assert who.of(7)[0] + who.of(8)[0] == signs and who.differ(7) and not who.differ(8)
        assert who.counts().judged == np.count_nonzero(who.codes(own=True)) == counted
        assert who.codes()[[7, 8]].tolist() == [CODES[who.of(row)] for row in (7, 8)]
    cem.speak_as("bob")
    assert cem.counts().reject == 2 and np.flatnonzero(cem.codes(own=True)).tolist() == [7, 8]
    bob.judge(7, "none")
    assert bob.of(7) == "accept" and bob.counts().judged == 1


def test_verdicts_do_not_stick_to_other_texts_of_the_same_lines(
    opened: Opened, pairs: Path
) -> None:
    Judgements.open(opened, "ann").judge(0, "accept")
    pairs.write_text(pairs.read_text(encoding="utf-8").replace('"s0"', '"other"'), encoding="utf-8")
    with pytest.warns(XmineWarning, match="tsv: 1 verdict has lost its pair"):
        judgements = Judgements.open(open_pairs(pairs), "ann")
    assert judgements.of(0) == "" and judgements.counts().judged == 0


@pytest.mark.filterwarnings("ignore:.*not a whole line")
def test_a_line_cut_short_anywhere_is_passed_over_and_healed(opened: Opened) -> None:
    judgements = Judgements.open(opened, "ann")
    judgements.judge(0, "accept")
    judgements.judge(1, "reject")
    whole = judgements.path.read_bytes()
    first = whole.index(b"\n", len(HEADER)) + 1
    for length in [*range(0, first, 9), *range(first, len(whole))]:
        judgements.path.write_bytes(whole[:length])
        torn = Judgements.open(opened, "ann")
        assert torn.of(0) == ("accept" if length >= first - 1 else "")
        assert torn.of(1) == ("reject" if length == len(whole) - 1 else "")
        is_torn = length > len(HEADER) and whole[length - 1 : length + 1].count(b"\n") == 0
        assert ("tsv:" in broken_lines(judgements.path)) == is_torn
        if length % 27 == 0:
            torn.judge(2, "unsure")
            again = Judgements.open(opened, "ann")
            assert again.of(2) == "unsure" and again.of(1) == ""
            assert again.of(0) == ("accept" if length >= first - 1 else "")


def test_another_version_and_another_file_are_refused(opened: Opened) -> None:
    path = Judgements.open(opened).path
    for content, said in (
        (HEADER.replace(b"version 2", b"version 3"), "version 3, not 2"),
        (b"0.9\thello\tworld\n", "not a file of judgements"),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError, match=said):
            Judgements.open(opened)
        with pytest.raises(FileError, match=said):
            append(path, [])
        assert path.read_bytes() == content


def test_a_disk_that_fills_up_keeps_none_of_many_verdicts(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    judgements = Judgements.open(opened, "ann")
    judgements.judge(0, "accept")
    before, write = judgements.path.read_bytes(), os.write
    with monkeypatch.context() as full:
        full.setattr("xmine.pairs.judgements.os.write", lambda to, data: write(to, data[:200]))
        with pytest.raises(FileError, match="No space left on device"):
            judgements.judge_all(range(9), "reject")
    assert judgements.path.read_bytes() == before
    assert Judgements.open(opened, "ann").counts().judged == judgements.counts().judged == 1
    assert judgements.undo() == [0] and judgements.undo() == []


@pytest.mark.process
def test_processes_that_judge_at_once_lose_nothing_that_they_said_when_some_are_killed(
    opened: Opened, pairs: Path
) -> None:
    whole, killed = judging(pairs, 60, "ann", "bob"), [judging(pairs, 200, x) for x in ("cem", "x")]
    said = []
    for process in killed:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        said.append(len(lines + process.communicate()[0].splitlines()))
    rows, _ = whole.communicate()  # until the last of them has closed it
    assert whole.returncode == 0 and rows.count("\n") == 120
    judgements = Judgements.open(opened)
    for row in range(60):
        told = judgements.words(row)
        assert told["ann"] == told["bob"] == ("accept" if row % 2 else "reject")
    for judge, number in zip(("cem", "x"), said, strict=True):
        assert all(judge in judgements.words(row) for row in range(number)) and number >= 20
    judgements.judge(199, "accept")  # no lock is left behind


def test_a_key_does_not_wait_for_a_process_that_holds_the_file(opened: Opened) -> None:
    judgements = Judgements.open(opened)
    judgements.judge(0, "accept")
    with judgements.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        with pytest.raises(FileError, match="does not let go of it") as error:
            judgements.judge(1, "accept")
        assert time.monotonic() - started < 1.0 and "is not kept" in (error.value.hint or "")
    assert [judgements.of(row) for row in (0, 1)] == ["accept", ""]


TEXTS = [(f"s{n}", f"t{n}") for n in range(40)] + [("yes", "oui"), ("no", "non")] * 8
CHANGES: dict[str, Callable[[list[Any]], list[Any]]] = {
    "as it was": lambda rows: rows,
    "added at the top": lambda rows: [("new", "y")] * 3 + rows,
    "added far above": lambda rows: [("new", "y")] * 5000 + rows,
    "added in the middle": lambda rows: [*rows[:20], ("new", "y"), *rows[20:]],
    "removed at the top": lambda rows: rows[10:],
    "removed in the middle": lambda rows: rows[:5] + rows[9:],
    "moved": lambda rows: rows[30:] + rows[:30],
    "turned round": lambda rows: rows[::-1],
}


@pytest.mark.parametrize("kind", ["without", "lines", "beads"])
@pytest.mark.parametrize("change", CHANGES)
def test_verdicts_stay_with_their_texts_wherever_these_go(
    tmp_path: Path, change: str, kind: str
) -> None:
    def write(rows: list[tuple[str, str]]) -> Opened:
        lines = [f"{x}\t{y}" for x, y in rows]
        if kind != "without":
            lines = [f"{n}\t{n + 2}\t{each}" for n, each in enumerate(lines, 1)]
        names = ("source_line", "target_line") if kind == "lines" else ("source_lines",)
        names = names if kind == "lines" else ("source_lines", "target_lines")
        head = "source\ttarget" if kind == "without" else "\t".join((*names, "source", "target"))
        path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
        return open_pairs(path)

    path = tmp_path / "pairs.tsv"
    before = Judgements.open(write(TEXTS), "ann")
    verdicts = [("accept", "reject", "unsure", "none")[n % 7 % 4] for n in range(len(TEXTS))]
    for row, verdict in enumerate(verdicts):
        before.judge(row, verdict)
    kept = CHANGES[change](list(zip(TEXTS, verdicts, strict=True)))
    rows = [pair if isinstance(pair[0], tuple) else (pair, "none") for pair in kept]
    lost = len([each for each in verdicts if each != "none"])
    lost -= len([each for _, each in rows if each != "none"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        after = Judgements.open(write([texts for texts, _ in rows]), "ann")
    assert after.opened.has_beads == (kind == "beads")
    assert after.opened.lined == (kind != "without")
    assert ["verdicts have lost" in str(each.message) for each in told] == [True] * bool(lost)
    assert f" {lost} verdicts" in after.lost or not lost
    expected = [CODES["" if verdict == "none" else verdict] for _, verdict in rows]
    alone = [n for n, (texts, _) in enumerate(rows) if TEXTS.count(texts) < 2]
    assert after.codes(own=True)[alone].tolist() == [expected[n] for n in alone]
    for texts in {*TEXTS[40:]}:  # of equal texts any has the verdict of any
        same = [n for n, each in enumerate(rows) if each[0] == texts]
        assert sorted(after.codes(own=True)[same].tolist()) == sorted(expected[n] for n in same)
    after.judge_all(range(len(rows)), "unsure")  # replaces each of them, wherever it was said
    assert set(after.codes(own=True).tolist()) == {CODES["unsure"]}
    after.refresh()
    again = Judgements(after.opened, after.path, "ann")
    assert again.refresh() and again.codes(own=True).tolist() == after.codes(own=True).tolist()


def test_where_only_some_pairs_have_lines_their_numbers_stand_for_these(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"source": "a", "target": "b", "source_line": 2, "target_line": 7}\n'
        '{"source": "c", "target": "d"}\n'
    )
    some = Judgements.open(open_pairs(path), "ann")
    some.judge(0, "accept")  # a number could be taken for a line
    assert "\n1\t\t\t\taccept" in some.path.read_text()
