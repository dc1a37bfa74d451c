"""Sentences against paragraphs, and paragraphs before their sentences."""

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import xmine
from xmine.aligning.band import Band, crossed, matched
from xmine.aligning.levels import line_beads, sentence_corners, within
from xmine.aligning.lines import Alignment, corners_of

EXAMPLES = Path(__file__).parents[2] / "examples"
GREEK = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβγδεζηθικλμνξοπρστυφχψωϊϋ")
Ints = NDArray[np.int64]


def translations() -> list[tuple[str, str]]:
    """Give the translations among the lines of the examples."""
    english, other = ((EXAMPLES / f"{each}.txt").read_text().split("\n") for each in ("en", "zh"))
    rows = [line.split("\t") for line in (EXAMPLES / "gold.tsv").read_text().splitlines()]
    return [(english[int(x) - 1], other[int(y) - 1]) for x, y in rows]


@pytest.mark.parametrize("sizes", [(3, 3), (4, 4), (5, 5), (10, 10), (2, 6), (4, 4, 40)])
def test_each_paragraph_has_the_sentences_that_stand_against_it(sizes: tuple[int, ...]) -> None:
    """The sizes are fixed, or drawn between two; of all sentences, or of few; in both orders."""
    random, pairs = np.random.default_rng(5), translations()[: sizes[2] if sizes[2:] else None]
    groups = list[list[tuple[str, str]]]()
    while (at := sum(map(len, groups))) < len(pairs):
        groups.append(pairs[at : at + random.integers(sizes[0], sizes[1] + 1)])
    ends = pairwise(np.cumsum([0, *map(len, groups)]).tolist())
    wanted = {(*each, at, at + 1) for at, each in enumerate(ends)}
    for side in (0, 1):
        lines = [each[1 - side] for each in pairs]
        paragraphs = [" ".join(each[side] for each in some) for some in groups]
        beads = matched(xmine.align(lines, paragraphs).alignment.beads)
        found = {tuple(each) for each in beads.tolist()}
        assert 2 * len(found & wanted) >= 0.9 * (len(found) + len(wanted))
    turned = matched(xmine.align(paragraphs, lines).alignment.beads)
    assert turned[:, [2, 3, 0, 1]].tolist() == beads.tolist()


def test_paragraphs_in_a_language_without_vectors_are_found() -> None:
    """Each word spelled in Greek letters, and read backwards."""
    english = [line for line in (EXAMPLES / "en.txt").read_text().split("\n") if line.strip()][:160]
    other = [" ".join(word[::-1] for word in line[:-1].lower().split()) for line in english]
    by_four = [". ".join([*other[at : at + 4], ""]).translate(GREEK) for at in range(0, 160, 4)]
    found = matched(xmine.align(english, by_four).alignment.beads).tolist()
    wanted = [[4 * at, 4 * at + 4, at, at + 1] for at in range(40)]
    assert sum(each in wanted for each in found) >= 0.9 * max(len(found), 40)


@pytest.mark.parametrize("segment", [False, True])
def test_paragraphs_hold_their_sentences_however_these_are_cut(segment: bool) -> None:
    """A refrain is four sentences on one side and one on the other, in half of all lines."""
    random, pairs, at = np.random.default_rng(1), translations(), 0
    source, target = list[str](), list[str]()
    while at < len(pairs):
        some = pairs[at : at + random.integers(1, 5)]
        at += len(some)
        source.append(" ".join(x for x, _ in some))
        target.append("".join(y for _, y in some))
        times = int(random.random() < 0.6) * int(random.integers(1, 9))
        source += ["Push it. Pull it. Push it again. Done."] * times
        target += ["推一下，拉一下，再推一下，完成。"] * times
    rows = list(xmine.align(source, target, options=xmine.AligningOptions(segment=segment)).rows())
    right = [each.source_lines for each in rows if each.source_lines == each.target_lines]
    assert len(right) == len(rows) and len(set(right)) >= 0.98 * len(source)


def drawn(random: np.random.Generator) -> tuple[Alignment, list[Ints]]:
    """Draw beads of sentences, some alone, and the line of each sentence."""
    sizes = random.integers(0, 4, (12, 2))
    sizes[~sizes.any(axis=1)] = 1
    ends = np.cumsum(np.vstack([[[0, 0]], sizes, [[1, 1]]]), axis=0)
    beads = np.stack([ends[:-1], ends[1:]], axis=2).reshape(-1, 4)
    rows = [np.cumsum(random.random(size) < 0.6) for size in ends[-1]]
    alignment = Alignment(beads, random.random(len(beads)).round(4), (1.0, 0.0))
    return alignment, [each - each[0] for each in rows]


def test_a_bead_of_lines_holds_exactly_the_sentences_of_its_lines() -> None:
    random = np.random.default_rng(3)
    for _ in range(300):
        alignment, rows = drawn(random)
        whole = line_beads(alignment, rows)
        assert whole.beads[0, [0, 2]].tolist() == [0, 0]
        assert whole.beads[-1, [1, 3]].tolist() == [of[-1] + 1 for of in rows]
        assert (whole.beads[1:, [0, 2]] == whole.beads[:-1, [1, 3]]).all()
        cells = {tuple(each) for each in sentence_corners(whole, rows).tolist()}
        # Slowly: where a bead of sentences ends, and a line ends on both sides.
        starts = [{0, *(np.flatnonzero(np.diff(of)) + 1).tolist(), len(of)} for of in rows]
        ends = {(int(x), int(y)) for x, y in corners_of(alignment.beads)}
        assert cells == {(x, y) for x, y in ends if x in starts[0] and y in starts[1]}
        turned = Alignment(alignment.beads[:, [2, 3, 0, 1]], alignment.probs, (1.0, 0.0))
        back = line_beads(turned, rows[::-1])
        assert (back.beads == whole.beads[:, [2, 3, 0, 1]]).all()
        assert (back.probs == whole.probs).all()
        # Beads of other lines, sure or not, leave each sentence in one bead, too.
        many = [of[-1] + 1 for of in rows]
        other = np.array([[min(at, size) for size in many] for at in range(max(many) + 1)])
        beads = np.stack([other[:-1], other[1:]], axis=2).reshape(-1, 4)
        for prob in (0.0, 1.0):
            lines = Alignment(beads, np.full(len(beads), prob), (1.0, 0.0))
            kept = within(lines, alignment, rows).beads
            assert (kept[1:, [0, 2]] == kept[:-1, [1, 3]]).all()
            assert kept[0, [0, 2]].tolist() == [0, 0]
            assert kept[-1, [1, 3]].tolist() == [*map(len, rows)]


def test_beads_that_cross_corners_pay() -> None:
    kinds, corners = [(1, 1), (2, 1), (2, 3)], np.array([(0, 0), (2, 3), (5, 4), (6, 8)])
    free = [np.zeros((3, 9), np.float32)] * 7
    scores = crossed(lambda start, stop: free[start:stop], Band.whole(6, 8), kinds, corners, 0.5)
    for (at, (n, m)), row, column in product(enumerate(kinds), range(2, 7), range(3, 9)):
        begin, end = (row - n, column - m), (row, column)
        between = [(a <= begin).all() and (b >= end).all() for a, b in pairwise(corners)]
        assert scores(row, row + 1)[0][at, column] == (0 if any(between) else -0.5)
