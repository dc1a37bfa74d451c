"""Places and the choices of the app: kept whole, whoever writes at once."""

import json
from pathlib import Path

import numpy as np
import pytest

from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery
from xmine.browsing.view import View
from xmine.judging.judgements import Judgements
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.background import place_of, view_at
from xmine.tui.state import keep_place, keep_setting, place_in, setting


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("XMINE_STATE", str(folder))
    return folder


def test_the_place_in_two_files_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keep_place(Path("c.en,c.zh"), {"pair": []})
    monkeypatch.chdir("/")
    assert place_in(Path(f"{tmp_path}/c.en,{tmp_path}/c.zh")) == {"pair": []}
    assert place_in(tmp_path / "c.en") is None


def test_the_last_places_are_kept(tmp_path: Path) -> None:
    for number in (0, 1, *range(2, 51), 0, 51):
        keep_place(tmp_path / str(number), {"pair": [number]})
    gone = [number for number in range(52) if place_in(tmp_path / str(number)) is None]
    assert gone == [1, 2] and place_in(tmp_path / "0") == {"pair": [0]}


def test_a_broken_file_is_as_none(state: Path) -> None:
    state.mkdir()
    for text in ("{", "[]"):
        (state / "places.json").write_text(text)
        assert place_in(state) is None
    keep_place(state, {})
    assert place_in(state) == {}


def test_a_theme_is_remembered_beside_what_else_there_is(state: Path) -> None:
    assert setting("theme") == ""
    state.mkdir()
    (state / "settings.json").write_text('{"of a later version": 1}')
    keep_setting("theme", "nord")
    assert setting("theme") == "nord"
    assert json.loads((state / "settings.json").read_text())["of a later version"] == 1


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
        {"query": {"order": "size"}, "cut": None, "pair": [], "lines": []},
        {"query": {"where": "prob <"}, "cut": None, "pair": [], "lines": []},
        {"query": {"where": 5}, "cut": None, "pair": [], "lines": []},
        {"query": {}, "cut": "x", "pair": [], "lines": []},
        {"query": {"flags": []}, "cut": None, "pair": [], "lines": []},
        {"query": {}, "cut": None, "pair": "x", "lines": []},
    ],
)
def test_a_place_that_cannot_be_read_is_the_beginning(facts: object, mined_run: Path) -> None:
    opened = open_pairs(mined_run)
    view = view_at(facts, opened, Judgements.open(opened).said)
    assert view.query == PairQuery("kept") and (view.row, view.lines) == (0, [])
    assert view.cut == opened.cut
