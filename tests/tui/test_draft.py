"""Drafts of repairs: each line of an alignment stays, once and in order, whatever is done."""

import random
import re
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.aligning.test_align import ENGLISH, GERMAN
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.repairs import Bead, Unit
from xmine.browsing.word_alignment import Aligner
from xmine.errors import OptionError
from xmine.judging.judgements import Judgements
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.tui.draft import Draft, best_cut, given_beads, matched_part, places_to_cut

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
    match dice.choice(["move", "move", "merge", "split", "go", "as_given"]):
        case "move":
            draft.move(side, step)
        case "merge":
            draft.merge()
        case "as_given":
            draft.as_given()
        case "split":
            starts = [[start for start, _ in draft.bead.places(n)] or [0] for n in (0, 1)]
            draft.split(*map(dice.choice, starts))
        case _:
            draft.go(step)


def test_random_steps_keep_every_line_once_and_in_order_and_undo_takes_all_back(
    alignment: Opened, tmp_path: Path
) -> None:
    judgements = Judgements(alignment, tmp_path / "judgements.tsv", "ann")
    rows, dice, given = np.arange(len(alignment)), random.Random(5), given_beads(alignment)
    mined = list(judgements.pairs(rows))
    for _ in range(40):
        draft = Draft(alignment, given, dice.randrange(6), judgements.repair_of)
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


@pytest.fixture
def pairs(tmp_path: Path) -> Opened:
    rows = [
        Pair("We left at nine.", "Wir gingen um neun Uhr weg.", 1.2, 3, 3),
        Pair("It rained all day.", "Es regnete den ganzen Tag.", 1.1, 4, 4),
        Pair("And the river rose.", "Und der Fluss stieg.", 1.0, 5, 6),
    ]
    write_pairs(rows, str(tmp_path / "pairs.tsv"))
    return open_pairs(tmp_path / "pairs.tsv")


def begun(opened: Opened, row: int) -> Draft:
    return Draft(opened, given_beads(opened, row), row, none)


def test_a_pair_takes_lines_of_its_texts_and_gives_them_back(pairs: Opened) -> None:
    draft = begun(pairs, 1)
    for step in (1, -1):
        draft.go(step)
        draft.move(0, -step)
        draft.go(-step)
    assert draft.bead.text(0) == "We left at nine. It rained all day. And the river rose."
    assert draft.bead.lines(0) == "3-5"
    for refused in (partial(draft.split, 3, 3), partial(draft.edit, 0, "x")):
        draft.go(1)
        with pytest.raises(OptionError, match="not in the pair"):
            refused()
        draft.go(-1)
    draft.move(0, -1)
    draft.move(0, 1)
    with pytest.raises(OptionError, match="both sides"):
        draft.move(0, 1)
    assert draft.changes() == {}
    draft.merge()
    (repair,) = draft.changes().values()
    assert repair and repair.how == "move,merge" and len(repair.beads[0].target) == 2
    draft.as_given()
    assert draft.changes() == {} and draft.bead.text(1) == "Es regnete den ganzen Tag."
    with pytest.raises(OptionError, match="as it was"):
        draft.as_given()


# Texts of one sentence, with the places where each may be cut, and the best one, as a reader has
# them: | is a place, ‖ a best one.
CUTS = {
    "en": "He |left, ‖and |Mr. |Jones |paid |1,200 |dollars; ‖she |didn't |see |it.",
    "de": "Er |ging, ‖und |sie |sah |es |nicht.",
    "zh": "他走了，‖她没有看见；‖三、‖四个人（共1，000人）来了。",
    "ja": "彼は行った、‖彼女は見なかった。",
    "ko": "그는 |갔고, ‖그녀는 |보지 |못했다.",
    "th": "เขาไปแล้ว |เธอไม่เห็น",
    "ar": "ذهب، ‖ولم |تره.",
    "hi": "वह |गया, ‖उसने |नहीं |देखा।",
}


@pytest.mark.parametrize("language", CUTS)
def test_no_cut_stands_inside_a_word_and_the_best_are_at_punctuation(language: str) -> None:
    marks = [*re.finditer("[|‖]", CUTS[language])]
    every = [mark.start() - n for n, mark in enumerate(marks)]
    best = [at for at, mark in zip(every, marks, strict=True) if mark[0] == "‖"]
    text = re.sub("[|‖]", "", CUTS[language])
    bead = Bead((Unit("1", text),), (Unit("1", text),))
    assert places_to_cut(bead, 0, language) == (every, best or every)


def test_a_bead_is_offered_to_be_cut_where_its_sentences_match(alignment: Opened) -> None:
    beads = [bead for _, bead in given_beads(alignment)]
    for first, second in pairwise(beads):
        if all(first) and all(second):
            whole = Bead(first.source + second.source, first.target + second.target)
            joined = Bead(*(tuple([Unit("1", whole.text(side))]) for side in (0, 1)))
            for bead in (whole, joined):  # lines that are known, and a text without them
                cuts = best_cut(bead, alignment.languages, Aligner(alignment))
                assert [whole.text(n)[:at].strip() for n, at in enumerate(cuts)] == [
                    first.text(0),
                    first.text(1),
                ]


@pytest.mark.parametrize("first", [True, False])
def test_what_has_no_match_is_trimmed_at_either_end(pairs: Opened, first: bool) -> None:
    more = "Unrelated submarines transmitted encrypted bulletins toward Antarctica."
    own = "The river rose in the night."
    draft = begun(pairs, 2)
    draft.edit(0, f"{more} {own}" if first else f"{own} {more}")
    draft.edit(1, "Der Fluss stieg in der Nacht.")
    found = matched_part(Aligner(pairs), draft.bead)
    assert found is not None and found[0] == 0
    draft.keep(0, *found[1])
    assert "submarines" not in draft.bead.text(0) and "river rose" in draft.bead.text(0)
    for source in (f"The river {more} rose in the night.", f"{more} {more} {more} {own}"):
        draft.edit(0, source)
        with pytest.raises(OptionError, match="f2 edits"):
            matched_part(Aligner(pairs), draft.bead)
