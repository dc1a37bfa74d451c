"""Several judges, verdicts of before, and files that are torn, as one judge sees them."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.toys.app import drive
from tests.toys.screens import screen_cells, screen_text, settled
from xmine.browsing.opening import open_pairs
from xmine.judging.judgements import Judgements
from xmine.judging.report import Report
from xmine.judging.samples import Sample
from xmine.tui.app import XmineApp
from xmine.tui.widgets.pair_detail import PairDetail


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    texts = [
        f"{0.9 - n / 100}\tRoom {n} is taken, Mr Weber.\tZimmer {n}, Weber\n" for n in range(9)
    ]
    path.write_text("".join(texts), encoding="utf-8")
    return path


def test_ones_own_verdict_stands_first_and_others_are_not_counted(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XMINE_JUDGE")
    ann, bob = (Judgements.open(open_pairs(pairs), name) for name in ("ann", "bob"))
    ann.judge_all(range(4), "accept")
    bob.judge_all(range(2, 6), "reject")
    with bob.path.open("a") as file:
        file.write("7\t\t\t\tacc")

    async def seen(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        rows = screen_text(app)
        assert "tsv:10: not a whole line of a verdict" in " ".join("".join(rows).split())
        of_each = {"ann": "✓ ✓ ✓≠✓≠ ✗ ✗", "bob": " ✓ ✓✗≠✗≠✗ ✗ ", "cem": " ✓ ✓ ≠ ≠ ✗ ✗"}
        for name, signs in of_each.items():
            await pilot.press("b", *name, "enter")  # what is prefilled is replaced
            await settled(pilot)
            rows = screen_text(app)
            assert "".join(row[1:3] for row in rows[2:8]) == signs
            own = 0 if name == "cem" else 4
            assert (f"{own} judged, by {name}" in rows[0]) == bool(own) and name in rows[0]
        await pilot.press("a")
        assert app.judgements.by == "cem" and app.judgements.counts().accept == 1

    drive(XmineApp(pairs), (100, 30), seen)
    assert b"\tacc\n" in bob.path.read_bytes()  # the next verdict does not stick to it


def test_where_judges_differ_somebody_decides_beside_their_verdicts(pairs: Path) -> None:
    ann, bob = (Judgements.open(open_pairs(pairs), name) for name in ("ann", "bob"))
    ann.judge_all(range(6), "accept")
    bob.judge_all(range(3), "accept")
    bob.judge(3, "source")
    bob.judge(4, "reject")
    bob.note(4, "a half")

    async def seen(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)

        async def pressed(*keys: str) -> str:
            await pilot.press(*keys)
            await settled(pilot)
            return "\n".join(screen_text(app))

        text = await pressed("V")
        assert "Judges differ 1 of 2" in text and "ann: ✓ accept" in text
        assert "bob: ✗ source too long" in text and "Room 3" in text
        text = await pressed("2")
        assert "✗ wrong language: 1 of 2; z takes it back" in text
        assert "bob: ✗ reject" in text and "¶ bob: a half" in text
        assert "1 of 2" in await pressed("z") and app.judgements.decided(3) is None
        assert "2 of 2" in await pressed("1")
        text = await pressed("a")
        report = [*Report(app.view.opened, app.judgements).lines().items()]
        assert "all is decided" in text and report
        for of, said in report:
            assert f"{of} {said}" in " ".join(text.split())
        assert "no two judges differ" in await pressed("q", "V")

    drive(XmineApp(pairs), (100, 40), seen)
    found = Judgements.open(open_pairs(pairs), "ann")
    assert found.words(3) == {"ann": "accept", "bob": "source"}
    decided = [(each.judge, each.word) for each in map(found.decided, (3, 4)) if each]
    assert decided == [("tester", "partial"), ("tester", "accept")]
    assert found.of(3) == "reject" and found.of(4) == "accept"


def test_counts_and_precision_are_of_ones_own_verdicts_on_all_screens(
    run_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run_copy.parent)
    opened = open_pairs(run_copy)
    Judgements.open(opened, "bob").judge_all(range(len(opened)), "reject")
    ann = Judgements.open(opened, "tester")
    rows = Sample(opened, opened.cut, 12).rows.tolist()
    ann.judge_all(rows[:11], "accept")

    async def seen(pilot: Any) -> None:
        app, tops = pilot.app, list[str]()
        await settled(pilot)
        for keys in ("p", "t", "p v 1 2 enter", "a", "q", "o"):
            await pilot.press(*keys.split())
            await settled(pilot)
            tops.append("\n".join(screen_text(app)))
        pairs, threshold, judge, end, _, home = tops
        assert "11 judged, by tester" in pairs and "judged 1.00 (0.80 to 1.00) of 11" in threshold
        assert "11 ✓  0 ✗" in judge and "precision, judged         1.00" in end
        assert "1.00 of 12" in home

    drive(XmineApp(run_copy), (120, 40), seen)


@pytest.mark.parametrize(
    ("plan", "size"),
    [
        *(("6 random", size) for size in ((43, 46), (80, 24), (140, 40), (200, 60))),
        ("20 random", (80, 24)),
    ],
)
def test_the_machine_and_others_are_heard_after_the_verdict(
    run_copy: Path, size: tuple[int, int], plan: str
) -> None:
    opened = open_pairs(run_copy)
    ann = Judgements.open(opened, "ann")
    ann.judge_all(range(len(opened)), "accept")
    ann.note(0, "a note")
    names = {
        name for row in range(len(opened)) for name in (opened.pair(row).flags or "").split(",")
    }
    heard = {"prob", "score", "ann", "kept", "below", *filter(None, names)}

    async def seen(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        app.judge_sample(plan)
        await settled(pilot)
        flagged = set[str]()
        for _ in range(20 if plan == "20 random" else 6):
            row, pane = app.screen.judged_row(), app.screen.query_one(PairDetail).region
            cells = screen_cells(app)[pane.y : pane.bottom]
            text = "".join(text for line in cells for text, _ in line)
            for side in opened.pair(row)[:2]:
                text = text.replace(side, "")
            said = set(re.findall(r"\w+", text))
            styles = {style for line in cells for _, style in line}
            assert not said & heard and not any("underline" in style for style in styles)
            await pilot.press("x")
            await settled(pilot)
            text = " ".join("\n".join(screen_text(app)).split())
            flags = [*filter(None, (opened.pair(row).flags or "").split(","))]
            assert "≠ ann: ✓ accept" in text
            assert f"prob {opened.pair(row).prob:.4f}" in text
            assert all(f"! {name}: " in text for name in flags)
            flagged |= {*flags}
        assert flagged or plan != "20 random"

    drive(XmineApp(run_copy), size, seen)


def test_a_run_is_not_measured_by_the_verdicts_that_it_was_given(run_copy: Path) -> None:
    for given in (False, True):
        opened = open_pairs(run_copy)
        opened.run["also"] = {"seed_pairs": given}
        judgements = Judgements.open(opened, "ann")
        judgements.judge_all(range(len(opened)), "accept")
        os.utime(run_copy / "source.parquet", (4e9, 4e9))  # mined later than judged
        judgements = Judgements.open(opened, "ann")
        assert judgements.counts().accept == len(opened)
        assert (Report(opened, judgements).everybody.right.of > 0) != given
