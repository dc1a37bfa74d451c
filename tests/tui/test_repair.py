"""Repairs in the app: beads of an alignment in place, pairs between their lines, and back again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.aligning.test_align import ENGLISH, GERMAN
from tests.toys.app import drive
from tests.toys.screens import screen_text, settled
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery, select
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
        Pair(
            f"The river rose in the night. {MORE}",
            "Der Fluss stieg in der Nacht.",
            1.2,
            3,
            3,
            flags="partial",
        ),
        Pair("It rained\tall day.", "Es regnete den ganzen Tag.", 1.1, 4, 4, flags=""),
    ]
    write_pairs(rows, str(tmp_path / "pairs.jsonl"))
    return tmp_path / "pairs.jsonl"


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_a_partial_pair_becomes_data_and_loses_its_flag(pairs: Path, size: tuple[int, int]) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        text = await pressed(pilot, "r", "a", "x", "q", "o")  # no verdict, no way
        assert "Repair" in text and "nothing done yet" in text
        assert "nothing is done yet" in await pressed(pilot, "enter")
        assert "trim: enter keeps it" in await pressed(pilot, "delete")
        text = await pressed(pilot, "enter")
        assert "✓✎" in text and "z takes both back" in text and "partial" not in text
        assert "taken back" in await pressed(pilot, "z") and not pilot.app.judgements.repair_of(0)
        await pressed(pilot, "g", "r", "delete", "enter")
        assert "cosine" in await pressed(pilot, "k")
        await pressed(pilot, "j", "r", "f2")  # the second pair, with a tab in it
        assert pilot.app.screen.query_one("#answer").value == "It rained\\tall day."
        await pressed(pilot, "!", "enter", "escape", "w")
        assert "write 2 pairs to" in await pressed(pilot, "end", *".jsonl", "backspace")
        await pressed(pilot, "l", "enter")

    drive(XmineApp(pairs), size, script)
    (written,) = (path for path in pairs.parent.glob("pairs.tsv.json*"))
    found = [(each.source, each.repaired, each.flags) for each in read_pairs(written)]
    assert found == [("The river rose in the night.", "trim", ""), ("It rained\tall day.", "", "")]
    opened = open_pairs(pairs)
    judgements = Judgements.open(opened)
    query = PairQuery("flag = 'partial'")
    assert list(select(opened, query)) == [0] and not len(select(judgements.standing(), query))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Beads of the lines 1:1-2, 2:3, 3:4-5, 4-5:6, 6:7 of German and English."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    options = AligningOptions(src_lang="de", tgt_lang="en")
    align(tmp_path / "de.txt", tmp_path / "en.txt", options=options, run=tmp_path / "run")
    return tmp_path / "run"


# Keys on the alignment from the bead 2:3 on -> the beads that stand then, and where the cursor is.
STEPS = {
    "comma": "1-2:1-2 :3 3:4-5 4:6 5:7-8 @1",
    "full_stop": "1:1-2 :3 2-3:4-5 4:6 5:7-8 @1",
    "less_than_sign": "1:1-3 2: 3:4-5 4:6 5:7-8 @1",
    "greater_than_sign": "1:1-2 2: 3:3-5 4:6 5:7-8 @1",
    "comma less_than_sign": "1-2:1-3 3:4-5 4:6 5:7-8 @0",
    "full_stop greater_than_sign": "1:1-2 2-3:3-5 4:6 5:7-8 @1",
    "j less_than_sign": "1:1-2 2:3-4 3:5 4:6 5:7-8 @2",
    "j greater_than_sign greater_than_sign": "1:1-2 2:3 3: 4:4-6 5:7-8 @2",
    "j j comma": "1:1-2 2:3 3-4:4-5 :6 5:7-8 @3",
    "plus": "1:1-2 2-3:3-5 4:6 5:7-8 @1",
    "plus minus enter": "1:1-2 2:3 3:4-5 4:6 5:7-8 @1",
    "plus minus h escape": "1:1-2 2-3:3-5 4:6 5:7-8 @1",
    "plus minus tab l enter": "1:1-2 2:3-4 3:4-5 4:6 5:7-8 @1",
    "plus plus z": "1:1-2 2-3:3-5 4:6 5:7-8 @1",
    "plus plus R": "1:1-2 2:3 3:4-5 4:6 5:7-8 @1",
    "comma z": "1:1-2 2:3 3:4-5 4:6 5:7-8 @1",
    "f2 ! enter": "1:1-2 2:3 3:4-5 4:6 5:7-8 @1",
    "k comma": "1: :1-2 2:3 3:4-5 4:6 5:7-8 @1",
}


@pytest.mark.parametrize("keys", STEPS)
def test_keys_repair_beads_in_place_and_what_is_written_has_them(run: Path, keys: str) -> None:
    *beads, at = STEPS[keys].split()

    async def script(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "g", "j", *keys.split())
        screen = pilot.app.screen
        table = screen.query_one("PairTable")
        shown = [line.split() for line in map(table.pairs.line, range(table.row_count))]
        assert len(shown) == len(beads) and table.cursor_row == int(at[1:])
        await pressed(pilot, "w", *"x.tmx", "enter")
        await pressed(pilot, "slash", *":7", "enter")
        assert table.row_count - 1 == table.cursor_row  # line 7 of English is in the last bead

    drive(XmineApp(run), (120, 40), script)
    found = list(read_pairs("x.tmx"))
    assert [f"{each.source_lines or ''}:{each.target_lines or ''}" for each in found] == beads
    assert " ".join(filter(None, (each.target for each in found))) == " ".join(ENGLISH)
    text = " ".join(filter(None, (each.source for each in found)))
    assert text.replace("!", "") == " ".join(GERMAN).replace("!", "")
    assert open_pairs(Path("x.tmx")).has_beads
    again = Judgements.open(open_pairs(run))  # as a window that was killed leaves it
    rows = np.arange(5)
    assert [each.source for each in again.pairs(rows)] == [each.source for each in found]


def test_n_leads_to_beads_worth_a_look_until_they_are_repaired(run: Path) -> None:
    opened = open_pairs(run)
    judgements = Judgements.open(opened, "ann")
    repair = Repair("move", (Bead((), (Unit("3", ENGLISH[2]),)),))
    judgements.repair({1: repair})
    assert opened.pair(2).flags == "negation" and np.asarray(opened.probs).min() > 0.9
    assert [*np.flatnonzero(judgements.worth_a_look())] == [1, 2]
    judgements.judge_all(range(5), "accept")
    assert not judgements.worth_a_look().any()
    judgements.undo()

    async def script(pilot: Any) -> None:
        await settled(pilot)
        for row, key in enumerate("nnnNN"):
            await pressed(pilot, key)
            assert pilot.app.screen.judged_row() == (1, 2, 1, 2, 1)[row]

    drive(XmineApp(run), (80, 24), script)


def test_what_another_window_has_repaired_is_not_overwritten(pairs: Path, run: Path) -> None:
    other = Judgements.open(open_pairs(pairs), "bob")
    repair = Repair("edit", (Bead((Unit("3", "a"),), (Unit("3", "b"),)),))

    async def script(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "r", "plus")
        other.repair({0: repair})
        assert "another window has repaired" in await pressed(pilot, "enter")
        assert pilot.app.screen.NAME == "Repair"
        text = await pressed(pilot, "escape")
        assert "✎ edit" in text and "lines 3, 3" in text and "bob: ✓ accept" in text

    drive(XmineApp(pairs), (80, 24), script)
    assert Judgements.open(open_pairs(pairs)).repair_of(0) == repair
    beside = Judgements.open(open_pairs(run), "bob")

    async def in_place(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "g", "j")
        beside.repair({1: repair})
        pilot.app.screen.do("move", 0, 1)  # before the window has heard of it
        text = await pressed(pilot)
        assert "another window has repaired" in text

    drive(XmineApp(run), (80, 24), in_place)
    assert Judgements.open(open_pairs(run)).repair_of(1) == repair
