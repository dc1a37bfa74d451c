"""The approximate search, against sorting all cosines: recall, odd sizes, kills."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.errors import FileError, OptionError
from xmine.knn import approximate
from xmine.knn.approximate import choose_index, search_approximate
from xmine.knn.crew import Crew
from xmine.knn.direction import Direction
from xmine.knn.exchange import exchanged
from xmine.knn.indexes import index_bytes
from xmine.knn.lists import ranks_of, search_all, search_lists
from xmine.neighbours import COMPLETE, FILES, Neighbours, nearest
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


@pytest.mark.parametrize(
    ("factory", "least"),
    [
        ("IVF64,SQfp16", 0.95),
        ("IVF64,Flat", 0.95),
        ("IVF64_HNSW8,SQfp16", 0.95),
        ("HNSW16", 0.95),
        ("Flat", 1.0),
        ("PCA24,IVF32,PQ8x4", 0.3),
        ("PCA16,IVF32,SQfp16", 0.6),
        ("IVF32,SQ8", 0.95),
    ],
)
def test_the_recall_is_reached_and_told(factory: str, least: float) -> None:
    source, target = clustered(3000)
    found = search_approximate(source, target[:2500], 4, factory=factory, recall=0.95)
    assert_sound(found, source, target[:2500], 4)
    share = true_share(found, nearest(source, target[:2500], 4))
    assert share >= least
    assert found.recall == pytest.approx(share, abs=0.02)
    assert found.index.startswith(factory)
    assert ("probes" in found.index) == ("IVF" in factory)


def test_a_higher_recall_takes_more_probes() -> None:
    source, target = clustered(3000)
    probes, recalls = [], []
    for wanted in (0.5, 0.9, 0.99, 1.0):
        found = search_approximate(source, target, 4, factory="IVF64,SQfp16", recall=wanted)
        probes.append(int(found.index.split()[1]))
        assert found.recall is not None
        recalls.append(found.recall)
        assert found.recall >= wanted - 0.01
    assert probes == sorted(set(probes))
    assert recalls == sorted(recalls)
    assert probes[0] < 10


@pytest.mark.parametrize("factory", ["IVF4,SQfp16", "Flat", "HNSW8", "IVF2,Flat"])
@pytest.mark.parametrize(("sources", "targets", "k"), [(5, 9, 4), (9, 5, 40), (8, 4, 4)])
def test_tiny_sides_and_more_neighbours_than_rows(
    factory: str, sources: int, targets: int, k: int
) -> None:
    source, target = clustered(10, 16)
    source, target = source[:sources], target[:targets]
    found = search_approximate(source, target, k, factory=factory, recall=0.5)
    assert_sound(found, source, target, k)


def test_a_query_whose_lists_hold_too_few_rows_searches_everything() -> None:
    source, target = clustered(200, 16)
    found = search_approximate(source, target, 60, factory="IVF50,SQfp16", recall=0.05)
    assert_sound(found, source, target, 60)
    assert int(found.index.split()[1]) < 10  # whose lists hold fewer than 60 rows
    assert true_share(found, nearest(source, target, 60)) > 0.95


def test_repeated_rows() -> None:
    source, target = clustered(600, 16)
    target[100:300] = target[7]
    source[50:90] = source[3]
    found = search_approximate(source, target, 4, factory="IVF8,SQfp16", recall=0.95)
    assert_sound(found, source, target, 4)
    true = nearest(source, target, 4)
    assert (found.target_cosines >= true.target_cosines[:, -1:]).mean() > 0.95
    assert (found.source_cosines >= true.source_cosines[:, -1:]).mean() > 0.95


def test_lists_are_searched_like_their_slow_twin() -> None:
    rng = np.random.default_rng(3)
    vectors, queries = unit(rng.standard_normal((700, 24))), unit(rng.standard_normal((90, 24)))
    centroids = unit(rng.standard_normal((40, 24))).astype(np.float32)
    wide, all_rows = queries.astype(np.float32), vectors.astype(np.float32)
    homes = np.argmax(all_rows @ centroids.T, axis=1)

    class InMemory:
        def size(self, number: int) -> int:
            return int((homes == number).sum())

        def read(self, number: int, start: int, stop: int) -> tuple[Halves, NDArray[np.int64]]:
            rows = np.flatnonzero(homes == number)[start:stop]
            return vectors[rows], rows

    ranked = np.argsort(-(wide @ centroids.T), axis=1)
    cosines = wide @ all_rows.T
    for workers, memory, probes in ((1, 2**20, 1), (1, 2**20, 7), (3, 1000, 20), (2, 2**20, 40)):
        with Crew(workers) as crew:
            found = search_lists(InMemory(), centroids, wide, 9, probes, memory, crew, lambda: None)
        for query in range(len(queries)):
            rows = np.flatnonzero(np.isin(homes, ranked[query, :probes]))
            best = rows[np.argsort(-cosines[query, rows])][:9].tolist()
            assert found[query].tolist() == best + [-1] * (9 - len(best))
    with Crew(2) as crew:
        found = search_all(vectors, wide, 9, 2**20, crew, lambda: None)
        np.testing.assert_array_equal(found, np.argsort(-cosines, axis=1)[:, :9])
        met = all_rows[found[:, :3]]
        ranks = ranks_of(centroids, wide, met, crew, lambda: None)
    for query in range(len(queries)):
        wanted = [ranked[query].tolist().index(homes[row]) + 1 for row in found[query, :3]]
        assert ranks[query].tolist() == wanted


def test_what_one_side_found_serves_the_other() -> None:
    rng = np.random.default_rng(5)
    cosines = rng.integers(-9, 10, (40, 30)).astype(np.float32) / np.float32(10)  # with many ties

    def found(cells: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        some = [rng.choice(cells.shape[1], 6, replace=False) for _ in cells]
        order = [
            sorted(row, key=lambda c: (-line[c], c)) for row, line in zip(some, cells, strict=True)
        ]
        ids = np.array(order)
        values = np.take_along_axis(cells, ids, axis=1)
        ids[::5, 5], values[::5, 5] = -1, -np.inf
        return ids, values

    own, back = found(cosines), found(cosines.T)
    for start, stop in ((0, 40), (0, 7), (7, 40)):
        ids, values = exchanged(own, back, start, stop, 5)
        for row in range(start, stop):
            pairs = set(own[0][row].tolist()) | set(
                np.flatnonzero((back[0] == row).any(1)).tolist()
            )
            best = sorted(pairs - {-1}, key=lambda c: (-cosines[row, c], c))[:5]
            assert ids[row - start].tolist() == best
            assert values[row - start].tolist() == cosines[row, best].tolist()


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        ("nonsense", "refuses"),
        ("IVF16", "refuses"),
        ("", "refuses"),
        ("PQ7", "refuses"),
        ("IVF0,Flat", "inner product"),
        ("LSH", "refuses"),
        ("IVF101,SQfp16", "101 lists for 100 rows"),
        ("OPQ4,IVF101,PQ4", "101 lists for 100 rows"),
    ],
)
def test_factory_strings_that_cannot_be_used_are_refused_early(factory: str, words: str) -> None:
    with pytest.raises(OptionError, match=words) as caught:
        choose_index(100, 1000, 32, factory)
    assert caught.value.message.startswith(f"--index {factory}:")
    assert "--index" in caught.value.hint


@pytest.mark.parametrize(("factory", "words"), [("IVF51,Flat", "51 lists"), ("PQ8", "trained")])
def test_too_few_rows_are_refused_before_the_search(factory: str, words: str) -> None:
    source, target = clustered(50)
    with pytest.raises(OptionError, match=words):
        search_approximate(source, target, 4, factory=factory)


def test_auto_is_exact_up_to_a_fixed_size() -> None:
    assert choose_index(100_000, 100_000, 256, "auto") == "exact"
    assert choose_index(100_000, 100_000, 1024, "auto") == "exact"
    assert choose_index(1_000_000, 1_000_000, 256, "auto") == "IVF4096,SQfp16"
    assert choose_index(1_000_000, 1_000_000, 256, "auto", "cuda") == "exact"
    assert choose_index(10_000_000, 10_000_000, 512, "auto", "cuda:1") == "IVF16384,SQfp16"
    assert choose_index(2**18, 2**18, 2**9, "auto") == "exact"
    assert choose_index(2**18 + 1, 2**18, 2**9, "auto") == "IVF2048,SQfp16"
    # A short side: lists of forty rows at least, and everything if that makes fewer than 64.
    assert choose_index(10_000, 2**34, 256, "auto") == "IVF128,SQfp16"
    assert choose_index(1000, 2**40, 256, "auto") == "exact"
    assert choose_index(2**40, 2**40, 256, "exact") == "exact"
    assert choose_index(1000, 1000, 256, "IVF16,Flat") == "IVF16,Flat"


@pytest.mark.parametrize("factory", ["IVF64,SQfp16", "IVF8,Flat", "HNSW16"])
def test_the_memory_of_an_index_is_foretold(factory: str, tmp_path: Path) -> None:
    import faiss

    source, _ = clustered(5000, 64)
    index = faiss.index_factory(64, factory, faiss.METRIC_INNER_PRODUCT)
    index.train(source.astype(np.float32))
    index.add(source.astype(np.float32))
    faiss.write_index(index, str(tmp_path / "index"))
    size = (tmp_path / "index").stat().st_size
    assert index_bytes(5000, 64, factory) == pytest.approx(size, rel=0.05)


def search_in(folder: Path, report: Report = silent, factory: str = "IVF32,SQfp16") -> Neighbours:
    source, target = clustered(4000, 16)
    # So little memory that chunks are 1,024 queries.
    return search_approximate(
        source, target, 4, factory=factory, folder=folder, memory=2**20, report=report
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_holds_the_result_and_nothing_else(tmp_path: Path) -> None:
    found = search_in(tmp_path)
    assert sorted(contents(tmp_path)) == sorted([*(f"{name}.npy" for name in FILES), COMPLETE])
    source, target = clustered(4000, 16)
    again = search_approximate(source, target, 4, factory="IVF32,SQfp16")
    for name in FILES:
        np.testing.assert_array_equal(getattr(found, name), getattr(again, name))
    assert (found.index, found.recall) == (again.index, again.recall)
    before = contents(tmp_path)
    assert search_in(tmp_path).recall == found.recall
    assert contents(tmp_path) == before


def test_a_report_that_raises_stops_the_search_and_it_continues(tmp_path: Path) -> None:
    calls: list[Progress] = []
    search_in(tmp_path / "whole", calls.append)
    assert calls[-1] == Progress("searching", 8000, 8000)
    done = [call.done for call in calls]
    assert done == sorted(done)
    stopped = 0
    for stop in (1, 2, 3, 5, 8, 13, 21, 34, 55):
        left = stop

        def raising(progress: Progress) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise KeyboardInterrupt

        try:
            search_in(tmp_path / "cut", raising)
        except KeyboardInterrupt:
            stopped += 1
    assert stopped > 4
    search_in(tmp_path / "cut")
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from test_approximate import search_in
print("ready", flush=True)
search_in(Path({folder!r}))
"""


def test_a_search_that_is_killed_continues_to_the_same_bytes(tmp_path: Path) -> None:
    search_in(tmp_path / "whole")
    folder = tmp_path / "cut"
    rng = np.random.default_rng(0)
    kills = 0
    for _ in range(60):
        script = KILLED.format(here=str(HERE), folder=str(folder))
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as run:
            assert run.stdout is not None
            assert run.stdout.readline() == b"ready\n"
            time.sleep(float(rng.uniform(0.1, 0.6)))
            run.send_signal(signal.SIGKILL)
            kills += run.wait() == -signal.SIGKILL
        if (folder / COMPLETE).exists():
            break
    assert kills
    search_in(folder)
    assert contents(folder) == contents(tmp_path / "whole")


def test_a_continued_search_does_not_train_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done > 5000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_in(tmp_path, stop)
    monkeypatch.setattr(approximate, "trained", None)
    monkeypatch.setattr(Direction, "choose", None)
    search_in(tmp_path)


@pytest.mark.parametrize("factory", ["IVF32,SQfp16", "IVF32,Flat"])
def test_the_number_of_threads_changes_no_byte(factory: str, tmp_path: Path) -> None:
    for threads in ("1", "2"):
        script = (
            f"import sys; sys.path.insert(0, {str(HERE)!r}); from pathlib import Path; "
            f"from test_approximate import search_in; "
            f"search_in(Path({str(tmp_path / threads)!r}), factory={factory!r})"
        )
        threaded = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-c", script], env=threaded, check=True)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(FileError):
        search_in(tmp_path / "file")


def test_a_full_disk_leaves_no_index(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    script = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "import resource, signal; from pathlib import Path\n"
        "from test_approximate import search_in\n"
        "from xmine.errors import FileError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))\n"
        f"try: search_in(Path({str(tmp_path)!r}))\n"
        "except FileError as error: print(error.message)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert "cannot be written" in told
    assert str(tmp_path) in told
    assert not [name for name in contents(tmp_path) if name.endswith(("filled.faiss", COMPLETE))]
