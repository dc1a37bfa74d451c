"""What was opened lately, and the choices of the app: kept whole, whoever writes at once."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from xmine.browsing.judgements import Judgements
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import USUAL
from xmine.browsing.view import View
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.background import place_of, view_at
from xmine.tui.state import keep_place, keep_setting, lately, place_in, recent, remember, settings


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("XMINE_STATE", str(folder))
    return folder


def test_the_last_one_is_first_and_stands_there_once(tmp_path: Path) -> None:
    for name in ("a.tsv", "b.tsv", "a.tsv"):
        (tmp_path / name).touch()
        remember(tmp_path / name, datetime(2026, 1, 31, 12, tzinfo=UTC))
    assert [(Path(each.path).name, each.kind) for each in recent()] == [
        ("a.tsv", "file"),
        ("b.tsv", "file"),
    ]
    assert recent()[0].opened == "2026-01-31T12:00:00Z"


def test_what_is_gone_is_not_listed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name in ("run.toml", "pairs.parquet"):
        (run / name).touch()
    (run / "summary.json").write_text('{"pairs": 12}')
    half = tmp_path / "half"
    half.mkdir()
    (half / "run.toml").touch()
    for path in (tmp_path / "gone", half, run):
        remember(path)
    assert [(each.kind, each.pairs) for each in recent()] == [
        ("run", 12),
        ("unfinished", None),
    ]


def test_a_moses_pair_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_pairs([Pair("one", "一")], "c.en,c.zh", ("en", "zh"))
    Judgements.open(open_pairs(Path("c.en,c.zh"))).judge(0, "accept")
    remember(Path("c.en,c.zh"))
    keep_place(Path("c.en,c.zh"), {"pair": []})
    monkeypatch.chdir("/")
    (found,) = recent()
    assert (found.path, found.kind) == (f"{tmp_path}/c.en,{tmp_path}/c.zh", "file")
    assert found.judged == 1 and place_in(Path(found.path)) == {"pair": []}
    assert len(open_pairs(Path(found.path))) == 1
    (tmp_path / "c.zh").unlink()
    assert recent() == []


def test_a_broken_file_is_as_none(state: Path) -> None:
    state.mkdir()
    for text in ("{", "[]", '{"recent": 5}', '{"recent": [1, {"path": 2}, {"x": "y"}]}'):
        (state / "recent.json").write_text(text)
        assert recent() == []
    (state / "settings.json").write_text('{"theme": 3, "keys": {"help": "f2", "quit": 4}}')
    assert settings()[1] == {"help": "f2"}
    remember(state)
    assert len([*lately()]) == 1


def test_a_theme_is_remembered_beside_what_else_there_is(state: Path) -> None:
    assert settings() == (None, {})
    state.mkdir()
    (state / "settings.json").write_text('{"keys": {"help": "f2"}, "of a later version": 1}')
    keep_setting("theme", "nord")
    assert settings() == ("nord", {"help": "f2"})
    assert json.loads((state / "settings.json").read_text())["of a later version"] == 1


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from xmine.tui.state import remember\n"
        "for number in range(10): remember(Path(sys.argv[1] + str(number)))"
    )
    for number in range(30):
        (tmp_path / f"{number:02}").touch()
    tens = (str(tmp_path / f"{n}") for n in range(3))
    started = [subprocess.Popen([sys.executable, "-c", script, each]) for each in tens]
    assert [each.wait(60) for each in started] == [0, 0, 0]
    assert {int(Path(each.path).name) for each in recent()} == set(range(30))


def test_a_place_is_kept_with_its_entry(tmp_path: Path) -> None:
    run = tmp_path / "run"
    keep_place(run, {"pair": []})  # which nobody has opened
    assert place_in(run) is None
    place = {"query": {"flags": ["number"]}, "cut": 0.25, "pair": [], "lines": ["a", ":9"]}
    for opened in (run, tmp_path / "other", run):
        remember(opened)
        if opened == run:
            keep_place(run, place)
    remember(run)
    assert place_in(run) == place
    assert place_in(tmp_path / "other") is None


def test_a_place_is_that_of_the_pair_whatever_its_row(mined_run: Path, tmp_path: Path) -> None:
    opened = open_pairs(mined_run)
    view = View(opened)
    view.row = 7
    place = json.loads(json.dumps(place_of(view)))
    rows = np.array([9, 7, 3])
    for name in ("lined.jsonl", "plain.tsv"):
        pairs = list(opened.pairs(rows))
        if name == "plain.tsv":
            pairs = [Pair(pair.source, pair.target) for pair in pairs]
        write_pairs(pairs, str(tmp_path / name), ("en", "zh"))
        other = open_pairs(tmp_path / name)
        place = place if other.lined else place | {"pair": [5, None, None, None, place["pair"][4]]}
        assert view_at(place, other, None).row == 1
        gone = place | {"pair": [*place["pair"][:4], "00000000"]}
        assert view_at(gone, other, None).row == 0


@pytest.mark.parametrize(
    "facts",
    [
        None,
        3,
        {},
        {"query": {"flags": [], "order": "size"}, "cut": None, "pair": [], "lines": []},
        {"query": {"flags": []}, "cut": "x", "pair": [], "lines": []},
        {"query": {"flags": [], "later": 1}, "cut": None, "pair": [], "lines": []},
        {"query": {"flags": ["number"]}, "cut": None, "pair": "x", "lines": []},
    ],
)
def test_a_place_that_cannot_be_read_is_the_beginning(facts: object, mined_run: Path) -> None:
    opened = open_pairs(mined_run)
    view = view_at(facts, opened, Judgements.open(opened).codes)
    assert view.query == USUAL and (view.row, view.lines) == (0, [])
    assert view.cut == opened.cut
