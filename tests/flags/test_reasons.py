"""Why a pair has its flags: the figures are those that the flags were raised by."""

import numpy as np
import polars as pl
import pytest

from tests.flags.test_rules import GOOD, neighbours_of
from tests.toys.opened import opened_run
from xmine.browsing.details import reasons_of
from xmine.browsing.word_alignment import Aligner, WordAlignment
from xmine.errors import XmineError
from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS
from xmine.flags.reading import read_lines
from xmine.flags.reasons import Files, text_reason
from xmine.flags.rules import flag_pairs
from xmine.knn.neighbours import Neighbours
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.sentences import sentence_table

CASES = [
    ("length", "a" * 60, "甲乙丙", "3 characters for 60"),
    (
        *("number", "He paid 12 dollars in 1998", "他付了1200美元"),
        "12 and 1998 on the source side only, 1200 on the target side only",
    ),
    ("copy", "the same", "the same", "both sides are the same text"),
    (
        *("near-copy", "the same words", "the same word"),
        "the sides share 95% of their pairs of letters",
    ),
    (*("near-copy", "Page 1 of 60", "page 2 of 60"), "the letters of both sides are the same"),
    (
        "language",
        "the cat sat on the mat",
        "the cat sat on it",
        "0% of the letters of the target are Han",
    ),
    (
        *("language", "der Hund und die Katze sind nicht da", "狗和猫不在"),
        "the source does not look like English",
    ),
    (
        "number",
        "On Monday",
        "星期二",
        "Monday on the source side only, Tuesday on the target side only",
    ),
    ("negation", "It came.", "它没来。", "'没' in the target, no negation in the other side"),
    ("negation", "Fares rose.", "票价下跌。", "'rose' in the source, '下跌' in the target"),
    ("markup", "Read &quot;this&quot;", "读这个", "'&quot;' in the source is markup"),
    (
        *("placeholder", "Odo %s has {count} boats <b>here", "Odo {Count}有%d条船"),
        "%s, {count} and <b> on the source side only, %d and {Count} on the target side only",
    ),
    (
        *("garbled", "It is late", "\ufffd\ufffd很晚了"),
        "'\ufffd' in the target is no text that people wrote",
    ),
]


@pytest.mark.parametrize(("flag", "source", "target", "said"), CASES)
def test_texts_alone_explain_a_flag(flag: str, source: str, target: str, said: str) -> None:
    assert text_reason(flag, (source, target), Files(("en", "zh"), ([], []))) == said


@pytest.mark.parametrize(
    ("languages", "said"),
    [
        (("und", "de"), "the target does not look like German"),
        (("en", "ja"), "0% of the letters of the target are Han or Hiragana or Katakana"),
        (("en", "nl"), "the target does not look like Dutch"),
    ],
)
def test_other_languages_have_reasons_of_their_own(languages: tuple[str, str], said: str) -> None:
    texts = "the cat sat on the mat", "the cat sat on it all day"
    assert text_reason("language", texts, Files(languages, ([texts[0]], [texts[1]]))) == said


def test_every_flag_has_a_sentence() -> None:
    files = Files(("en", "zh"), ([], []))
    assert all(text_reason(name, ("one", "two"), files) for name in FLAGS)
    assert text_reason("of nobody", ("one", "two"), files) == ""


def flagged(
    pairs: list[tuple[str, str]], near: Neighbours, cosines: dict[int, float] | None = None
) -> Flags:
    """Flag the good pairs, which are sure, and others behind them, which are not."""
    every = [*GOOD, *pairs]
    sides = [sentence_table(name, [pair[at] for pair in every]) for at, name in enumerate("ab")]
    rows, found = np.arange(len(every)), np.full(len(every), 0.8, np.float32)
    for row, cosine in (cosines or {}).items():
        found[row] = cosine
    chosen = ChosenPairs(rows, rows, np.linspace(2, 1, len(every), dtype=np.float32), found)
    probs = np.where(rows < len(GOOD), 0.99, 0.5)
    read = read_lines((sides[0], sides[1]), (rows, rows), ("en", "zh"))
    return flag_pairs(chosen, probs, near, sides[0], sides[1], read)


def test_rules_tell_the_figures_of_other_pairs() -> None:
    first, size = len(GOOD), len(GOOD) + 3
    pairs = [("a" * 60, "甲乙丙"), (GOOD[3][0].upper() + "!", "狗"), ("far away", "远")]
    near = neighbours_of(size, other=0.1)
    near.target_cosines[-1] = near.source_cosines[-1] = [0.3, 0.01, 0.01, 0.01]
    flags = flagged(pairs, near, {size - 1: 0.3})
    said = [(flags.evidence(row) or "").split("\n") for row in range(size)]
    usual = 60 * float(np.median([len(target) / len(source) for source, target in GOOD]))
    assert f"length: 3 characters for 60, expected about {usual:.0f}" in said[first]
    assert "duplicate: the source is that of a better pair (line 4, prob 0.9900)" in said[first + 1]
    assert flags.rivals is not None and flags.rivals.tolist()[first:] == [-1, 3, -1]
    assert any(each.startswith("high: the cosine, 0.3000, is below 0.") for each in said[-1])
    assert flags.evidence(0) is None


def test_a_hub_is_told_by_the_lines_that_find_it() -> None:
    size = len(GOOD) + 1
    ids = (np.arange(size)[:, None] + np.arange(2)) % size
    targets = ids.copy()
    targets[-2:, 1] = 0
    targets[:30, 1] = size - 1  # of 30 sources, and of its own
    cosines = np.zeros((size, 2), np.float32)
    flags = flagged([("Contact us", "联系我们")], Neighbours(targets, cosines, ids, cosines))
    assert flags.evidence(size - 1) == "hub: the target is a neighbour of 31 lines"


def test_an_encoder_that_cannot_be_loaded_leaves_the_other_flags_explained() -> None:
    class Broken(Aligner):
        def align(self, source: str, target: str) -> WordAlignment:
            raise XmineError("no such encoder")

    opened = opened_run(1).with_columns(flags=pl.Series(["partial,copy"]))
    assert reasons_of(opened, 0, Broken(opened)) == {
        "partial": "cannot be explained: no such encoder",
        "copy": "both sides are the same text",
    }
