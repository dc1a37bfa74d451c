"""Which pairs are new, gone and changed, and when they came."""

import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from xmine.pairs.changes import came, compare, counted, note_since
from xmine.pairs.pair import Pair, pair_frame


def drawn(dice: random.Random, size: int) -> list[Pair]:
    """Draw few texts, so that pairs are repeated, and sources have several targets."""
    pairs = []
    for line in range(size):
        texts = f"s{dice.randrange(12)}", f"t{dice.randrange(3)}"
        prob = dice.choice([0.9, 0.95, 0.5, 0.54, None])
        pairs.append(Pair(*texts, score=dice.choice([1.0, 2.0]), source_line=line, prob=prob))
    return pairs


def by_hand(old: list[Pair], new: list[Pair]) -> dict[str, int]:
    """Compare by dictionaries."""
    places: list[dict[tuple[str, str], list[Pair]]] = [defaultdict(list), defaultdict(list)]
    for pairs, found in zip((old, new), places, strict=True):
        for pair in pairs:
            found[pair[:2]].append(pair)
    changed, gone, came = 0, Counter[str](), Counter[str]()
    for key in {*places[0], *places[1]}:
        before, now = places[0][key], places[1][key]
        for one, other in zip(before, now, strict=False):
            name = "prob" if None not in (one.prob, other.prob) else "score"
            changed += abs(getattr(one, name) - getattr(other, name)) > 0.0499
        gone[key[0]] += max(0, len(before) - len(now))
        came[key[0]] += max(0, len(now) - len(before))
    again = sum((gone & came).values())
    totals = came.total() - again, gone.total() - again, changed + again
    return dict(zip(("new", "gone", "changed"), totals, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_changes_are_those_that_dictionaries_find(seed: int) -> None:
    dice = random.Random(seed)
    old, new = drawn(dice, 40), drawn(dice, 30 + seed)
    assert counted(compare(pair_frame(old), pair_frame(new))) == by_hand(old, new)
    assert not len(compare(pair_frame(old), pair_frame(old)))


def test_rows_tell_what_was_before() -> None:
    old = [Pair("a", "x", prob=0.9), Pair("b", "y", prob=0.9), Pair("c", "z", prob=0.9)]
    new = [Pair("a", "x", prob=0.8), Pair("b", "q", prob=0.7), Pair("d", "z", prob=0.9)]
    rows = compare(pair_frame(old), pair_frame(new))
    told = rows.select("change", "source", "target", "old_target").rows()
    assert told == [
        ("new", "d", "z", None),
        ("gone", "c", "z", None),
        ("changed", "a", "x", None),
        ("changed", "b", "q", "y"),
    ]
    assert rows["old_prob"].to_list() == pytest.approx([None, None, 0.9, 0.9])


def test_pairs_are_dated_by_the_run_that_has_them_first(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("2026-01-02 10:00:00  reading\n")
    tables = [pair_frame(Pair(each, each) for each in texts) for texts in ("ab", "abc", "bcd")]

    def since(date: str) -> str:
        dates = came(tmp_path, tables[-1])
        wanted = dates == dates.max() if date == "run" else dates >= date
        return "".join(tables[-1].filter(wanted)["source"])

    assert since("run") == since("2026-01-02") == "bcd" and since("2026-01-03") == ""
    note_since(tmp_path, tables[0], tables[0])
    assert not (tmp_path / "since.parquet").exists()
    note_since(tmp_path, tables[0], tables[1])
    note_since(tmp_path, tables[1], tables[2])
    note_since(tmp_path, tables[2], tables[2])  # nothing new: the last that were new stay so
    assert since("run") == "d" and since("2026-01-03") == "cd"
    assert since("2026-01-02T10:00") == "bcd" and since("2026-01-02T11:00") == "cd"
