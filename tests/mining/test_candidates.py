"""What is kept of the candidates: probabilities, known pairs, the cut, and what is dropped."""

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import xmine
from tests.toys.mined import lines, selected
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError
from xmine.flags.near_copies import same_texts
from xmine.mining.candidates import best_without_gold
from xmine.mining.options import MiningOptions
from xmine.pairs.known import LabelledPair, LabelledPairs
from xmine.scoring.gold import agreement
from xmine.scoring.threshold import choose_threshold

ToyFiles = tuple[Path, Path, set[tuple[int, int]]]
Mine = Callable[..., xmine.Mined]
Copies = tuple[set[tuple[int, int]], set[int]]
NONE = LabelledPairs("", [])


@pytest.fixture
def mine(toy_encoder: SentenceEncoder, toy_files: ToyFiles) -> Mine:
    """Mine the toy files, as they are then."""
    return partial(xmine.mine, *toy_files[:2], toy_encoder)


def known(pairs: Iterable[tuple[int, int]], right: bool = True) -> list[LabelledPair]:
    return [LabelledPair(*pair, right) for pair in sorted(pairs)]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def test_every_pair_has_a_probability_and_flags(mine: Mine, toy_files: ToyFiles) -> None:
    gold = toy_files[2]
    mined = mine(threshold=float("-inf"))
    pairs, confidence = mined.pairs, mined.confidence
    assert confidence is not None and pairs.probs is not None and pairs.flags is not None
    assert len(pairs) == len(mined.candidates.chosen) == len(pairs.probs) == len(pairs.flags)
    np.testing.assert_array_equal(pairs.probs, confidence.probs)
    found = dict(zip(_line_pairs(mined), pairs.probs.tolist(), strict=True))
    assert np.mean([found.get(pair, 0.0) for pair in gold]) > 0.9
    assert np.mean([prob for pair, prob in found.items() if pair not in gold]) < 0.2
    assert mined.kept.pairs == len(pairs)
    assert mined.kept.precision == pytest.approx(pairs.probs.mean())
    assert mined.threshold.translations == confidence.translations
    assert mined.dropped == {}
    ranks, probs, cut = mined.curve()
    assert cut == 0 and probs is not None
    np.testing.assert_array_equal(probs, confidence.probs)
    np.testing.assert_array_equal(ranks, confidence.probs)
    assert mined.eligible.tolist() == list(range(len(pairs)))
    assert (mined.seeds.pairs, mined.gold.pairs) == ([], [])


def test_the_most_probable_pairs_stand_first_equal_ones_by_score(mine: Mine) -> None:
    every = MiningOptions(threshold=float("-inf"), rerank="off")
    mined = mine(every)
    assert mined.pairs.probs is not None
    ranks = list(zip((-mined.pairs.probs).tolist(), (-mined.pairs.scores).tolist(), strict=True))
    assert ranks == sorted(ranks) and len({prob for prob, _ in ranks}) < len(ranks)
    for options in (
        MiningOptions(rerank="off"),
        MiningOptions(rerank="off", precision=0.9),
        MiningOptions(rerank="off", min_prob=0.7),
    ):
        some = mine(options)
        assert _line_pairs(some) == _line_pairs(mined)[: len(some.pairs)]
        assert (mined.pairs.probs[len(some.pairs) :] < some.threshold.value).all()
    assert some.threshold.value == 0.7
    both = mine(dataclasses.replace(every, min_prob=0.7, threshold=1.6))
    assert _line_pairs(both) == [
        pair
        for pair, score in zip(_line_pairs(some), some.pairs.scores.tolist(), strict=True)
        if score >= 1.6
    ]
    assert 0 < len(both.pairs) < len(some.pairs)


def _line_pairs(mined: xmine.Mined) -> list[tuple[int, int]]:
    sides = mined.pairs.source_lines.tolist(), mined.pairs.target_lines.tolist()
    return list(zip(*sides, strict=True))


def test_without_an_estimate_no_pair_has_a_probability(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    write(tmp_path / "a", toy_sentences(1, seed=1)[0])
    write(tmp_path / "b", toy_sentences(1, seed=2)[1])
    mined = xmine.mine(tmp_path / "a", tmp_path / "b", toy_encoder)
    assert (mined.pairs.probs, mined.confidence, mined.kept.precision) == (None, None, None)
    assert [pair.prob for pair in mined.pairs.rows()] == [None]
    assert mined.curve()[1] is None


def test_a_copy_is_no_translation_unless_a_seed_says_so(mine: Mine, toy_files: ToyFiles) -> None:
    source, target, gold = toy_files
    for file in (source, target):
        with file.open("a", encoding="utf-8") as end:
            end.write("bade fima  gosok\n")
    seeds = LabelledPairs("", [LabelledPair(61, 61)])
    for options, known in ((MiningOptions(), seeds), (MiningOptions(keep_copies=True), NONE)):
        mined = mine(options, seed_pairs=known)
        assert mined.pairs.probs is not None and mined.pairs.flags is not None
        at = _line_pairs(mined).index((61, 61))
        assert mined.pairs.probs[at] == 1
        assert mined.pairs.flags[at].split(",")[0] == "copy"
        assert mined.dropped == {} and len(lines(mined) & gold) >= 29
    dropped = mine()
    assert lines(dropped).isdisjoint({(61, 61)}) and len(lines(dropped) & gold) >= 29
    assert dropped.dropped == {"copy": 1}


def test_many_copies_do_not_hide_the_translations(mine: Mine, toy_files: ToyFiles) -> None:
    source, target, gold = toy_files
    plain = mine()
    english, _, _ = toy_sentences(100, seed=31)
    for file in (source, target):
        with file.open("a", encoding="utf-8") as end:
            end.write("".join(line + "\n" for line in english))
    mined = mine()
    assert mined.threshold.translations == pytest.approx(plain.threshold.translations, abs=4)
    assert len(lines(mined) & gold) >= 29


def test_no_decoy_was_chosen(mine: Mine) -> None:
    for found in (mine(MiningOptions(rerank=each)).candidates for each in ("tokens", "off")):
        assert found.decoys
        one, two = (each.sources * 1000 + each.targets for each in (found.decoys, found.chosen))
        assert not np.isin(one, two).any()


def test_seeds_are_pinned_and_sharpen_the_estimate(mine: Mine, toy_files: ToyFiles) -> None:
    gold = toy_files[2]
    every = MiningOptions(threshold=float("-inf"))
    plain = mine(every)
    wrong = [pair for pair in _line_pairs(plain) if pair not in gold]
    seeds = known(sorted(gold)[:15]) + known(wrong[:10], right=False)
    mined = mine(every, seed_pairs=LabelledPairs("", seeds))
    assert mined.seeds.pairs == seeds
    assert plain.pairs.probs is not None and mined.pairs.probs is not None
    truth = {seed[:2]: float(seed.right) for seed in seeds}
    left = set(_line_pairs(mined))
    assert left == set(_line_pairs(plain)) - set(wrong[:10])
    errors = []
    for each in (plain, mined):
        assert each.pairs.probs is not None
        found = dict(zip(_line_pairs(each), each.pairs.probs.tolist(), strict=True))
        errors.append(sum(abs(found[pair] - (pair in gold)) for pair in left))
    assert all(found[pair] == truth[pair] for pair in left if pair in truth)
    assert errors[1] < errors[0]
    assert mined.dropped == {"known to be wrong": 10}


@pytest.mark.parametrize(
    "options",
    [
        *({}, {"precision": 0.99}, {"min_prob": 0.9}, {"threshold": 1.3}),
        *({"threshold": float("-inf")}, {"retrieval": "intersect"}, {"drop": ["number", "high"]}),
    ],
)
def test_what_was_judged_wrong_never_comes_back_and_what_was_judged_right_is_kept(
    mine: Mine, toy_files: ToyFiles, options: dict[str, object]
) -> None:
    """Also a pair that is no candidate: its sentences are nearer to others."""
    gold = toy_files[2]
    plain = mine()
    wrong = set(sorted(lines(plain) & gold)[:6])
    there = set(_line_pairs(mine(top=1000)))
    taken = {line for pair in wrong for line in pair}
    far = [(i, j) for i in range(1, 61) for j in range(1, 61) if (i, j) not in there | gold]
    right = {pair for pair in far[::311] if not taken & set(pair)}
    assert len(right) >= 5
    seeds = LabelledPairs("", known(right) + known(wrong, right=False))
    asked = MiningOptions(**options)  # type: ignore[arg-type]
    mined = mine(asked, seed_pairs=seeds)
    assert right <= lines(mined) and not wrong & lines(mined)
    assert mined.pairs.probs is not None
    probs = dict(zip(_line_pairs(mined), mined.pairs.probs.tolist(), strict=True))
    assert {probs[pair] for pair in right} == {1.0}


def test_the_best_n_are_first_those_known_to_be_right(mine: Mine) -> None:
    every = mine(threshold=float("-inf"))
    last = _line_pairs(every)[-3:]
    seeds = LabelledPairs("", known(last))
    for top in (2, 3, 5):
        mined = mine(top=top, seed_pairs=seeds)
        assert len(mined.pairs) == top
        assert len(set(last) & lines(mined)) == min(top, 3)


def test_judged_pairs_move_the_probabilities_of_all_others(mine: Mine) -> None:
    every = MiningOptions(min_prob=0.0)
    before = mine(every)
    assert before.pairs.probs is not None
    probs = dict(zip(_line_pairs(before), before.pairs.probs.tolist(), strict=True))
    nearest = sorted(probs, key=lambda pair: abs(probs[pair] - 0.5))[:4]
    moved = {}
    for right in (False, True):
        judged = LabelledPairs("", known(nearest, right=right))
        mined = mine(every, seed_pairs=judged)
        assert mined.pairs.probs is not None
        after = dict(zip(_line_pairs(mined), mined.pairs.probs.tolist(), strict=True))
        others = [pair for pair in after if 0 < probs[pair] < 1 and pair not in nearest]
        moved[right] = np.array([after[pair] - probs[pair] for pair in others])
        assert set(nearest) <= set(after) if right else not set(nearest) & set(after)
    assert moved[False].max() <= 1e-3 and moved[False].min() < -0.01  # the curve's slope moves, too
    assert moved[True].min() >= -1e-3 and moved[True].max() > 0.01


def test_gold_chooses_the_best_cut_and_changes_nothing_else(
    mine: Mine, toy_files: ToyFiles
) -> None:
    gold = toy_files[2]
    truth = LabelledPairs("", known(gold))
    plain = mine(threshold=float("-inf"))
    best = max(
        agreement(_line_pairs(plain)[:size], gold).f1 for size in range(1, len(plain.pairs) + 1)
    )
    mined = mine(threshold="gold", gold=truth)
    assert agreement(_line_pairs(mined), gold).f1 == best
    assert mined.threshold.how == "best for --gold"
    auto = mine()
    again = mine(gold=truth)
    assert again.threshold == auto.threshold
    assert list(again.pairs.rows()) == list(auto.pairs.rows())
    with pytest.raises(OptionError, match="threshold gold without gold pairs"):
        mine(threshold="gold")
    for pairs in ([], known(gold, right=False)):
        with pytest.raises(OptionError, match="threshold gold without gold pairs"):
            mine(threshold="gold", gold=LabelledPairs("", pairs))
    wrong = LabelledPairs("", known(gold, right=False))
    doubted = mine(gold=wrong)
    first, *others = doubted.report().warnings
    assert first.startswith("--gold: no pair in it is right")
    assert others == auto.report().warnings == again.report().warnings


def test_a_probability_keeps_nothing_where_none_is_estimated(
    mine: Mine, toy_files: ToyFiles
) -> None:
    for path in toy_files[:2]:
        path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert len(mine().pairs) == 1
    mined = mine(min_prob=0.5)
    assert len(mined.pairs) == 0
    assert mined.threshold.how == "too few lines to estimate a probability, no pair kept"


def test_the_best_n_with_and_without_a_cut(mine: Mine) -> None:
    every = mine(threshold=float("-inf"))
    for top in (1, 7, 45, 1000):
        mined = mine(top=top)
        rows = min(top, len(every.pairs))
        assert _line_pairs(mined) == _line_pairs(every)[:rows]
        assert mined.kept.pairs == rows and mined.threshold.how == f"the best {rows}"
        assert every.pairs.probs is not None
        assert mined.threshold.value == every.pairs.probs[rows - 1]
    auto = mine()
    for options in (
        MiningOptions(top=1000, min_prob=auto.threshold.value),
        MiningOptions(top=1000, precision=0.9),
    ):
        mined = mine(options)
        without = mine(dataclasses.replace(options, top=None))
        assert _line_pairs(mined) == _line_pairs(without)
        # The cut, not the number, left the others out.
        assert mined.threshold == without.threshold
    fewer = mine(top=5, min_prob=auto.threshold.value)
    assert _line_pairs(fewer) == _line_pairs(every)[:5]
    assert fewer.threshold.how == "the best 5"


def test_known_pairs_may_name_any_occurrence_of_a_repeated_line(
    mine: Mine, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    for file in (source, target):
        file.write_text(file.read_text(encoding="utf-8") * 2, encoding="utf-8")
    later = {(left + 60, right + 60 * (left % 2)) for left, right in gold}
    every = MiningOptions(threshold=float("-inf"))
    plain = mine(every)
    wrong = [(left + 60, right) for left, right in _line_pairs(plain) if (left, right) not in gold]
    judged = known(later), known(wrong, right=False)
    first = known(gold), known(((left - 60, right) for left, right in wrong), right=False)
    found = [
        mine(every, seed_pairs=LabelledPairs("", right + false)) for right, false in (judged, first)
    ]
    assert list(found[0].pairs.rows()) == list(found[1].pairs.rows())
    assert set(found[0].seeds.pairs) == {*first[0], *first[1]}
    probs = dict(zip(_line_pairs(found[0]), found[0].pairs.probs.tolist(), strict=True))
    assert {pair: prob for pair, prob in probs.items() if pair in gold} == dict.fromkeys(
        probs.keys() & gold, 1.0
    )
    assert not probs.keys() & {(left - 60, right) for left, right in wrong}
    best = [
        mine(threshold="gold", gold=LabelledPairs("", pairs)) for pairs in (judged[0], first[0])
    ]
    assert best[0].threshold == best[1].threshold
    assert lines(best[0]) == lines(best[1]) and len(lines(best[0]) & gold) >= 29


def test_known_pairs_are_of_whole_lines(mine: Mine, toy_files: ToyFiles) -> None:
    gold = toy_files[2]
    truth = LabelledPairs("", known(gold))
    refused = "segment and known pairs of lines"
    with pytest.raises(OptionError, match=refused):
        mine(segment=True, seed_pairs=truth)
    with pytest.raises(OptionError, match=refused):
        options = MiningOptions(segment=True, threshold="gold")
        mine(options, gold=truth)
    # Lines of the pairs found may still be compared with gold.
    mined = mine(segment=True, gold=truth)
    assert mined.gold == truth
    with pytest.raises(FileError, match="seeds:1: line 61 of "):
        mine(seed_pairs=LabelledPairs("seeds", [LabelledPair(61, 1)]))


@pytest.fixture
def with_copies(toy_files: ToyFiles) -> Copies:
    """The files with 40 copies below: more than there are translations, and with higher scores."""
    source, target, gold = toy_files
    english, _, _ = toy_sentences(40, seed=31)
    for file in (source, target):
        with file.open("a", encoding="utf-8") as end:
            end.write("".join(line + "\n" for line in english))
    return gold, set(range(61, 101))


def test_copies_are_known_in_the_order_of_the_candidates(mine: Mine, with_copies: Copies) -> None:
    """Flags and probabilities order reranked candidates anew."""
    options = MiningOptions(rerank="tokens", keep_copies=True, src_lang="en", tgt_lang="zh")
    candidates = mine(options).candidates
    assert candidates.weights is not None and candidates.copies is not None
    np.testing.assert_array_equal(candidates.copies, same_texts(*candidates.texts()))
    assert candidates.copies.sum() == 40 and not candidates.copies[:40].all()


def test_copies_take_no_place_and_are_counted(mine: Mine, with_copies: Copies) -> None:
    gold, copies = with_copies
    for options in (MiningOptions(), MiningOptions(precision=0.9), MiningOptions(threshold=0.0)):
        mined = mine(options)
        assert not {pair[0] for pair in lines(mined)} & copies
        assert mined.dropped == {"copy": 40} and len(lines(mined) & gold) >= 26
    kept = mine(keep_copies=True)
    assert {(line, line) for line in copies} <= lines(kept) and kept.dropped == {}
    assert len(lines(kept) & gold) >= 26 and len(lines(kept) - gold) <= 46
    assert kept.threshold.translations is not None
    assert kept.threshold.translations == pytest.approx(70, abs=6)


@pytest.mark.parametrize("precision", [None, 0.9])
@pytest.mark.parametrize("drop", ["copy", "high", "copy,high"])
def test_the_cut_is_chosen_among_what_is_left(
    mine: Mine, with_copies: Copies, drop: str, precision: float | None
) -> None:
    options = MiningOptions(drop=[drop], precision=precision)
    mined = mine(options)
    assert mined.confidence is not None
    flags = [set(mined.flags[row].split(",")) for row in range(len(mined.flags))]
    names = {*drop.split(","), "copy"}
    rows = np.array([row for row, raised in enumerate(flags) if not names & raised])
    assert 0 < len(rows) < len(flags)
    assert mined.eligible.tolist() == rows.tolist()
    judged = mined.confidence.of(rows)
    cut = choose_threshold(mined.candidates.chosen.scores[rows], judged, precision=precision)
    assert mined.threshold == cut  # other cuts and their pairs included
    ranks, probs, value = mined.curve()
    assert (ranks.tolist(), value) == (judged.probs.tolist(), cut.value)
    assert probs is not None and probs.tolist() == judged.probs.tolist()
    assert mined.kept == mined.threshold.kept and len(mined.pairs) == mined.kept.pairs
    # Of what an option drops those above the cut are counted alone.
    above = mined.confidence.probs >= cut.value
    high = sum("high" in raised for raised, counts in zip(flags, above, strict=True) if counts)
    assert mined.dropped == {"copy": 40} | ({"high": high} if "high" in names and high else {})
    top = mine(dataclasses.replace(options, top=5))
    assert _line_pairs(top) == _line_pairs(mined)[:5]
    assert top.threshold.value <= float(top.pairs.scores[-1])
    assert sum(top.dropped.values()) <= sum(mined.dropped.values())


def test_nothing_is_left(toy_encoder: SentenceEncoder, toy_files: ToyFiles) -> None:
    source, _, _ = toy_files
    for options in (
        MiningOptions(drop=["copy"]),
        MiningOptions(precision=0.9),
        MiningOptions(drop=["copy"], top=3),
        MiningOptions(precision=0.9, top=3),
    ):
        mined = xmine.mine(source, source, toy_encoder, options)
        assert (len(mined.pairs), len(mined.eligible)) == (0, 0)
        assert mined.threshold.how == "no pair is left to choose from"
        assert (mined.kept.precision, mined.threshold.others) == (None, ())
        assert len(mined.curve()[0]) == 0


def test_flags_do_not_depend_on_the_cut(mine: Mine) -> None:
    every = mine(threshold=float("-inf"))
    assert every.pairs.flags is not None and any(every.pairs.flags)
    for options in (MiningOptions(), MiningOptions(top=9), MiningOptions(precision=0.8)):
        mined = mine(options)
        assert mined.pairs.flags is not None
        assert list(mined.pairs.flags) == every.pairs.flags[: len(mined.pairs)]


def test_languages_are_guessed_by_lines_that_are_not_copies(tmp_path: Path) -> None:
    """English lines in both files, many more than there are Chinese ones."""
    english = [f"This is sentence number {number} of the report." for number in range(240)]
    chinese = [f"这是报告的第{number}句话。" for number in range(40)]
    write(tmp_path / "en.txt", english)
    write(tmp_path / "zh.txt", [*chinese, *english[40:]])
    vectors = np.random.default_rng(1).standard_normal((240, 32)).astype(np.float32)
    files = tmp_path / "en.txt", tmp_path / "zh.txt"
    mined = xmine.mine(*files, vectors=(vectors, vectors))
    assert (mined.dropped["copy"], mined.languages) == (200, ("en", "zh"))
    given = MiningOptions(src_lang="de", tgt_lang="fr")
    assert xmine.mine(*files, options=given, vectors=(vectors, vectors)).languages == ("de", "fr")
    # Where all lines are copies they are what there is.
    copied = xmine.mine(files[0], files[0], vectors=(vectors, vectors))
    assert (copied.dropped, copied.languages) == ({"copy": 240}, ("en", "en"))


def test_the_cut_that_a_benchmark_takes_is_that_of_mining(mine: Mine, with_copies: Copies) -> None:
    mined = mine()
    cut, kept = best_without_gold(mined.candidates)
    assert cut == mined.threshold.value
    rows = mined.candidates.source.lines[kept.sources], mined.candidates.target.lines[kept.targets]
    assert set(zip(*(each.tolist() for each in rows), strict=True)) == lines(mined)


def test_candidates_may_be_judged_again_without_a_search(
    mine: Mine, toy_encoder: SentenceEncoder
) -> None:
    off = MiningOptions(rerank="off")
    first = mine(dataclasses.replace(off, top=3))
    cut = dataclasses.replace(off, precision=0.9), dataclasses.replace(off, threshold=1.1)
    for options in (off, *cut):
        whole = mine(options)
        again = selected(first.candidates, options, toy_encoder.facts.languages)
        assert (again.kept, again.threshold) == (whole.kept, whole.threshold)
        assert list(again.pairs.rows()) == list(whole.pairs.rows())
