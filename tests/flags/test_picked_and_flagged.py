"""Views of pairs: texts that are looked up, flags that are bits; both read as lists of texts do."""

import numpy as np
import pytest

from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS
from xmine.pairs.io import Pairs
from xmine.pairs.pair import Pair
from xmine.text.packed import PickedTexts

TEXTS = [f"line {row}" for row in range(30)]
ROWS = np.array([3, 3, 29, 0, 12, 7, 7, 1, 28, 4, 11], dtype=np.int64)


@pytest.mark.parametrize("at_once", [1, 4, 11, 4096])
def test_picked_texts_read_as_a_list_does(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr("xmine.text.packed._TEXTS_AT_ONCE", at_once)
    expected = [TEXTS[row] for row in ROWS.tolist()]
    picked = PickedTexts(TEXTS, ROWS)
    assert list(picked) == expected and len(picked) == 11
    assert (picked[2], picked[-1], picked[np.int64(4)]) == ("line 29", "line 11", "line 12")
    assert picked[3:7] == expected[3:7] and picked[::-2] == expected[::-2]
    assert list(PickedTexts(TEXTS, ROWS[:0])) == []
    with pytest.raises(IndexError):
        picked[11]


def names(bits: int) -> str:
    return ",".join(name for place, name in enumerate(FLAGS) if bits & 2**place)


@pytest.mark.parametrize("at_once", [1, 100, 4096])
def test_flags_read_as_names_joined_by_commas(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("xmine.text.packed._TEXTS_AT_ONCE", at_once)
    rows = np.arange(2 ** len(FLAGS))
    raised = {name: rows & 2**place > 0 for place, name in enumerate(FLAGS)}
    flags = Flags.of(raised)
    expected = list(map(names, range(len(rows))))
    assert list(flags) == expected and len(flags) == len(rows)
    assert flags[5] == flags[np.int64(5)] == names(5) and flags[250:] == expected[250:]
    for name in FLAGS:
        assert np.array_equal(flags.raised(name), raised[name])
    some = np.array([200, 3, 3, 0])
    assert list(flags.take(some)) == [names(bits) for bits in some.tolist()]


@pytest.mark.parametrize("at_once", [1, 4, 11, 12])
def test_pairs_are_walked_through_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("xmine.pairs.io._PAIRS_AT_ONCE", at_once)
    numbers, texts = np.arange(11), PickedTexts(TEXTS, ROWS)
    flags = Flags(numbers.astype(np.uint16))
    found = Pairs({"source": texts, "target": texts, "prob": numbers / 16, "flags": flags})
    for row, pair in enumerate(found.rows()):
        text = TEXTS[ROWS[row]]
        assert pair == Pair(text, text, prob=row / 16, flags=names(row))
    assert len(found) == row + 1 == 11
