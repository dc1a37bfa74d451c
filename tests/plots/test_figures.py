import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.plots.figures import draw_distributions, draw_map


def toy_vectors(sentences: int = 12) -> dict[str, NDArray[np.float64]]:
    random = np.random.default_rng(1)
    meaning = random.standard_normal((sentences, 6))
    return {name: meaning + 0.1 * random.standard_normal(meaning.shape) for name in ("en", "zh")}


def table(path: Path) -> list[list[str]]:
    with path.with_suffix(".csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_a_map_is_a_picture_and_its_coordinates(tmp_path: Path, method: str) -> None:
    path = tmp_path / "map.png"
    draw_map(toy_vectors(), "Toy sentences", path, method)
    width, height = size(path)
    assert 800 <= width <= 2000
    assert 600 <= height <= 2000
    head, *rows = table(path)
    assert head == ["language", "sentence", "x", "y"]
    assert [row[:2] for row in rows[11:13]] == [["en", "12"], ["zh", "1"]]
    assert len(rows) == 24
    assert np.isfinite([[float(x), float(y)] for _, _, x, y in rows]).all()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["map.csv", "map.png"]
    draw_map(toy_vectors(), "The same again", tmp_path / "again.png", method)
    assert table(tmp_path / "again.png") == [head, *rows]


def test_pca_is_that_of_the_singular_vectors(tmp_path: Path) -> None:
    vectors = toy_vectors()
    draw_map(vectors, "Toy", tmp_path / "map.png", "pca")
    stacked = np.concatenate(list(vectors.values()))
    stacked -= stacked.mean(axis=0)
    left, values, _ = np.linalg.svd(stacked, full_matrices=False)
    drawn = np.array([row[2:] for row in table(tmp_path / "map.png")[1:]], dtype=float)
    np.testing.assert_allclose(np.abs(drawn), np.abs(left[:, :2] * values[:2]), atol=1e-4)


def test_many_sentences_and_many_languages_can_be_drawn(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    vectors = {f"l{at}": random.standard_normal((70, 4)) for at in range(9)}
    draw_map(vectors, "Many", tmp_path / "map.png", "pca")
    assert len(table(tmp_path / "map.png")) == 1 + 9 * 70


def test_a_histogram_has_the_shares_of_each_kind(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    scores = {"translations": random.normal(0.8, 0.05, 500), "others": random.normal(0.4, 0.1, 90)}
    path = tmp_path / "scores.png"
    draw_distributions(scores, "Cosine", path)
    assert size(path)[0] >= 800
    head, *rows = table(path)
    assert head == ["from", "to", "translations", "others"]
    shares = np.array(rows, dtype=float)
    np.testing.assert_allclose(shares[:, 2:].sum(axis=0), 1, atol=1e-4)
    middle = (shares[:, :2].mean(axis=1) * shares[:, 2]).sum()
    assert middle == pytest.approx(scores["translations"].mean(), abs=0.01)
    draw_distributions({"all alike": np.ones(5)}, "One score", path)


def test_what_cannot_be_drawn_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "none.png"
    with pytest.raises(FileError, match="three sentences at least"):
        draw_map({"en": np.ones((1, 3)), "zh": np.ones((1, 3))}, "Toy", path)
    with pytest.raises(FileError, match="cannot be written"):
        draw_distributions({"a": np.ones(3)}, "Toy", tmp_path / "nowhere" / "a.png")
    assert not list(tmp_path.iterdir())
