from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from papers.benchmarks import GeometryOptions
from papers.geometry import (
    between_languages,
    canonical_form,
    diagonal_divergence,
    evaluate_geometry,
    full_divergence,
    measure_geometry,
    principal_ratio,
)
from sklearn.covariance import LedoitWolf

from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.result import Result

Rows = NDArray[np.float64]


def unit(rows: Rows) -> Rows:
    scaled: Rows = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return scaled


def test_golden_g22_divergence_of_diagonal_gaussians() -> None:
    one = np.array([(0.0, 0), (2, 0), (0, 2), (2, 2)])
    other = one * (0.5, 1) + (1, 0.5)
    means = np.stack([one.mean(axis=0), other.mean(axis=0)])
    divergence = diagonal_divergence(means, np.stack([one.var(axis=0), other.var(axis=0)]))
    assert divergence[0, 1] == pytest.approx(1.43185282, abs=1e-6)
    assert divergence[1, 0] == pytest.approx(0.56814718, abs=1e-6)
    assert between_languages(divergence) == pytest.approx(1.0, abs=1e-6)
    figures = measure_geometry([one, other])
    assert figures["kl_diag_sum"] == pytest.approx(1.0, abs=1e-6)
    assert figures["kl_diag_mean"] == pytest.approx(0.5, abs=1e-6)


def test_golden_g22_divergence_of_full_gaussians() -> None:
    one = np.array([(0.0, 0), (1, 1), (2, 1), (3, 2)])
    other = np.array([(0.0, 1), (1, 0), (2, 2), (3, 3)])
    means = np.stack([one.mean(axis=0), other.mean(axis=0)])
    covariances = [np.cov(rows.T, bias=True) for rows in (one, other)]
    divergence = full_divergence(means, covariances)
    assert divergence[0, 1] == pytest.approx(0.98750118, abs=1e-6)
    assert divergence[1, 0] == pytest.approx(5.90138771, abs=1e-6)
    assert between_languages(divergence) == pytest.approx(3.44444444, abs=1e-6)


def test_what_the_benchmark_measures_of_distributions() -> None:
    """Each figure of the table by the formula: full covariances are Ledoit and Wolf's."""
    random = np.random.default_rng(4)
    spread = np.array([1.0, 0.5, 0.1, 0.02])
    sides = [random.standard_normal((30, 4)) * spread + at for at in (0.0, 0.3)]
    found = measure_geometry(sides)
    shrunk = [LedoitWolf().fit(side).covariance_ for side in sides]
    away = sides[1].mean(axis=0) - sides[0].mean(axis=0)

    def slow(one: np.ndarray, other: np.ndarray) -> float:
        inverse = np.linalg.inv(other)
        trace = float(np.trace(inverse @ one) + away @ inverse @ away)
        return (trace - 4 + np.log(np.linalg.det(other) / np.linalg.det(one))) / 2

    assert found["kl_full"] == pytest.approx((slow(*shrunk) + slow(*shrunk[::-1])) / 2, rel=1e-6)
    diagonal = [np.diag(side.var(axis=0)) for side in sides]
    expected = (slow(*diagonal) + slow(*diagonal[::-1])) / 2
    assert found["kl_diag_sum"] == pytest.approx(expected, rel=1e-6)
    assert found["kl_diag_mean"] == pytest.approx(expected / 4, rel=1e-6)
    flat = [np.pad(side, ((0, 0), (0, 1))) for side in sides]
    flat[1][:, 4] = 2e-4
    more = measure_geometry(flat)["kl_diag_sum"] - expected
    assert more == pytest.approx((2e-4) ** 2 / 1e-8 / 2, rel=1e-3)  # a direction of variance 0


def test_golden_g23_canonical_form() -> None:
    sentences = np.array([[(0.0, 0), (0, 1)], [(4, 0), (4, 1)], [(0, 6), (1, 6)]])
    form = canonical_form([sentences[:, 0], sentences[:, 1]])
    assert form["between_within"] == pytest.approx(39.55555556, abs=1e-6)
    assert form["calinski_harabasz"] == pytest.approx(59.33333333, abs=1e-6)


def test_golden_g24_principal_ratio() -> None:
    rows = unit(np.array([(1, 0, 0), (0.9, 0.1, 0), (0.8, 0, 0.2), (0.9, -0.1, -0.1)]))
    assert principal_ratio([rows]) == pytest.approx(0.37322296, abs=1e-6)
    assert principal_ratio([rows[:2], rows[2:]]) == pytest.approx(0.37322296, abs=1e-6)
    assert principal_ratio([rows[[3, 1, 0, 2]]]) == pytest.approx(0.37322296, abs=1e-6)
    _, axes = np.linalg.eigh(rows.T @ rows)
    sums = np.exp(rows @ np.hstack([axes, -axes])).sum(axis=0)
    assert sums.min() / sums.max() == pytest.approx(0.13847482, abs=1e-6)  # what signs would do


@pytest.fixture
def aligned(tmp_path: Path) -> Path:
    english, chinese, _ = toy_sentences(60, seed=21)
    texts = {"en": english, "zh": chinese, "xx": chinese[1:] + chinese[:1]}
    for language, lines in texts.items():
        (tmp_path / f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def measured(encoder: SentenceEncoder, folder: Path, groups: str = "") -> Result:
    options = GeometryOptions(files=str(folder / "{}.txt"), groups=groups)
    return evaluate_geometry(encoder, DataFolder(None), options)


def test_translations_hang_together_and_wrong_ones_do_not(
    toy_encoder: SentenceEncoder, aligned: Path
) -> None:
    groups = aligned / "groups.toml"
    groups.write_text('good = ["en", "zh", "de"]\nbad = ["en", "xx"]\n')
    result = measured(toy_encoder, aligned, str(groups))
    assert [row.name for row in result.rows] == ["all (3)", "good (2)", "bad (2)"]
    assert [row.items for row in result.rows] == [180, 120, 120]
    good = result.figure("good (2)", "calinski_harabasz")
    bad = result.figure("bad (2)", "calinski_harabasz")
    assert good is not None
    assert good > 5
    assert bad is not None
    assert bad < 2
    assert result.figure(*result.headline) is not None


def test_blank_lines_are_left_out(toy_encoder: SentenceEncoder, aligned: Path) -> None:
    lines = (aligned / "zh.txt").read_text(encoding="utf-8").split("\n")
    lines[4] = ""
    (aligned / "zh.txt").write_text("\n".join(lines), encoding="utf-8")
    result = measured(toy_encoder, aligned)
    assert result.rows[0].items == 59 * 3
    assert any("1 lines left out" in note for note in result.notes)
