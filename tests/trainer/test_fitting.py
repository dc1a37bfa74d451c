"""Options that were not given follow from the data; what was given stays."""

from dataclasses import replace
from typing import Any

import pytest

from xmine.errors import OptionError, TrainingError, XmineError
from xmine.pairs.io import ParallelText
from xmine.trainer.data import vocabulary
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.options.msimcse import MsimcseOptions
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.fitting import fitted, needed_characters


def pairs(count: int) -> Corpus:
    """Pairs with few characters, no two alike."""
    sources = [f"one {row:06}" for row in range(count)]
    return Corpus(ParallelText(sources, [f"zwei {row:06}" for row in range(count)], [""] * count))


def of(options: TrainingOptions) -> tuple[int, int, int, int]:
    return options.held_out, options.vocabulary_size, options.batch_size, options.epochs


# pairs -> held out, pieces, batch, passes
EXPECTED = {
    600: (100, 2500, 32, 20),  # 500 rows: 15 steps a pass
    12_000: (2000, 4000, 1024, 34),
    50_000: (2000, 16_666, 2048, 14),
    120_000: (2000, 32_000, 2048, 6),
    210_000: (2000, 32_000, 2048, 3),
}


@pytest.mark.parametrize("count", EXPECTED)
def test_few_pairs_have_smaller_batches_a_smaller_vocabulary_and_more_passes(count: int) -> None:
    assert of(fitted(MsimcseOptions(), pairs(count))) == EXPECTED[count]


def test_what_was_given_stays_even_where_it_is_what_many_pairs_would_have() -> None:
    given: dict[str, Any] = {
        "held_out": 2000,
        "vocabulary_size": 32_000,
        "batch_size": 2048,
        "epochs": 3,
    }
    for name, value in given.items():
        assert getattr(fitted(MsimcseOptions(**{name: value}), pairs(5000)), name) == value
    options = MsimcseOptions(**given)
    assert fitted(options, pairs(5000)) == options
    again = fitted(MsimcseOptions(), pairs(5000))
    assert fitted(again, pairs(5000)) == again


def test_passes_follow_from_the_pairs_that_are_left() -> None:
    many = pairs(30_000)
    assert of(fitted(MsimcseOptions(limit_pairs=500), many)) == (2000, 2500, 32, 20)
    half = MsimcseOptions(default_weight=0.5, held_out=1000)
    assert fitted(half, many).batch_size == 1024  # 14,000 visits


def test_an_encoder_that_was_trained_before_has_three_passes() -> None:
    options = fitted(MsimcseOptions(encoder="embedded"), pairs(600))
    assert (options.held_out, options.batch_size, options.epochs) == (100, 32, 3)


def test_stages_that_read_something_else_keep_three_passes() -> None:
    assert fitted(TransaugOptions(), pairs(600)).nli_epochs == 3
    assert fitted(EmmaXOptions(), pairs(600)).em_epochs == 3
    assert fitted(EmmaXOptions(epochs=7), pairs(600)).em_epochs == 0  # which is "as --epochs"


def test_passes_of_the_first_stage_follow_from_what_it_reads() -> None:
    many = replace(pairs(12_000), texts=[f"text {row}" for row in range(200_000)])
    assert of(fitted(EmmaXOptions(), many))[2:] == EXPECTED[12_000][2:]
    both = replace(pairs(12_000), triplets=(Triplets(many.texts, many.texts, many.texts),))
    assert of(fitted(TransaugOptions(), both))[2:] == EXPECTED[12_000][2:]
    assert fitted(MsimcseOptions(), many).batch_size == 2048  # which mixes all
    second = EmmaXOptions(phase="2", encoder="embedded")
    assert fitted(second, pairs(3000)).batch_size == 512  # 2,500 pairs, both sides
    assert fitted(second, many).batch_size == 2048


def test_few_triplets_can_be_learned_from_and_many_hold_out_as_many_as_pairs() -> None:
    for count, expected in ((600, 100), (5000, 2000)):
        texts = [f"text {row}" for row in range(count)]
        corpus = Corpus(triplets=(Triplets(texts, texts, texts),))
        assert fitted(MsimcseOptions(encoder="embedded"), corpus).held_out == expected


def test_a_vocabulary_has_room_for_the_characters() -> None:
    letters = [chr(0x4E00 + at) for at in range(3000)]
    rows = ["".join(letters[at : at + 30]) for at in range(0, 3000, 30)] * 20
    corpus = Corpus(ParallelText(rows, rows, [""] * len(rows)))
    needed = needed_characters(corpus)
    assert 2000 < needed <= 3000  # traditional ones fold
    assert fitted(MsimcseOptions(), corpus).vocabulary_size == needed * 3 // 2


def test_the_characters_that_are_needed_are_those_that_sentencepiece_asks_for() -> None:
    text = ["".join(chr(0x4E00 + (at * 7 + row) % 900) for at in range(20)) for row in range(900)]
    corpus = Corpus(ParallelText(text, ["Good Morning"] * 900, [""] * 900))
    needed = needed_characters(corpus)
    with pytest.raises(TrainingError, match="no vocabulary of"):
        vocabulary.train_vocabulary(text, ["Good Morning"] * 900, needed, sample=10**6, seed=1)
    made = vocabulary.train_vocabulary(
        text, ["Good Morning"] * 900, needed + 1, sample=10**6, seed=1
    )
    assert len(made) == needed + 1


def test_where_the_texts_give_fewer_pieces_there_are_fewer(toy_pairs: ParallelText) -> None:
    made = vocabulary.train_vocabulary(
        toy_pairs.sources, toy_pairs.targets, 30_000, sample=10**6, seed=1
    )
    assert 300 < len(made) < 30_000


@pytest.mark.parametrize("name", ["held_out", "vocabulary_size", "batch_size"])
def test_one_is_too_few(name: str) -> None:
    flag = "--" + name.replace("_", "-")
    given: dict[str, Any] = {name: 1}
    with pytest.raises(OptionError, match=f"{flag} is 1; it must be at least"):
        MsimcseOptions(**given)


def test_a_missing_extra_is_told_before_work(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(XmineError, match="needs opencc"):
        fitted(MsimcseOptions(), pairs(600))
    fitted(MsimcseOptions(encoder="embedded"), pairs(600))


def test_a_character_that_is_hardly_there_is_not_needed() -> None:
    """The rarest are beyond COVERAGE, the share of all that sentencepiece covers."""
    rare = int(200_000 * (1 - vocabulary.COVERAGE)) // 2
    texts = ["a" * 100_000, "b" * 100_000, "z" * rare]
    assert rare > 0 and needed_characters(Corpus(texts=texts)) == 2
    assert needed_characters(Corpus(texts=[*texts, "z" * 100])) == 3
