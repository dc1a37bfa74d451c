"""Repairs in the app: from a partial pair to data, beads of an alignment, and back again."""

from pathlib import Path
from typing import Any

import pytest

from tests.aligning.test_align import ENGLISH, GERMAN
from tests.toys.app import drive
from tests.toys.screens import screen_text, settled
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.browsing.opening import open_pairs
from xmine.browsing.repairs import Bead, Repair, Unit
from xmine.judging.judgements import Judgements
from xmine.pairs.io import read_pairs, write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.app import XmineApp

MORE = "Unrelated submarines transmitted encrypted bulletins toward Antarctica."


async def pressed(pilot: Any, *keys: str) -> str:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)
    return "\n".join(screen_text(pilot.app))


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        Pair(f"The river rose in the night. {MORE}", "Der Fluss stieg in der Nacht.", 1.2, 3, 3),
        Pair("It rained\tall day.", "Es regnete den ganzen Tag.", 1.1, 4, 4),
    ]
    write_pairs(rows, str(tmp_path / "pairs.jsonl"))
    return tmp_path / "pairs.jsonl"


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_a_partial_pair_becomes_data_and_undo_gives_back_both(
    pairs: Path, size: tuple[int, int]
) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        text = await pressed(pilot, "r", "a", "x", "q", "o", "question_mark")  # no verdict, no way
        assert "Repair" in text and "nothing done yet" in text
        assert "nothing is done yet" in await pressed(pilot, "enter")
        assert "trim: enter keeps 1 pair" in await pressed(pilot, "delete")
        text = await pressed(pilot, "enter")
        assert "✓✎" in text and "z takes both back" in text
        await pressed(pilot, "r", "f2")  # the second pair, with a tab in it
        assert pilot.app.screen.query_one("#answer").value == "It rained\\tall day."
        await pressed(pilot, "end", "!", "enter", "escape", "w")
        assert "write 2 pairs to" in await pressed(pilot, "end", *".jsonl", "backspace")
        await pressed(pilot, "l", "enter")

    drive(XmineApp(pairs), size, script)
    (written,) = (path for path in pairs.parent.glob("pairs.tsv.json*"))
    assert [(each.source, each.repaired) for each in read_pairs(written)] == [
        ("The river rose in the night.", "trim"),
        ("It rained\tall day.", ""),
    ]

    async def undo(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "g", "r", "plus", "enter")
        assert pilot.app.judgements.of(0) == "accept"
        text = await pressed(pilot, "z")
        assert "taken back" in text
        assert pilot.app.judgements.repair_of(0).how == "trim"

    drive(XmineApp(pairs), size, undo)


def test_beads_are_merged_moved_and_split_and_the_export_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    options = AligningOptions(src_lang="de", tgt_lang="en")
    align(tmp_path / "de.txt", tmp_path / "en.txt", options=options, run=tmp_path / "run")

    async def script(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "r", "greater_than_sign", "j", "plus")
        text = await pressed(pilot, "enter")
        assert "✓✎" in text and "is in others" not in text
        await pressed(pilot, "w", *[*"x.tsv"], "enter")

    drive(XmineApp(tmp_path / "run"), (120, 40), script)
    (path,) = tmp_path.glob("*x.tsv*")
    found = [(pair.source_lines, pair.target_lines) for pair in read_pairs(path)]
    assert found[:2] == [("1", "1"), ("2-3", "2-5")]
    assert " ".join(pair.target for pair in read_pairs(path)) == " ".join(ENGLISH)


def test_what_another_window_has_repaired_is_not_overwritten(pairs: Path) -> None:
    other = Judgements.open(open_pairs(pairs), "bob")
    repair = Repair("edit", (Bead((Unit("3", "a"),), (Unit("3", "b"),)),))

    async def script(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "r", "plus")
        other.repair({0: repair})
        assert "another window has repaired" in await pressed(pilot, "enter")
        assert pilot.app.screen.NAME == "Repair"
        text = await pressed(pilot, "escape")
        assert "✎ edit: lines 3, 3" in text and "bob: ✓ accept" in text

    drive(XmineApp(pairs), (80, 24), script)
    assert Judgements.open(open_pairs(pairs)).repair_of(0) == repair
