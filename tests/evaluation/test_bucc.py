"""BUCC: every figure by a slow loop, on loose translations, where each choice changes it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scoring.test_margin_and_retrieval import slow_choice, slow_scores
from tests.toys.bucc import figure, measure
from tests.toys.sentences import chinese_word, english_word, toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.readers.bucc import read_gold, read_sentences_by_id
from xmine.evaluation.retrieval.bucc import half_of
from xmine.knn.exact import search_exact

Named = tuple[str, str]


def write_loose(folder: Path, split: str, seed: int, changed: int, alone: int = 15) -> Path:
    """Write a split: 50 Chinese lines, their translations with words changed, lines without one."""
    random = np.random.default_rng(seed)
    english, _, meanings = toy_sentences(50 + 2 * alone, seed)
    chinese = []
    for words in meanings[: 50 + alone]:
        loose = list(words)
        for at in random.permutation(len(words))[: int(random.integers(changed + 1))]:
            loose[at] = int(random.integers(120))
        chinese.append("".join(map(chinese_word, loose)))
    order = random.permutation(len(english) - alone).tolist()
    lines = {
        "zh": [f"zh-{at}\t{text}" for at, text in enumerate(chinese)],
        "en": [f"en-{at}\t{english[at if at < 50 else at + alone]}" for at in order],
        "gold": [f"zh-{at}\ten-{at}" for at in range(50)],
    }
    return write_lines(folder, split, lines)


def write_alike(folder: Path, split: str) -> Path:
    """Four of five lines are like each other, with exact translations; the fifth is one word.

    It is nearest to its translation, which is nearer to all of the others: a ratio below 1.
    """
    english, chinese = [], []
    for first in range(0, 100, 10):
        shared = list(range(first, first + 5))
        exact = [[*shared, first + own] for own in range(5, 9)]
        english += [*exact, [*shared, first + 9]]
        chinese += [*exact, [first + 9]]
    lines = {
        "zh": [f"zh-{at}\t{''.join(map(chinese_word, words))}" for at, words in enumerate(chinese)],
        "en": [
            f"en-{at}\t{' '.join(map(english_word, words))}" for at, words in enumerate(english)
        ],
        "gold": [f"zh-{at}\ten-{at}" for at in range(50)],
    }
    return write_lines(folder, split, lines)


def write_lines(folder: Path, split: str, lines: dict[str, list[str]]) -> Path:
    place = folder / "bucc2018" / "zh-en"
    place.mkdir(parents=True, exist_ok=True)
    for end, of_end in lines.items():
        text = "".join(f"{line}\n" for line in of_end)
        (place / f"zh-en.{split}.{end}").write_text(text, encoding="utf-8")
    return folder


def slow_pairs(
    encoder: SentenceEncoder,
    data: Path,
    split: str,
    margin: str = "ratio",
    neighborhood: int = 4,
    retrieval: str = "max",
    prompt: str = "",
) -> tuple[list[tuple[float, Named]], set[Named]]:
    """Score all pairs as the definitions read, best first; and give the gold pairs."""
    stem = data / "bucc2018" / "zh-en" / f"zh-en.{split}"
    sides = [read_sentences_by_id(Path(f"{stem}.{language}")) for language in ("zh", "en")]
    source, target = (
        encoder.encode_half([text for _, text in side], prompt=prompt).astype(np.float32)
        for side in sides
    )
    scores = slow_scores(source, target, neighborhood, margin)
    cells = slow_choice(scores, search_exact(source, target, neighborhood), retrieval)
    named = [(scores[i, j], (sides[0][i][0], sides[1][j][0])) for i, j in cells]
    return named, set(read_gold(Path(f"{stem}.gold"), sides))


def slow_f1(scored: list[tuple[float, Named]], gold: set[Named], threshold: float) -> float:
    kept = {pair for score, pair in scored if score >= threshold}
    return 2 * len(kept & gold) / (len(kept) + len(gold))


def slow_best(scored: list[tuple[float, Named]], gold: set[Named]) -> tuple[float, float]:
    """Try every cut midway between two scores: the best one, the highest of equals, and its F1."""
    values = [score for score, _ in scored]
    cuts = [(one + other) / 2 for one, other in zip(values, [*values[1:], values[-1]], strict=True)]
    best = max(cuts, key=lambda cut: (slow_f1(scored, gold, cut), cut))
    return best, slow_f1(scored, gold, best)


def halves_of(
    scored: list[tuple[float, Named]], gold: set[Named]
) -> list[tuple[list[tuple[float, Named]], set[Named]]]:
    return [
        (
            [x for x in scored if half_of(x[1][0]) == which],
            {x for x in gold if half_of(x[0]) == which},
        )
        for which in (0, 1)
    ]


CHOICES: list[dict[str, Any]] = [
    *({}, {"margin": "distance"}, {"neighborhood": 20}, {"retrieval": "fwd"}),
    *({"retrieval": "intersect"}, {"prompt": "bade gofi "}),
]


def test_every_option_reaches_mining(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    write_loose(tmp_path, "sample", seed=9, changed=6)
    data = write_alike(tmp_path, "training")
    seen = set()
    for options in CHOICES:
        figures = []
        for protocol, split in (("msimcse", "sample"), ("heldout", "training")):
            scored, gold = slow_pairs(toy_encoder, data, split, **options)
            threshold, f1 = slow_best(scored, gold)
            result = measure(
                toy_encoder, data, protocol=protocol, threshold_from="oracle", **options
            )
            assert figure(result, "zh-en oracle") == pytest.approx(f1)
            assert figure(result, "zh-en oracle", "threshold") == pytest.approx(threshold, abs=5e-4)
            figures += [f1, round(float(threshold), 3)]
        seen.add(tuple(figures))
    assert len(seen) == len(CHOICES)


def test_st_drops_ratio_scores_below_one(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    data = write_alike(tmp_path, "training")
    scored, gold = slow_pairs(toy_encoder, data, "training")
    lowest, f1 = slow_best(scored, gold)
    _, cut = slow_best([each for each in scored if each[0] >= 1], gold)
    assert lowest < 0.99
    assert cut < f1
    everything = measure(toy_encoder, data, threshold_from="oracle")
    assert figure(everything, "zh-en oracle") == pytest.approx(f1)
    st = measure(toy_encoder, data, protocol="st")
    assert figure(st, "zh-en oracle") == pytest.approx(cut)
    assert "no score below 1" in st.protocol
    other = measure(toy_encoder, data, protocol="st", margin="distance")
    assert "no score below" not in other.protocol
    assert figure(other, "zh-en oracle") > cut


def test_held_out_is_measured_on_the_other_half(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    data = write_loose(tmp_path, "sample", seed=9, changed=6)
    scored, gold = slow_pairs(toy_encoder, data, "sample")
    halves = halves_of(scored, gold)
    threshold, _ = slow_best(*halves[0])
    expected = slow_f1(*halves[1], threshold)
    best, in_hindsight = slow_best(*halves[1])
    assert threshold != pytest.approx(best, abs=1e-3)
    assert expected < in_hindsight
    assert expected != pytest.approx(slow_f1(scored, gold, threshold), abs=1e-3)
    result = measure(toy_encoder, data)
    assert figure(result, "zh-en held-out") == pytest.approx(expected)
    assert figure(result, "zh-en held-out", "threshold") == pytest.approx(threshold, abs=1e-5)


def test_a_threshold_of_other_pairs_is_not_the_best(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    for split, changed in (("sample", 0), ("training", 3), ("test", 6)):
        data = write_loose(tmp_path, split, seed=changed, changed=changed)
    for protocol, source, measured in (
        ("heldout", "training", "test"),
        ("xtreme", "sample", "training"),
    ):
        threshold, _ = slow_best(*slow_pairs(toy_encoder, data, source))
        pairs = slow_pairs(toy_encoder, data, measured)
        expected, (best, in_hindsight) = slow_f1(*pairs, threshold), slow_best(*pairs)
        assert threshold != pytest.approx(best, abs=1e-3)
        assert expected < in_hindsight
        result = measure(toy_encoder, data, protocol=protocol)
        row = f"zh-en {measured}"
        assert result.headline == (row, "f1")
        assert figure(result, row) == pytest.approx(expected)
        assert figure(result, row, "threshold") == pytest.approx(threshold, abs=1e-5)


def test_in_hindsight_the_same_split_is_measured(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    for split in ("sample", "training", "test"):
        data = write_loose(tmp_path, split, seed=1, changed=1)
    for options in (
        *({"threshold_from": source} for source in ("training", "oracle", "hash")),
        *({"protocol": protocol} for protocol in ("laser", "moco")),
    ):
        assert measure(toy_encoder, data, **options).settings["split"] == "test"
    (data / "bucc2018" / "zh-en" / "zh-en.test.gold").unlink()
    with pytest.raises(FileError, match=r"--threshold-from training needs .*zh-en.test.gold"):
        measure(toy_encoder, data, threshold_from="training")
    assert measure(toy_encoder, data, threshold_from="oracle").settings["split"] == "training"
    assert measure(toy_encoder, data, protocol="moco").settings["split"] == "training"


def test_more_neighbours_than_sentences_are_refused(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    data = write_loose(tmp_path, "sample", seed=1, changed=1, alone=0)
    with pytest.raises(FileError, match=r"zh-en.sample: 50 lines; .* 51 neighbours needs 51"):
        measure(toy_encoder, data, neighborhood=51)
    assert "k = 50," in measure(toy_encoder, data, neighborhood=50).protocol
    nearest_alone = measure(toy_encoder, data, neighborhood=51, margin="absolute")
    assert "absolute margin, max retrieval" in nearest_alone.protocol
