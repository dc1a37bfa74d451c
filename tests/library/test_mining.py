import dataclasses
from pathlib import Path

import numpy as np
import pytest

import xmine
from tests.conftest import toy_sentences
from xmine.agreement import agreement
from xmine.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError
from xmine.known import KnownPair
from xmine.options import MiningOptions
from xmine.search import search
from xmine.sentences import read_sentences

ToyFiles = tuple[Path, Path, set[tuple[int, int]]]


def lines(mined: xmine.Mined) -> set[tuple[int, int]]:
    pairs = mined.pairs
    return set(zip(pairs.source_lines.tolist(), pairs.target_lines.tolist(), strict=True))


@pytest.mark.parametrize("retrieval", ["max", "fwd", "bwd", "intersect"])
@pytest.mark.parametrize("margin", ["ratio", "distance"])
def test_planted_pairs_are_found(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles, retrieval: str, margin: str
) -> None:
    source, target, gold = toy_files
    options = MiningOptions(retrieval=retrieval, margin=margin)
    found = lines(xmine.mine(source, target, toy_encoder, options))
    assert len(found & gold) >= 29
    assert len(found - gold) <= 2


def test_the_chosen_threshold_given_back_gives_the_same_pairs(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, _ = toy_files
    auto = xmine.mine(source, target, toy_encoder)
    again = xmine.mine(
        source, target, toy_encoder, MiningOptions(threshold=f"{auto.threshold.value:.4f}")
    )
    assert list(again.pairs.rows()) == list(auto.pairs.rows())


def test_repeated_lines_ruin_the_ratio_unless_folded(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    """Each line six times: a line's copies fill its neighbourhood and the ratio is 1.000."""
    source, target, gold = toy_files
    for file in (source, target):
        file.write_text(file.read_text(encoding="utf-8") * 6, encoding="utf-8")
    every = MiningOptions(threshold=float("-inf"))
    folded = xmine.mine(source, target, toy_encoder, every)
    assert len(lines(folded) & gold) >= 29
    assert folded.scored.source.repeated == 300
    kept = xmine.mine(
        source, target, toy_encoder, MiningOptions(threshold=float("-inf"), dedup=False)
    )
    assert kept.pairs.scores.max() == pytest.approx(1.0, abs=1e-3)


def test_lines_of_unknown_characters_are_left_out_and_counted(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    with source.open("a", encoding="utf-8") as file:
        file.write("☃☃☃\n☂☂\n")
    mined = xmine.mine(source, target, toy_encoder)
    assert (mined.scored.source.unknown, mined.scored.target.unknown) == (2, 0)
    assert len(lines(mined) & gold) >= 29
    source.write_text("☃☃☃\n", encoding="utf-8")
    with pytest.raises(FileError, match="knows no piece of any line"):
        xmine.mine(source, target, toy_encoder)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 30), (2, 2)])
def test_tiny_files_are_mined(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles, tmp_path: Path, sizes: tuple[int, int]
) -> None:
    source, target, _ = toy_files
    for file, size in zip((source, target), sizes, strict=True):
        head = file.read_text(encoding="utf-8").splitlines(keepends=True)[:size]
        file.write_text("".join(head), encoding="utf-8")
    mined = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    assert len(mined.pairs) == min(sizes)


def test_vectors_are_rounded_to_half_precision(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, _ = toy_files
    pairs = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf"))).pairs
    halves = [
        toy_encoder.encode(side).astype(np.float16) for side in (pairs.sources, pairs.targets)
    ]
    exact = (halves[0].astype(np.float64) * halves[1].astype(np.float64)).sum(axis=1)
    np.testing.assert_allclose(pairs.cosines, np.minimum(exact, 1), atol=1e-6)


def test_paragraphs_are_cut_and_the_way_back_is_kept(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    """The planted pairs, three sentences to a line: the same pairs, each a slice of its line."""
    source, target, gold = toy_files
    texts = {file: file.read_text(encoding="utf-8").splitlines() for file in (source, target)}
    places: dict[Path, list[tuple[int, int]]] = {}
    for file, mark, space in ((source, ".", " "), (target, "。", "")):
        ended = [text + mark for text in texts[file]]
        ended = [text[0].upper() + text[1:] for text in ended]
        paragraphs = [space.join(ended[at : at + 3]) for at in range(0, 60, 3)]
        file.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")  # and blank lines
        places[file] = [
            (2 * (at // 3) + 1, paragraphs[at // 3].index(text)) for at, text in enumerate(ended)
        ]
    mined = xmine.mine(source, target, toy_encoder, MiningOptions(segment=True))
    true = {(*places[source][left - 1], *places[target][right - 1]) for left, right in gold}
    found = {
        (pair.source_line, pair.source_offset, pair.target_line, pair.target_offset)
        for pair in mined.pairs.rows()
    }
    assert len(found & true) >= 29 and len(found - true) <= 2
    assert (mined.scored.source.total, len(mined.scored.source)) == (39, 60)
    for pair in mined.pairs.rows():
        for file, text, line, offset in (
            (source, pair.source, pair.source_line, pair.source_offset),
            (target, pair.target, pair.target_line, pair.target_offset),
        ):
            assert line is not None and offset is not None
            whole = file.read_text(encoding="utf-8").split("\n")[line - 1]
            assert whole[offset : offset + len(text)] == text
    plain = xmine.mine(source, target, toy_encoder)
    assert (plain.pairs.source_offsets, plain.pairs.target_offsets) == (None, None)


def test_languages_are_given_or_guessed(toy_encoder: SentenceEncoder, toy_files: ToyFiles) -> None:
    source, target, _ = toy_files
    assert xmine.mine(source, target, toy_encoder).languages == ("und", "zh")
    options = MiningOptions(src_lang="eng_Latn", tgt_lang="zh-Hant")
    assert xmine.mine(source, target, toy_encoder, options).languages == ("eng_Latn", "zh-Hant")
    for code in ("a", "en zh", "<en>", "en-", "en_"):
        with pytest.raises(OptionError, match="--src-lang is"):
            MiningOptions(src_lang=code)


def test_search_finds_the_translation_and_can_leave_out_the_text_itself(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    english, chinese = read_sentences(source), read_sentences(target)
    one, other = sorted(gold)[0]
    text = english.texts[one - 1]
    hits = search([text, "☃"], chinese, toy_encoder, k=3)
    assert hits[0][0].line == other
    assert len(hits[0]) == 3
    assert hits[1] == []
    own = search([text], english, toy_encoder, k=60)[0]
    assert own[0].text == text and own[0].cosine == pytest.approx(1, abs=1e-3)
    without = search([text], english, toy_encoder, k=60, exclude_exact=True)[0]
    assert [hit.text for hit in without] == [hit.text for hit in own[1:]]


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
    assert chances is confidence.chances and cut == float("-inf")
    np.testing.assert_array_equal(scores, pairs.scores)


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
        mined = xmine.mine(source, target, toy_encoder, every, seeds=seeds)
        assert mined.pairs.probs is not None and mined.pairs.flags is not None
        at = _line_pairs(mined).index((61, 61))
        assert mined.pairs.scores[at] > np.median(mined.pairs.scores)
        assert mined.pairs.probs[at] == prob
        assert mined.pairs.flags[at].split(",")[0] == "copy"
    dropped = xmine.mine(source, target, toy_encoder, MiningOptions(drop="copy"))
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
    seeds = [KnownPair(*pair) for pair in sorted(gold)[:15]]
    seeds += [KnownPair(*pair, right=False) for pair in wrong[:10]]
    mined = xmine.mine(source, target, toy_encoder, every, seeds=seeds)
    assert plain.pairs.probs is not None and mined.pairs.probs is not None
    known = {(seed.source, seed.target): float(seed.right) for seed in seeds}
    pairs = _line_pairs(mined)
    assert pairs == _line_pairs(plain)
    errors = []
    for probs in (plain.pairs.probs, mined.pairs.probs):
        found = dict(zip(pairs, probs.tolist(), strict=True))
        errors.append(sum(abs(prob - (pair in gold)) for pair, prob in found.items()))
    assert all(found[pair] == known[pair] for pair in pairs if pair in known)
    assert errors[1] < errors[0]
    assert mined.confidence is not None and mined.confidence.any_at_all == 1


def test_gold_chooses_the_best_cut_and_changes_nothing_else(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    known = [KnownPair(*pair) for pair in gold]
    plain = xmine.mine(source, target, toy_encoder, MiningOptions(threshold=float("-inf")))
    best = max(
        agreement(_line_pairs(plain)[:size], gold).f1 for size in range(1, len(plain.pairs) + 1)
    )
    mined = xmine.mine(source, target, toy_encoder, MiningOptions(threshold="gold"), gold=known)
    assert agreement(_line_pairs(mined), gold).f1 == best
    assert mined.threshold.how == "best for the gold pairs"
    auto = xmine.mine(source, target, toy_encoder)
    again = xmine.mine(source, target, toy_encoder, gold=known)
    assert again.threshold == auto.threshold
    assert list(again.pairs.rows()) == list(auto.pairs.rows())
    with pytest.raises(OptionError, match="--threshold gold without gold pairs"):
        xmine.mine(source, target, toy_encoder, MiningOptions(threshold="gold"))


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
        means = np.cumsum(every.confidence.chances) / np.arange(1, len(every.pairs) + 1)
        assert (means[size:] < precision).all()


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
        assert mined.threshold.value == float(every.pairs.scores[rows - 1])
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


@pytest.mark.xfail(strict=True, reason="known pairs are compared with first occurrences alone")
def test_known_pairs_may_name_any_occurrence_of_a_repeated_line(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles
) -> None:
    source, target, gold = toy_files
    english = source.read_text(encoding="utf-8")
    source.write_text(english * 2, encoding="utf-8")
    plain = xmine.mine(source, target, toy_encoder)
    seeds = [KnownPair(left + 60, right) for left, right in gold]  # the second occurrences
    mined = xmine.mine(source, target, toy_encoder, seeds=seeds)
    assert mined.threshold.translations == pytest.approx(plain.threshold.translations, abs=4)
    assert len(lines(mined) & gold) >= 29
