"""The threshold: figures follow the cut, pairs around it are judged, it is copied and written."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from textual.widgets import Input, Static

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled
from xmine.browsing.cuts import Cuts
from xmine.browsing.opening import open_pairs
from xmine.run.folder import alone_in
from xmine.tui.app import XmineApp
from xmine.tui.screens.neighbours import NeighboursScreen
from xmine.tui.widgets.pair_table import PairTable


async def at_threshold(pilot: Any) -> PairTable:
    await settled(pilot)
    await pilot.press("t")
    await settled(pilot)
    table = pilot.app.screen.query_one(PairTable)
    assert isinstance(table, PairTable)
    return table


async def moved(pilot: Any, *keys: str) -> None:
    """Press keys, and wait for the table to follow."""
    await pilot.press(*keys)
    await pilot.pause(0.1)
    await settled(pilot)


async def typed(pilot: Any, text: str) -> None:
    """Type a cut."""
    await pilot.press("equals_sign")
    pilot.app.screen.query_one("#answer", Input).value = text
    await moved(pilot, "enter")


async def filtered_by(pilot: Any, verdict: str) -> None:
    """Show the kept pairs with a verdict."""
    await pilot.press("p", "slash", *f"kept AND verdict = {verdict}", "enter")
    await settled(pilot)


def figures(app: Any) -> str:
    return str(app.screen.query_one("#cut", Static).content)


def test_the_threshold_looks_as_it_did(mined_run: Path, snapshot: Any) -> None:
    cuts = Cuts(open_pairs(mined_run))
    kept = cuts.at(cuts.start())
    assert kept.precision is not None

    async def script(pilot: Any) -> None:
        await at_threshold(pilot)
        rows = await snapshot(
            pilot,
            "threshold",
            holds=[
                f"{kept.pairs} of {len(cuts.opened)} kept",
                f"cut {kept.cut:.4f}  precision {kept.precision:.2f}",
                "─ cut ─",
                "≥ ",
                "< ",
                "a Accept",
            ],
        )
        for size, shown in rows.items():
            above = [row for row in shown if re.match(r" *-?[0-9.]+ +≥ 0\.", row)]
            below = [row for row in shown if re.match(r" *-?[0-9.]+ +< 0\.", row)]
            assert min(len(above), len(below)) >= (2 if size == "80x24" else 3), size

    drive(XmineApp(mined_run), (80, 24), script)


def test_counts_precision_table_and_the_other_screens_follow_the_cut(mined_run: Path) -> None:
    cuts = Cuts(open_pairs(mined_run))

    async def script(pilot: Any) -> None:
        app, table = pilot.app, await at_threshold(pilot)
        seen = {cuts.start()}
        for keys in (("left",), ("[",), ("[",)):
            await moved(pilot, *keys)
            cut = app.view.cut
            kept = cuts.at(cut)
            assert cut not in seen and f"cut {cut:.4f}" in figures(app)
            assert kept.precision is not None
            assert f"precision {kept.precision:.2f}" in figures(app)
            assert f"{kept.pairs} of {len(cuts.opened)} kept" in screen_text(app)[0]
            above, below = cuts.near(cut, 20)
            assert table.pairs.data.tolist() == [*above, *below]
            assert app.view.rows.tolist() == app.view.opened.kept(cut).nonzero()[0].tolist()
            seen.add(cut)
        await app.run_action("screen.move(-9999)")
        await moved(pilot)
        assert app.view.cut == 0 and cuts.kept_by(0) == len(
            cuts
        )  # it stops where everything is kept
        await app.run_action("screen.move(9999)")
        await moved(pilot)
        assert app.view.cut == 1  # no probability is higher, and some may be as high
        assert table.pairs.data.tolist() == np.concatenate(cuts.near(1, 20)).tolist()
        await moved(pilot, "0")
        assert app.view.cut == cuts.start()
        await typed(pilot, "high")
        assert "'high' is no number" in "\n".join(screen_text(app))
        await typed(pilot, "1.25")
        assert "1.25, and pairs are cut by probability" in "\n".join(screen_text(app))
        assert app.view.cut == cuts.start()
        await typed(pilot, "0.255")
        assert app.view.cut == 0.255 and "cut 0.2550" in figures(app)
        await moved(pilot, "right")
        assert app.view.cut == 0.26  # a hundredth at a time
        await pilot.press("]", "p")  # the table had no time to follow
        await settled(pilot)
        count = cuts.kept_by(app.view.cut)
        assert app.view.cut == 0.36 and f"{count} shown, {count} of " in screen_text(app)[0]

    drive(XmineApp(mined_run), (80, 24), script)


def test_pairs_around_the_cut_are_judged_and_the_cut_is_written_after_asking(
    run_copy: Path,
) -> None:
    pairs = pl.read_parquet(run_copy / "pairs.parquet")
    table = pl.read_parquet(run_copy / "candidates.parquet")
    left = table.with_columns(kept=pl.col("kept") & (pl.int_range(pl.len()) >= 3))
    left.write_parquet(run_copy / "candidates.parquet")  # as --top leaves out equal ones
    with alone_in(run_copy):  # notes the digest
        pass
    before = (run_copy / "pairs.parquet").read_bytes()
    kept = len(pairs) - 3

    async def script(pilot: Any) -> float:
        app, table = pilot.app, await at_threshold(pilot)
        assert f"{kept} of " in screen_text(app)[0] and app.view.counts()[1] == kept
        first = table.row
        assert first is not None
        await pilot.press("k", "a", "x")
        assert [app.judgements.of(row) for row in (first - 1, first)] == ["accept", "reject"]
        assert "judged" not in figures(app)  # two at the cut do not tell of all that are kept
        await pilot.press("z")
        assert app.judgements.of(first) == ""
        await pilot.press("enter")
        assert isinstance(app.screen, NeighboursScreen)
        await pilot.press("escape")
        await filtered_by(pilot, "accept")
        assert app.view.rows.tolist() == [first - 1]
        await at_threshold(pilot)
        await moved(pilot, "]", "y")
        assert app.clipboard == f"--min-prob {app.view.cut!r}"
        await moved(pilot, "W", "n")
        assert (run_copy / "pairs.parquet").read_bytes() == before
        await moved(pilot, "W")
        assert f"cut run at {app.view.cut:.4f}, keep " in "\n".join(screen_text(app))
        assert ", 3 of them left out before? y/n" in "\n".join(screen_text(app))
        await moved(pilot, "y")
        text = "\n".join(screen_text(app))
        written = int(app.view.opened.kept(app.view.cut).sum())
        assert f"written: the run keeps {written} pairs" in text and f"{written} of " in text
        assert app.view.opened.eligible[:3].all()  # which it did not keep before
        assert app.view.counts()[1] == written and "from here up" not in text
        return float(app.view.cut)

    cut = drive(XmineApp(run_copy), (80, 24), script)
    assert len((run_copy / "judgements.tsv").read_bytes().splitlines()) == 4
    opened = open_pairs(run_copy)
    assert opened.cut == cut and (run_copy / "pairs.parquet").read_bytes() != before
    assert int(opened.kept(cut).sum()) == Cuts(opened).kept_by(cut)


def test_a_cut_that_is_not_written_is_there_again(run_copy: Path) -> None:
    async def moved_down(pilot: Any) -> float:
        await at_threshold(pilot)
        await moved(pilot, "[")
        cut = float(pilot.app.view.cut)
        await pilot.press("q", "q")  # the screen, the app
        return cut

    cut = drive(XmineApp(run_copy), (80, 24), moved_down)
    assert open_pairs(run_copy).cut != cut

    async def remembered(pilot: Any) -> None:
        await settled(pilot)
        assert pilot.app.view.cut == cut and "(not written)" in screen_text(pilot.app)[0]

    drive(XmineApp(run_copy), (120, 24), remembered)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"source": "a", "target": "b"}', "has no scores; xmine score writes them"),
        ('{"source": "a", "target": "b", "score": 1.5}', "a file of pairs has no cut to write"),
    ],
)
def test_a_file_of_pairs_has_a_threshold_as_far_as_it_has_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, said: str
) -> None:
    monkeypatch.setattr("xmine.judging.judgements.why_not_writable", "{0}: full".format)
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{row}\n" * 3, encoding="utf-8")

    async def script(pilot: Any) -> None:
        await settled(pilot)
        warned = " ".join(" ".join(screen_text(pilot.app)).split())
        assert "judgements cannot be kept:" in warned  # before the first one is given
        await at_threshold(pilot)
        await pilot.press("right", "W")
        assert said in " ".join(" ".join(screen_text(pilot.app)).split())
        for size in ((40, 10), (60, 15)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            text = "\n".join(screen_text(pilot.app))
            assert ("enlarge" if size == (40, 10) else "Threshold") in text
        await pilot.press("escape")
        assert "Pairs" in screen_text(pilot.app)[0]

    drive(XmineApp(path), (80, 24), script)
