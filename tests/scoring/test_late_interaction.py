"""Pairs compared token by token, against loops over tokens, and across blocks and threads."""

import itertools
import math
from collections.abc import Iterator, Sequence
from operator import mul
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine import native
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.token_files import tokens_of
from xmine.encoders.tokens import HEAVIEST, UNIT, TokenVectors, whole_vectors, whole_weights
from xmine.scoring import late_interaction
from xmine.scoring.alignment import loosest_stretches
from xmine.scoring.late_interaction import counterparts, match_pairs

SENTENCES = [
    *("The ferry leaves at seven, and so do we.", "渡轮七点开，我们也是。"),
    *("Seven ferries left us.", "", "☃☂", "bread", "面包"),
    "A baker who sleeps late sells no bread, said the miller, and went back to sleep himself.",
    *("磨坊主说，睡懒觉的面包师卖不出面包，说完自己又睡了。", "☃ bread ☂ bread"),
]


def rounded(vectors: NDArray[np.float64]) -> list[list[int]]:
    """Round unit vectors to whole multiples of 1 / 4000, number by number."""
    rows = []
    for vector in vectors:
        length = math.sqrt(sum(float(each) ** 2 for each in vector))
        rows.append([round(float(each) / length * 4000) for each in vector])
    return rows


def twin(
    s: Sequence[tuple[Sequence[int], int]], t: Sequence[tuple[Sequence[int], int]]
) -> tuple[float, float, float, float, float]:
    """Compare tokens, each a vector and a weight, by loops: the figures of pairs."""
    if not s or not t:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    shares, orders, missing, covered, lengths = [], [], [], [], []
    counterparts = _counterparts(s, t), _counterparts(t, s)
    for own, ours, theirs in ((s, *counterparts), (t, *counterparts[::-1])):
        total, lost, weight, near, places = 0.0, 0.0, 0, 0, []
        for i, ((best, at), (_, w)) in enumerate(zip(ours, own, strict=True)):
            cosine = min(max(best / 4000**2, 0), 1)
            if theirs[at][1] == i:
                total += w * max(best, 0) / 4000**2
            lost += (w * (1 - cosine)) ** 2 / 1000
            weight += w
            near += w * (cosine > 0.7)
            if best > 0:
                places.append((i, at, w))
        shares.append(total / weight)
        orders.append(correlation(places))
        missing.append(lost / weight)
        covered.append(near / weight)
        lengths.append(math.log(weight))
    ratio = lengths[0] - lengths[1]
    return min(sum(shares) / 2, 1), sum(orders) / 2, max(missing), min(covered), ratio


def _counterparts(
    ours: Sequence[tuple[Sequence[int], int]], theirs: Sequence[tuple[Sequence[int], int]]
) -> list[tuple[float, int]]:
    """Find the largest product of each token, and the first place that has it."""
    found = list[tuple[float, int]]()
    for vector, _ in ours:
        products = [float(sum(map(mul, vector, other))) for other, _ in theirs]
        found.append((max(products), products.index(max(products))))
    return found


def correlation(places: Sequence[tuple[int, int, int]]) -> float:
    weight = sum(w for _, _, w in places)
    if not weight:
        return 0.0
    i0 = sum(w * i for i, _, w in places) / weight
    j0 = sum(w * j for _, j, w in places) / weight
    across = sum(w * (i - i0) * (j - j0) for i, j, w in places)
    spread = sum(w * (i - i0) ** 2 for i, _, w in places)
    spread *= sum(w * (j - j0) ** 2 for _, j, w in places)
    return across / math.sqrt(spread) if spread > 1e-9 else 0.0


def drawn(lengths: Sequence[int], dim: int, seed: int) -> TokenVectors:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(sum(lengths), dim)).astype(np.float32)
    table, norms = whole_vectors(vectors)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return TokenVectors(starts, table.astype(np.int16), whole_weights(norms), dim)


def of(tokens: TokenVectors, sentence: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    some = tokens.take(np.array([sentence]))
    return some.table[some.ids, : some.dim].astype(np.float32), some.weights[some.ids]


def listed(tokens: TokenVectors, sentence: int) -> list[tuple[list[int], int]]:
    vectors, weights = of(tokens, sentence)
    return list(zip(vectors.astype(int).tolist(), weights.astype(int).tolist(), strict=True))


def every_pair(left: TokenVectors, right: TokenVectors) -> tuple[NDArray[np.int64], ...]:
    x, y = np.meshgrid(np.arange(len(left)), np.arange(len(right)))
    return x.ravel(), y.ravel()


@pytest.mark.parametrize("dim", [1, 2, 7, 64])
def test_random_sentences_match_as_loops_say(dim: int) -> None:
    left, right = drawn([3, 0, 1, 12, 5, 1], dim, 1), drawn([1, 9, 0, 4, 4], dim, 2)
    x, y = every_pair(left, right)
    expected = [twin(listed(left, a), listed(right, b)) for a, b in zip(x, y, strict=True)]
    found = match_pairs(left, right, x, y)
    exact = [0, 1, 3, 4]
    assert found[:, exact] == pytest.approx(np.array(expected)[:, exact], abs=1e-12)
    assert found[:, 2] == pytest.approx(np.array(expected)[:, 2], abs=1e-5)  # is rounded


@pytest.mark.slow
def test_real_sentences_match_as_loops_over_the_rows_of_the_encoder_say() -> None:
    """Tokens, rounding and weights are made anew from the vectors of the encoder."""
    encoder = SentenceEncoder.load()
    body = encoder.body
    assert isinstance(body, StaticEmbedding)
    ids, starts = body.pieces.ids(SENTENCES)
    vectors = body.vectors
    norms = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
    unit = vectors.astype(np.float64) / np.maximum(norms, 1e-9)[:, None]
    sentences = []
    for start, end in itertools.pairwise(starts):
        known = [int(each) for each in ids[start:end] if norms[each] > 0]
        weights = [max(1, round(norms[each] / norms.max() * 1000)) for each in known]
        sentences.append(list(zip(rounded(unit[known]), weights, strict=True)))
    assert [len(each) == 0 for each in sentences].count(True) == 2  # the empty and the unknown one
    tokens = tokens_of(encoder, SENTENCES)
    x, y = every_pair(tokens, tokens)
    expected = [twin(sentences[a], sentences[b]) for a, b in zip(x, y, strict=True)]
    found = match_pairs(tokens, tokens, x, y)
    exact = [0, 1, 3, 4]
    assert found[:, exact] == pytest.approx(np.array(expected)[:, exact], abs=1e-12)
    assert found[:, 2] == pytest.approx(np.array(expected)[:, 2], abs=1e-5)  # is rounded


def test_a_sentence_finds_all_of_itself_in_order() -> None:
    tokens = tokens_of(SentenceEncoder.load(), SENTENCES[:2])
    rows = np.arange(2)
    found = match_pairs(tokens, tokens, rows, rows)
    # Vectors are rounded to a length near one, and a token that comes twice matches once.
    assert found[0] == pytest.approx([1, 1, 0, 1, 0], abs=1e-3)
    assert found.max() <= 1


def test_ten_thousand_tokens() -> None:
    """A sentence is compared with a part of itself: the part finds all, and in order."""
    whole = drawn([10_000], 8, 3)
    part = TokenVectors(
        np.array([0, 3000]), whole.table[2000:5000], whole.weights[2000:5000], whole.dim
    )
    (found,) = match_pairs(whole, part, np.array([0]), np.array([0]))
    weights = whole.weights.astype(np.float64)
    share = weights[2000:5000].sum() / weights.sum()  # of the whole that the part has
    assert found[0] == pytest.approx((1 + share) / 2, abs=1e-3)
    (turned,) = match_pairs(part, whole, np.array([0]), np.array([0]))
    assert turned.tolist() == [*found[:-1], -found[-1]]


def test_tokens_beyond_the_ten_thousandth_are_not_looked_at() -> None:
    """A document on one line costs no more than a long sentence."""
    long, other = drawn([10_500, 3], 8, 3), drawn([40], 8, 4)
    starts = np.array([0, 10_000, 10_003])
    keep = np.r_[:10_000, 10_500:10_503]
    cut = TokenVectors(starts, long.table[keep], long.weights[keep], long.dim)
    x, y = every_pair(long, other)
    assert long.lengths.tolist() == long.lengths_of(np.arange(2)).tolist() == [10_000, 3]
    assert (match_pairs(long, other, x, y) == match_pairs(cut, other, x, y)).all()
    for mine, its in zip(of(long, 0), of(cut, 0), strict=True):
        assert (mine == its).all()


# numpy, and the kernels of all instruction sets that run here.
WAYS = ["numpy", *(native.kernels.sets() if native.kernels else ())]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param == "numpy":
        monkeypatch.setattr(native, "kernels", None)
        yield
    else:
        native.kernels.choose(request.param)
        yield
        native.kernels.choose(WAYS[1])


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dim", [1, 3, 17, 32, 128, 320])
def test_counterparts_are_those_that_loops_over_tokens_find(dim: int) -> None:
    """Of equal tokens the first; none where no product is above zero; strengths, too."""
    lengths = [0, 1, 2, 39, 17, 1]
    left, right = drawn(lengths, dim, 5), drawn(lengths[::-1], dim, 6)
    left.table[5:9] = right.table[-9:-5] = right.table[-1]  # the same token several times
    left.table[42:59] = -np.abs(left.table[42:59])
    right.table[1:18] = np.abs(right.table[1:18])
    x, y = (each[::-1] for each in every_pair(left, right))
    full = (left.lengths[x] > 0) & (right.lengths[y] > 0)
    both = left.take(x[full]), right.take(y[full])
    expected: list[list[tuple[int, int, int]]] = [[], []]
    for a, b in zip(x[full], y[full], strict=True):
        s, t = (of(*each)[0].astype(int) for each in ((left, a), (right, b)))
        table = [[int(one @ other) for other in t] for one in s]
        tables = table, [list(column) for column in zip(*table, strict=True)]
        best = [[max(0, *row) for row in rows] for rows in tables]
        for side, rows in enumerate(tables):
            for row, most in zip(rows, best[side], strict=True):
                gains = (2 * each - its for each, its in zip(row, best[1 - side], strict=True))
                expected[side].append((most, row.index(most) if most else 0, max(0, *gains)))
    found, strong = counterparts(*both), counterparts(*both, strengths=True)
    for its, stronger, wanted in zip(found, strong, expected, strict=True):
        assert list(zip(*map(np.ndarray.tolist, (*its, stronger[0])), strict=True)) == wanted


@pytest.mark.usefixtures("way")
def test_blocks_threads_and_company_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = drawn([30, 0, 600, 1, 10_003, 8], 9, 5), drawn([25, 39, 700, 2, 0], 9, 6)
    x, y = every_pair(left, right)

    def found() -> bytes:
        loose = loosest_stretches(left, right, x, y)
        figures = match_pairs(left, right, x, y), loose.looseness.values, loose.starts
        return b"".join(each.tobytes() for each in figures)

    with monkeypatch.context() as patch:
        patch.setattr(native, "kernels", None)
        expected = found()
    for numbers, workers in ((1, 2), (50_000, 1), (10**8, 2)):
        monkeypatch.setattr(late_interaction, "_NUMBERS", numbers)
        monkeypatch.setattr(late_interaction, "blas_threads", lambda workers=workers: workers)
        assert found() == expected


@pytest.mark.skipif(not native.kernels, reason="numpy alone")
def test_kernels_refuse_what_would_lead_outside() -> None:
    def side(**other: Any) -> tuple[Any, ...]:
        fine = {"width": 2, "table": np.zeros((3, 2), np.int16), "ids": np.array([0, 2], np.int32)}
        fine |= {"starts": np.array([0, 0, 2]), "less": np.zeros(0, np.int32)}
        fine |= {name: np.zeros(2, np.int32) for name in ("best", "places")}
        return tuple((fine | other).values())

    native.kernels.matching(2, side(), side())
    none, short, wrong = np.zeros(0, np.int32), np.zeros(1, np.int32), "that the table has not"
    cases: list[dict[str, Any]] = [
        *({"ids": np.array(ids, np.int32)} for ids in ([0, 3], [-1, 0], [0])),
        *({"starts": np.array(starts)} for starts in ([0, 2], [0, 3, 2], [1, 1, 2], [0, 0, 3], [])),
        *({"width": 4}, {"width": 1}, {"width": 0}, {"less": short}, {"less": np.zeros(2, "i4")}),
        *({"best": short}, {"places": none}),
    ]
    for other in cases:
        for sides in ((side(**other), side()), (side(), side(**other))):
            with pytest.raises(ValueError, match=wrong):
                native.kernels.matching(2, *sides)
    for dim in (0, 3):
        with pytest.raises(ValueError, match=wrong):
            native.kernels.matching(dim, side(), side())


@pytest.mark.parametrize("dim", [1, 3, 512, 8192])
def test_whole_vectors_stay_exact_in_float32(dim: int) -> None:
    random = np.random.default_rng(dim)
    vectors = random.normal(size=(50, dim)).astype(np.float32) * random.lognormal(size=(50, 1))
    whole, lengths = whole_vectors(vectors.astype(np.float32))
    assert (whole == np.rint(whole)).all()
    exact = whole.astype(np.int64) @ whole.astype(np.int64).T
    assert np.abs(exact).max() < 2**24
    assert (whole @ whole.T == exact).all()
    weights = whole_weights(lengths)
    assert weights.max() == HEAVIEST and weights.min() >= 1
    cosines = vectors @ vectors.T / np.outer(lengths, lengths)
    assert exact / UNIT**2 == pytest.approx(cosines, abs=math.sqrt(dim) / UNIT)


def test_a_vector_of_zeros_has_no_weight() -> None:
    whole, lengths = whole_vectors(np.array([[0, 0], [3, 4]], dtype=np.float32))
    assert whole.tolist() == [[0, 0], [2400, 3200]]
    assert whole_weights(lengths).tolist() == [0, HEAVIEST]
    assert whole_weights(np.array([1, np.inf], dtype=np.float32)).tolist() == [1, HEAVIEST]
