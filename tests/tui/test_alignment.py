"""An alignment in the app: both texts in order, lines without counterpart, verdicts."""

from pathlib import Path
from typing import Any

import pytest

from tests.aligning.test_align import ENGLISH, GERMAN
from tests.tui.test_pairs import Keys, browse
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.errors import OptionError
from xmine.tui.commands import form_of
from xmine.tui.project import look

ALONE = "Copyright 1998 by Riverside Publishing House, printed in Wales, all rights kept."


@pytest.fixture
def alignment(tmp_path: Path) -> Path:
    english = [*ENGLISH[:6], ALONE, *ENGLISH[6:]]
    options = AligningOptions(src_lang="de", tgt_lang="en")
    align(GERMAN, english, options=options, run=tmp_path / "run")
    return tmp_path / "run"


def test_an_alignment_is_read_judged_and_reopened(alignment: Path) -> None:
    async def judge(pilot: Any, keys: Keys) -> None:
        shown = await keys("j", "j", "j", "j")
        rows = [line.split() for line in shown[2:8]]
        lines = [row[-2:] if row[0][0] in "01" else row[-1:] for row in rows]
        assert lines == [["1", "1-2"], ["2", "3"], ["3", "4-5"], ["4", "6"], ["7"], ["5", "8-9"]]
        assert rows[4][0] == "Copyright" and not rows[4][-2].isdecimal()  # no line of the source
        pane = "\n".join(shown[10:])
        assert "─ without counterpart ─" in pane and "lines –, 7" in pane
        assert "6 shown, 5 of 6 kept" in shown[0]
        text = "\n".join(await keys("enter"))  # a bead has no neighbours, but beads around
        assert "Repair" in text and all(x[:50] in text for x in (ALONE, *GERMAN[3:5]))
        assert "4 judged" not in "\n".join(await keys("escape"))
        await keys("a", "x")  # the line alone is right, the next bead is wrong
        around = "\n".join(await keys("k", "c"))
        assert "4  Ja." in around and f"5  {GERMAN[4][:40]}" in around  # on both sides of the gap
        assert f"1-2  {ENGLISH[0]}" in "\n".join(await keys("g", "j"))

    async def again(pilot: Any, keys: Keys) -> None:
        shown = await keys("g")
        assert [line[1] for line in shown[2:8]] == [" ", " ", " ", " ", "✓", "✗"]
        assert "5 shown, 5 of 6 kept" in (await keys("slash", *"kept", "enter"))[0]
        assert "6 shown" in (await keys("escape"))[0]  # the whole text again

    browse(alignment, judge)
    browse(alignment, again)
    there = look(str(alignment))
    assert (there.kind, there.pairs, there.judged) == ("run", "5", 2)


def test_the_cut_of_an_alignment_moves_and_is_not_written(alignment: Path) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        shown = "\n".join(await keys("t"))
        assert "5 of 6 kept, 1 without counterpart" in shown and "≥ 0." in shown
        await keys("equals_sign", *(["backspace"] * 8), *"0.9998", "enter")
        assert "an alignment has no cut to write" in "\n".join(await keys("W"))
        shown = "\n".join(await keys("p"))
        assert "cut 0.9998 (not written)" in shown
        assert "6 shown" in shown
        below = await keys("slash", *"NOT kept", "enter", "g")
        assert "5 shown" in below[0] and "─ below the cut ─" in "\n".join(below)

    browse(alignment, script)


def test_an_unfinished_alignment_is_not_mined(alignment: Path) -> None:
    with pytest.raises(OptionError, match="run: an alignment") as told:
        form_of(alignment, again=False)
    assert told.value.hint == "give the command that began it"
