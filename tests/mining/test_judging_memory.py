"""What judging holds for each line does not depend on how long lines are: no text, no letters."""

import tracemalloc
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from tests.toys.grids import mostly_long
from tests.toys.mined import selected
from tests.toys.sentences import toy_sentences
from xmine.files import scratch
from xmine.knn.neighbours import Neighbours
from xmine.mining.candidates import Candidates
from xmine.mining.options import MiningOptions
from xmine.pairs.tsv import tsv_rows
from xmine.scoring.margin import margin_scores
from xmine.scoring.retrieval import choose_pairs
from xmine.text.packed import PackedTexts
from xmine.text.sentences import Sentences

# Of both sides together; a list of the lines of one side takes 350.
MOST_BYTES_A_LINE, MOST_WITH_A_FOLDER = 250, 90
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
        scored = Candidates(chosen, neighbours, scores, sides[0], sides[1])
        mined = selected(scored, EVERYTHING, ("en", "zh"))
        pairs = sum(1 for _ in tsv_rows(mined.pairs.rows()))
        return tracemalloc.get_traced_memory()[1], pairs
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("has_folder", mostly_long([False, True], usual=[True]))
def test_a_line_takes_few_bytes_however_long_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, has_folder: bool
) -> None:
    for name in (
        "xmine.files.scratch.ROWS_AT_ONCE",
        "xmine.scoring.probability.PAIRS_AT_ONCE",
        "xmine.flags.line_features._LINES_AT_ONCE",
        "xmine.flags.reading._PAIRS_AT_ONCE",
        "xmine.text.packed._TEXTS_AT_ONCE",
        "xmine.pairs.io._PAIRS_AT_ONCE",
        "xmine.text.languages._SAMPLE",
    ):
        monkeypatch.setattr(name, 32)
    monkeypatch.setattr(scratch, "LEAST", 2**10)
    with scratch.scratch_in(tmp_path) if has_folder else nullcontext():
        peak_of(200)  # what is made once; the lesser of two, as threads of other tests live on
        (few, pairs), (many, more_pairs) = peak_of(2000), min(peak_of(5000), peak_of(5000))
    assert pairs > 1500 and more_pairs > 3500
    assert (many - few) / 3000 < (MOST_WITH_A_FOLDER if has_folder else MOST_BYTES_A_LINE)
