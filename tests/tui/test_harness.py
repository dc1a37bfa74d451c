"""The harness of the app's tests sees what is on the screen, and what is not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input, Static

from tests.toys.app import drive
from tests.toys.screens import Snapshots
from xmine.browsing.opening import open_pairs


class Small(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("机器翻译 [b]", markup=False)
        yield Input("é 词")


def test_a_screen_is_compared_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots, small = Snapshots(tmp_path), [(80, 24)]

    async def script(pilot: Any) -> None:
        with pytest.raises(AssertionError, match="missing"):
            await snapshots.compare(pilot, "small", sizes=small)
        monkeypatch.setenv("XMINE_SNAPSHOTS", "write")
        await snapshots.compare(pilot, "small")
        monkeypatch.delenv("XMINE_SNAPSHOTS")
        rows = await snapshots.compare(pilot, "small", holds=["机器翻译", "é 词"])
        assert set(rows) == {"80x24", "140x40"}
        with pytest.raises(AssertionError, match="lacks"):
            await snapshots.compare(pilot, "small", holds=["翻机"], sizes=small)
        pilot.app.query_one(Static).update("机器翻 [b]")
        with pytest.raises(AssertionError, match=r"\+机器翻 \[b\]"):
            await snapshots.compare(pilot, "small", sizes=small)
        pilot.app.query_one(Static).update("机器翻译 [b]")
        pilot.app.query_one(Static).styles.background = "red"
        with pytest.raises(AssertionError, match="another"):
            await snapshots.compare(pilot, "small", sizes=small)

    drive(Small(), (80, 24), script)


def test_the_mined_run_has_what_screens_must_show(mined_run: Path) -> None:
    opened = open_pairs(mined_run)
    assert opened.is_run and opened.probs is not None and opened.flags is not None
    pairs = list(opened.pairs(np.arange(len(opened))))
    assert opened.eligible.sum() > 40
    flags = {name for pair in pairs for name in (pair.flags or "").split(",")}
    assert {"copy", "number", "duplicate"} <= flags
