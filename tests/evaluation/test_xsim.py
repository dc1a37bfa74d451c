"""xSIM: the golden value, a slow computation beside the fast one, files, errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.files import write
from tests.toys.xsim import CHOICES, loose, slow_lines
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import XsimOptions
from xmine.evaluation.retrieval.aligned import hits_of
from xmine.evaluation.retrieval.xsim import best_lines, evaluate_xsim
from xmine.knn.exact import search_exact
from xmine.pairs.io import ParallelText
from xmine.scoring.margin import margin_scores


def test_golden_g19b() -> None:
    """Rows of the matrix stand for sources, unit vectors for targets: cosines as in G-19."""
    cosines = np.array([[0.9, 0.2, 0.1], [0.3, 0.4, 0.5], [0.2, 0.6, 0.8]], dtype=np.float32)
    target = np.eye(3, dtype=np.float32)
    neighbours = search_exact(cosines, target, 2)
    means = [x.mean(axis=1) for x in (neighbours.target_cosines, neighbours.source_cosines)]
    np.testing.assert_allclose(means[0], [0.55, 0.45, 0.70], atol=1e-6)
    np.testing.assert_allclose(means[1], [0.60, 0.50, 0.65], atol=1e-6)
    ratios = margin_scores(neighbours, "ratio").targets
    np.testing.assert_allclose(ratios[0], [1.56521739, 0.38095238], atol=1e-6)
    np.testing.assert_allclose(ratios[1], [0.90909091, 0.84210526], atol=1e-6)
    assert neighbours.targets[1].tolist() == [2, 1]
    best, _ = best_lines(cosines, target, "ratio", 2)
    assert best[0].tolist() == [0, 2, 2]
    assert (~hits_of(best))[:, 0].mean() == pytest.approx(1 / 3, abs=1e-6)


def test_absolute_is_the_nearest_and_ties_go_to_the_lower_line() -> None:
    same = np.ones((3, 1), dtype=np.float32)
    for margin in ("ratio", "distance", "absolute"):
        best, _ = best_lines(same, same, margin, 2)
        assert best[0].tolist() == best[1].tolist() == [0, 0, 0]


def test_a_neighbourhood_at_zero_is_counted() -> None:
    eye = np.eye(6, dtype=np.float32)
    assert best_lines(eye[:3], eye[3:], "ratio", 2)[1] == 12
    assert best_lines(eye[:3], eye[3:], "distance", 2)[1] == 0


def flores(folder: Path, pairs: ParallelText, lines: int = 40) -> DataFolder:
    english, chinese = list(pairs.sources[:lines]), list(pairs.targets[:lines])
    write(folder / "flores101" / "dev" / "eng.dev", english)
    write(folder / "flores101" / "dev" / "zho.dev", chinese)
    return DataFolder(folder)


def slow_errors(
    encoder: SentenceEncoder,
    source: list[str],
    target: list[str],
    margin: str = "ratio",
    neighborhood: int = 4,
    prompt: str = "",
) -> float:
    one, other = (encoder.encode(texts, prompt=prompt) for texts in (source, target))
    chosen = slow_lines(one, other, margin, neighborhood)
    return sum(row != at for at, row in enumerate(chosen)) / len(source)


def test_each_direction_by_a_slow_loop_with_each_option(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    """Two files are measured from --src to --tgt, whatever their languages."""
    english, chinese = loose(120, seed=10)
    write(tmp_path / "a.en", english)
    write(tmp_path / "a.zh", chinese)
    seen = set()
    for options in CHOICES:
        forward = slow_errors(toy_encoder, english, chinese, **options)
        backward = slow_errors(toy_encoder, chinese, english, **options)
        assert forward != backward
        seen |= {(forward, backward), (backward, forward)}
        for one, other, figures in (
            ("en", "zh", {"forward": forward, "backward": backward}),
            ("zh", "en", {"forward": backward, "backward": forward}),
        ):
            files: dict[str, Any] = {
                "src": str(tmp_path / f"a.{one}"),
                "tgt": str(tmp_path / f"a.{other}"),
            }
            result = evaluate_xsim(toy_encoder, DataFolder(None), XsimOptions(**files, **options))
            assert result.rows[0].name == f"{one}-{other}"
            figures["mean"] = (forward + backward) / 2
            assert result.rows[0].figures == pytest.approx(figures)
    assert len(seen) == 2 * len(CHOICES)


def test_lines_without_a_vector_are_noted(
    toy_encoder: SentenceEncoder, tmp_path: Path, toy_pairs: ParallelText
) -> None:
    data = flores(tmp_path, toy_pairs)
    place = tmp_path / "flores101" / "dev"
    write(place / "zho.dev", ["", "☃", *toy_pairs.targets[2:40]])
    result = evaluate_xsim(toy_encoder, data, XsimOptions(rerank="off"))
    assert len(result.notes) == 1
    assert "without a vector" in result.notes[0]
    assert "zho 2" in result.notes[0]


def test_fewer_lines_than_neighbours_are_refused(
    toy_encoder: SentenceEncoder, tmp_path: Path, toy_pairs: ParallelText
) -> None:
    data = flores(tmp_path, toy_pairs, lines=3)
    with pytest.raises(FileError, match="aligned files: 3 lines; a margin over 4 neighbours"):
        evaluate_xsim(toy_encoder, data, XsimOptions())
    few = evaluate_xsim(toy_encoder, data, XsimOptions(neighborhood=3))
    assert few.rows[0].items == 3
    one = flores(tmp_path, toy_pairs, lines=1)
    for margin in ("ratio", "absolute"):
        with pytest.raises(FileError, match="FLORES-101 dev: 1 line; two at least are needed"):
            evaluate_xsim(toy_encoder, one, XsimOptions(margin=margin, neighborhood=1))
