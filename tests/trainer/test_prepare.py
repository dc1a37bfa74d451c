"""What every method begins with: pairs in two parts, weights, rates, texts without pairs."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import XmineWarning
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.models.static import StaticTower
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run import prepare
from xmine.trainer.run.fitting import fitted
from xmine.trainer.run.prepare import (
    Split,
    cut_pairs,
    entailed_apart,
    kept_rows,
    texts_apart,
    tuned_apart,
)

SOURCES = [f"english {row}" for row in range(60)]
TARGETS = [f"chinese {row}" for row in range(60)]
PAIRS = ParallelText(SOURCES, TARGETS, ["good" if row % 3 else "bad" for row in range(60)])
TRIPLETS = Triplets(SOURCES, TARGETS, [f"other {row}" for row in range(60)])


def numbers(texts: Any) -> list[int]:
    return [int(text.split()[1]) for text in texts]


def test_pairs_are_in_one_of_two_parts_with_the_visits_of_their_origin() -> None:
    options = MsimcseOptions(held_out=12, source_weight={"bad": 0.5})
    split = Split.of(PAIRS, options)
    seen, held = numbers(split.seen.sources), numbers(split.held_out.sources)
    assert sorted(seen + held) == list(range(60)) and len(held) == 12
    assert numbers(split.seen.targets) == seen and numbers(split.held_out.targets) == held
    assert split.weights.tolist() == [1.0 if row % 3 else 0.5 for row in seen]


def test_fewer_pairs_are_among_more_and_the_same_are_held_out() -> None:
    found = [
        Split.of(PAIRS, MsimcseOptions(held_out=12, limit_pairs=limit, source_weight={"bad": 0.5}))
        for limit in (15, 30, 0)
    ]
    few, more, every = (numbers(split.seen.sources) for split in found)
    assert (len(few), len(more), len(every)) == (15, 30, 48)
    assert set(few) < set(more) < set(every) and few == sorted(few)
    assert few != every[:15] and more != every[:30]
    for split, rows in zip(found, (few, more, every), strict=True):
        assert split.held_out == found[0].held_out
        assert split.weights.tolist() == [1.0 if row % 3 else 0.5 for row in rows]
    other = Split.of(PAIRS, MsimcseOptions(held_out=12, limit_pairs=15, seed=2))
    assert numbers(other.seen.sources) != few


def test_a_limit_leaves_weights_of_origins_that_are_gone_out() -> None:
    words = [f"w{at}" for at in range(200)]
    pairs = ParallelText(words, [f"z{word}" for word in words], ["rare"] + ["usual"] * 199)
    options = MsimcseOptions(limit_pairs=3, held_out=5, source_weight={"rare": 0.1, "usual": 2.0})
    left = Split.of(pairs, options)
    assert left.seen.origins == ["usual"] * 3 and left.weights.tolist() == [2.0] * 3


def test_entailed_sentences_are_held_out_of_the_first_language() -> None:
    other = Triplets(TARGETS, SOURCES, TARGETS)
    tables, held = entailed_apart((TRIPLETS, other), MsimcseOptions(held_out=10))
    rows = numbers(tables[0].anchors)
    assert numbers(tables[1].anchors) == rows and len(rows) == 50
    assert sorted(rows + numbers(held.sources)) == list(range(60))
    assert (held.sources[0].split()[0], held.targets[0].split()[0]) == ("english", "chinese")


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    lambda data: data[:130] + bytes([data[130] ^ 64]) + data[131:],
    lambda data: data[:-4],
    lambda data: b"",
]


def test_tokens_on_disk_are_those_of_the_pairs_and_the_tokenizer_and_whole(
    tmp_path: Path, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in one folder: other pairs, texts cut otherwise, and files that were damaged."""
    monkeypatch.setattr(prepare, "_MANY", 1)
    run: Any = SimpleNamespace(folder=tmp_path, name="stage-")
    tower, other = StaticTower(toy_encoder), StaticTower(toy_encoder, ("bade: ", "bade: "))
    every = (PAIRS, tower), (PAIRS.take(np.arange(60)[::-1]), tower), (PAIRS, other)
    cuts = [cut_pairs(pairs, each, each) for pairs, each in every]

    def files() -> dict[Path, bytes]:
        for rows in cuts:
            found = kept_rows(run, 60, partial(replace, rows))
            for ours, theirs in zip(rows.columns, found.columns, strict=True):
                for name in ("ids", "starts", "keys"):
                    assert isinstance(getattr(theirs, name), np.memmap)
                    np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name))
        return {path: path.read_bytes() for path in tmp_path.rglob("*.npy")}

    whole = files()
    written = [path.stat().st_mtime_ns for path in whole]
    assert files() == whole and [path.stat().st_mtime_ns for path in whole] == written
    for damage in DAMAGES:
        for path, data in whole.items():
            path.write_bytes(damage(data))
        with pytest.warns(XmineWarning, match="changed since it was written: made again") as told:
            assert files() == whole
        assert {str(each.message).split(": ")[0] for each in told} == set(map(str, whole))


@pytest.mark.parametrize(("rows", "most", "expected"), [(60, 50, 3), (60, 2, 2), (12, 50, 1)])
def test_a_twentieth_of_the_triplets_is_held_out_of_the_stage_nli(
    rows: int, most: int, expected: int
) -> None:
    options = TransaugOptions(held_out=most, teacher="embedded")
    seen, held = tuned_apart(TRIPLETS.take(np.arange(rows)), options)
    assert len(held) == expected and sorted([*seen, *held]) == list(range(rows))


def test_of_texts_alone_some_are_held_out_as_pairs_of_their_halves() -> None:
    texts = [f"some words in text {row % 50}" for row in range(60)]
    corpus, options = Corpus(texts=texts, text_files=np.arange(60)), MsimcseOptions(held_out=12)
    left, held_out = texts_apart(corpus, options)
    held = {a + b for a, b in zip(held_out.sources, held_out.targets, strict=True)}
    assert len(held) == 12 and held <= set(texts) and not held & set(left.texts)
    assert set(left.texts) | held == set(texts), "a text is lost only with its copies"
    assert [texts[file] for file in left.text_files] == list(left.texts)
    assert fitted(MsimcseOptions(encoder="embedded"), corpus).held_out == 50 // 6
