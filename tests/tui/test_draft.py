"""Drafts of repairs: each line of an alignment stays, once and in order, whatever is done."""

import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.aligning.test_align import ENGLISH, GERMAN
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.word_alignment import Aligner
from xmine.errors import OptionError
from xmine.judging.judgements import Judgements
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.draft import Draft, matched_part, places_to_cut

ALONE = "Copyright 1998 by Riverside Publishing House, printed in Wales, all rights kept."


@pytest.fixture(scope="module")
def alignment(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """Five beads of German and English, and an English line without counterpart."""
    folder = tmp_path_factory.mktemp("aligned")
    for name, lines in (("de", ["", *GERMAN]), ("en", [*ENGLISH[:6], ALONE, *ENGLISH[6:]])):
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    options = AligningOptions(src_lang="de", tgt_lang="en")
    align(folder / "de.txt", folder / "en.txt", options=options, run=folder / "run")
    return open_pairs(folder / "run")


def none(row: int) -> None:
    """No pair is repaired."""


def lines(draft: Draft, side: int) -> list[str]:
    return [unit.text for _, bead in draft.beads for unit in bead[side]]


def a_step(draft: Draft, dice: random.Random) -> None:
    side, step = dice.randrange(2), dice.choice([-1, 1])
    match dice.choice(["take", "give", "merge", "split", "go"]):
        case "take":
            draft.take(side, step)
        case "give":
            draft.give(side, step)
        case "merge":
            draft.merge(step)
        case "split":
            starts = [[start for start, _ in draft.bead.places(n)] or [0] for n in (0, 1)]
            draft.split(*map(dice.choice, starts))
        case _:
            draft.go(step)


def test_random_steps_keep_every_line_once_and_in_order_and_undo_takes_all_back(
    alignment: Opened, tmp_path: Path
) -> None:
    judgements = Judgements(alignment, tmp_path / "judgements.tsv", "ann")
    rows, dice = np.arange(len(alignment)), random.Random(5)
    mined = list(judgements.pairs(rows))
    for _ in range(40):
        draft = Draft(alignment, dice.randrange(6), judgements.repair_of)
        for _ in range(dice.randrange(1, 12)):
            with suppress(OptionError):
                a_step(draft, dice)
            assert lines(draft, 0) == GERMAN, draft.beads
            assert lines(draft, 1) == [*ENGLISH[:6], ALONE, *ENGLISH[6:]]
            owners = [owner for owner, _ in draft.beads]
            assert owners == sorted(owners)
        judgements.repair(draft.changes())
        written = list(judgements.pairs(rows))
        assert " ".join(filter(None, (pair.source for pair in written))) == " ".join(GERMAN)
        held = [pair.source_lines for pair in written if pair.source_lines]
        assert sum(len(range(*_ends(each))) for each in held) == len(GERMAN)
    while judgements.done:
        judgements.undo()
    assert list(judgements.pairs(rows)) == mined


def _ends(lines: str) -> tuple[int, int]:
    first, _, last = lines.partition("-")
    return int(first), int(last or first) + 1


def test_merge_then_split_at_the_seam_is_what_was_before(alignment: Opened) -> None:
    draft = Draft(alignment, 1, none)
    before = draft.beads
    seam = [len(draft.bead.text(side)) + 1 for side in (0, 1)]
    draft.merge(1)
    assert draft.bead.lines(0) == "3-4" and draft.bead.lines(1) == "3-5"
    draft.split(*seam)
    assert draft.beads[1:3] == (before[1], (1, before[2][1]))
    assert [each and len(each.beads) for each in draft.changes().values()] == [2, 0]
    for _ in range(3):
        draft.undo()
    assert draft.beads == before and draft.changes() == {}


def test_an_alignment_whose_texts_are_gone_moves_what_it_knows(alignment: Opened) -> None:
    text = alignment.path.parent / "en.txt"
    kept = text.read_text("utf-8")
    try:
        text.write_text(kept.replace("the", "another"), "utf-8")
        draft = Draft(alignment, 0, none)
    finally:
        text.write_text(kept, "utf-8")
    assert [len(draft.bead[side]) for side in (0, 1)] == [1, 1] and draft.bead.lines(1) == "1-2"
    draft.merge(1)
    assert draft.bead.lines(1) == "1-3"


@pytest.fixture
def pairs(tmp_path: Path) -> Opened:
    rows = [
        Pair("We left at nine.", "Wir gingen um neun Uhr weg.", 1.2, 3, 3),
        Pair("It rained all day.", "Es regnete den ganzen Tag.", 1.1, 4, 4),
        Pair("And the river rose.", "Und der Fluss stieg.", 1.0, 5, 6),
    ]
    write_pairs(rows, str(tmp_path / "pairs.tsv"))
    return open_pairs(tmp_path / "pairs.tsv")


def test_a_pair_takes_lines_of_its_texts_and_gives_them_back(pairs: Opened) -> None:
    draft = Draft(pairs, 1, none)
    draft.take(0, 1)
    draft.take(0, -1)
    assert draft.bead.text(0) == "We left at nine. It rained all day. And the river rose."
    assert draft.bead.lines(0) == "3-5"
    with pytest.raises(OptionError, match="no further line"):
        draft.take(0, 1)
    draft.give(0, -1)
    draft.give(0, 1)
    with pytest.raises(OptionError, match="both sides"):
        draft.give(0, 1)
    assert draft.changes() == {}
    draft.merge(1)
    (repair,) = draft.changes().values()
    assert repair and repair.how == "merge,move" and len(repair.beads[0].target) == 2
    with pytest.raises(OptionError, match="both sides"):
        draft.split(0, 3)
    places, best = places_to_cut(draft.bead, 0, "en")
    assert draft.bead.text(0)[best:] == "And the river rose." and {0, best, 3} <= {*places}
    draft.as_given()
    assert draft.changes() == {}


@pytest.mark.parametrize("first", [True, False])
def test_what_has_no_match_is_trimmed_at_either_end(pairs: Opened, first: bool) -> None:
    more = "Unrelated submarines transmitted encrypted bulletins toward Antarctica."
    own = "The river rose in the night."
    draft = Draft(pairs, 2, none)
    draft.edit(0, f"{more} {own}" if first else f"{own} {more}")
    draft.edit(1, "Der Fluss stieg in der Nacht.")
    found = matched_part(Aligner(pairs), draft.bead)
    assert found is not None and found[0] == 0
    draft.keep(0, *found[1])
    assert "submarines" not in draft.bead.text(0) and "river rose" in draft.bead.text(0)
