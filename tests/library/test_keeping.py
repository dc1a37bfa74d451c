"""What is kept of the candidates: probabilities, known pairs, the cut, and what is dropped."""

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from mined_toys import lines

import xmine
from tests.conftest import toy_sentences
from xmine.agreement import agreement
from xmine.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError
from xmine.keeping import cut_without_gold, keep
from xmine.known import KnownPair, KnownPairs
from xmine.options import MiningOptions
from xmine.threshold import choose_threshold

ToyFiles = tuple[Path, Path, set[tuple[int, int]]]


def known(pairs: Iterable[tuple[int, int]], right: bool = True) -> list[KnownPair]:
    return [KnownPair(*pair, right) for pair in sorted(pairs)]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def test_every_pair_has_a_probability_and_flags(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    mined = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    pairs, confidence = mined.pairs, mined.confidence
    assert confidence is not None and pairs.probs is not None and pairs.flags is not None
    assert len(pairs) == len(mined.scored.chosen) == len(pairs.probs) == len(pairs.flags)
    np.testing.assert_array_equal(pairs.probs, confidence.chances)
    found = dict(zip(_line_pairs(mined), pairs.probs.tolist(), strict=True))
    assert np.mean([found.get(pair, 0.0) for pair in gold]) > 0.9
    assert np.mean([prob for pair, prob in found.items() if pair not in gold]) < 0.2
    assert mined.kept.pairs == len(pairs)
    assert mined.kept.precision == pytest.approx(pairs.probs.mean())
    assert mined.threshold.translations == confidence.translations
    assert mined.dropped == {}
    scores, chances, cut = mined.curve()
    assert cut == float("-inf") and chances is not None
    np.testing.assert_array_equal(chances, confidence.chances)
    np.testing.assert_array_equal(scores, pairs.scores)
    assert mined.eligible.tolist() == list(range(len(pairs)))
    assert (mined.copies, mined.seeds.pairs, mined.gold.pairs) == (0, [], [])


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


def test_a_copy_is_no_translation_unless_a_seed_says_so(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    for file in (source, target):
        with file.open("a", encoding="utf-8") as end:
            end.write("bade fima  gosok\n")
    every = MiningOptions(threshold=float("-inf"))
    for seeds, prob in (([], 0.0), ([KnownPair(61, 61)], 1.0)):
        mined = xmine.mine(source, target, toy_encoder, every, seeds=KnownPairs("", seeds))
        assert mined.copies == 1
        assert mined.pairs.probs is not None and mined.pairs.flags is not None
        at = _line_pairs(mined).index((61, 61))
        assert mined.pairs.scores[at] > np.median(mined.pairs.scores)
        assert mined.pairs.probs[at] == prob
        assert mined.pairs.flags[at].split(",")[0] == "copy"
    dropped = xmine.mine(source, target, toy_encoder, MiningOptions(drop=["copy"]))
    assert lines(dropped).isdisjoint({(61, 61)}) and len(lines(dropped) & gold) >= 29
    assert dropped.dropped == {"copy": 1}


def test_many_copies_do_not_hide_the_translations(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    plain = xmine.mine(source, target, toy_encoder)
    english, _, _ = toy_sentences(100, seed=31)
    for file in (source, target):
        with file.open("a", encoding="utf-8") as end:
            end.write("".join(line + "\n" for line in english))
    mined = xmine.mine(source, target, toy_encoder)
    assert mined.threshold.translations == pytest.approx(plain.threshold.translations, abs=4)
    assert len(lines(mined) & gold) >= 29


def test_seeds_are_pinned_and_sharpen_the_estimate(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    every = MiningOptions(threshold=float("-inf"))
    plain = xmine.mine(source, target, toy_encoder, every)
    wrong = [pair for pair in _line_pairs(plain) if pair not in gold]
    seeds = known(sorted(gold)[:15]) + known(wrong[:10], right=False)
    mined = xmine.mine(source, target, toy_encoder, every, seeds=KnownPairs("", seeds))
    assert mined.seeds.pairs == seeds
    assert plain.pairs.probs is not None and mined.pairs.probs is not None
    truth = {seed[:2]: float(seed.right) for seed in seeds}
    pairs = _line_pairs(mined)
    assert pairs == _line_pairs(plain)
    errors = []
    for probs in (plain.pairs.probs, mined.pairs.probs):
        found = dict(zip(pairs, probs.tolist(), strict=True))
        errors.append(sum(abs(prob - (pair in gold)) for pair, prob in found.items()))
    assert all(found[pair] == truth[pair] for pair in pairs if pair in truth)
    assert errors[1] < errors[0]
    assert mined.confidence is not None and mined.confidence.any_at_all == 1


def test_gold_chooses_the_best_cut_and_changes_nothing_else(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    truth = KnownPairs("", known(gold))
    plain = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    best = max(
        agreement(_line_pairs(plain)[:size], gold).f1 for size in range(1, len(plain.pairs) + 1)
    )
    mined = xmine.mine(source, target, toy_encoder, MiningOptions(threshold="gold"), gold=truth)
    assert agreement(_line_pairs(mined), gold).f1 == best
    assert mined.threshold.how == "best for the gold pairs"
    auto = xmine.mine(source, target, toy_encoder)
    again = xmine.mine(source, target, toy_encoder, gold=truth)
    assert again.threshold == auto.threshold
    assert list(again.pairs.rows()) == list(auto.pairs.rows())
    with pytest.raises(OptionError, match="--threshold gold without gold pairs"):
        xmine.mine(source, target, toy_encoder, MiningOptions(threshold="gold"))
    for pairs in ([], known(gold, right=False)):
        with pytest.raises(OptionError, match="--threshold gold without gold pairs"):
            xmine.mine(
                source,
                target,
                toy_encoder,
                MiningOptions(threshold="gold"),
                gold=KnownPairs("", pairs),
            )


def test_a_wanted_precision_is_the_lowest_cut_that_is_expected_to_have_it(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, _ = toy_files
    every = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    assert every.confidence is not None
    for precision in (0.7, 0.9, 0.99):
        mined = xmine.mine(source, target, toy_encoder, MiningOptions(precision=precision))
        assert mined.threshold.how == f"precision {precision:g}"
        assert mined.kept.precision is not None and mined.kept.precision >= precision
        size = len(mined.pairs)
        kept = np.arange(1, len(every.pairs) + 1)
        wrong = kept - np.cumsum(every.confidence.chances)
        assert (1 - 1.15 * wrong[size:] / kept[size:] < precision).all()


def test_the_best_n_with_and_without_a_cut(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, _ = toy_files
    every = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    for top in (1, 7, 45, 1000):
        mined = xmine.mine(source, target, toy_encoder, MiningOptions(top=top))
        rows = min(top, len(every.pairs))
        assert _line_pairs(mined) == _line_pairs(every)[:rows]
        assert mined.kept.pairs == rows and mined.threshold.how == f"the best {rows}"
        # A multiple of 0.0001, so that the value that is printed is the same cut.
        assert mined.threshold.value == float(f"{mined.threshold.value:.4f}")
        assert 0 <= float(every.pairs.scores[rows - 1]) - mined.threshold.value < 1e-4
        assert top > 7 or not mined.threshold.others or mined.threshold.others[2].pairs <= top
    auto = xmine.mine(source, target, toy_encoder)
    for options in (
        MiningOptions(top=1000, threshold=auto.threshold.value),
        MiningOptions(top=1000, precision=0.9),
    ):
        mined = xmine.mine(source, target, toy_encoder, options)
        without = xmine.mine(source, target, toy_encoder, dataclasses.replace(options, top=None))
        assert _line_pairs(mined) == _line_pairs(without)
        # The cut, not the number, left the others out.
        assert mined.threshold == without.threshold
    fewer = xmine.mine(
        source, target, toy_encoder, MiningOptions(top=5, threshold=auto.threshold.value)
    )
    assert _line_pairs(fewer) == _line_pairs(every)[:5]
    assert fewer.threshold.how == "the best 5"


def test_known_pairs_may_name_any_occurrence_of_a_repeated_line(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    for file in (source, target):
        file.write_text(file.read_text(encoding="utf-8") * 2, encoding="utf-8")
    later = {(left + 60, right + 60 * (left % 2)) for left, right in gold}
    every = MiningOptions(threshold=float("-inf"))
    plain = xmine.mine(source, target, toy_encoder, every)
    wrong = [(left + 60, right) for left, right in _line_pairs(plain) if (left, right) not in gold]
    judged = known(later), known(wrong, right=False)
    first = known(gold), known(((left - 60, right) for left, right in wrong), right=False)
    found = [
        xmine.mine(source, target, toy_encoder, every, seeds=KnownPairs("", right + false))
        for right, false in (judged, first)
    ]
    assert list(found[0].pairs.rows()) == list(found[1].pairs.rows())
    assert set(found[0].seeds.pairs) == {*first[0], *first[1]}
    probs = dict(zip(_line_pairs(found[0]), found[0].pairs.probs.tolist(), strict=True))  # type: ignore[union-attr]
    assert {pair: prob for pair, prob in probs.items() if pair in gold} == dict.fromkeys(
        probs.keys() & gold, 1.0
    )
    assert {probs[left - 60, right] for left, right in wrong} == {0.0}
    best = [
        xmine.mine(
            source, target, toy_encoder, MiningOptions(threshold="gold"), gold=KnownPairs("", pairs)
        )
        for pairs in (judged[0], first[0])
    ]
    assert best[0].threshold == best[1].threshold
    assert lines(best[0]) == lines(best[1]) and len(lines(best[0]) & gold) >= 29


def test_known_pairs_are_of_whole_lines(toy_encoder: SentenceEncoder, toy_files: ToyFiles) -> None:
    source, target, gold = toy_files
    truth = KnownPairs("", known(gold))
    refused = "--segment and known pairs of lines"
    with pytest.raises(OptionError, match=refused):
        xmine.mine(source, target, toy_encoder, MiningOptions(segment=True), seeds=truth)
    with pytest.raises(OptionError, match=refused):
        options = MiningOptions(segment=True, threshold="gold")
        xmine.mine(source, target, toy_encoder, options, gold=truth)
    # Lines of the pairs found may still be compared with gold.
    mined = xmine.mine(source, target, toy_encoder, MiningOptions(segment=True), gold=truth)
    assert mined.gold == truth
    with pytest.raises(FileError, match="seeds:1: line 61 of "):
        xmine.mine(source, target, toy_encoder, seeds=KnownPairs("seeds", [KnownPair(61, 1)]))


@pytest.fixture
def with_copies(toy_files: ToyFiles) -> tuple[Path, Path, set[tuple[int, int]], set[int]]:
    """The files with 40 copies below: more than there are translations, and with higher scores."""
    source, target, gold = toy_files
    english, _, _ = toy_sentences(40, seed=31)
    for file in (source, target):
        with file.open("a", encoding="utf-8") as end:
            end.write("".join(line + "\n" for line in english))
    return source, target, gold, set(range(61, 101))


def test_copies_on_top_do_not_take_the_place_of_what_is_as_precise_as_wanted(
    toy_encoder: SentenceEncoder, with_copies: tuple[Path, Path, set[tuple[int, int]], set[int]]
) -> None:
    source, target, gold, copies = with_copies
    every = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    assert every.copies == 40
    right = [pair in gold for pair in _line_pairs(every)]
    share = np.cumsum(right) / np.arange(1, len(right) + 1)
    assert share[20:].max() < 0.6, "copies must be on top"
    mined = xmine.mine(source, target, toy_encoder, MiningOptions(precision=0.9))
    assert len(lines(mined) & gold) >= 26 and len(lines(mined) - gold) <= 6
    assert mined.kept.precision is not None and mined.kept.precision >= 0.9
    above = every.pairs.scores[[pair[0] in copies for pair in _line_pairs(every)]]
    assert mined.dropped == {"known to be wrong": int((above >= mined.threshold.value).sum())}
    # A seed that is wrong is as well known.
    wrong = known(list(lines(mined))[:3], right=False)
    again = xmine.mine(
        source, target, toy_encoder, MiningOptions(precision=0.9), seeds=KnownPairs("", wrong)
    )
    assert lines(again).isdisjoint({pair[:2] for pair in wrong}) and len(again.pairs) > 20


@pytest.mark.parametrize("precision", [None, 0.9])
@pytest.mark.parametrize("drop", ["copy", "high", "copy,high"])
def test_the_cut_is_chosen_among_what_is_left(
    toy_encoder: SentenceEncoder,
    with_copies: tuple[Path, Path, set[tuple[int, int]], set[int]],
    drop: str,
    precision: float | None,
) -> None:
    source, target, _, _ = with_copies
    every = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    assert every.confidence is not None and every.pairs.flags is not None
    names = set(drop.split(","))
    left = np.array([not names & set(each.split(",")) for each in every.pairs.flags])
    if precision is not None:
        left &= [source != target for source, target in _texts(every)]
    rows = np.flatnonzero(left)
    assert 0 < len(rows) < len(every.pairs)
    options = MiningOptions(drop=[drop], precision=precision)
    mined = xmine.mine(source, target, toy_encoder, options)
    judged = every.confidence.of(rows)
    cut = choose_threshold(every.pairs.scores[rows], judged, precision=precision)
    assert mined.threshold == cut  # cuts nearby and their pairs included
    assert mined.eligible.tolist() == rows.tolist()
    scores, chances, value = mined.curve()
    assert (scores.tolist(), value) == (every.pairs.scores[rows].tolist(), cut.value)
    assert chances is not None and chances.tolist() == judged.chances.tolist()
    assert mined.kept == mined.threshold.kept and len(mined.pairs) == mined.kept.pairs
    # Counted are those above the cut alone.
    above = every.pairs.scores >= cut.value
    for name, number in mined.dropped.items():
        if name in names:
            raised = [name in each.split(",") for each in every.pairs.flags]
            assert number == (above & raised).sum()
    assert set(mined.dropped) <= {*names, "known to be wrong"}
    top = xmine.mine(source, target, toy_encoder, dataclasses.replace(options, top=5))
    assert _line_pairs(top) == _line_pairs(mined)[:5]
    assert top.threshold.value <= float(top.pairs.scores[-1])
    assert sum(top.dropped.values()) <= sum(mined.dropped.values())


def _texts(mined: xmine.Mined) -> list[tuple[str, str]]:
    return list(zip(mined.pairs.sources, mined.pairs.targets, strict=True))


def test_what_is_below_the_cut_is_not_counted_as_dropped(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, _ = toy_files
    every = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    highest = float(every.pairs.scores[4])
    for cut, dropped in ((float("-inf"), 4), (float(every.pairs.scores[2]), 3), (9.0, 0)):
        mined = xmine.mine(
            source, target, toy_encoder, MiningOptions(threshold=cut, score_max=highest)
        )
        assert mined.dropped == ({"above --score-max": dropped} if dropped else {})
        assert _line_pairs(mined) == (_line_pairs(every)[4:] if dropped == 4 else [])


def test_nothing_is_left(toy_encoder: SentenceEncoder, toy_files: ToyFiles) -> None:
    source, _, _ = toy_files
    for options in (
        MiningOptions(drop=["copy"]),
        MiningOptions(precision=0.9),
        MiningOptions(drop=["copy"], top=3),
        MiningOptions(precision=0.9, top=3),
        MiningOptions(score_max=-9.0),
    ):
        mined = xmine.mine(source, source, toy_encoder, options)
        assert (len(mined.pairs), len(mined.eligible)) == (0, 0)
        assert mined.threshold.how == "no pair is left to choose from"
        assert (mined.kept.precision, mined.threshold.others) == (None, ())
        assert len(mined.curve()[0]) == 0


def test_flags_do_not_depend_on_the_cut(toy_encoder: SentenceEncoder, toy_files: ToyFiles) -> None:
    source, target, _ = toy_files
    every = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    assert every.pairs.flags is not None and any(every.pairs.flags)
    for options in (MiningOptions(), MiningOptions(top=9), MiningOptions(precision=0.8)):
        mined = xmine.mine(source, target, toy_encoder, options)
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
    assert (mined.copies, mined.languages) == (200, ("en", "zh"))
    given = MiningOptions(src_lang="de", tgt_lang="fr")
    assert xmine.mine(*files, options=given, vectors=(vectors, vectors)).languages == ("de", "fr")
    # Where all lines are copies they are what there is.
    copied = xmine.mine(files[0], files[0], vectors=(vectors, vectors))
    assert (copied.copies, copied.languages) == (240, ("en", "en"))


def test_the_cut_that_a_benchmark_takes_is_that_of_mining(
    toy_encoder: SentenceEncoder, with_copies: tuple[Path, Path, set[tuple[int, int]], set[int]]
) -> None:
    source, target, _, _ = with_copies
    mined = xmine.mine(source, target, toy_encoder)
    assert mined.copies == 40
    assert cut_without_gold(mined.scored) == mined.threshold.value


def test_candidates_may_be_judged_again_without_a_search(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, _ = toy_files
    first = xmine.mine(source, target, toy_encoder, MiningOptions(top=3))
    for options in (MiningOptions(), MiningOptions(precision=0.9), MiningOptions(threshold=1.1)):
        whole = xmine.mine(source, target, toy_encoder, options)
        again = keep(first.scored, options, toy_encoder.facts.languages)
        assert (again.kept, again.threshold) == (whole.kept, whole.threshold)
        assert list(again.pairs.rows()) == list(whole.pairs.rows())
