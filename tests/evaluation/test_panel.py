"""The panel of nineteen languages: what training takes from a language is seen, and told."""

import re
from dataclasses import replace

import numpy as np
import pytest

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.metadata import EncoderFacts, read_facts
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.tokenizer import Vocabulary
from xmine.evaluation.panel import (
    AFTER,
    ALL,
    BEFORE,
    compare_encoders,
    languages_of_examples,
    told,
)
from xmine.evaluation.reports.table import EncoderFigure, Line
from xmine.evaluation.result import Metric
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus


@pytest.fixture(scope="module")
def embedded() -> SentenceEncoder:
    encoder = SentenceEncoder.load(EMBEDDED)  # without packs, which a changed encoder has not
    return replace(encoder, packs={}, facts=read_facts(EMBEDDED, ""))


def without_kana(encoder: SentenceEncoder, languages: tuple[str, ...]) -> SentenceEncoder:
    """Exchange the vectors of the tokens with kana, which Japanese alone has."""
    body = encoder.body
    assert isinstance(body, StaticEmbedding) and isinstance(body.pieces, Vocabulary)
    kana = [at for at in range(len(body.pieces)) if re.search("[ぁ-ヿ]", body.pieces.text_of(at))]
    rows = body.table.rows.copy()
    rows[kana] = rows[np.random.default_rng(1).permutation(kana)]
    table = Table(rows, body.table.factors)
    return SentenceEncoder(StaticEmbedding(body.pieces, table), facts=EncoderFacts(languages))


EVERY = np.arange(100)


def test_what_one_language_lost_is_told_of_this_one_alone(embedded: SentenceEncoder) -> None:
    same = compare_encoders(embedded, embedded, EVERY)
    assert {line.figures[AFTER].gain for line in same} == {0.0}
    assert told(same)[1] == ""
    assert len(same) == 19 and {line.row for line in same} >= {ALL, "ja", "vi"}
    of_all = next(line.figures[BEFORE].value for line in same if line.row == ALL)
    assert of_all is not None and 0.7 < of_all < 0.9, "there is room to rise and to fall"

    hurt = compare_encoders(embedded, without_kana(embedded, embedded.facts.languages), EVERY)
    lower = {line.row for line in hurt if line.figures[AFTER].verdict == "lower"}
    assert lower == {ALL, "ja"}
    others = [line for line in hurt if line.row not in lower]
    assert {line.figures[AFTER].gain for line in others} == {0.0}
    said, fell = told(hurt)
    assert said.startswith("100 sentences a language, before -> after (gain): half sentences 8")
    assert fell.startswith("fell by more than noise: half sentences 8")
    assert "half sentences ja" in fell
    better = compare_encoders(without_kana(embedded, embedded.facts.languages), embedded, EVERY)
    assert "lower" not in {line.figures[AFTER].verdict for line in better}


@pytest.mark.parametrize(
    ("row", "gain", "ends", "falls"),
    [
        (ALL, -0.005, (-0.006, -0.001), True),
        (ALL, -0.004, (-0.005, -0.001), False),  # no user should act on it
        (ALL, -0.02, (-0.04, 0.001), False),
        ("ja", -0.02, (-0.03, -0.001), True),
        ("ja", -0.019, (-0.03, -0.001), False),
        ("ja", 0.05, (0.01, 0.09), False),
    ],
)
def test_a_fall_is_told_that_is_beyond_noise_and_large_enough(
    row: str, gain: float, ends: tuple[float, float], falls: bool
) -> None:
    figures = {BEFORE: EncoderFigure(0.8), AFTER: EncoderFigure(0.8 + gain, None, gain, ends)}
    line = Line("half sentences", row, Metric("mean", "found", ""), figures)
    assert bool(told([line])[1]) == falls


def test_sentences_of_the_training_data_are_left_out_however_they_are_written(
    embedded: SentenceEncoder,
) -> None:
    texts = languages_of_examples()
    loud = f"<b>{texts['de'][8].upper()}</b> !!"
    corpus = Corpus(ParallelText(["new", texts["ja"][7]], [loud, "x"], ["", ""]), texts=["y", ""])
    unseen = corpus.unseen(texts.values())
    assert sorted({*EVERY.tolist()} - {*unseen.tolist()}) == [7, 8]
    lines = compare_encoders(embedded, embedded, unseen)
    assert told(lines, 2)[0].startswith("98 sentences a language (2 more are in the training da")
    assert compare_encoders(embedded, embedded, EVERY[:49]) == []
    said = "no panel of languages: 51 of its 100 sentences are in the data"
    assert told([], 51) == (said, "")


def test_the_languages_are_those_that_the_encoder_states(embedded: SentenceEncoder) -> None:
    german = without_kana(embedded, ("en", "deu", "ja"))
    rows = {line.row for line in compare_encoders(embedded, german, EVERY)}
    assert rows == {ALL, "de", "ja"}
    assert compare_encoders(embedded, without_kana(embedded, ("en", "sv")), EVERY) == []
    unknown = without_kana(embedded, ())
    assert len(compare_encoders(unknown, unknown, EVERY)) == 19
