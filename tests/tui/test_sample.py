"""Judging a sample: one pair at a time, between its lines, until the precision stands there."""

import os
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Button

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled
from xmine.browsing.opening import open_pairs
from xmine.judging.judgements import Judgements
from xmine.judging.samples import Sample
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.app import XmineApp
from xmine.tui.key_table import GROUPS, KEYS
from xmine.tui.screens import sample
from xmine.tui.state import keep_setting

FEW = 12


def shown(pilot: Any) -> str:
    return "\n".join(screen_text(pilot.app))


async def pressed(pilot: Any, *keys: str) -> str:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)
    return shown(pilot)


async def accepted(pilot: Any, pairs: int) -> str:
    """Accept pairs one after the other, and look at the end."""
    await pilot.press(*["a"] * pairs)
    await settled(pilot)
    return shown(pilot)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of a dozen pairs."""
    keep_setting("sample", f"{FEW} random")
    monkeypatch.setattr(sample, "USUAL", FEW)


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """Eight pairs in the order of their files."""
    path = tmp_path / "short.tsv"
    rows = [Pair(f"source {n}.", f"target {n}.", 1.0 + n / 100, n, n + 100) for n in range(1, 9)]
    write_pairs(rows, str(path))
    return path


def test_a_telephone_has_buttons_for_the_keys(short: Path) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        for label, facts in (("Accept", "1 ✓"), ("Reject", "1 ✗"), ("Undo", "0 ✗")):
            buttons = [each for each in pilot.app.screen.query(Button) if label in str(each.label)]
            assert await pilot.click(buttons[0])
            await settled(pilot)
            assert facts in screen_text(pilot.app)[0]
        assert "source" in shown(pilot) and "target" in shown(pilot)

    drive(XmineApp(short, sample=True), (40, 46), script)


@pytest.mark.parametrize("size", [(80, 24), (40, 46)])
def test_who_may_read_only_has_no_key_that_writes(
    run_copy: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XMINE_STATE", os.devnull)  # as the command sets it
    before = {path.name: path.read_bytes() for path in run_copy.iterdir() if path.is_file()}
    groups = ("Judge", "Repair", "Here", "Go to")
    keys = [row[0].split(",")[0] for name, row in KEYS.items() if GROUPS[name] in groups]

    async def script(pilot: Any) -> None:
        await settled(pilot)
        for way in ("p", "t"):
            for key in (way, *keys):
                await pilot.press(key)
                await settled(pilot)
                text = "".join(screen_text(pilot.app))
                assert "enlarge" not in text and "Errno" not in text, key
                assert pilot.app.screen.NAME not in (
                    *"Home Mine Train Judge".split(),
                    "Judges differ",
                ), key

    drive(XmineApp(run_copy, read_only=True, sample=True), size, script)
    after = {path.name: path.read_bytes() for path in run_copy.iterdir() if path.is_file()}
    assert after == before


def test_from_the_start_to_a_precision_in_a_key_a_pair(run_copy: Path, few: None) -> None:
    opened = open_pairs(run_copy)
    rows = Sample(opened, opened.cut, FEW).rows.tolist()
    keys = ["v", "enter", "a", "space", "x", "u", *["a"] * (len(rows) - 3)]

    async def script(pilot: Any) -> None:
        await settled(pilot)
        assert f"{FEW} random" in await pressed(pilot, keys.pop(0))
        text = await pressed(pilot, keys[0])
        assert f"Judge 1 of {len(rows)}, at random" in text
        assert "prob" not in text and "score" not in text  # they would tell what to say
        text = await pressed(pilot, *keys[1:5])
        assert f"Judge 4 of {len(rows)}" in text and "1 ✓  1 ✗  1 ?" in text
        assert f"unsure: 3 of {len(rows)}" in text
        text = await accepted(pilot, len(keys[5:]))
        said = Sample(opened, opened.cut, FEW).said(Judgements.open(opened).codes())
        assert said.counts.left == 0 and all(line in text for line in said.lines())
        assert "precision, judged" in text and said.advice
        await pressed(pilot, "a", "space")  # nothing is left to judge
        assert f"judged {said.counts.right.share:.2f}" in await pressed(pilot, "t")

    drive(XmineApp(run_copy), (80, 24), script)
    judgements = Judgements.open(opened)
    assert [judgements.of(row) for row in rows[:4]] == ["accept", "accept", "reject", "unsure"]


def test_what_was_judged_is_not_asked_again_and_undo_asks_again(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.tui.screens.sample.USUAL", 5)
    keep_setting("sample", "5")
    opened = open_pairs(short)
    rows = Sample(opened, None, 5).rows.tolist()

    async def first(pilot: Any) -> None:
        await settled(pilot)
        assert "is no sample" in await pressed(pilot, "v", *"many", "enter")
        text = await pressed(pilot, "escape", "v", "enter", "a", "a", "x", "z")
        assert "Judge 3 of 5," in text and pilot.app.screen.judged_row() == rows[2]

    async def second(pilot: Any) -> None:
        await settled(pilot)
        assert "Judge 3 of 5," in await pressed(pilot, "v", "enter")
        text = await accepted(pilot, 3)
        assert "5 of 5 pairs judged" in text
        assert "Judge 6 of 8," in await pressed(pilot, "enter")
        await accepted(pilot, 3)
        text = await pressed(pilot, "enter")
        assert "there are no more pairs" in text
        assert "Pairs" in (await pressed(pilot, "escape")).splitlines()[0]

    drive(XmineApp(short), (80, 24), first)
    drive(XmineApp(short), (80, 24), second)


def test_the_threshold_asks_for_pairs_of_the_cut_where_it_is_now(run_copy: Path) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "t", "[", "v")
        opened, cut = pilot.app.view.opened, pilot.app.view.cut
        assert cut < opened.cut
        assert pilot.app.screen.rows == Sample(opened, cut).rows.tolist()
        assert "Threshold" in (await pressed(pilot, "escape")).splitlines()[0]

    drive(XmineApp(run_copy), (80, 24), script)


def test_the_screen_looks_as_it_did(mined_run: Path, snapshot: Any) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "v", "enter")
        await snapshot(pilot, "sample", holds=["Judge 1 of", "a Accept", "space Later"])

    drive(XmineApp(mined_run), (80, 24), script)


def test_a_name_is_asked_once_and_notes_are_taken_back(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XMINE_JUDGE")

    async def first(pilot: Any) -> None:
        await settled(pilot)
        assert "your name" in await pressed(pilot, "a")
        text = await pressed(pilot, *["backspace"] * 20, *"Ann B", "enter")
        assert "✓" in text and "by Ann B" in text and pilot.app.judgements.of(0) == "accept"
        text = await pressed(pilot, "k", "i", *"odd", "enter", "x")
        assert "it was accept" in text
        assert "¶ Ann B: odd" in await pressed(pilot, "k")
        await pressed(pilot, "z", "z")
        assert pilot.app.judgements.of(0) == "accept" and not pilot.app.judgements.notes(0)

    async def second(pilot: Any) -> None:
        await settled(pilot)
        assert "by Ann B" in shown(pilot) and "your name" not in await pressed(pilot, "a")

    drive(XmineApp(short), (80, 24), first)
    drive(XmineApp(short), (120, 40), second)
