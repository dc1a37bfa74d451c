"""Pairs in several pairs of languages: visits, what is held out, batches, the vocabulary, files."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.languages import said_in, write_pairs
from tests.toys.sentences import toy_sentences
from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText
from xmine.pairs.language_pairs import LanguagePairs
from xmine.trainer.data import vocabulary
from xmine.trainer.data.batches import cut_batches, language_batches, pass_order
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.rows import hold_out, shared_out, weigh_pairs
from xmine.trainer.data.vocabulary import sample_quotas
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.fitting import fitted

CODES = (("en", "zh"), ("en", "ko"), ("en", "ru"))


def pairs_of(counts: list[int], codes: Any = CODES, shift: int = 0) -> ParallelText:
    """Make pairs in several languages: of the same English sentences as far as they go."""
    _, _, meanings = toy_sentences(max(counts) + shift * len(counts), 7)
    sources, targets = [], []
    for at, ((first, second), count) in enumerate(zip(codes, counts, strict=False)):
        some = meanings[at * shift : at * shift + count]
        sources += said_in(first, some)
        targets += said_in(second, some)
    of_rows = np.repeat(np.arange(len(counts)), counts)
    languages = LanguagePairs(codes[: len(counts)], of_rows)
    return ParallelText(sources, targets, ["a"] * sum(counts), languages=languages)


# Visits.


def test_a_sentence_is_visited_with_each_of_its_languages_but_shares_within_one() -> None:
    languages = LanguagePairs(CODES[:2], np.array([0, 0, 0, 1, 1]))
    pairs = ParallelText(list("aabab"), list("wxyzz"), list("ggggh"), languages=languages)
    assert weigh_pairs(pairs, {}, 1.0).tolist() == [0.5, 0.5, 1, 0.5, 0.5]  # z is shared, a is not
    assert weigh_pairs(pairs, {"h": 0}, 2.0).tolist() == [1, 1, 2, 2, 0]


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.3, 0.0])
def test_a_share_p_of_the_visits_becomes_p_to_the_power_of_alpha(alpha: float) -> None:
    pairs = pairs_of([900, 90, 10])
    weights = weigh_pairs(pairs, {}, 2.0, alpha)
    assert weights.sum() == pytest.approx(2000)  # an epoch is as long as without
    powers = [(count / 1000) ** alpha for count in (900, 90, 10)]
    assert pairs.languages is not None
    for rows, power in zip(pairs.languages.rows(), powers, strict=True):
        assert weights[rows].sum() == pytest.approx(2000 * power / sum(powers))
        assert np.ptp(weights[rows]) == 0
    met = Counter(pairs.languages.of_rows[pass_order(weights, 1, 0)].tolist())
    for at, power in enumerate(powers):
        assert met[at] == pytest.approx(2000 * power / sum(powers), abs=60)


# What is held out.


def test_each_pair_of_languages_has_its_share_held_out_and_no_sentence_is_trained_on() -> None:
    pairs = pairs_of([300, 240, 60])
    rows, held = hold_out(pairs, np.ones(600), 50, seed=3)
    assert pairs.languages is not None
    assert np.bincount(pairs.languages.of_rows[held]).tolist() == [20, 20, 10]  # a sixth of 60
    kept = [text for row in held for text in (pairs.sources[row], pairs.targets[row])]
    assert len(set(kept)) == len(kept) == 100
    seen = {text for row in rows for text in (pairs.sources[row], pairs.targets[row])}
    assert not seen & set(kept)
    # What is left out shares a sentence with one of these.
    for row in set(range(600)) - set(rows.tolist()) - set(held.tolist()):
        assert {pairs.sources[row], pairs.targets[row]} & set(kept)


def test_a_sentence_that_is_held_out_on_one_side_is_not_trained_on_on_the_other() -> None:
    codes = (("en", "zh"), ("zh", "ko"))
    pairs = pairs_of([120, 120], codes)
    rows, held = hold_out(pairs, np.ones(240), 20, seed=1)
    kept = {text for row in held for text in (pairs.sources[row], pairs.targets[row])}
    assert len(kept) == 40 and len(rows) == 240 - 2 * 20
    assert not kept & {text for row in rows for text in (pairs.sources[row], pairs.targets[row])}


def test_a_count_is_shared_out_by_the_room_there_is() -> None:
    assert shared_out(50, [50, 40, 10]) == [20, 20, 10]
    assert shared_out(7, [9, 9, 9]) == [2, 2, 3]
    assert shared_out(30, [10, 10, 10]) == [10, 10, 10]
    for count in (31, 5):
        with pytest.raises(
            TrainingError, match=f"--held-out {count}: from 6 to 30 pairs of these 3"
        ):
            shared_out(count, [10, 10, 10])


def test_500_of_each_are_held_out_or_a_sixth() -> None:
    def held(*counts: int) -> int:
        pairs = pairs_of(list(counts), shift=10_000)
        options = MsimcseOptions(encoder="embedded", batch_size=16, epochs=1)
        return fitted(options, Corpus(pairs)).held_out

    assert held(9000, 9000, 600) == 666 + 666 + 100  # 2,000 in all, where a few files have room
    assert held(9000, 60) == 1000 + 10


# Batches.


def test_batches_of_one_language_are_all_rows_in_random_order() -> None:
    languages = np.array([0] * 100 + [1] * 37 + [2] * 3)
    order = pass_order(np.ones(140), seed=1, epoch=0)
    batches = language_batches(order, languages, 10, seed=1, epoch=0)
    assert sorted(np.concatenate(batches).tolist()) == sorted(order.tolist())
    assert len(batches) == len(cut_batches(order, 10))
    mixed = [len(set(languages[batch])) > 1 for batch in batches]
    assert sum(mixed) <= 2  # where a language ends
    firsts = [int(languages[batch[0]]) for batch in batches]
    assert sum(one != other for one, other in pairwise(firsts)) > 2  # not language by language
    # Within a language the order of the pass stays, batch by batch.
    place = {row: at for at, row in enumerate(order.tolist())}
    for batch in batches:
        for language in set(languages[batch].tolist()):
            places = [place[row] for row in batch.tolist() if languages[row] == language]
            assert places == sorted(places)
    again = language_batches(order, languages, 10, seed=1, epoch=0)
    assert all(np.array_equal(*both) for both in zip(batches, again, strict=True))
    other = language_batches(order, languages, 10, seed=1, epoch=1)
    assert not all(np.array_equal(*both) for both in zip(batches, other, strict=True))


# The vocabulary.


def test_sentences_of_a_vocabulary_are_balanced_and_what_is_missing_goes_to_others() -> None:
    assert sample_quotas([10_000, 100], 1500, 0.5) == [1400, 100]
    assert sample_quotas([8100, 900, 100], 130, 0.5) == [90, 30, 10]
    assert sample_quotas([8100, 900, 100], 91, 1.0) == [81, 9, 1]
    assert sample_quotas([5, 7], 100, 0.5) == [5, 7]
    assert sum(sample_quotas([997, 331, 78, 3], 1000, 0.3)) == 1000


def test_a_vocabulary_is_made_of_what_training_visits_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sentences of the weights 4 and 1 the first are drawn four times as often."""
    found: list[str] = []
    monkeypatch.setattr(vocabulary, "_trained", lambda chosen, size: found.extend(chosen))
    texts = [f"{'often' if row % 2 else 'seldom'} {row}" for row in range(40_000)]
    weights = [4.0 if row % 2 else 1.0 for row in range(40_000)]
    vocabulary.train_shared_vocabulary([(texts, weights)], 9, sample=1000, alpha=0.5, seed=1)
    drawn = Counter(text.split()[0] for text in found)
    assert drawn["often"] / drawn["seldom"] == pytest.approx(4, rel=0.15)


# Languages and options.


def test_languages_follow_from_the_files_and_may_be_more() -> None:
    corpus = Corpus(pairs_of([300, 300]), texts=["x y"] * 9)
    options = MsimcseOptions(vocabulary_size=400)
    assert fitted(options, corpus).codes == ("en", "zh", "ko")
    for given, expected in {"ko,zh,en": "en,zh,ko", "de,zh,ko,en": "en,zh,ko,de"}.items():
        more = MsimcseOptions(vocabulary_size=400, languages=given)
        assert fitted(more, corpus).languages == expected
        assert fitted(fitted(more, corpus), corpus) == fitted(more, corpus)
    with pytest.raises(TrainingError, match="--languages en,de: the files of PAIRS are in en, zh"):
        fitted(MsimcseOptions(languages="en,de"), corpus)
    with pytest.raises(TrainingError, match="de: the pairs are in en, zh, ko, and nothing is in"):
        fitted(MsimcseOptions(languages="en,zh,ko,de"), Corpus(corpus.pairs))


def test_a_teacher_reads_one_side_of_all_pairs() -> None:
    def column(codes: Any, **given: Any) -> int:
        corpus = Corpus(pairs_of([300, 300], codes))
        return fitted(TransaugOptions(vocabulary_size=400, **given), corpus).judged_column

    assert column((("en", "zh"), ("en", "ko"))) == 0
    assert column((("zh", "en"), ("ko", "en"))) == 1
    assert column((("zh", "ko"), ("zh", "en"))) == 0
    turned = {"languages": "zh,en,ko", "teacher_language": "ko"}
    assert column((("zh", "ko"), ("en", "ko")), **turned) == 1
    with pytest.raises(TrainingError, match="the pairs zh-ko have no en, the language of the tea"):
        column((("en", "zh"), ("zh", "ko")))


def test_a_fingerprint_has_the_languages() -> None:
    pairs = pairs_of([300, 200], shift=400)
    other = LanguagePairs((("en", "zh"), ("en", "ru")), np.repeat([0, 1], [300, 200]))
    moved = LanguagePairs(CODES[:2], np.repeat([0, 1], [299, 201]))
    prints = {
        Corpus(
            ParallelText(pairs.sources, pairs.targets, pairs.origins, languages=each)
        ).fingerprint()
        for each in (None, pairs.languages, other, moved)
    }
    assert len(prints) == 4


def test_files_become_a_corpus(tmp_path: Path) -> None:
    files = [str(write_pairs(tmp_path, name, 40)) for name in ("en-zh", "ko-en")]
    corpus = Corpus.read(pairs=files)
    assert corpus.pairs is not None and corpus.pairs.languages is not None
    assert corpus.pairs.languages.names == ("en-zh", "en-ko")
    (tmp_path / "seen.txt").write_text("\n".join(corpus.pairs.targets[40:70]), encoding="utf-8")
    kept = corpus.without([str(tmp_path / "seen.txt")])
    assert kept.pairs is not None and kept.pairs.languages is not None
    assert kept.pairs.languages.of_rows.tolist() == [0] * 40 + [1] * 10
    alone = Corpus.read(pairs=files[0]), Corpus.read(pairs=files[:1])
    assert alone[0].fingerprint() == alone[1].fingerprint() != corpus.fingerprint()
