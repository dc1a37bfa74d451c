"""The neighbours of a pair: the scores of mining, and for each the reason that mining had."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from xmine.browsing.neighbourhood import Surroundings
from xmine.browsing.opening import open_pairs
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.pairs.io import write_pairs

Mine = Callable[..., tuple[Mined, Surroundings]]


@pytest.fixture
def mined(
    tmp_path: Path, toy_encoder: SentenceEncoder, toy_files: tuple[Path, Path, object]
) -> Mine:
    def run(**options: object) -> tuple[Mined, Surroundings]:
        asked = MiningOptions(**options)  # type: ignore[arg-type]
        found = mine(*toy_files[:2], toy_encoder, asked, run=tmp_path / "run")
        return found, Surroundings(open_pairs(tmp_path / "run"))

    return run


def test_neighbours_have_the_cosines_and_scores_of_mining(mined: Mine) -> None:
    found, around = mined(neighborhood=5)
    assert around.compared.k == 5
    scored = found.candidates
    for row in range(0, 60, 7):
        near = around.near("source", row)
        assert [each.rank for each in near] == [1, 2, 3, 4, 5, 6]
        assert [each.target for each in near] == scored.neighbours.targets[row].tolist()
        assert [each.cosine for each in near] == scored.neighbours.target_cosines[row].tolist()
        assert [each.score for each in near[:5]] == scored.scores.targets[row].tolist()
        assert near[0].text == scored.target.texts[near[0].target]
        assert near[0].line == scored.target.lines[near[0].target]
        back = around.near("target", row, 2)
        assert [each.source for each in back] == scored.neighbours.sources[row, :2].tolist()
        assert [each.score for each in back] == scored.scores.sources[row, :2].tolist()


def test_what_options_drop_is_said_to_be_dropped(mined: Mine) -> None:
    found, around = mined(threshold=1.0, drop=["length,hub,number,high"])
    flags = found.flags
    said = {
        (each.source, each.target): each.outcome.why
        for row in range(60)
        for each in around.near("source", row)
        if each.outcome.kind == "dropped"
    }
    rows = {
        (int(x), int(y)): row
        for row, (x, y) in enumerate(
            zip(found.candidates.chosen.sources, found.candidates.chosen.targets, strict=True)
        )
    }
    assert said
    for pair, why in said.items():
        name = why.rpartition(": ")[2].split(",")[0]
        assert name in flags[rows[pair]].split(",")


def test_a_partner_is_the_pair_or_the_nearest(mined: Mine) -> None:
    found, around = mined()
    chosen = found.candidates.chosen
    pairs = dict(zip(chosen.sources.tolist(), chosen.targets.tolist(), strict=True))
    for row in range(60):
        nearest_target = int(found.candidates.neighbours.targets[row, 0])
        assert around.partner("source", row) == pairs.get(row, nearest_target)
    turned = {target: source for source, target in pairs.items()}
    assert around.partner("target", chosen.targets[0]) == turned[chosen.targets[0]]


def test_neighbours_that_are_parts_of_lines_have_an_offset(
    tmp_path: Path, toy_encoder: SentenceEncoder, toy_files: tuple[Path, Path, object]
) -> None:
    source, target, _ = toy_files
    for path, end in ((source, ". "), (target, "。")):
        lines = path.read_text(encoding="utf-8").splitlines()
        joined = [f"{lines[at]}{end}{lines[at + 1]}{end.strip()}" for at in range(0, 20, 2)]
        path.write_text("\n".join([*joined, *lines[20:]]) + "\n", encoding="utf-8")
    options = MiningOptions(segment=True, src_lang="en", tgt_lang="zh")
    mine(source, target, toy_encoder, options, run=tmp_path / "run")
    around = Surroundings(open_pairs(tmp_path / "run"))
    assert {each.offset for row in range(10) for each in around.near("source", row)} != {0}


def test_files_of_pairs_and_broken_runs_say_what_is_missing(mined: Mine, tmp_path: Path) -> None:
    found, _ = mined()
    path = tmp_path / "pairs.tsv"
    write_pairs(found.pairs.rows(), str(path), ("en", "zh"))
    with pytest.raises(FileError, match="a file of pairs, which has no neighbours"):
        Surroundings(open_pairs(path))
    shutil.rmtree(tmp_path / "run" / "neighbours")
    with pytest.raises(FileError, match="no neighbours there"):
        Surroundings(open_pairs(tmp_path / "run"))
