import json
from pathlib import Path

import numpy as np
import pytest
from papers.benchmarks import ClusterOptions
from papers.clusters import evaluate_clusters, k_means, purity

from tests.toys.sentences import english_word
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.result import Result


def titles(kinds: int = 3, each: int = 20) -> list[tuple[str, str]]:
    """Make lines whose words are those of their label alone."""
    random = np.random.default_rng(4)
    lines = []
    for at in range(kinds * each):
        words = random.choice(6, size=4, replace=False) + 10 * (at % kinds)
        lines.append((f"{100 + at % kinds}", " ".join(map(english_word, words.tolist()))))
    return lines


def write_tnews(folder: Path, lines: list[tuple[str, str]]) -> Path:
    (folder / "tnews").mkdir()
    rows = [
        json.dumps({"label": label, "label_desc": "x", "sentence": text, "keywords": ""}) + "\n"
        for label, text in lines
    ]
    (folder / "tnews" / "dev.json").write_text("".join(rows))
    return folder / "tnews" / "dev.json"


def on_tnews(encoder: SentenceEncoder, folder: Path) -> Result:
    return evaluate_clusters(encoder, DataFolder(folder), ClusterOptions())


def on_lines(encoder: SentenceEncoder, path: Path) -> Result:
    return evaluate_clusters(encoder, DataFolder(None), ClusterOptions(lines=str(path)))


def test_golden_g25_purity() -> None:
    found = purity([0, 0, 0, 1, 1, 2], list("001112"))
    assert found["micro"] == pytest.approx(0.83333333, abs=1e-6)
    assert found["macro"] == pytest.approx(0.88888889, abs=1e-6)


def test_k_means_gives_the_same_clusters_again_the_best_of_ten() -> None:
    from sklearn.cluster import KMeans

    rows = np.random.default_rng(6).standard_normal((60, 4)).astype(np.float32)
    found = k_means(rows, 4)
    assert k_means(rows, 4) == found
    groups = [rows[np.array(found) == each] for each in range(4)]
    spread = sum(float(((group - group.mean(axis=0)) ** 2).sum()) for group in groups)
    ten, one = (KMeans(4, n_init=runs, random_state=1).fit(rows).inertia_ for runs in (10, 1))
    assert spread == pytest.approx(ten, rel=1e-5)
    assert spread < 0.95 * one


def test_topics_are_found_in_both_formats(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    lines = titles()
    write_tnews(tmp_path, lines)
    result = on_tnews(toy_encoder, tmp_path)
    assert result.figure(*result.headline) == 1
    floor = result.figure("the same sizes at random", "micro")
    assert floor is not None
    assert 1 / 3 <= floor < 0.6
    assert result.settings["clusters"] == 3
    plain = tmp_path / "plain.tsv"
    plain.write_text("".join(f"{label}\t{text}\n" for label, text in lines))
    assert on_lines(toy_encoder, plain).rows == result.rows
