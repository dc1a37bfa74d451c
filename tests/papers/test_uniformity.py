import numpy as np
import pytest
from papers import uniformity as module
from papers.uniformity import alignment, uniformity


def unit(*rows: tuple[float, ...]) -> np.ndarray:
    matrix = np.array(rows)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True))


def slow_uniformity(vectors: np.ndarray) -> float:
    values = [
        np.exp(-2 * ((vectors[i] - vectors[j]) ** 2).sum())
        for i in range(len(vectors))
        for j in range(i + 1, len(vectors))
    ]
    return float(np.log(np.mean(values)))


def test_golden_g21() -> None:
    vectors = unit((1, 0), (0, 1), (1, 1))
    positives = unit((1, 0.2), (0.1, 1), (1, 0.8))
    assert alignment(vectors, positives) == pytest.approx(0.02033227, abs=1e-6)
    assert uniformity(vectors) == pytest.approx(-1.54791338, abs=1e-6)


@pytest.mark.parametrize("rows", [2, 256, 300])
def test_blocks_change_nothing(rows: int) -> None:
    vectors = unit(*np.random.default_rng(rows).standard_normal((rows, 6)))
    assert uniformity(vectors) == pytest.approx(slow_uniformity(vectors), abs=1e-9)
    halves = vectors.astype(np.float32)
    assert uniformity(halves) == pytest.approx(slow_uniformity(vectors), abs=1e-5)


def test_of_many_rows_a_fixed_sample_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = unit(*np.random.default_rng(1).standard_normal((400, 4)))
    whole = uniformity(vectors)
    monkeypatch.setattr(module, "MOST", 300)
    sampled = uniformity(vectors)
    assert sampled == uniformity(vectors)
    assert sampled != whole
    assert sampled == pytest.approx(whole, abs=0.1)
