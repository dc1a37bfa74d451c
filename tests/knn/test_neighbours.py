import math
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.knn.cosines import exact_cosines, widen
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import FILES, Neighbours, found_in, keep, kept_in

if TYPE_CHECKING:
    from xmine.progress import Progress


def unit_rows(rows: int, dim: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


def parts(found: Neighbours) -> list[bytes]:
    return [
        found.targets.tobytes(),
        found.target_cosines.tobytes(),
        found.sources.tobytes(),
        found.source_cosines.tobytes(),
    ]


def test_the_first_of_more_neighbours_are_those_of_a_smaller_k() -> None:
    source, target = unit_rows(100, 16, 5), unit_rows(90, 16, 6)
    assert parts(search_exact(source, target, 7).first(3)) == parts(search_exact(source, target, 3))


def test_progress_ends_at_the_number_of_sources() -> None:
    seen: list[Progress] = []
    search_exact(unit_rows(300, 8, 1), unit_rows(20, 8, 2), 2, report=seen.append)
    assert {(step.stage, step.total) for step in seen} == {("searching", 300)}
    assert seen[-1].done == 300


def test_a_cosine_is_the_exact_one_rounded_once() -> None:
    source, target = (
        unit_rows(60, 500, 1).astype(np.float16),
        unit_rows(50, 500, 2).astype(np.float16),
    )
    target[7] = source[3] * np.float16(1.001)
    ids = np.random.default_rng(3).integers(-1, 50, (60, 9))
    ids[3, 0] = 7
    found = exact_cosines(source, target, ids)
    for row, column in np.ndindex(*ids.shape):
        products = [
            float(a) * float(b) for a, b in zip(source[row], target[ids[row, column]], strict=True)
        ]
        exact = np.float32(min(math.fsum(products), 1))
        assert found[row, column] == (exact if ids[row, column] >= 0 else -np.inf)
    assert found[3, 0] == 1


def test_pieces_of_rescoring_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = unit_rows(60, 100, 1), unit_rows(50, 100, 2)
    ids = np.random.default_rng(3).integers(0, 50, (60, 9))
    whole = exact_cosines(source, target, ids).tobytes()
    monkeypatch.setattr("xmine.knn.cosines._RESCORED_AT_ONCE", 7000)
    assert exact_cosines(source, target, ids).tobytes() == whole
    alone = [exact_cosines(source, target, ids[:, column : column + 1]) for column in range(9)]
    assert np.concatenate(alone, axis=1).tobytes() == whole


def test_every_half_is_widened_to_its_value() -> None:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(64, -1)
    wide = widen(finite, np.empty(finite.shape, dtype=np.float32))
    assert np.array_equal(wide, finite.astype(np.float32))
    assert np.array_equal(np.signbit(wide), np.signbit(finite))


def test_a_search_that_is_not_whole_is_not_opened(tmp_path: Path) -> None:
    assert found_in(tmp_path / "nothing") is None
    folder = tmp_path / "found"
    searched = search_exact(unit_rows(9, 8, 1), unit_rows(7, 8, 2), 2)
    found = keep(searched, folder, "mark")
    assert (found.index, found.recall) == ("exact", None)
    for name in FILES:
        assert getattr(found, name).tobytes() == getattr(searched, name).tobytes()
    assert kept_in(folder, "mark") is not None and kept_in(folder, "other") is None
    tmp_path = folder
    with pytest.raises(ValueError, match="read-only"):
        found.targets[0, 0] = 1
    whole = (tmp_path / "sources.npy").read_bytes()
    (tmp_path / "sources.npy").write_bytes(bytes([*whole[:150], whole[150] ^ 1, *whole[151:]]))
    assert kept_in(folder, "mark") is None
    for row in (-1, 9):
        np.save(tmp_path / "sources.npy", np.full((7, 2), row))
        with pytest.raises(FileError, match=r"sources\.npy: neighbours that are not there"):
            found_in(tmp_path)
    (tmp_path / "sources.npy").write_bytes(whole[:-1])
    with pytest.raises(FileError, match=r"sources\.npy"):
        found_in(tmp_path)
    (tmp_path / "sources.npy").unlink()
    with pytest.raises(FileError, match="no such file"):
        found_in(tmp_path)
    (tmp_path / "search.toml").write_text("")
    with pytest.raises(FileError, match=r"search\.toml: no 'index'"):
        found_in(tmp_path)


@pytest.mark.process
def test_threads_do_not_change_a_bit_whatever_the_width() -> None:
    """BLAS splits products of widths 500 and 1000 by the number of threads; rescoring is exact."""
    script = (
        "import hashlib, numpy as np\n"
        "from xmine.knn.exact import search_exact\n"
        "digest = hashlib.sha256()\n"
        "for width in (500, 512, 1000):\n"
        "    sides = np.random.default_rng(1).standard_normal((2, 900, width))\n"
        "    sides /= np.linalg.norm(sides, axis=2, keepdims=True)\n"
        "    found = search_exact(*sides.astype(np.float16), 4)\n"
        "    digest.update(found.target_cosines.tobytes() + found.sources.tobytes())\n"
        "print(digest.hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(digests) == 1
