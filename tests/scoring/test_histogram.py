import csv
import math
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.errors import FileError, OptionError, XmineError
from xmine.plots.scores import BINS, check_picture, draw_histogram
from xmine.scoring.histogram import bin_scores


def shaped(random: np.random.Generator, size: int) -> NDArray[np.float32]:
    """Draw scores of some shape and place: one bump or two, ties, far outliers, infinities."""
    scores = random.normal(random.choice([0.0, 1.0, -40.0]), random.choice([1e-3, 0.1, 9.0]), size)
    scores[random.random(size) < random.choice([0.0, 0.02, 0.5])] += random.choice([0.4, 3.0, 1e6])
    if random.random() < 0.3:
        scores = scores.round(1)
    if random.random() < 0.2:
        scores[random.random(size) < 0.1] = random.choice([np.inf, -np.inf])
    return scores.astype(np.float32)


def test_every_pair_is_in_the_bin_that_its_score_says() -> None:
    random = np.random.default_rng(1)
    for trial in range(600):
        scores = shaped(random, int(random.choice([0, 1, 2, 5, 30, 400])))
        probs = random.random(len(scores))
        cut = None if trial % 5 == 0 else float(random.choice([*scores.tolist(), 0.0, 1.0, np.inf]))
        most = int(random.choice([5, 15, BINS]))
        drawn = bin_scores(scores, probs, cut, most)
        assert drawn.right is not None and drawn.precision is not None
        edges, wide = drawn.edges, scores.astype(np.float64)
        assert len(edges) == len(drawn.counts) + 1 and len(drawn.counts) <= max(most, 0)
        assert (np.diff(edges) > 0).all()
        assert drawn.counts.sum() == len(scores)
        assert drawn.right.sum() == pytest.approx(probs.sum())
        for at, (low, high) in enumerate(pairwise(edges)):
            inside = (wide >= low) & ((wide < high) | (high == np.inf))
            assert drawn.counts[at] == inside.sum()
            assert drawn.right[at] == pytest.approx(probs[inside].sum())
            above = wide >= low
            assert drawn.at_or_above[at] == above.sum()
            if above.any():
                assert drawn.precision[at] == pytest.approx(probs[above].mean())
        kept = wide >= (-np.inf if cut is None else cut)
        assert drawn.kept == kept.sum()
        if kept.any():
            assert drawn.kept_precision == pytest.approx(probs[kept].mean())
        else:
            assert drawn.kept_precision is None


def test_edges_are_round_numbers_of_one_width() -> None:
    random = np.random.default_rng(2)
    for trial in range(200):
        scores = random.normal(1, 10.0 ** random.integers(-3, 3), int(random.integers(2, 500)))
        drawn = bin_scores(scores, cut=float(scores[0]), most=int(random.integers(5, 60)))
        inner = drawn.edges[np.isfinite(drawn.edges)]
        widths = np.diff(inner)
        digit = widths[0] / 10.0 ** math.floor(math.log10(widths[0]) + 1e-9)
        assert round(digit, 6) in (1, 2, 5), trial
        np.testing.assert_allclose(widths, widths[0], rtol=1e-6)
        assert [float(f"{edge:.{drawn.decimals}f}") for edge in inner] == inner.tolist()
        assert np.isfinite(drawn.edges).any()


def test_a_few_far_scores_do_not_squeeze_the_rest() -> None:
    random = np.random.default_rng(3)
    usual = np.concatenate([random.normal(1.0, 0.05, 700), random.normal(1.35, 0.1, 300)])
    plain = bin_scores(usual, cut=1.2)
    assert (plain.counts > 0).sum() >= 8
    far = bin_scores(np.append(usual, [2.8, 2.8, 900.0, np.inf]), cut=1.2)
    assert far.edges[-1] == np.inf
    assert far.counts[-1] >= 4
    assert (far.counts > 0).sum() >= 8
    assert np.diff(far.edges[1:-1]).min() == pytest.approx(np.diff(plain.edges[1:-1]).min())
    low = bin_scores(np.append(usual, [-30.0, -np.inf]), cut=1.2)
    assert low.edges[0] == -np.inf
    assert (low.counts > 0).sum() >= 8


def test_an_end_that_has_room_is_not_open() -> None:
    drawn = bin_scores(np.linspace(1.0, 1.4, 100), cut=1.2)
    assert np.isfinite(drawn.edges).all()
    assert drawn.edges[0] <= 1.0 < drawn.edges[1]
    assert drawn.edges[-2] <= 1.4 < drawn.edges[-1]


@pytest.mark.parametrize("value", [1.0, 0.3, -0.1, 0.0, 1e7])
def test_equal_scores_are_one_bin(value: float) -> None:
    for pairs in (1, 50):
        drawn = bin_scores(np.full(pairs, value), np.full(pairs, 0.5), value)
        assert drawn.counts.tolist() == [pairs]
        assert drawn.edges[0] == pytest.approx(value)
        assert (drawn.kept, drawn.kept_precision) == (pairs, 0.5)


def test_no_pairs_are_no_bins() -> None:
    drawn = bin_scores(np.zeros(0, dtype=np.float32), np.zeros(0), 1.2)
    assert (len(drawn.counts), drawn.kept, drawn.kept_precision, drawn.reach) == (0, 0, None, 0)
    assert drawn.facts() == []


def test_bars_of_kept_pairs_are_not_dwarfed() -> None:
    scores = np.concatenate([np.full(5000, 1.0), np.linspace(1.3, 1.5, 40)])
    drawn = bin_scores(scores, cut=1.25)
    assert drawn.counts.max() == 5000
    assert drawn.reach == 5000 // 8
    assert bin_scores(scores).reach == bin_scores(scores, cut=2.0).reach == 5000


def test_facts_are_fit_for_json() -> None:
    scores = np.append(np.linspace(1.0, 1.4, 100), [np.inf, 3.0])
    first, *_, last = bin_scores(scores, np.full(102, 0.25), 1.2).facts()
    assert first["from"] == 1.0
    assert first["pairs"] is not None and first["right"] == pytest.approx(first["pairs"] / 4)
    assert (last["to"], last["pairs"], last["precision"]) == (None, 3, 0.25)
    assert bin_scores(scores).facts()[0]["right"] is None


def test_what_is_no_histogram_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a number"):
        bin_scores(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="1 probs for 2 scores"):
        bin_scores(np.ones(2), np.ones(1))


SCORES = np.append(np.linspace(0.9, 1.6, 300), [2.8, -3.0])
CHANCES = np.append(np.linspace(0.0, 1.0, 300), [1.0, 0.0])
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", STARTS)
def test_a_picture_and_its_bins_are_the_same_bytes_twice(tmp_path: Path, suffix: str) -> None:
    drawn = bin_scores(SCORES, CHANCES, 1.2, BINS)
    for name in ("one", "two"):
        draw_histogram(drawn, tmp_path / f"{name}{suffix}", "en.txt - zh.txt")
    first, second = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
    assert first.read_bytes().startswith(STARTS[suffix])
    assert first.read_bytes() == second.read_bytes()
    assert b"CreationDate" not in first.read_bytes()
    assert len(list(tmp_path.iterdir())) == 4
    with first.with_suffix(".csv").open(encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["from", "to", "pairs", "right", "precision"]
    assert sum(int(row[2]) for row in rows) == 302
    assert rows[-1][1] == "" and rows[0][0] == ""
    assert float(rows[0][4]) == pytest.approx(CHANCES.mean(), abs=1e-4)


def test_the_picture_says_the_cut(tmp_path: Path) -> None:
    drawn = bin_scores(SCORES, CHANCES, 1.25, BINS)
    draw_histogram(drawn, tmp_path / "a.svg", "Title")
    # Letters are drawn as outlines; matplotlib keeps the text itself as a comment.
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<!-- cut at 1.2500: 151 pairs, precision 0.75 -->" in text
    for said in ("expected right", "expected wrong", "precision of a cut", "Title"):
        assert f"<!-- {said} -->" in text
    draw_histogram(bin_scores(SCORES, None, None, BINS), tmp_path / "b.svg", "Title")
    text = (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "<!-- pairs -->" in text
    assert "cut at" not in text and "precision" not in text


def test_a_picture_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(FileError, match="cannot be written"):
        draw_histogram(bin_scores(SCORES), tmp_path / "a.png", "Title")
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def test_a_name_is_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_picture(tmp_path / "a.png", force=False)
    for name in ("a.jpg", "a", "png", "a.png.gz"):
        with pytest.raises(OptionError, match="no format for pictures") as refused:
            check_picture(tmp_path / name, force=True)
        assert ".png, .svg or .pdf" in refused.value.hint
    (tmp_path / "a.csv").touch()
    with pytest.raises(FileError, match=r"a\.csv: exists already"):
        check_picture(tmp_path / "a.png", force=False)
    check_picture(tmp_path / "a.png", force=True)
    with pytest.raises(FileError, match="no such folder"):
        check_picture(tmp_path / "nowhere" / "a.png", force=True)
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(XmineError, match="needs matplotlib") as missing:
        check_picture(tmp_path / "b.png", force=False)
    assert missing.value.hint.endswith("pip install 'xmine[eval]'")
