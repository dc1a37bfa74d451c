"""Halves of translations are merged with the line beside, and other pairs stay as they are."""

from pathlib import Path

import numpy as np
import pytest

import xmine
from tests.toys.sentences import example_pairs
from xmine.browsing.opening import open_pairs
from xmine.browsing.write_cut import write_cut
from xmine.errors import OptionError
from xmine.mining.options import MiningOptions
from xmine.pairs.io import read_pairs
from xmine.pairs.known import LabelledPair, LabelledPairs
from xmine.text.segmentation import join

HALVED = range(3, 170, 5)  # lines of the examples


def texts() -> tuple[list[str], list[str], set[tuple[str, str]]]:
    """Cut some English and some Chinese lines in half; and name the lines that belong together.

    Some second halves are missing, and some stand behind a blank line.
    """
    pairs = example_pairs()
    sides, beads = (list[str](), list[str]()), set()
    for at, texts in enumerate(zip(pairs.sources, pairs.targets, strict=True)):
        ranges = []
        for side, text in enumerate(texts):
            cut = text.find(" ", len(text) // 2) + 1 if side == 0 else len(text) // 2
            some = [text]
            if at in HALVED and at // 4 % 2 == side and cut > 0:
                rest = ([text[cut:]], [], ["", text[cut:]])[at // 8 % 3]
                some = [text[:cut].strip(), *rest]
            first = len(sides[side]) + 1
            ranges.append(f"{first}-{first + 1}" if len(some) == 2 else str(first))
            sides[side].extend(some)
        beads.add((ranges[0], ranges[1]))
    return *sides, beads


def test_halves_are_merged_and_no_other_pair_changes() -> None:
    source, target, beads = texts()
    plain = xmine.mine(source, target)
    merged = xmine.mine(source, target, options=MiningOptions(merge=True))
    rows, changed = list(merged.pairs.rows()), merged.pairs.merged
    assert changed is not None and len(changed) >= 8
    lines = [(each.source_lines, each.target_lines) for each in rows]
    assert beads.issuperset(lines[at] for at in changed)
    places = set()
    for at, pair in enumerate(plain.pairs.rows()):
        found, x, y = rows[at], pair.source_line, pair.target_line
        if at not in changed:
            assert found == pair._replace(source_lines=str(x), target_lines=str(y))
            continue
        assert "partial" in str(pair.flags) and "partial" not in str(found.flags)
        assert found._replace(**{name: getattr(pair, name) for name in changed[at]}) in (
            pair._replace(source_lines=str(x)),
            pair._replace(target_lines=str(y)),
        )
        first, _, last = str(found.target_lines).partition("-")
        assert int(first) <= (y or 0) <= int(last or first)
        places.add((str(y) == first, str(y) == last))
        assert found.target == join(target[int(first) - 1 : int(last or first)])
    assert len(places) >= 2  # with the line before, and behind
    for side in zip(*lines, strict=True):
        assert any("-" in each for each in side)
        used = [line for each in side for line in ranged(str(each))]
        assert len(used) == len(set(used))
    report = merged.report()
    assert report.flags.get("partial", 0) == plain.report().flags["partial"] - len(changed)
    assert f"merged with a line beside: {len(changed)} pairs" in report.lines()
    assert report.facts()["merged"] == len(changed)


def ranged(lines: str) -> range:
    first, _, last = lines.partition("-")
    return range(int(first), int(last or first) + 1)


def test_a_run_keeps_merged_pairs_and_those_known_to_be_right_stay(tmp_path: Path) -> None:
    source, target, _ = texts()
    options = MiningOptions(merge=True)
    every = xmine.mine(source, target, options=options).pairs
    assert every.merged
    known = [(int(every.source_lines[at]), int(every.target_lines[at])) for at in every.merged]
    seeds = LabelledPairs("seeds", [LabelledPair(x, y, True) for x, y in known[:3]])
    mined = xmine.mine(source, target, options=options, seed_pairs=seeds, run=tmp_path / "run")
    rows = list(mined.pairs.rows())
    assert len(list(read_pairs(tmp_path / "run"))) == len(rows)
    assert [pair[:2] for pair in read_pairs(tmp_path / "run")] == [pair[:2] for pair in rows]
    alone = {(str(x), str(y)) for x, y in known[:3]}
    assert alone <= {(pair.source_lines, pair.target_lines) for pair in rows}
    assert int(open_pairs(tmp_path / "run").eligible.sum()) >= len(rows)
    mined.save(tmp_path / "pairs.tsv")
    again = [(pair.source_lines, pair.target_lines) for pair in read_pairs(tmp_path / "pairs.tsv")]
    assert again == [(pair.source_lines, pair.target_lines) for pair in rows]
    assert mined.pairs.to_polars()["target_lines"].to_list() == [each for _, each in again]


def test_what_cannot_be_merged_is_told() -> None:
    with pytest.raises(OptionError, match="--merge and --segment"):
        MiningOptions(merge=True, segment=True)
    vectors = np.eye(40, dtype=np.float32)
    lines = [f"line {at}" for at in range(40)]
    found = xmine.mine(lines, lines, options=MiningOptions(merge=True), vectors=(vectors, vectors))
    assert found.pairs.merged is None
    assert any(each.startswith("--merge: no pair is merged") for each in found.report().warnings)


def test_a_cut_by_hand_would_undo_merging_and_is_refused(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    run = tmp_path / "run"
    xmine.mine(examples / "en.txt", examples / "zh.txt", merge=True, run=run)
    before = (run / "pairs.parquet").read_bytes()
    with pytest.raises(xmine.XmineError, match="merged with lines beside") as refused:
        write_cut(run, 0.5)
    assert refused.value.hint == "mine again with --min-prob 0.5"
    assert (run / "pairs.parquet").read_bytes() == before
