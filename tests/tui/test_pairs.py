"""The pairs in a table: keys, counts, finding, filtering, judging, what leaves the app."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textual.widgets import Input

from tests.toys.app import drive
from tests.toys.screens import screen_text, settled
from xmine.browsing.details import lines_around
from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery, counted, select
from xmine.display import count
from xmine.judging.judgements import Judgements
from xmine.pairs.io import read_pairs, write_pairs
from xmine.tui.app import XmineApp
from xmine.tui.key_table import FOOTERS, KEYS, own_keys
from xmine.tui.widgets.pair_table import PairTable

NARROW = (80, 24)
Keys = Callable[..., Awaitable[list[str]]]


def browse(path: Path, script: Callable[[Any, Keys], Awaitable[Any]], size: Any = NARROW) -> Any:
    """Open a run or a file, and run `script(pilot, keys)`; `keys` gives what is on the screen."""

    async def driven(pilot: Any) -> Any:
        await settled(pilot)

        async def keys(*pressed: str) -> list[str]:
            await pilot.press(*pressed)
            await settled(pilot)
            return screen_text(pilot.app)

        return await script(pilot, keys)

    return drive(XmineApp(path), size, driven)


async def answer(pilot: Any, line: str, text: str) -> list[str]:
    """Put a text into a line, and press enter there."""
    pilot.app.screen.query_one(line, Input).value = text
    await pilot.press("enter")
    await settled(pilot)
    return screen_text(pilot.app)


def table(pilot: Any) -> PairTable:
    found: PairTable = pilot.app.screen.query_one(PairTable)
    return found


def test_keys_move_as_in_vim_and_less(mined_run: Path) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        rows = table(pilot).row_count
        assert rows > 40
        page = table(pilot).size.height - 1
        for pressed, cursor in (
            (("j", "j", "down"), 3),
            (("k", "up"), 1),
            (("G",), rows - 1),
            (("j",), rows - 1),
            (("g",), 0),
            (("k",), 0),
            (("end",), rows - 1),
            (("home",), 0),
            (("ctrl+d",), page // 2),
            (("ctrl+u",), 0),
            (("pagedown", "pageup"), 0),
        ):
            await keys(*pressed)
            assert table(pilot).cursor_row == cursor, pressed
        await keys("pagedown")
        assert table(pilot).cursor_row in (page - 1, page)  # a scroll bar may take a row

    browse(mined_run, script)


def test_finding_goes_round_the_hits_and_escape_gives_it_up(mined_run: Path) -> None:
    opened = open_pairs(mined_run)
    kept = select(opened, PairQuery("kept"))
    hits = [
        at
        for at, row in enumerate(kept.tolist())
        if "1998" in opened.pair(row).source or "books" in opened.pair(row).source
    ]

    async def script(pilot: Any, keys: Keys) -> None:
        await keys("slash")
        shown = await answer(pilot, "#answer", "BOOKS")
        assert f"hit 1 of {len(hits)} for 'BOOKS'" in shown[-2]
        assert table(pilot).cursor_row == hits[0]
        await keys("g", "N")
        assert table(pilot).cursor_row == hits[-1]
        await keys("n")
        assert table(pilot).cursor_row == hits[0]
        await keys("S")
        await keys("g", "n")  # hits go with their pairs, wherever these stand
        assert table(pilot).row == kept[hits[-1]]
        await keys("S")
        await keys("slash")
        shown = await answer(pilot, "#answer", "/b.oks$|1998/")
        assert "hit 1 of" in shown[-2]
        await keys("slash")
        shown = await answer(pilot, "#answer", "/(/")
        assert "unclosed group" in "".join(shown[-4:])
        await keys("escape")
        assert len(table(pilot).pairs.data) == len(kept)

    browse(mined_run, script)


def test_escape_closes_one_layer_and_keeps_the_order(mined_run: Path) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        await keys("s", "j", "j", "slash", *"books")
        assert table(pilot).cursor_row != 2
        await keys("escape")
        assert table(pilot).cursor_row == 2  # where it was
        usual = table(pilot).row_count
        await keys("slash", "ctrl+u", "enter", "slash", *"books", "enter")
        assert table(pilot).row_count > usual
        await keys("escape")  # the search
        assert table(pilot).row_count > usual
        shown = await keys("escape")
        assert table(pilot).row_count == usual and "by unsure▲" in shown[0]

    browse(mined_run, script)


def test_one_line_takes_a_filter_or_a_text_to_find(mined_run: Path) -> None:
    opened = open_pairs(mined_run)
    wanted = select(opened, PairQuery("prob < 0.9"))

    async def script(pilot: Any, keys: Keys) -> None:
        assert "':' is not allowed" in "".join((await keys("slash", *"flag:nu"))[-20:])
        await keys("escape")
        shown = await keys("slash", *"prob<0,9")
        assert f"{len(wanted)} pairs of {len(opened)}: enter shows them" in "\n".join(shown)
        assert f"{len(wanted)} shown" in (await keys("enter"))[0]
        assert table(pilot).pairs.data.tolist() == wanted.tolist()
        row = int(table(pilot).pairs.data[3])
        shown = await keys("slash", *f":{opened.pair(row).source_line}", "enter")
        assert "hit 1 of" in shown[-2] and f"{len(wanted)} shown" in shown[0]
        assert "flag = 'hub' asks for such pairs" in (await keys("slash", *"hub", "enter"))[-2]
        assert "/kept/ finds the word" in "".join(await keys("slash", *"kept"))
        await keys("enter", "slash")
        line = pilot.app.screen.query_one("#answer", Input)
        before = []
        for _ in range(4):
            await keys("up")
            before.append(line.value)
        assert before == ["kept", "hub", f":{opened.pair(row).source_line}", "prob<0,9"]
        assert f"{len(wanted)} shown" in (await keys("enter"))[0]

    browse(mined_run, script, (140, 40))


def test_a_hit_below_the_cut_is_told_and_one_key_away(mined_run: Path) -> None:
    opened = open_pairs(mined_run)
    lines = opened.source.lines[opened.sources], opened.target.lines[opened.targets]
    kept = opened.kept(cut := 1.0)
    hidden = set(lines[0].tolist()) - set(lines[0][kept].tolist()) - set(lines[1][kept].tolist())
    line = min(hidden)
    hits = (lines[0] == line) | (lines[1] == line)

    async def script(pilot: Any, keys: Keys) -> None:
        pilot.app.screen.look_for(cut=cut)
        await settled(pilot)
        shown = await keys("slash", *f":{line}", "enter")
        assert f"{hits.sum()} in pairs that are not shown: n shows all pairs" in shown[-2]
        shown = await keys("n")
        assert f"{len(opened)} shown" in shown[0] and "hit 1 of" in shown[-2]
        row = table(pilot).row
        assert row is not None and hits[row]

    browse(mined_run, script, (120, 24))


def test_sorting_goes_through_the_orders_and_shows_what_comes_first(mined_run: Path) -> None:
    opened = open_pairs(mined_run)

    async def script(pilot: Any, keys: Keys) -> None:
        await keys("j", "j")
        lines = {"source": "line of the source", "target": "line of the target"}
        lines |= {"length": "both lengths", "unsure": "how unsure they are", "shuffled": "chance"}
        lines |= {"flags": "the first flag"}
        orders = "unsure flags source length cosine margin prob score target verdict shuffled"
        for order in orders.split():
            shown = await keys("s")
            falls = order in ("prob", "cosine", "margin", "score")
            assert f"sorted by {lines.get(order, order)}" in shown[-2]
            assert (f"{order}▼" in shown[1]) == falls
            assert ("cosine" in shown[1]) == (order == "cosine")  # a column for the order alone
            by = f"Pairs by {order}{'▼' if falls else '▲'}"  # where no column tells it
            there = order not in ("unsure", "verdict", "shuffled")
            assert (by in shown[0]) == (not there)
            wanted = select(opened, PairQuery("kept", order, falls))
            assert table(pilot).pairs.data.tolist() == wanted.tolist()
            if order == "score":
                assert table(pilot).cursor_row == table(pilot).pairs.data[0] == 0
                assert "score▲" in (await keys("S"))[1]
        assert "in the order of the run" in (await keys("s"))[-2]

    browse(mined_run, script)


def _below(opened: Opened, flag: str) -> bool:
    return len(select(opened, PairQuery(f"{flag} AND NOT kept"))) > 0


def test_the_list_below_the_line_writes_the_filter(mined_run: Path) -> None:
    opened = open_pairs(mined_run)
    counts = dict(counted(opened, "kept"))
    flag = next(each for each in counts if each[:4] == "flag" and _below(opened, each))

    async def script(pilot: Any, keys: Keys) -> None:
        assert " Pairs kept " in screen_text(pilot.app)[0]
        shown = "\n".join(await keys("slash"))
        line = pilot.app.screen.query_one("#answer", Input)
        assert line.value == "kept"
        for part, number in counts.items():
            assert re.search(rf"{part} +{number}\b", shown), part
        at = [*counts].index(flag)
        await keys(*["tab"] * at, "down", "up", "down", "enter")
        assert line.value == f"kept AND {flag}"
        shown = "\n".join(await keys("tab", "tab", "enter"))  # below the cut, in place of kept
        where = f"{flag} AND NOT kept"
        assert line.value == where
        wanted = select(opened, PairQuery(where)).tolist()
        found = count(len(wanted), "pair")
        assert f"{found} of {len(opened)}: enter shows them" in shown
        assert f"Pairs {where}" in (await keys("enter"))[0]
        assert table(pilot).pairs.data.tolist() == wanted
        await keys("slash", "tab", "up", "up")  # out of the list, and to the line of before
        assert line.value == where
        assert f"{len(opened)} shown" in (await keys("ctrl+u", "enter"))[0]  # no filter: all

    browse(mined_run, script, (120, 40))


def test_verdicts_are_kept_shown_and_taken_back(run_copy: Path) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        shown = await keys("a", "x", "u")
        assert [row[1:2] for row in shown[2:6]] == ["✓", "✗", "?", " "]
        assert "3 judged" in shown[0]
        assert table(pilot).cursor_row == 3
        assert [Judgements.open(open_pairs(run_copy)).of(row) for row in range(4)] == [
            "accept",
            "reject",
            "unsure",
            "",
        ]
        shown = await keys("z")
        assert "2 judged" in shown[0]
        shown = await keys("g", "a", "a")  # the habitual key destroys nothing, and goes on
        assert [row[1:2] for row in shown[2:5]] == ["✓", "✓", " "]
        assert "2 judged" in shown[0] and table(pilot).cursor_row == 2

    browse(run_copy, script)

    async def reopened(pilot: Any, keys: Keys) -> None:
        shown = await keys("g", "z")
        assert "taken back" in shown[-2] and "1 judged" in shown[0]
        assert table(pilot).cursor_row == 0
        assert "nothing to take back" in (await keys("z"))[-2]

    browse(run_copy, reopened)


def test_what_a_filter_shows_is_judged_at_once_after_a_question(run_copy: Path) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        judgements = pilot.app.judgements
        assert "/ filters: A accepts all" in (await keys("A"))[-2]
        assert not judgements.counts().judged
        await keys("slash")
        shown = await answer(pilot, "#answer", "flag = copy")
        rows = pilot.app.view.rows.tolist()
        assert 0 < len(rows) < 50
        shown = await keys("X")
        assert f"✗ {len(rows)} pair" in shown[-2] and judgements.counts().reject == len(rows)
        await keys("z", "slash")
        await answer(pilot, "#answer", "prob >= 0")
        every = len(pilot.app.view.opened)
        assert every > 50
        assert f"reject {every} pairs? y/n" in (await keys("X"))[-2]
        await keys("n")
        assert judgements.counts().judged == 0
        await keys("X", "y")
        assert judgements.counts().reject == every
        await keys("z")
        assert judgements.counts().judged == 0

    browse(run_copy, script)


def test_what_another_process_judges_appears(run_copy: Path) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        other = Judgements.open(open_pairs(run_copy), by="somebody else")
        other.judge(1, "reject")
        pilot.app._refresh_judgements()
        await settled(pilot)
        assert screen_text(pilot.app)[3][1:3] == " ✗"
        # What cannot be read is told once, and does not cover what is said next.
        other.path.write_text("of another version\n")
        for said, key in (("judge again", ""), ("copied: source", "y")):
            pilot.app._refresh_judgements()
            await keys(*key)
            pilot.app._refresh_judgements()
            await settled(pilot)
            assert said in "".join(screen_text(pilot.app)), key

    browse(run_copy, script)


def test_copying_and_exporting_give_the_pairs_as_they_are(run_copy: Path, tmp_path: Path) -> None:
    opened = open_pairs(run_copy)

    async def script(pilot: Any, keys: Keys) -> None:
        await keys("y")
        pair = opened.pair(0)
        assert pilot.app.clipboard == f"{pair.source}\t{pair.target}"
        await keys("slash")
        await answer(pilot, "#answer", "source LIKE '%books%'")
        for name, said in (
            (f"{tmp_path}/some.jsonl", "some.jsonl: 1 pair"),
            (f"{tmp_path}/some.jsonl", "exists"),
            ("some.xyz", "xyz"),
        ):
            await keys("w")
            shown = "".join(await answer(pilot, "#answer", name))
            assert said.replace(" ", "") in shown.replace(" ", "")  # a long path is broken

    browse(run_copy, script)
    (written,) = read_pairs(tmp_path / "some.jsonl")
    assert "21 books" in written.source


def test_no_screen_stumbles_over_no_pairs(tmp_path: Path) -> None:
    write_pairs([], str(tmp_path / "pairs.parquet"))

    async def script(pilot: Any, keys: Keys) -> None:
        assert "0 shown, 0 of 0 kept" in screen_text(pilot.app)[0]
        assert "there are no pairs in it" in screen_text(pilot.app)[-2]
        for opens, name, pressed in (
            ("p", "Pairs", ("j", "J", "a", "s", "y", "enter")),
            ("t", "Threshold", ("right", "a", "W")),
        ):
            assert name in (await keys(opens))[0]
            assert name in (await keys(*pressed))[0]
            await keys("escape")

    browse(tmp_path / "pairs.parquet", script)


def test_a_run_that_cannot_be_opened_ends_the_app_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text("{}\n")

    async def script(pilot: Any, keys: Keys) -> None:
        assert "pairs.jsonl:1" in pilot.app.failure.message

    browse(tmp_path / "pairs.jsonl", script)


def test_a_small_window_asks_for_a_larger_one(mined_run: Path) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        assert [row.strip() for row in screen_text(pilot.app) if row.strip()] == [
            "enlarge the window to 60 x 15"
        ]
        await keys("a", "t", "w")  # nothing is done that cannot be seen
        await pilot.resize_terminal(80, 24)
        assert pilot.app.screen.NAME == "Pairs"
        assert pilot.app.judgements.counts().judged == 0
        await keys("t")
        assert pilot.app.screen.NAME == "Threshold"

    browse(mined_run, script, (50, 12))


def test_the_lines_around_a_pair_are_a_key_away(mined_run: Path) -> None:
    opened = open_pairs(mined_run)

    async def script(pilot: Any, keys: Keys) -> None:
        row = table(pilot).row
        assert row is not None
        side = opened.source
        rows = [each for each in lines_around(side, int(opened.sources[row])) if each is not None]
        shown = "\n".join(await keys("c"))
        assert rows and "score" in shown
        assert all(f"{side.lines[at]}  {side.texts[at][:9]}" in shown for at in rows)
        alone = "\n".join(await keys("c"))
        assert not any(f"{side.lines[at]}  {side.texts[at][:9]}" in alone for at in rows)

    browse(mined_run, script, (139, 60))


def test_the_palette_has_what_is_done_here_and_a_key_what_it_does_elsewhere(
    run_copy: Path,
) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        app = pilot.app

        def commands() -> dict[str, Callable[[], Any]]:
            return {each.title: each.callback for each in app.get_system_commands(app.screen)}

        there = commands()
        assert {"Filter  /", "Threshold  t", "Home  o", "Accept all  A"} <= set(there)
        noise = ("Down", "First", "Half a page", "Page", "Scroll")
        assert not [title for title in there if title.startswith(noise)]
        await there["Filter  /"]()
        await settled(pilot)
        assert app.screen.query_one("#answer").has_focus
        await keys("escape", "o")
        assert "Open  O" in commands() and "Accept all  A" not in commands()
        assert "this key does nothing here: Turn the order" in " ".join(await keys("S"))

    browse(run_copy, script)


@pytest.mark.long
def test_q_closes_the_layer_and_help_scrolls_and_tells_the_words(mined_run: Path) -> None:
    async def script(pilot: Any, keys: Keys) -> None:
        shown = await keys("question_mark")
        assert ["Judge", "Here", "Move", "Go to", "App"] == [
            row.strip() for row in shown if row.strip() in ("Move", "Judge", "Here", "Go to", "App")
        ]
        assert "the probability that the pair is a translation" in "\n".join(shown)
        await pilot.resize_terminal(80, 24)
        bottom = await keys("G")
        assert "underlined, dim" in "\n".join(bottom)
        assert await keys("k") != bottom
        for opens in ("question_mark", "enter", "t", "M"):
            await keys("p", opens)
            pilot.app.screen.set_focus(None)
            form = pilot.app.screen.in_form
            shown = await keys("escape" if form else "q")
            assert "Pairs" in shown[0] and pilot.app.is_running, opens
        await pilot.press("q")
        await settled(pilot)
        assert pilot.app.return_code is not None

    browse(mined_run, script, (80, 70))


def test_the_screens_look_as_they_did(mined_run: Path, snapshot: Any) -> None:
    opened = open_pairs(mined_run)
    kept = int(opened.kept(opened.cut).sum())
    row = int(np.flatnonzero(opened.kept(opened.cut))[0])

    async def script(pilot: Any, keys: Keys) -> None:
        counts = f"{kept} shown, {kept} of {len(opened)} kept, cut {opened.cut:.4f}"
        score = f"{opened.pair(row).score:.4f}"
        await snapshot(pilot, "pairs", holds=["Pairs", counts, score, "a Accept", "? Help"])
        await keys("slash")
        await snapshot(pilot, "filter", holds=["NOT kept", "flag = 'number'", "enter: show"])
        await keys("escape", "question_mark")
        await snapshot(pilot, "help", holds=["Keys of Pairs", "Wrong language"])

    browse(mined_run, script)


def test_a_user_gives_actions_other_keys_and_hears_of_what_is_wrong(
    mined_run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "state" / "keys.toml"
    file.parent.mkdir()
    file.write_text('help = "f5"\nsort = "a"\nreverse = "f6,f7"\n')

    async def script(pilot: Any, keys: Keys) -> None:
        said = "".join("".join(screen_text(pilot.app)).split())
        assert f"!{file}:aisforaccept,sosortkeepss" in said
        await keys("s", "f7")
        assert pilot.app.view.query.order == "unsure" and pilot.app.view.query.descending
        await keys("a", "f5")
        assert pilot.app.screen.NAME == "Help"

    browse(mined_run, script, (80, 24))


def test_what_is_wrong_in_a_users_keys_is_named_and_the_rest_counts(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    assert own_keys(file) == ({}, "")
    file.write_text('acept = "b"\nfind = 3\nundo = "f4"\naccept = "z"\nreject = "z"\n')
    given, said = own_keys(file)
    assert given == {"undo": "f4", "accept": "z"}
    for wrong in ("no action 'acept', perhaps accept", "find is no key", "z is for accept"):
        assert wrong in said and said.startswith(f"{file}: "), wrong
    file.write_text("accept = ")
    assert own_keys(file)[0] == {} and "Invalid value" in own_keys(file)[1]


def test_a_key_has_one_meaning_and_a_footer_names_keys_of_the_table() -> None:
    owners = dict[str, list[str]]()
    for name, row in KEYS.items():
        for key in row[0].split(","):
            owners.setdefault(key, []).append(name)
    typed = {"tab", "up", "down", "f1"}  # in a form these lead from field to field
    assert {
        key: names for key, names in owners.items() if len(names) > 1 and key not in typed
    } == {}
    known = {each.partition("@")[0] for names in FOOTERS.values() for each in names.split()}
    assert known <= KEYS.keys()
