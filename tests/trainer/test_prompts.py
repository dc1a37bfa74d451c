"""Prompts before the texts of each side: in training, in what is measured, in what is saved."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.adapted import mine_toys
from tests.toys.grids import mostly_long
from xmine.browsing.opening import open_pairs
from xmine.encoders.encoder import SentenceEncoder
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.options import load_toml
from xmine.pairs.io import ParallelText
from xmine.trainer import confident
from xmine.trainer.adapt import adapt
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.methods import METHODS
from xmine.trainer.models.static import StaticTower
from xmine.trainer.options.adapt import AdaptOptions
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.train import train

FEW: dict[str, Any] = {"batch_size": 64, "epochs": 1, "held_out": 100, "threads": 1}
QUERY, OTHER = "bade: ", "lulu: "


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the texts that towers cut, with what stands before them."""
    noted: list[str] = []
    ids = StaticTower._ids

    def noting(tower: StaticTower, texts: Sequence[str]) -> Any:
        noted.extend(texts)
        return ids(tower, texts)

    monkeypatch.setattr(StaticTower, "_ids", noting)
    return noted


def options_of(method: str, encoder: Path, **given: Any) -> TrainingOptions:
    own: dict[str, dict[str, Any]] = {
        "moco": {"queue_size": 128},
        "transaug": {"queue_size": 128, "teacher": str(encoder), "distilled_encoder": str(encoder)},
        "emma-x": {"queue_size": 128, "em_epochs": 1},
    }
    names = ("src_encoder", "tgt_encoder") if given.pop("two", False) else ("encoder",)
    own_and_given = own.get(method, {}) | given | dict.fromkeys(names, str(encoder))
    return METHODS[method].options(**FEW, **own_and_given)


@pytest.mark.parametrize("method", mostly_long(METHODS, ["moco", "transaug"]))
def test_each_side_is_read_behind_its_prompt(
    method: str, toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path, read: list[str]
) -> None:
    options = options_of(method, toy_folder, src_prompt=QUERY, tgt_prompt=OTHER)
    train(method, Corpus(pairs=toy_pairs), options, tmp_path / "new")
    wanted = {QUERY + text for text in toy_pairs.sources} | {OTHER + x for x in toy_pairs.targets}
    bare = set(toy_pairs.sources) if method == "transaug" else set()  # which the teacher reads
    assert set(read) == wanted | bare


def test_other_texts_are_read_as_their_language_is(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path, read: list[str]
) -> None:
    english, chinese = list(toy_pairs.sources[:60]), list(toy_pairs.targets[60:120])
    files = np.repeat([0, 1], 60)
    corpus = Corpus(toy_pairs, texts=[*english, *chinese], text_files=files)
    options = options_of("msimcse", toy_folder, src_prompt=QUERY, tgt_prompt=OTHER)
    train("msimcse", corpus, options, tmp_path / "new")
    assert not {text for text in read if text.removeprefix(QUERY) in chinese}
    assert not {text for text in read if text.removeprefix(OTHER) in english}


@pytest.mark.parametrize(
    ("given", "defaults"),
    [
        ({"src_prompt": QUERY, "tgt_prompt": QUERY}, {"": QUERY}),
        ({"src_prompt": QUERY}, {"": ""}),
        ({}, {"": ""}),
        (
            {"src_prompt": QUERY, "tgt_prompt": OTHER, "two": True},
            {"source": QUERY, "target": OTHER},
        ),
    ],
)
def test_a_prompt_of_all_texts_becomes_the_default_of_what_is_saved(
    given: dict[str, Any],
    defaults: dict[str, str],
    toy_pairs: ParallelText,
    toy_folder: Path,
    tmp_path: Path,
) -> None:
    options = options_of("moco", toy_folder, **given)
    train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new")
    for name, prompt in defaults.items():
        saved = SentenceEncoder.load(tmp_path / "new" / name)
        assert saved.settings.choose("") == prompt
        explicit = saved.encode(["ba de"], prompt=prompt or "")
        np.testing.assert_array_equal(saved.encode(["ba de"]), explicit)


@pytest.mark.long
def test_adapting_trains_behind_the_prompts_of_the_run(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[str]
) -> None:
    monkeypatch.setattr(confident, "FEWEST", 50)
    mine_toys(tmp_path, toy_encoder)
    texts = tmp_path / "en.txt", tmp_path / "zh.txt"
    start = SentenceEncoder.load(tmp_path / "start")
    options = MiningOptions(src_prompt=QUERY, tgt_prompt=QUERY)
    mine(*texts, start, options, run=tmp_path / "prompted")
    rounds = list(
        adapt(
            tmp_path / "prompted",
            tmp_path / "adapted",
            AdaptOptions(rounds=1, epochs=2, threads=1, confidence=0.9),
        )
    )
    assert len(rounds) == 2 and read and all(text.startswith(QUERY) for text in read)
    said = load_toml(tmp_path / "adapted/encoder-1/options.toml")
    assert (said["src_prompt"], said["tgt_prompt"]) == (QUERY, QUERY)
    again = open_pairs(tmp_path / "adapted/round-1").summary["options"]
    assert (again["src_prompt"], again["tgt_prompt"]) == (QUERY, QUERY)
    assert SentenceEncoder.load(tmp_path / "adapted/encoder-1").settings.choose("") == QUERY
