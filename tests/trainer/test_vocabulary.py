"""What a vocabulary takes for one and the same text."""

import json
from pathlib import Path

import numpy as np

from xmine.encoders.tokenizer import Vocabulary
from xmine.run.worker_process import work_apart
from xmine.trainer.data.vocabulary import (
    model_of,
    more_pieces,
    normaliser_rules,
    train_vocabulary,
)


def test_another_process_makes_the_same_model(tmp_path: Path) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text(normaliser_rules(), encoding="utf-8")
    texts = [f"word{n} is n{n % 7} and {n * 31}" for n in range(200)]
    given = json.dumps({"texts": texts, "size": 60, "rules": str(rules)}).encode()
    name = "xmine.trainer.data.vocabulary:model_of"
    assert work_apart(name, given, "the vocabulary") == model_of(given)


def test_more_pieces_keep_the_ids_and_cut_new_text_into_fewer_pieces() -> None:
    english = [f"the {noun} sees {n} houses" for n, noun in enumerate(("man", "dog", "child") * 60)]
    turkish = [f"evlerimizden {noun} {n} geldi" for n, noun in enumerate(("köpek", "çocuk") * 90)]
    known = train_vocabulary(english, english, 60, sample=1000, seed=1)
    more = Vocabulary(known.model + more_pieces(known, turkish, 80), "")
    assert len(more) > len(known)
    pieces = range(len(known))
    assert [*map(known.text_of, pieces)] == [*map(more.text_of, pieces)]
    before, after = known.ids(turkish), more.ids(turkish)
    assert len(after[0]) < len(before[0]) and not (after[0] == 0).any()
    assert (before[0] == 0).any()  # letters that English has not
    assert np.array_equal(known.ids(english)[0], more.ids(english)[0])
