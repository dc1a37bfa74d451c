"""The scores that mining compared: what a run shows of neighbours, and why it chose others."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.scoring.test_margin_and_retrieval import slow_choice
from tests.toys.grids import mostly_long
from tests.toys.reranking import Cell, slow_log_odds
from tests.toys.sentences import toy_sentences
from xmine.browsing.neighbourhood import Neighbour, Surroundings
from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.errors import FileError
from xmine.files.digests import digest_of
from xmine.knn.neighbours import Neighbours
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.run.folder import SCORES_FILES
from xmine.run.run_file import DIGESTS, RUN_FILE, read_tables, write_tables
from xmine.scoring.margin import margin_scores
from xmine.scoring.reranking import RERANKED

# How many nearest sentences each way of ranking compares.
WAYS = {"weights": RERANKED, "learned": RERANKED, "rescored": RERANKED, "rescored margins": 3}
Mine = Callable[..., tuple[Mined, Surroundings]]
RETRIEVALS = mostly_long(["max", "fwd", "bwd", "intersect"], usual=["max", "intersect"])


@pytest.fixture
def mined(tmp_path: Path, toy_encoder: SentenceEncoder, toy_folder: Path) -> Mine:
    """Mine files of 90 and 85 lines, of which 70 are translations.

    Some lines are alike, some have other numbers than their translation, one is Chinese.
    """
    english, chinese, _ = toy_sentences(110, seed=4)
    left, right = english[:85], chinese[:70] + chinese[95:]
    left += [text.rpartition(" ")[0] for text in left[:4]] + [f"{chinese[3]}吗"]
    right[75:78] = [text[2:] for text in right[10:13]]
    for row in range(20, 26):
        left[row], right[row] = f"{left[row]} 12", f"{right[row]}{12 + row % 2}"
    files = tmp_path / "en.txt", tmp_path / "zh.txt"
    for path, lines in zip(files, (left, right[::-1]), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(way: str, **options: object) -> tuple[Mined, Surroundings]:
        encoder = toy_encoder
        asked = MiningOptions(neighborhood=3, **options)  # type: ignore[arg-type]
        if way == "weights":
            encoder = SentenceEncoder(encoder.body, reranking=RerankingWeights())
        if way.endswith("margins"):
            asked = replace(asked, rerank="off")
        second = SentenceEncoder.load(toy_folder) if way.startswith("rescored") else None
        found = mine(*files, encoder, asked, rescorer=second, run=tmp_path / "run", force=True)
        return found, Surroundings(open_pairs(tmp_path / "run"))

    return run


def shown(around: Surroundings) -> Iterator[tuple[Cell, Neighbour]]:
    """Ask for the neighbours of each sentence."""
    for row in range(len(around.opened.source.lines)):
        yield from (((each.source, each.target), each) for each in around.near("source", row))
    for row in range(len(around.opened.target.lines)):
        yield from (((each.source, each.target), each) for each in around.near("target", row))


def cells_of(near: Neighbours) -> set[Cell]:
    cells = {(x, int(y)) for x, row in enumerate(near.targets) for y in row}
    return cells | {(int(x), y) for y, row in enumerate(near.sources) for x in row}


def pairs_of(opened: Opened) -> dict[Cell, int]:
    pairs = zip(opened.sources.tolist(), opened.targets.tolist(), strict=True)
    return {pair: row for row, pair in enumerate(pairs)}


def less_for_flags(opened: Opened, row: int, weights: RerankingWeights | None) -> float:
    assert opened.flags is not None
    if weights is None:
        return 0
    numbers, language = ("number" in opened.flags[row], "language" in opened.flags[row])
    x, y = opened.sources[row], opened.targets[row]
    ends = [opened.source.texts[x][-1:] == "?", opened.target.texts[y][-1:] in "?？"]
    mark = weights.other_mark * (ends[0] != ends[1])
    return weights.other_numbers * numbers + weights.other_language * language + mark


def test_scores_are_the_log_odds_of_the_two_nearest_alone(
    mined: Mine, toy_encoder: SentenceEncoder
) -> None:
    _, around = mined("weights")
    texts = list(around.opened.source.texts), list(around.opened.target.texts)
    one, other = (toy_encoder.encode_half(side).astype(np.float32) for side in texts)
    slow = slow_log_odds(toy_encoder, texts, (one, other), RERANKED, k=3)
    seen = {cell: each.score for cell, each in shown(around)}
    assert {cell for cell, score in seen.items() if score is not None} == slow.keys()
    assert len(seen) > len(slow)
    for cell, score in slow.items():
        assert seen[cell] == pytest.approx(score, abs=1e-2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("retrieval", RETRIEVALS)
def test_pairs_are_chosen_by_the_scores_that_are_shown(
    mined: Mine, way: str, retrieval: str
) -> None:
    found, around = mined(way, retrieval=retrieval, threshold=-99.0)
    near, opened = found.candidates.neighbours.first(WAYS[way]), around.opened
    scores = {cell: each.score for cell, each in shown(around) if each.score is not None}
    compared = dict.fromkeys(cells_of(near), -math.inf) | scores
    assert compared.keys() == cells_of(near)
    assert (scores.keys() == compared.keys()) == (way != "rescored margins")
    assert around.called == "score"
    chosen, weights = pairs_of(opened), found.candidates.weights
    assert chosen.keys() == set(slow_choice(compared, near, retrieval))
    assert opened.scores is not None
    less = [less_for_flags(opened, row, weights) for row in chosen.values()]
    assert opened.scores.tolist() == [
        np.float32(scores[cell] - much) for cell, much in zip(chosen, less, strict=True)
    ]
    assert (max(less) > 0) == (weights is not None)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("retrieval", RETRIEVALS)
def test_reasons_name_the_pairs_that_were_better(mined: Mine, way: str, retrieval: str) -> None:
    found, around = mined(way, retrieval=retrieval, min_prob=0.7)
    near, opened = found.candidates.neighbours.first(WAYS[way]), around.opened
    compared, chosen, kept = cells_of(near), pairs_of(opened), opened.kept(opened.cut)
    assert opened.scores is not None
    lines, kinds = (opened.source.lines.tolist(), opened.target.lines.tolist()), set()
    for cell, each in shown(around):
        outcome, rival = each.outcome, each.outcome.rival
        kinds.add(outcome.kind)
        assert outcome.kept == (cell in chosen and bool(kept[chosen[cell]]))
        assert (outcome.kind in ("kept", "below", "dropped")) == (cell in chosen)
        assert (outcome.kind == "far") == (cell not in compared)
        if outcome.kind == "far":
            assert f"neither is among the {WAYS[way]} nearest of the other" in outcome.why
            assert outcome.why.endswith("only these are compared")
        if outcome.kind == "taken":
            of = [each for each in chosen if each[0] == cell[0] or each[1] == cell[1]]
            assert (rival is None) == (not of)
            if rival is not None:
                other = lines[0].index(rival.source_line), lines[1].index(rival.target_line)
                assert other in of and rival.score == opened.scores[chosen[other]]
                assert f"{rival.score:.4f}" in outcome.why
    assert {"kept", "taken", "far"} <= kinds


def test_a_run_ranked_by_the_margin_keeps_no_scores(mined: Mine) -> None:
    mined("learned")
    found, around = mined("margins")
    assert not any((around.opened.path / name).exists() for name in SCORES_FILES)
    every = margin_scores(found.candidates.neighbours, k=3)
    for row in range(0, 85, 7):
        assert [each.score for each in around.near("source", row)] == every.targets[row].tolist()
        assert [each.score for each in around.near("target", row)] == every.sources[row].tolist()
    assert around.called == "score"


def test_scores_that_are_gone_or_of_another_run_are_refused_and_made_again(mined: Mine) -> None:
    _, around = mined("learned")
    folder = around.opened.path
    whole = [(folder / name).read_bytes() for name in SCORES_FILES]
    (folder / SCORES_FILES[1]).unlink()
    with pytest.raises(FileError, match=r"target\.scores\.npy: not the scores of this run"):
        Surroundings(open_pairs(folder))
    tables = read_tables(folder / RUN_FILE)
    for rows in (np.zeros((84, 2), np.float32), np.zeros((85, 5), np.float32)):
        np.save(folder / SCORES_FILES[1], rows)
        with pytest.raises(FileError, match=r"target\.scores\.npy: changed since"):
            open_pairs(folder)
        tables[DIGESTS][SCORES_FILES[1]] = digest_of(folder / SCORES_FILES[1])
        write_tables(folder / RUN_FILE, tables)
        with pytest.raises(FileError, match="not the scores of this run"):
            Surroundings(open_pairs(folder))
    mined("learned")
    assert [(folder / name).read_bytes() for name in SCORES_FILES] == whole
