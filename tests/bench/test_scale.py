"""bench/scale.py: its peers compute what xmine computes, and its figures say what was measured."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import searching
import whole
from searching import Found, faiss_both

from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours

ROOT = Path(__file__).parents[2]
SOURCE, TARGET = searching.clustered(300, 64, seed=1)


def found(neighbours: Neighbours) -> Found:
    return Found(
        neighbours.target_cosines, neighbours.targets, neighbours.source_cosines, neighbours.sources
    )


def test_clustered_vectors_are_units_each_with_a_translation() -> None:
    source, target = searching.clustered(300, 64, seed=1)
    for side in (source, target):
        assert side.dtype == np.float16
        assert np.allclose(np.linalg.norm(side.astype(np.float32), axis=1), 1, atol=0.002)
    cosines = search_exact(source, target, 4).target_cosines
    assert 0.75 < np.median(cosines[:, 0]) < 0.9
    assert 0.4 < np.median(cosines[:, 3]) < 0.7


@pytest.mark.long
def test_the_search_of_faiss_finds_what_ours_finds() -> None:
    theirs = faiss_both(SOURCE.astype(np.float32), TARGET.astype(np.float32), 4)
    ours = search_exact(SOURCE, TARGET, 4)
    assert searching.differences(ours, theirs, SOURCE, TARGET) == {
        "other_ids": 0,
        "other_ids_and_scores": 0,
    }
    assert np.allclose(ours.source_cosines, theirs.source_cosines, atol=1e-5)


def test_differences_are_counted_where_scores_differ_and_where_they_do_not() -> None:
    target = TARGET.copy()
    target[1] = target[0]
    neighbours = search_exact(SOURCE, target, 4)
    theirs = found(neighbours)
    swapped = theirs.targets.copy()
    ties = np.argwhere(swapped < 2)
    swapped[swapped < 2] = 1 - swapped[swapped < 2]
    theirs = theirs._replace(targets=swapped)
    wrong = theirs.sources.copy()
    wrong[5, 2] = (wrong[5].max() + 1) % 300
    counted = searching.differences(neighbours, theirs._replace(sources=wrong), SOURCE, target)
    assert counted == {"other_ids": len(ties) + 1, "other_ids_and_scores": 1}
    assert len(ties) > 0


def test_contenders_take_turns_each_first_in_turn() -> None:
    calls: list[str] = []

    def called(name: str) -> str:
        calls.append(name)
        return name.upper()

    times, results = searching.race({name: partial(called, name) for name in "abc"}, repeats=3)
    assert "".join(calls) == "abcbcacab"
    assert results == {"a": "A", "b": "B", "c": "C"}
    assert all(each["best"] <= each["seconds"] for each in times.values())


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "bench" / "scale.py", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_a_run_is_measured_and_its_pairs_are_held_against_gold(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text(json.dumps({"knn": {"rows": []}}))
    words = "--parts whole --sizes 300,600 --work".split()
    done = run(*words, tmp_path / "work", "--json", out)
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_text())
    assert set(figures) == {"knn", "whole"}  # the other part is still there
    small, large = figures["whole"]["rows"]
    assert (small["lines"], large["lines"]) == (300, 600)
    assert small["recall"] > 0.9 and small["precision"] > 0.8
    assert 20 < small["peak_anonymous_megabytes"] < 1000
    assert figures["whole"]["surroundings"]["versions"]["numpy"] == np.__version__
    assert "| 300 |" in done.stdout


def test_a_command_that_fails_ends_the_benchmark_with_what_it_said(tmp_path: Path) -> None:
    done = run("--parts", "whole", "--sizes", "20", "--work", tmp_path, "--options=--no-such-flag")
    assert done.returncode == 1
    assert "no-such-flag" in done.stderr


def test_pairs_are_read_out_of_a_run_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (folder / "neighbours").mkdir(parents=True)
    names = "source\ttarget\tsource_line\ttarget_line\n"
    (folder / "pairs.tsv").write_text(f"{names}one\t一\t3\t4\ntwo\t二\t1\t2\n")
    (folder / "neighbours" / "search.toml").write_text('index = "IVF16,SQfp16"\nrecall = 0.99\n')
    assert whole.lines_of(folder) == {(3, 4), (1, 2)}
    assert whole.search_of(folder) == {"index": "IVF16,SQfp16", "recall_of_neighbours": 0.99}
    assert set(whole.digests(folder)) == {"pairs.tsv"}
