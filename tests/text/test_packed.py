"""Packed texts behave as the list they were packed from, and travel as two buffers."""

import pickle

import numpy as np
import pytest

from xmine.text.packed import PackedTexts

ODD = ["", "one", "二\u2028二", "\ud83d", "\ud83d\ude00", "\U0001f600", "a\nb\r\n", "\x00", "é", ""]


def random_texts(count: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    letters = [chr(each) for each in (0x41, 0x7F, 0xE9, 0x4E00, 0xDC80, 0x1F600)]
    return [
        "".join(random.choice(letters[: random.integers(1, 7)], size=random.integers(0, 6)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("texts", [[], [""], ["a"], ODD, random_texts(3000, 1), ["a"] * 1025])
def test_packed_texts_are_those_of_the_list(texts: list[str]) -> None:
    packed = PackedTexts.of(iter(texts))
    assert len(packed) == len(texts)
    assert list(packed) == texts == packed[:]
    assert [packed[row] for row in range(len(texts))] == texts
    assert [packed[row - len(texts)] for row in range(len(texts))] == texts
    for a, b, c in ((1, 3, 1), (None, None, 2), (-3, None, 1), (5, 2, 1), (9, None, -1)):
        assert packed[a:b:c] == texts[a:b:c]
    assert [text in packed for text in ("one", "ONE")] == ["one" in texts, False]
    assert packed == texts and packed == PackedTexts.of(texts) and packed != [*texts, "more"]
    assert packed != ["other", *texts[1:]]
    for beyond in (len(texts), -len(texts) - 1):
        with pytest.raises(IndexError):
            packed[beyond]


def test_taking_rows_is_taking_them_from_the_list() -> None:
    texts = random_texts(500, 2)
    packed, random = PackedTexts.of(texts), np.random.default_rng(3)
    for rows in (
        np.arange(500),
        np.delete(np.arange(500), [0, 7, 8, 499]),
        random.permutation(500),
        random.integers(0, 500, size=900),
        np.array([], dtype=np.int64),
        np.array([499]),
    ):
        taken = packed.take(rows)
        assert list(taken) == [texts[row] for row in rows.tolist()]
        assert taken.digest() == PackedTexts.of(taken).digest()


def test_packed_texts_travel_and_may_lie_in_read_only_memory() -> None:
    packed = PackedTexts.of(ODD)
    assert pickle.loads(pickle.dumps(packed)) == packed
    packed.data.flags.writeable = packed.offsets.flags.writeable = False
    again = PackedTexts(packed.data, packed.offsets)
    assert again == ODD and again.take(np.array([2, 1])) == ODD[2:0:-1]
    assert repr(again) == "PackedTexts('', 'one', '二\\u2028二', ...)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(packed)
