"""What a vocabulary takes for one and the same text."""

import json
from pathlib import Path

import numpy as np

from xmine.encoders.modules.static import StaticEmbedding
from xmine.run.worker_process import work_apart
from xmine.trainer.data.vocabulary import (
    extended_vocabulary,
    model_of,
    normaliser_rules,
    train_vocabulary,
)
from xmine.trainer.models.static import extended_static, new_static


def test_another_process_makes_the_same_model(tmp_path: Path) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text(normaliser_rules(), encoding="utf-8")
    texts = [f"word{n} is n{n % 7} and {n * 31}" for n in range(200)]
    given = json.dumps({"texts": texts, "size": 60, "rules": str(rules)}).encode()
    name = "xmine.trainer.data.vocabulary:model_of"
    assert work_apart(name, given, "the vocabulary") == model_of(given)


def test_an_extended_vocabulary_keeps_its_ids_and_cuts_new_text_into_fewer_pieces() -> None:
    english = [f"the {noun} sees {n} houses" for n, noun in enumerate(("man", "dog", "child") * 60)]
    turkish = [f"evlerimizden {noun} {n} geldi" for n, noun in enumerate(("köpek", "çocuk") * 90)]
    known = train_vocabulary(english, english, 60, sample=1000, seed=1)
    more = extended_vocabulary(known, turkish, 80)
    assert len(more) > len(known)
    names = [
        vocabulary.text_of(piece) for vocabulary in (known, more) for piece in range(len(known))
    ]
    assert names[: len(known)] == names[len(known) :]
    before, after = known.ids(turkish), more.ids(turkish)
    assert len(after[0]) < len(before[0]) and not (after[0] == 0).any()
    assert (before[0] == 0).any()  # letters that English has not
    assert np.array_equal(known.ids(english)[0], more.ids(english)[0])


def test_the_vector_of_a_new_piece_is_the_mean_of_those_that_it_was_cut_into() -> None:
    english = [f"the {noun} sees {n} houses" for n, noun in enumerate(("man", "dog", "child") * 60)]
    known = train_vocabulary(english, english, 60, sample=1000, seed=1)
    more = extended_vocabulary(known, ["den dogma ğ"] * 40, 20)
    encoder = new_static(known, 8, seed=1)
    extended = extended_static(encoder, more, seed=1)
    assert isinstance(encoder.body, StaticEmbedding)
    assert isinstance(extended.body, StaticEmbedding)
    old, new = encoder.body.vectors, extended.body.vectors
    assert np.allclose(new[: len(old)], old, atol=0.002)
    random = 0
    for piece in range(len(known), len(more)):
        ids, _ = known.ids([more.text_of(piece)])
        if old[ids].any():
            assert np.allclose(new[piece], old[ids].mean(axis=0), atol=0.002)
        else:
            random += 1
            assert 0 < np.linalg.norm(new[piece]) < 1
    assert 0 < random < len(more) - len(known)
