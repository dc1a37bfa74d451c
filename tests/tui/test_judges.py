"""Several judges, verdicts of before, and files that are torn, as one judge sees them."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.toys.app import drive
from tests.toys.screens import screen_cells, screen_text, settled
from xmine.browsing.judgements import Judgements
from xmine.browsing.opening import open_pairs
from xmine.browsing.samples import approval_of
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
        others = "✓ ✓ ✗≠✗≠✗ ✗ "  # whoever spoke last
        for name, signs in (("ann", "✓ ✓ ✓≠✓≠✗ ✗ "), ("bob", others), ("cem", others)):
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


def test_the_machine_colours_nothing_before_the_verdict_of_a_blind_judge(pairs: Path) -> None:
    async def seen(pilot: Any) -> None:
        for blind in (False, True):
            if blind:
                pilot.app.judge_sample(around=False)
            await settled(pilot)
            top = pilot.app.screen.query_one(PairDetail).region.y + 1
            styles = {style for row in screen_cells(pilot.app)[top:-2] for _, style in row}
            assert any("underline" in style for style in styles) != blind

    drive(XmineApp(pairs), (100, 30), seen)


def test_a_run_is_not_measured_by_the_verdicts_that_it_was_given(run_copy: Path) -> None:
    for given in (False, True):
        opened = open_pairs(run_copy)
        opened.run["also"] = {"seed_pairs": given}
        judgements = Judgements.open(opened, "ann")
        judgements.judge_all(range(len(opened)), "accept")
        os.utime(run_copy / "source.parquet", (4e9, 4e9))  # mined later than judged
        judgements = Judgements.open(opened, "ann")
        assert judgements.counts().accept == len(opened)
        assert (approval_of(opened, judgements).accepted.of > 0) != given
