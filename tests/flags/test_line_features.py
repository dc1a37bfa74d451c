"""What is seen of lines is kept in a folder, and found again: whole, or made anew."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.compatibility import BLOCKS, in_forms
from xmine.flags import line_features
from xmine.flags.line_features import LineFeatures, read_line_features
from xmine.run.steps import Steps
from xmine.text.hashing import hashes_of
from xmine.text.sentences import Sentences, read_sentences, sentence_table

LINES = [f"Number {row}: {'the same end of many lines ' * (row % 3)}{row % 7}" for row in range(50)]
LINES[10], LINES[20] = "完全不同的语言", "…"


@pytest.fixture
def side(tmp_path: Path) -> Sentences:
    path = tmp_path / "en.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return read_sentences(path)


@pytest.fixture(autouse=True)
def few_lines_per_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_features, "LINES_OF_A_TASK", 16)


def same(one: LineFeatures, other: LineFeatures) -> bool:
    names = LineFeatures.__slots__
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_what_is_kept_is_not_looked_at_again(
    side: Sentences, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    plain = read_line_features(side, "en", told.append)
    assert told == [16, 32, 48, 50]
    with monkeypatch.context() as few:
        few.setattr(line_features, "_LINES_AT_ONCE", 7)
        assert same(read_line_features(side, "en"), plain)
    assert plain.foreign.nonzero()[0].tolist() == [10]
    steps = Steps(tmp_path / "parts")
    assert same(read_line_features(side, "en", steps=steps, name="source"), plain)

    looked: list[int] = []
    look = line_features._look

    def watched(lines: Any, some: range, *rest: Any) -> None:
        looked.append(len(some))
        look(lines, some, *rest)

    monkeypatch.setattr(line_features, "_look", watched)
    assert same(read_line_features(side, "en", steps=steps, name="source"), plain)
    assert looked == []
    (cut,) = steps.folder.glob("*-16.npy")
    cut.write_bytes(cut.read_bytes()[:-3])
    assert same(read_line_features(side, "en", steps=steps, name="source"), plain)
    assert looked == [16]
    read_line_features(side, "de", steps=steps, name="source")  # other languages are other files
    assert sum(looked) == 16 + 50


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("language", ["ar", "de", "en"])
def test_a_line_is_judged_by_its_normal_form(language: str, block: str) -> None:
    lines = [
        "كانت الحديقة مليئة بالأطفال.",
        "My brother lives in a small village, and the sea is not far.",
        "Mein Bruder lebt in einem kleinen Dorf, und das Meer ist nicht weit.",
    ]
    plain, formed = (
        read_line_features(sentence_table("a.txt", some), language)
        for some in (lines, [in_forms(line, block) for line in lines])
    )
    assert plain.foreign.any() and same(plain, formed)


def test_hashes_are_the_same_on_every_machine() -> None:
    assert hashes_of(["page", "", "页", "\ud800", "page"]).tolist() == [
        *(2133315022587658555, -5426141060434712860, -6641102981156407727, 7497787021708494914),
        2133315022587658555,
    ]
    assert hashes_of([]).tolist() == []
