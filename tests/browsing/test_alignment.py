"""An alignment in memory: all beads in the order of the document, with their lines."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.aligning.test_align import ENGLISH, GERMAN
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.browsing.cuts import Cuts
from xmine.browsing.details import figures_of, lines_around, outcome_of
from xmine.browsing.neighbourhood import Surroundings
from xmine.browsing.opened import row_at
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery, meets, select
from xmine.browsing.view import View
from xmine.browsing.write_cut import write_cut
from xmine.errors import FileError
from xmine.judging.judgements import Judgements
from xmine.judging.keys import key_of, row_of
from xmine.pairs.io import read_pairs, write_pairs

ALONE = "Copyright 1998 by Riverside Publishing House, printed in Wales, all rights kept."
LINES = [("2", "1-2"), ("3", "3"), ("4", "4-5"), ("5", "6"), ("", "7"), ("6", "8-9")]


@pytest.fixture(scope="module")
def alignment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five beads, and before the last one an English line without counterpart."""
    folder = tmp_path_factory.mktemp("aligned")
    german, english = ["", *GERMAN], [*ENGLISH[:6], ALONE, *ENGLISH[6:]]
    for name, lines in (("de", german), ("en", english)):
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    options = AligningOptions(src_lang="de", tgt_lang="en")
    align(folder / "de.txt", folder / "en.txt", options=options, run=folder / "run")
    return folder / "run"


def test_beads_are_in_the_order_of_the_document(alignment: Path) -> None:
    opened = open_pairs(alignment)
    every = np.arange(6)
    assert [(pair.source_lines, pair.target_lines) for pair in opened.pairs(every)] == LINES
    assert opened.pair(0).source == GERMAN[0] and opened.pair(0).target == " ".join(ENGLISH[:2])
    assert (opened.pair(4).source, opened.pair(4).target, opened.pair(4).prob) == ("", ALONE, None)
    assert opened.languages == ("de", "en")
    view = View(opened)
    assert view.rows.tolist() == every.tolist() and view.counts() == (6, 5, 6)
    # A place between its neighbours, for those who sort by line.
    for order in ("source", "target"):
        assert select(opened, PairQuery(order=order)).tolist() == every.tolist()


def test_a_cut_keeps_beads_by_probability_and_never_a_line_alone(alignment: Path) -> None:
    opened = open_pairs(alignment)
    assert opened.by_probability and opened.cut == 0
    probs = opened.probs
    assert probs is not None
    cuts = Cuts(opened)
    assert sorted(cuts.rows.tolist()) == [0, 1, 2, 3, 5]
    cut = float(np.nanmedian(probs.round(4)))
    kept = [row for row in range(6) if row != 4 and opened.rank(row) >= cut]  # type: ignore[operator]
    assert 0 < len(kept) < 5 and cuts.kept_by(cut) == len(kept)
    assert select(opened, PairQuery("kept"), cut).tolist() == kept
    assert outcome_of(opened, 4, cut) == "alone"
    assert {outcome_of(opened, row, cut) for row in (0, 1, 2, 3, 5)} == {"kept", "below"}


def test_lines_are_found_and_shown_as_ranges(alignment: Path) -> None:
    opened = open_pairs(alignment)
    assert meets(opened, ":6")[0].arg_true().to_list() == [3, 5]  # English and German
    assert meets(opened, ":5")[0].arg_true().to_list() == [2, 3]  # bead 4 has no German line
    assert row_at(opened, (4, None), (5, None)) == 2
    assert figures_of(opened.pair(2))[-1] == "lines 4, 4-5"
    assert figures_of(opened.pair(4))[-1] == "lines –, 7"
    in_files = opened.pair(2)._replace(source_file="a/1.txt", target_file="b/2.txt")
    assert figures_of(in_files)[-1] == "lines a/1.txt:4, b/2.txt:4-5"
    source = [lines_around(opened.source, row) for row in range(6)]
    assert source == [(None, 1), (0, 2), (1, 3), (2, 5), (3, 5), (3, None)]
    assert lines_around(opened.target, 3) == (2, 4)


def test_a_verdict_stays_with_its_bead(alignment: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(alignment, tmp_path / "run"))
    opened = open_pairs(run)
    judgements = Judgements.open(opened, "me")
    assert judgements.judge_all([4, 5], "accept") == 2
    align(
        alignment.parent / "de.txt",
        alignment.parent / "en.txt",
        options=AligningOptions(min_prob=0.9, src_lang="de", tgt_lang="en"),
        run=run,
    )
    again = open_pairs(run)
    assert again.cut == 0.9
    assert Judgements.open(again).codes().tolist() == [0, 0, 0, 0, 1, 1]
    assert [row_of(again, key_of(opened, row)) for row in range(6)] == [*range(6)]


def test_what_was_kept_is_kept_when_it_is_opened(alignment: Path, tmp_path: Path) -> None:
    german, english = alignment.parent / "de.txt", alignment.parent / "en.txt"
    given = open_pairs(alignment)
    ranks = [given.rank(row) or 0.0 for row in (0, 1, 2, 3, 5)]  # as printed; row 4 is alone
    for cut in ranks:
        kept = sum(rank >= cut for rank in ranks)
        options = AligningOptions(min_prob=cut, src_lang="de", tgt_lang="en")
        align(german, english, options=options, run=tmp_path / "run")
        opened = open_pairs(tmp_path / "run")
        assert len(list(read_pairs(tmp_path / "run"))) == opened.kept(opened.cut).sum() == kept


@pytest.mark.parametrize("name", ["beads.tsv", "beads.jsonl", "beads.parquet"])
def test_a_file_of_beads_keeps_its_lines(alignment: Path, tmp_path: Path, name: str) -> None:
    given, path = open_pairs(alignment), tmp_path / name
    rows = given.written_pairs(np.arange(6))
    write_pairs((pair._replace(source_file="a.txt") for pair in rows), str(path), given.languages)
    opened = open_pairs(path)
    pairs = list(opened.written_pairs(np.arange(6)))
    assert [(pair.source_lines, pair.target_lines) for pair in pairs] == LINES
    assert {(pair.source_line, pair.source_file) for pair in pairs} == {(None, "a.txt")}
    assert opened.lined and View(opened).query == PairQuery()
    assert [row_of(opened, key_of(given, row)) for row in range(6)] == [*range(6)]


def test_what_an_alignment_has_not_is_said(alignment: Path, tmp_path: Path) -> None:
    opened = open_pairs(alignment)
    with pytest.raises(FileError, match="an alignment, which has no neighbours"):
        Surroundings(opened)
    run = Path(shutil.copytree(alignment, tmp_path / "run"))
    with pytest.raises(FileError, match="an alignment has no cut to write") as told:
        write_cut(run, 0.9)
    assert told.value.hint == "align again with --min-prob 0.9"
    assert len(list(read_pairs(run))) == 5 and open_pairs(run).cut == 0


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("candidates.parquet", Path.unlink, "not finished: it has no candidates.parquet"),
        ("summary.json", Path.unlink, "not finished: it has no summary.json"),
        ("candidates.parquet", Path.touch, ""),
        (
            "candidates.parquet",
            lambda path: path.write_bytes(b"PAR1"),
            "changed since it was written",
        ),
    ],
)
def test_a_changed_alignment_is_refused(
    alignment: Path, tmp_path: Path, name: str, spoil: Callable[[Path], object], message: str
) -> None:
    run = Path(shutil.copytree(alignment, tmp_path / "run"))
    spoil(run / name)
    if not message:
        assert len(open_pairs(run)) == 6
        return
    with pytest.raises(FileError, match=message):
        open_pairs(run)
