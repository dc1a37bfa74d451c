"""What judging holds for each line does not depend on how long lines are: no text, no letters."""

import tracemalloc

import numpy as np
import pytest

from tests.conftest import toy_sentences
from xmine.candidates import Scored
from xmine.formats.tsv import tsv_rows
from xmine.keeping import keep
from xmine.margin import margin_scores
from xmine.neighbours import Neighbours
from xmine.options import MiningOptions
from xmine.packed import PackedTexts
from xmine.pairing import choose_pairs
from xmine.sentences import Sentences

# Of both sides together, and 120 are needed; a list of the lines of one side takes 350.
MOST_BYTES_A_LINE = 250
EVERYTHING = MiningOptions(threshold=float("-inf"), drop=["hub"])


def peak_of(lines: int) -> tuple[int, int]:
    """Measure the bytes that judging and writing take at most, and count the pairs."""
    random = np.random.default_rng(2)
    near = np.sort(random.random((2, lines, 4)).astype(np.float32), axis=2)[:, :, ::-1]
    ids = random.integers(0, lines, (2, lines, 4))
    ids[:, ::2, 0], near[:, ::2, 0] = np.arange(0, lines, 2), 0.99
    neighbours = Neighbours(ids[0], near[0], ids[1], near[1])
    sides = [
        Sentences(
            name,
            PackedTexts.of(" ".join([text] * 8) for text in texts),
            np.arange(lines) + 1,
            lines,
            0,
            0,
        )
        for name, texts in zip("ab", toy_sentences(lines, seed=4)[:2], strict=True)
    ]
    tracemalloc.start()
    try:
        scores = margin_scores(neighbours)
        chosen = choose_pairs(neighbours, scores)
        scored = Scored(chosen, neighbours, scores, sides[0], sides[1])
        mined = keep(scored, EVERYTHING, ("en", "zh"))
        pairs = sum(1 for _ in tsv_rows(mined.pairs.rows()))
        return tracemalloc.get_traced_memory()[1], pairs
    finally:
        tracemalloc.stop()


def test_a_line_takes_few_bytes_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "xmine.margin._ROWS_AT_ONCE",
        "xmine.confidence._PAIRS_AT_ONCE",
        "xmine.traits._LINES_AT_ONCE",
        "xmine.flags._LISTS_AT_ONCE",
        "xmine.flags._PAIRS_AT_ONCE",
        "xmine.picked._AT_ONCE",
        "xmine.flagged._AT_ONCE",
        "xmine.pairs._PAIRS_AT_ONCE",
        "xmine.languages._SAMPLE",
    ):
        monkeypatch.setattr(name, 32)
    peak_of(200)  # what is made once, such as tables of letters
    (few, pairs), (many, more_pairs) = peak_of(2000), peak_of(5000)
    assert pairs > 1500 and more_pairs > 3500
    assert (many - few) / 3000 < MOST_BYTES_A_LINE
