"""The approximate search, against sorting all cosines: recall, odd sizes, kills."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.errors import OptionError
from xmine.knn import ivf_products, plain
from xmine.knn.approximate import choose_index, list_bytes, search_approximate, training_bytes
from xmine.knn.blocks import product
from xmine.knn.centroids import training_sample
from xmine.knn.duplicates import Distinct
from xmine.knn.exact import search_exact, search_few
from xmine.knn.index_name import count_lists
from xmine.knn.inverted_lists import number_type
from xmine.knn.ivf_products import Listed, multiply_lists
from xmine.knn.neighbours import Neighbours, keep
from xmine.knn.topk import EMPTY, columns_of
from xmine.knn.workers import WorkerPool
from xmine.mining.options import MiningOptions
from xmine.progress import Progress, Report, silent

Halves = NDArray[np.float16]
HERE = Path(__file__).parent


def clustered(rows: int, dim: int = 32, seed: int = 0) -> tuple[Halves, Halves]:
    """Two sides whose rows lie around the same centres; row i of one is near row i of the other."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(4, rows // 50), dim))
    left = centres[rng.integers(0, len(centres), rows)] + 1.5 * rng.standard_normal((rows, dim))
    right = left + 0.5 * rng.standard_normal((rows, dim))
    return unit(left), unit(right)


def unit(vectors: NDArray[np.floating]) -> Halves:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


def true_share(found: Neighbours, true: Neighbours) -> float:
    """Which share of the true neighbours was found, the lower one of both directions."""
    shares = []
    for name in ("targets", "sources"):
        pairs = zip(getattr(found, name).tolist(), getattr(true, name).tolist(), strict=True)
        shares.append(np.mean([len(set(a) & set(b)) / len(b) for a, b in pairs]))
    return float(min(shares))


def assert_sound(found: Neighbours, source: Halves, target: Halves, k: int) -> None:
    """Every neighbour is a row, once; cosines are theirs and fall; equal ones rise by row."""
    for queries, others, ids, cosines in (
        (source, target, found.targets, found.target_cosines),
        (target, source, found.sources, found.source_cosines),
    ):
        assert ids.shape == cosines.shape == (len(queries), min(k, len(others)))
        assert ids.min() >= 0
        assert ids.max() < len(others)
        true = np.einsum("rd,rkd->rk", queries.astype(float), others[ids].astype(float))
        np.testing.assert_array_equal(cosines, np.minimum(true.astype(np.float32), 1))
        for row, values in zip(ids.tolist(), cosines.tolist(), strict=True):
            assert len(set(row)) == len(row)
            best = list(zip([-value for value in values], row, strict=True))
            assert best == sorted(best)


@pytest.mark.parametrize("index", ["IVF64,SQfp16", "IVF64,Flat"])
def test_the_recall_is_reached_and_told(index: str) -> None:
    source, target = clustered(3000)
    found = search_approximate(source, target[:2500], 4, index=index, recall=0.95)
    assert_sound(found, source, target[:2500], 4)
    share = true_share(found, search_exact(source, target[:2500], 4))
    assert share >= 0.95
    assert found.recall == pytest.approx(share, abs=0.02)
    assert re.fullmatch(rf"{index}, \d+ probes", found.index)


def test_a_higher_recall_takes_more_probes() -> None:
    source, target = clustered(3000)
    probes, recalls = [], []
    for wanted in (0.5, 0.9, 0.99, 1.0):
        found = search_approximate(source, target, 4, index="IVF64,SQfp16", recall=wanted)
        probes.append(int(found.index.split()[1]))
        assert found.recall is not None
        recalls.append(found.recall)
        assert found.recall >= wanted - 0.01
    assert probes == sorted(set(probes))
    assert recalls == sorted(recalls)
    assert probes[0] < 10


@pytest.mark.parametrize("index", ["IVF4,SQfp16", "IVF2,Flat"])
@pytest.mark.parametrize(("sources", "targets", "k"), [(5, 9, 4), (9, 5, 40), (8, 4, 4)])
def test_tiny_sides_and_more_neighbours_than_rows(
    index: str, sources: int, targets: int, k: int
) -> None:
    source, target = clustered(10, 16)
    source, target = source[:sources], target[:targets]
    found = search_approximate(source, target, k, index=index, recall=0.5)
    assert_sound(found, source, target, k)


def test_a_query_whose_lists_hold_too_few_rows_searches_everything() -> None:
    source, target = clustered(200, 16)
    found = search_approximate(source, target, 60, index="IVF50,SQfp16", recall=0.05)
    assert_sound(found, source, target, 60)
    assert int(found.index.split()[1]) < 10  # whose lists hold fewer than 60 rows
    assert true_share(found, search_exact(source, target, 60)) > 0.95


def test_repeated_rows() -> None:
    source, target = clustered(600, 16)
    target[100:300] = target[7]
    source[50:90] = source[3]
    found = search_approximate(source, target, 4, index="IVF8,SQfp16", recall=0.95)
    assert_sound(found, source, target, 4)
    true = search_exact(source, target, 4)
    assert (found.target_cosines >= true.target_cosines[:, -1:]).mean() > 0.95
    assert (found.source_cosines >= true.source_cosines[:, -1:]).mean() > 0.95


def nothing(*_: object) -> None:
    pass


@pytest.mark.parametrize(("count", "size"), [(1, 2), (2**16 - 1, 2), (2**16, 4), (2**16 + 1, 4)])
def test_the_number_for_no_list_is_not_that_of_a_list(count: int, size: int) -> None:
    """A place that probes no list holds the number of lists; wrapped around it would be list 0."""
    kind = number_type(count)
    assert np.dtype(kind).itemsize == size
    assert np.array([count - 1, count]).astype(kind).tolist() == [count - 1, count]


def test_the_lists_that_a_row_has_room_for_are_foretold() -> None:
    def room(rows: int, index: str) -> float:
        whole = list_bytes(rows, rows, index)
        return whole / (2 * rows) / np.dtype(number_type(count_lists(index))).itemsize

    # Measured: 132 of 27 on average for 100,000 generated lines, 229 of 46 for a million.
    assert 132 <= room(100_000, "IVF512,SQfp16") <= 160
    assert 229 <= room(10**6, "IVF2048,SQfp16") <= 300
    # Means grow with the power 0.3 of the rows, and the widest row with them.
    assert room(10**8, "IVF65536,SQfp16") == pytest.approx(6 * 24 * 1000**0.3, abs=1)
    assert room(10**6, "IVF8,SQfp16") == 8  # a row probes each list once
    assert list_bytes(100, 100, "exact") == 0


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("probes", [1, 4])
@pytest.mark.parametrize("kernels", dict.fromkeys([plain, product()]))
def test_pairs_meet_if_either_row_probes_the_list_of_the_other(
    workers: int, probes: int, kernels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, small in (
        ("_QUERIES_AT_ONCE", 16),
        ("_ROWS_AT_ONCE", 8),
        ("_BATCH", 20_000),
        ("_PROBES_AT_ONCE", 300),
    ):
        monkeypatch.setattr(ivf_products, name, small)
    rng = np.random.default_rng(4)
    count, k = 12, 5
    sides = [Distinct(unit(rng.standard_normal((rows, 24)))) for rows in (400, 250)]
    lists = [
        np.array([rng.permutation(count)[:probes] for _ in range(len(side))]) for side in sides
    ]
    for each in lists:  # some probe fewer
        each[::3, 2:] = count
    left, right = (
        Listed(side, each, np.full((len(side), k), EMPTY))
        for side, each in zip(sides, lists, strict=True)
    )
    with WorkerPool(workers) as pool:
        multiply_lists(left, right, count, pool, nothing, kernels)
    there = (lists[0][:, :, None] == lists[1][:, 0]).any(axis=1)
    back = (lists[1][:, :, None] == lists[0][:, 0]).any(axis=1)
    rounded = [side.vectors.astype(np.float64) for side in sides]
    if kernels is not plain:
        rounded = [np.rint(each * 32_000) for each in rounded]
    cosines = rounded[0] @ rounded[1].T
    for best, met, values in (
        (left.best, there | back.T, cosines),
        (right.best, there.T | back, cosines.T),
    ):
        for row, keys in enumerate(best):
            others = np.flatnonzero(met[row])
            expected = others[np.argsort(-values[row, others])][:k].tolist()
            found = columns_of(np.sort(keys[keys != EMPTY]))[::-1].tolist()
            assert found == expected


def test_a_few_rows_are_searched_for_among_all() -> None:
    source, target = clustered(700, 24)
    source[90] = source[4]  # a side may keep equal rows
    rows = np.array([3, 4, 90, 699])
    ids, cosines = search_few(
        Distinct(source, apart=True), rows, Distinct(target[:500]), 9, 2**28, nothing
    )
    true = search_exact(source, target[:500], 9)
    np.testing.assert_array_equal(ids, true.targets[rows])
    np.testing.assert_array_equal(cosines, true.target_cosines[rows])


@pytest.mark.parametrize(
    "index",
    "nonsense||IVF16|IVF0,Flat|IVF-4,Flat|IVF16,Flat |IVF16,PQ8|IVF16,SQ8|Flat|HNSW32|PQ8|"
    "OPQ4,IVF16,Flat|PCA8,IVF16,SQfp16|IVF16_HNSW8,Flat|ivf16,Flat|IVF1k,Flat".split("|"),
)
def test_other_indexes_are_refused_as_an_option(index: str) -> None:
    with pytest.raises(OptionError, match="no such index") as caught:
        MiningOptions(index=index)
    assert caught.value.message.startswith(f"--index {index}:")
    assert all(name in caught.value.hint for name in ("auto", "exact", "SQfp16", "Flat"))


def test_more_lists_than_rows_are_refused() -> None:
    assert choose_index(1000, 100, 32, "IVF100,Flat") == "IVF100,Flat"
    for sizes in ((100, 1000), (1000, 100)):
        with pytest.raises(OptionError, match="--index IVF101,SQfp16: 101 lists for 100 rows"):
            choose_index(*sizes, 32, "IVF101,SQfp16")


def test_auto_is_exact_up_to_a_fixed_size() -> None:
    assert choose_index(90_000, 90_000, 256, "auto") == "exact"
    assert choose_index(90_000, 90_000, 448, "auto") == "IVF512,SQfp16"
    assert choose_index(1_000_000, 1_000_000, 256, "auto") == "IVF2048,SQfp16"
    assert choose_index(1_000_000, 1_000_000, 256, "auto", "cuda") == "exact"
    assert choose_index(10_000_000, 10_000_000, 512, "auto", "cuda:1") == "IVF8192,SQfp16"
    assert choose_index(2**16, 2**16, 2**9, "auto") == "exact"
    assert choose_index(2**16 + 1, 2**16, 2**9, "auto") == "IVF512,SQfp16"
    # A short side: lists of forty rows at least, and everything if that makes fewer than 64.
    assert choose_index(10_000, 2**34, 256, "auto") == "IVF128,SQfp16"
    assert choose_index(1000, 2**40, 256, "auto") == "exact"
    assert choose_index(2**40, 2**40, 256, "exact") == "exact"
    assert choose_index(1000, 1000, 256, "IVF16,Flat") == "IVF16,Flat"


def test_training_takes_its_sample_and_the_centroids() -> None:
    source, target = clustered(30_000)
    for lists in (64, 1024):
        sample = training_sample(source, target, lists)
        assert sample.nbytes + 4 * lists * 32 == training_bytes(32, f"IVF{lists},SQfp16")


def search_in(folder: Path, report: Report = silent, index: str = "IVF32,SQfp16") -> Neighbours:
    source, target = clustered(4000, 16)
    found = search_approximate(source, target, 4, index=index, memory=2**20, report=report)
    return keep(found, folder, "mark")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_progress_rises_to_all_rows(tmp_path: Path) -> None:
    calls: list[Progress] = []
    search_in(tmp_path / "found", calls.append)
    assert calls[-1] == Progress("searching", 8000, 8000)
    done = [call.done for call in calls]
    assert done == sorted(done)


@pytest.mark.parametrize(
    "index", ["IVF32,SQfp16", pytest.param("IVF32,Flat", marks=pytest.mark.long)]
)
def test_the_number_of_threads_changes_no_byte(index: str, tmp_path: Path) -> None:
    for threads in ("1", "2"):
        script = (
            f"import sys; sys.path.insert(0, {str(HERE)!r}); from pathlib import Path; "
            f"from test_approximate import search_in; "
            f"search_in(Path({str(tmp_path / threads)!r}), index={index!r})"
        )
        threaded = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-c", script], env=threaded, check=True)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
