"""Neighbours and search on the screen: what is near, why, and the way back."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
from textual.widgets import Input

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled
from xmine.browsing.neighbourhood import Surroundings
from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.search import Nearby
from xmine.pairs.io import write_pairs
from xmine.tui.app import XmineApp
from xmine.tui.screens.neighbours import NeighboursScreen
from xmine.tui.screens.pairs import PairsScreen
from xmine.tui.widgets.near_lists import NearLists

Snapshot = Callable[..., Awaitable[Any]]


async def pressed(pilot: Any, *keys: str) -> list[str]:
    await pilot.press(*keys)
    await settled(pilot)
    return screen_text(pilot.app)


def best_pair(path: Path) -> tuple[Opened, int, int]:
    opened = open_pairs(path)
    return opened, int(opened.sources[0]), int(opened.targets[0])


def test_enter_shows_the_neighbours_of_the_pair_both_ways(
    mined_run: Path, snapshot: Snapshot
) -> None:
    opened, source, target = best_pair(mined_run)
    around = Surroundings(opened)
    near = around.near("source", source) + around.near("target", target)
    assert opened.scores is not None and around.near("source", source)[0].score == opened.scores[0]
    assert [each.score is None for each in near] == [False, False, True, True, True] * 2

    async def script(pilot: Any) -> None:
        await settled(pilot)
        rows = await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, NeighboursScreen)
        text = "\n".join(rows)
        for each in near:
            score = "" if each.score is None else f"  score {each.score:.4f}"
            assert f"{each.rank}  line {each.line:,}  " in text
            assert f"{score}  cosine {each.cosine:.4f}" in text
        names = [
            f"source {opened.source.lines[source]:,}",
            f"target {opened.target.lines[target]:,}",
        ]
        await snapshot(pilot, "neighbours", holds=[*names, "= 1  line", "kept", "in a better pair"])
        said = " ".join(" ".join(await pressed(pilot, "tab", "j")).split())
        assert pilot.app.screen.query_one(NearLists).place().side == "target"
        assert around.near("target", target)[1].outcome.why[:60] in said

    drive(XmineApp(mined_run), (80, 24), script)


def test_stepping_to_neighbours_and_back_restores_cursor_and_pair(mined_run: Path) -> None:
    opened, source, _ = best_pair(mined_run)
    other = Surroundings(opened).near("source", source)[2]

    async def script(pilot: Any) -> None:
        await settled(pilot)
        first = await pressed(pilot, "enter", "j", "j")
        assert any(other.outcome.why[:20] in row for row in first)
        place = pilot.app.screen.query_one(NearLists).place()
        assert place.highlighted[0] == 2
        second = await pressed(pilot, "enter")
        assert f"target {other.line:,}" in "\n".join(second)
        assert "step 1" in second[0]
        assert pilot.app.screen.query_one(NearLists).place().side == "target"
        await pressed(pilot, "j", "enter")
        assert "step 2" in screen_text(pilot.app)[0]
        await pressed(pilot, "escape")
        assert screen_text(pilot.app)[0] == second[0]
        assert await pressed(pilot, "escape") == first
        assert pilot.app.screen.query_one(NearLists).place() == place
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, PairsScreen)

    drive(XmineApp(mined_run), (80, 24), script)


def test_a_neighbour_is_judged_where_it_stands(run_copy: Path) -> None:
    async def script(pilot: Any) -> None:
        await settled(pilot)
        rows = await pressed(pilot, "enter", "a")
        assert any("= 1  line" in row and "✓ kept" in row for row in rows)
        assert pilot.app.judgements.of(0) == "accept"
        rows = await pressed(pilot, "z")
        assert not any("✓" in row for row in rows[:-3])
        at = pilot.app.screen._near["source"]
        stranger = next(i for i, each in enumerate(at) if each.outcome.kind == "taken")
        await pressed(pilot, *["j"] * stranger, "a")
        assert "there is no pair to judge" in "\n".join(screen_text(pilot.app))

    drive(XmineApp(run_copy), (80, 24), script)


def test_a_file_of_pairs_says_that_it_has_no_neighbours(mined_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    write_pairs(open_pairs(mined_run).pairs(np.arange(5)), str(path), ("en", "zh"))

    async def script(pilot: Any) -> None:
        await settled(pilot)
        rows = await pressed(pilot, "enter")
        assert isinstance(pilot.app.screen, PairsScreen)
        assert "has no neighbours" in "\n".join(rows)

    drive(XmineApp(path), (80, 24), script)


def test_a_typed_sentence_shows_its_nearest_in_both_files(
    mined_run: Path, snapshot: Snapshot
) -> None:
    opened = open_pairs(mined_run)
    row = int(opened.targets[3])
    text, line = opened.target.texts[row], int(opened.target.lines[row])

    async def script(pilot: Any) -> None:
        await settled(pilot)
        await pressed(pilot, "f")
        assert "! the text to search for is empty" in "\n".join(await pressed(pilot, "enter"))
        await pressed(pilot, "f")
        pilot.app.screen.query_one("#answer", Input).value = "🙂"
        assert "knows no token of it" in "\n".join(await pressed(pilot, "enter"))
        await pressed(pilot, "f")
        pilot.app.screen.query_one("#answer", Input).value = text
        rows = await pressed(pilot, "enter")
        found = Nearby(opened).search(text, 4)
        for each in found["source"] + found["target"]:
            named = (
                f"{each.rank}  line {each.line}  score {each.score:.4f}  cosine {each.cosine:.4f}"
            )
            assert named in "\n".join(rows)
        assert (found["target"][0].line, found["target"][0].text) == (line, text)
        await snapshot(pilot, "search", holds=["source", "target", "en.txt", f" line {line}"])
        await pressed(pilot, "enter")
        assert f"target {line}" in "\n".join(screen_text(pilot.app))
        await pressed(pilot, "escape")
        assert "Nearest to the sentence" in screen_text(pilot.app)[0]
        assert screen_text(pilot.app)[3:20] == rows[3:20]

    drive(XmineApp(mined_run), (80, 24), script)
