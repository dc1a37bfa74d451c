"""Why a pair has its flags: the figures are those that the flags were raised by."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from xmine.browsing.flag_reasons import Reasons
from xmine.browsing.opened import Opened, TextColumn, TextSide
from xmine.browsing.word_alignment import Aligner, WordAlignment, align_words
from xmine.encoders.encoder import SentenceEncoder
from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS
from xmine.knn.neighbours import COMPLETE, FILES

if TYPE_CHECKING:
    from numpy.typing import NDArray

# 40 confident pairs, of three English characters for a Chinese one, then those with flags.
SURE = [("abc " * 15 + "d" * at, "甲乙丙丁" * 5) for at in range(40)]
FLAGGED = [
    ("length", "a" * 60, "甲乙丙"),
    ("number", "He paid 12 dollars in 1998", "他付了1200美元"),
    ("copy", "the same", "the same"),
    ("near-copy", "the same words", "the same word"),
    ("near-copy", "Page 1 of 60", "page 2 of 60"),
    ("script", "the cat sat on the mat", "the cat sat on it all day"),
    ("script", "der Hund und die Katze sind nicht da", "狗和猫不在"),
    ("hub", "Contact us", "联系我们"),
    ("high", "far away", "远"),
    ("duplicate", SURE[3][0].upper() + "!", "甲乙丙丁"),
    ("markup", "Read &quot;this&quot;", "读这个"),
    ("garbled", "It is late", "\ufffd\ufffd很晚了"),
    ("partial", "The museum is open, and farmers plant rice beside the railway", "博物馆开放"),
]


def opened(folder: Path, languages: tuple[str, str] = ("en", "zh")) -> Opened:
    pairs = [*SURE, *((source, target) for _, source, target in FLAGGED)]
    count = len(pairs)
    rows = np.arange(count)
    sides = []
    for at, name in enumerate(("en.txt", "zh.txt")):
        texts = TextColumn(pl.Series([pair[at] for pair in pairs]))
        sides.append(TextSide(name, texts, rows + 1))
    names = ["" for _ in SURE] + [name for name, *_ in FLAGGED]
    cosines = np.array([0.8 + at % 5 / 100 for at in range(40)] + [0.3] * len(FLAGGED))
    return Opened(
        folder,
        sides[0],
        sides[1],
        rows,
        rows,
        np.linspace(2, 1, count, dtype=np.float32),
        cosines.astype(np.float32),
        np.array([0.99] * 40 + [0.5] * len(FLAGGED), dtype=np.float32),
        Flags.of({flag: np.array([flag == name for name in names]) for flag in FLAGS}),
        np.ones(count, dtype=bool),
        np.ones(count, dtype=bool),
        0.1,
        languages,
        {"made_with": {}},
        {},
    )


def reason(of: Opened, at: int) -> str:
    (told,) = Reasons(of).of(len(SURE) + at).values()
    return told


def test_every_flag_has_a_sentence(tmp_path: Path) -> None:
    every = opened(tmp_path)
    told = {
        name: text for row in range(len(every)) for name, text in Reasons(every).of(row).items()
    }
    assert set(told) == set(FLAGS)
    assert all(told.values())


class Embedded(Aligner):
    def align(self, source: str, target: str) -> WordAlignment:
        return align_words(SentenceEncoder.load(), source, target)


def test_a_stretch_without_a_counterpart_is_named(tmp_path: Path) -> None:
    of = opened(tmp_path)
    told = Reasons(of, Embedded(of)).of(len(of) - 1)["partial"]
    assert told == (
        "67% of the source has no counterpart in the target: "
        "and farmers plant rice beside the railway"
    )


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (0, "3 characters for 60, expected about 15"),
        (1, "12 and 1998 on the source side only, 1200 on the target side only"),
        (2, "both sides are the same text"),
        (3, "the sides share 95% of their pairs of letters"),
        (4, "the letters of both sides are the same"),
        (5, "no Han character in the target"),
        (6, "the source does not look like en: 0 function words in 8 words"),
        (9, "the source is that of a better pair (line 4, prob 0.9900)"),
    ],
)
def test_a_flag_has_a_sentence_with_its_figures(tmp_path: Path, at: int, told: str) -> None:
    assert reason(opened(tmp_path), at) == told


def test_other_languages_have_reasons_of_their_own(tmp_path: Path) -> None:
    assert reason(opened(tmp_path, ("und", "de")), 5) == "the target looks like English"
    assert reason(opened(tmp_path, ("de", "und")), 1) == (
        "12 and 1998 on the source side only, 1200 on the target side only"
    )
    japanese = opened(tmp_path, ("en", "ja"))
    assert reason(japanese, 5) == "no Han or Hiragana or Katakana character in the target"


def test_a_hub_is_told_by_the_lines_that_find_it(tmp_path: Path) -> None:
    pairs = opened(tmp_path)
    count, hub = len(pairs), len(SURE) + 7
    ids = np.arange(count)[:, None].repeat(2, axis=1)
    sources, targets = ids.copy(), ids.copy()
    targets[:30, 1] = hub  # of 30 sources and of its own
    (tmp_path / "neighbours").mkdir()
    cosines = np.zeros((count, 2), dtype=np.float32)
    arrays: list[NDArray[Any]] = [targets, cosines, sources, cosines]
    for name, rows in zip(FILES, arrays, strict=True):
        np.save(tmp_path / "neighbours" / f"{name}.npy", rows)
    (tmp_path / "neighbours" / COMPLETE).write_text('index = "exact"\n')
    assert reason(pairs, 7) == "the target is a neighbour of 31 lines"
    file = replace(pairs, run={})
    assert reason(file, 7) == "a side is near to very many lines, or is boilerplate"


def test_neighbours_that_cannot_be_read_are_no_reason_to_crash(tmp_path: Path) -> None:
    (tmp_path / "neighbours").mkdir()
    (tmp_path / "neighbours" / COMPLETE).write_text('index = "exact"\n')
    assert reason(opened(tmp_path), 7).startswith("cannot be explained: ")
