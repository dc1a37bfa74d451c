"""Options that were not given follow from the data; what was given stays."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.errors import OptionError, TrainingError
from xmine.pairs.io import ParallelText, read_parallel
from xmine.trainer.data import vocabulary
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.options.contrast import MocoOptions, MsimcseOptions
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.fitting import FEW, fitted, needed_characters


@cache
def pairs(count: int) -> Corpus:
    """Pairs with few characters, no two alike."""
    sources = [f"one {row:06}" for row in range(count)]
    return Corpus(ParallelText(sources, [f"zwei {row:06}" for row in range(count)], [""] * count))


def of(options: TrainingOptions) -> tuple[int, int, int, int]:
    return options.held_out, options.vocabulary_size, options.batch_size, options.epochs


# pairs -> held out, pieces, batch, passes
NEW: dict[str, Any] = {"encoder": "scratch"}
EXPECTED = {
    600: (100, 2500, 32, 20),  # 500 rows: 15 steps a pass
    12_000: (2000, 4000, 1024, 34),
    50_000: (2000, 16_666, 2048, 14),
    210_000: (2000, 32_000, 2048, 3),
}


@pytest.mark.parametrize("count", EXPECTED)
def test_few_pairs_have_smaller_batches_a_smaller_vocabulary_and_more_passes(count: int) -> None:
    assert of(fitted(MsimcseOptions(**NEW), pairs(count))) == EXPECTED[count]


def test_copies_of_a_pair_are_held_out_and_counted_as_one() -> None:
    once = pairs(1200).pairs
    assert once is not None
    copied = Corpus(once.take(np.tile(np.arange(1200), 4)))
    held_out = [fitted(MsimcseOptions(**NEW), each).held_out for each in (Corpus(once), copied)]
    assert held_out == [200, 200]


def test_one_file_says_its_languages(tmp_path: Path) -> None:
    rows = "".join(f"sentence {row}\tSatz {row}\n" for row in range(60))
    for name, given, languages in (
        ("en-de.tsv", "en,zh", "en,de"),
        ("a.de-en.tsv", "en,zh", "de,en"),
        ("pairs.tsv", "en,zh", "en,zh"),
        ("en-de.tsv", "en, fr", "en,fr"),
    ):
        (tmp_path / name).write_text(rows)
        corpus = Corpus(read_parallel(tmp_path / name)).without([])
        options = fitted(MsimcseOptions(languages=given, **NEW), corpus)
        assert options.languages == languages
    with pytest.raises(OptionError, match="--languages is 'en,en'"):
        MsimcseOptions(languages="en, en")


def test_what_was_given_stays_even_where_it_is_what_many_pairs_would_have() -> None:
    given: dict[str, Any] = dict(held_out=2000, vocabulary_size=32_000, batch_size=2048, epochs=3)
    for name, value in given.items():
        assert getattr(fitted(MsimcseOptions(**{name: value}, **NEW), pairs(5000)), name) == value
    options = MsimcseOptions(**given, **NEW)
    assert fitted(options, pairs(5000)) == options
    again = fitted(MsimcseOptions(), pairs(5000))
    assert fitted(again, pairs(5000)) == again


def test_a_static_encoder_that_was_trained_before_takes_a_hundred_steps_and_three_passes(
    tmp_path: Path,
) -> None:
    for count, passes in ((600, 7), (12_000, 12), (50_000, 5), (120_000, 3)):
        options = fitted(MsimcseOptions(encoder="embedded"), pairs(count))
        assert options.epochs == passes
        rows = count - options.held_out
        assert passes == 3 or rows // options.batch_size * passes >= 100
    module = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    (tmp_path / "modules.json").write_text(json.dumps([module]))
    other = MsimcseOptions(encoder=str(tmp_path))
    assert fitted(other, pairs(600)).epochs == 3


def test_a_static_encoder_that_goes_on_with_few_pairs_leaves_tokens_out() -> None:
    """Not where something else decides it, is learned from too, or begins anew."""

    def share(options: TrainingOptions, corpus: Corpus) -> float | None:
        return fitted(options, corpus).token_dropout

    embedded: dict[str, Any] = {"encoder": "embedded"}
    assert share(MsimcseOptions(), pairs(600)) == 0.2
    assert share(MsimcseOptions(**embedded), pairs(100_000)) is None
    assert share(MsimcseOptions(token_dropout=0.0), pairs(600)) == 0
    assert share(MsimcseOptions(**NEW), pairs(600)) is None
    assert share(MsimcseOptions(**embedded), replace(pairs(600), texts=["a b"])) is None


def encoder_of(options: TrainingOptions, corpus: Corpus) -> str:
    return fitted(options, corpus).encoder


def test_below_the_stated_number_of_pairs_training_starts_from_the_embedded_encoder() -> None:
    """100,000, as the help says; in each method that begins with one encoder."""
    fewer, enough = pairs(99_999), pairs(100_000)
    assert FEW == 100_000 and encoder_of(MsimcseOptions(), fewer) == "embedded"
    assert encoder_of(MsimcseOptions(), enough) == "scratch"
    assert encoder_of(MsimcseOptions(limit_pairs=500), enough) == "embedded"
    for made in (MocoOptions, EmmaXOptions):
        assert encoder_of(made(), pairs(600)) == "embedded"
    texts = [f"text {row}" for row in range(100_000)]
    assert encoder_of(MsimcseOptions(), Corpus(texts=texts)) == "scratch"
    assert encoder_of(MsimcseOptions(), Corpus(texts=texts[1:])) == "embedded"
    told = fitted(MsimcseOptions(), pairs(600))
    assert fitted(told, pairs(600)) == told and told.vocabulary_size == 0


@pytest.mark.parametrize(
    "given",
    [
        {"encoder": "scratch"},
        {"dim": 64},
        {"vocabulary_size": 3000},
        {"vocabulary_sample": 500},
        {"architecture": "transformer"},
        {"architecture": "transformer", "start": "embedded"},
    ],
)
def test_an_option_of_a_new_encoder_asks_for_one(given: dict[str, Any]) -> None:
    options = fitted(MsimcseOptions(**given), pairs(600))
    assert options.encoder == "scratch"
    assert options.learning_rate == (0.0003 if "architecture" in given else 0.01)


def test_passes_of_the_first_stage_follow_from_what_it_reads() -> None:
    many = replace(pairs(12_000), texts=[f"text {row}" for row in range(200_000)])
    assert of(fitted(EmmaXOptions(**NEW), many))[2:] == EXPECTED[12_000][2:]
    both = replace(pairs(12_000), triplets=(Triplets(many.texts, many.texts, many.texts),))
    assert of(fitted(TransaugOptions(), both))[2:] == EXPECTED[12_000][2:]
    assert fitted(MsimcseOptions(**NEW), many).batch_size == 2048  # which mixes all
    second = EmmaXOptions(phase="2", encoder="embedded")
    assert fitted(second, pairs(3000)).batch_size == 512  # 2,500 pairs, both sides
    assert fitted(second, many).batch_size == 2048


def test_a_vocabulary_has_room_for_the_characters() -> None:
    letters = [chr(0x4E00 + at) for at in range(3000)]
    rows = ["".join(letters[at : at + 30]) for at in range(0, 3000, 30)] * 20
    corpus = Corpus(ParallelText(rows, rows, [""] * len(rows)))
    needed = needed_characters(corpus)
    assert 2000 < needed <= 3000  # traditional ones fold
    assert fitted(MsimcseOptions(**NEW), corpus).vocabulary_size == needed * 3 // 2


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
