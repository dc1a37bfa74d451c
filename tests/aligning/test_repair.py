"""Blocks of wrong rows are put right, and other rows stay as they are."""

from itertools import product

import numpy as np
import pytest

from tests.toys.sentences import example_pairs
from xmine.aligning.repair import Repaired, repair
from xmine.encoders.encoder import SentenceEncoder
from xmine.mining.aligned import score_aligned

PAIRS = example_pairs()
SOURCES, TARGETS = list(PAIRS.sources), list(PAIRS.targets)


def repaired(targets: list[str]) -> Repaired:
    encoder = SentenceEncoder.load()
    return repair(score_aligned(SOURCES, targets, encoder).report(), encoder)


def lines_of(found: Repaired) -> list[tuple[str | None, str | None]]:
    return [(pair.source_lines, pair.target_lines) for pair in found.pairs]


def test_lines_go_to_their_counterparts_wherever_these_stand() -> None:
    """Two blocks change places, and in one so do lines of the other; a line of it has gone."""
    swapped = [at ^ 1 for at in range(20, 40)]
    order = [*range(20), *range(110, 130), *range(40, 110), *swapped]
    order += range(130, len(SOURCES))
    targets = [TARGETS[at] for at in order]
    targets[25] = "还有一些完全不同的东西。"
    found = repaired(targets)
    rows = [(at, order.index(at)) for at in range(len(order)) if order.index(at) != 25]
    assert lines_of(found) == [(str(x + 1), str(y + 1)) for x, y in rows]
    assert [pair[:2] for pair in found.pairs] == [(SOURCES[x], targets[y]) for x, y in rows]
    assert [pair.score is None for pair in found.pairs] == [x != y for x, y in rows]
    assert found.moved == sum(x != y for x, y in rows)
    assert found.lines() == [
        f"{found.moved} beads of lines that stood elsewhere",
        "left out: 1 x 1 lines without counterpart",
    ]


def test_a_right_row_beside_is_merged_with_lines_of_a_block() -> None:
    """Two targets stand in one row, and those after them a row too early; or one in two rows."""
    other = "还有一些完全不同的东西。"
    targets = [*TARGETS[:100], "".join(TARGETS[100:102]), *TARGETS[102:120], other]
    targets += TARGETS[120:]
    found = repaired(targets)
    assert found.moved == 19
    assert lines_of(found)[99:102] == [("100", "100"), ("101-102", "101"), ("103", "102")]
    assert found.pairs[100][:2] == (" ".join(SOURCES[100:102]), targets[100])
    assert lines_of(found)[:100] == [(str(at), str(at)) for at in range(1, 101)]
    middle = len(TARGETS[100]) // 2
    halves = TARGETS[100][:middle], TARGETS[100][middle:]
    found = repaired([*TARGETS[:100], *halves, *TARGETS[101:119], *TARGETS[120:]])
    assert lines_of(found)[100:102] == [("101", "101-102"), ("102", "103")]
    assert found.pairs[100].target == TARGETS[100] and found.alone == (1, 0)


def test_a_corpus_without_wrong_blocks_stays_and_lines_without_any_counterpart_go() -> None:
    found = repaired([*TARGETS[:50], "", *TARGETS[51:]])
    assert (found.moved, found.alone, len(found.pairs)) == (0, (0, 0), len(TARGETS))
    found = repaired([*TARGETS[:50], *(f"第{n}页" * 9 for n in range(20)), *TARGETS[70:]])
    assert (found.moved, found.alone, len(found.pairs)) == (0, (20, 20), len(TARGETS) - 20)
    encoder = SentenceEncoder.load()  # of so few rows none has a probability
    found = repair(score_aligned(SOURCES[:1], TARGETS[:1], encoder).report(), encoder)
    assert (len(found.pairs), found.lines()) == (1, ["left out: 0 x 0 lines without counterpart"])


@pytest.mark.parametrize("many", [40, len(SOURCES)])
def test_exchanged_scrambled_and_shifted_rows_are_restored(many: int) -> None:
    x, y = SOURCES[:many], TARGETS[:many]
    turned = [at in (5, *range(20, 30)) for at in range(many)]
    both = [(b, a) if turn else (a, b) for a, b, turn in zip(x, y, turned, strict=True)]
    encoder = SentenceEncoder.load()
    for left, right in (zip(*both, strict=True), (x, sorted(y)), (x[1:], y[:-1])):
        found = repair(score_aligned([*left], [*right], encoder).report(), encoder)
        restored = {pair[:2] for pair in found.pairs}.intersection(zip(x, y, strict=True))
        assert len(restored) >= 0.97 * (many - 2)
        assert list(found.exchanged) == ["6", "21-30"] * (right[5] == x[5])
    times = np.random.default_rng(1).integers(1, 14, 120)  # lines that lengths alone tell apart
    left, right = (
        ["They read his letter. " * n for n in times],
        ["他们读了他的信。" * n for n in times],
    )
    found = repair(score_aligned(left[1:], right[:-1], encoder).report(), encoder)
    assert len(found.pairs) >= 0.97 * 118
    half = len(SOURCES) // 2
    found = repair(score_aligned(SOURCES[:half], TARGETS[half:], encoder).report(), encoder)
    assert (found.pairs, found.lines()[0]) == ([], "no row is a translation")


@pytest.mark.parametrize("size", [3, 4])
def test_swapped_rows_of_sentences_that_are_alike_are_restored(size: int) -> None:
    """A row is five or four parts, each of three or four: many are closer than translations."""
    parts = [*product(range(size), repeat=8 - size)]
    np.random.default_rng(2).shuffle(parts)
    both = [
        [[side[20 * n + at] for n, at in enumerate(each, 1)] for each in parts]
        for side in (SOURCES, TARGETS)
    ]
    x, y = [" ".join(each) for each in both[0]][:240], ["".join(each) for each in both[1]][:240]
    encoder = SentenceEncoder.load()
    for every in (1, 6):  # pairs of rows
        z = [y[at ^ 1 if at // 2 % every == 0 and 40 <= at < 160 else at] for at in range(240)]
        found = repair(score_aligned(x, z, encoder).report(), encoder)
        assert len({pair[:2] for pair in found.pairs}.intersection(zip(x, y, strict=True))) >= 238
