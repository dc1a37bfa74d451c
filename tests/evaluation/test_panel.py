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
    compare_encoders,
    count_known,
    languages_of_examples,
    told,
)


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


def test_what_one_language_lost_is_told_of_this_one_alone(embedded: SentenceEncoder) -> None:
    same = compare_encoders(embedded, embedded)
    assert {line.figures[AFTER].gain for line in same} == {0.0}
    assert told(same)[1] == ""
    assert len(same) == 3 * 19 and {line.row for line in same} >= {ALL, "ja", "vi"}

    hurt = compare_encoders(embedded, without_kana(embedded, embedded.facts.languages))
    lower = {line.row for line in hurt if line.figures[AFTER].verdict == "lower"}
    assert lower == {ALL, "ja"}
    others = [line for line in hurt if line.row not in lower]
    assert {line.figures[AFTER].gain for line in others} == {0.0}
    _, fell = told(hurt)
    assert fell.startswith("fell by more than noise: retrieval 98.0 -> ") and "retrieval ja" in fell
    texts = languages_of_examples()
    known = count_known([["new", texts["ja"][7], texts["de"][7]], texts["vi"][:3]])
    said, _ = told(hurt, known)
    assert said.startswith("100 sentences a language, 4 of them in the training data, before -> ")
    better = compare_encoders(without_kana(embedded, embedded.facts.languages), embedded)
    assert "lower" not in {line.figures[AFTER].verdict for line in better}


def test_the_languages_are_those_that_the_encoder_states(embedded: SentenceEncoder) -> None:
    german = without_kana(embedded, ("en", "deu", "ja"))
    rows = {line.row for line in compare_encoders(embedded, german)}
    assert rows == {ALL, "de", "ja"}
    assert compare_encoders(embedded, without_kana(embedded, ("en", "sv"))) == []
    unknown = without_kana(embedded, ())
    assert len(compare_encoders(unknown, unknown)) == 3 * 19
