"""Training on pairs in several pairs of languages: masks against loops, measures, resuming."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.toys.grids import mostly_long
from tests.toys.killed import Killed, kill_at
from tests.toys.languages import said_in, write_pairs
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokenizer import Vocabulary
from xmine.pairs.io import ParallelText, read_parallel
from xmine.pairs.language_pairs import LanguagePairs
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.rows import Rows, TrainingData
from xmine.trainer.methods import METHODS, emma_x, moco, msimcse, transaug
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.models.towers import Tower, cut_together
from xmine.trainer.options.contrast import MocoOptions, MsimcseOptions
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.ranking.virtual import Mixing, ranked_pairs
from xmine.trainer.run.devset import worst_language
from xmine.trainer.run.prepare import cut_pairs
from xmine.trainer.run.step import Step
from xmine.trainer.train import Trained, train

CODES = (("en", "zh"), ("en", "ko"), ("zh", "ko"))
BATCH = 8


@pytest.fixture
def pairs() -> ParallelText:
    """Few sentences in three pairs of languages, so that a text is often on either side."""
    english, chinese, meanings = toy_sentences(7, 5)
    korean = said_in("zh", [each[::-1] for each in meanings])  # in letters of the vocabulary
    sides = ((english, chinese), (english, korean), (chinese, korean))
    random, rows = np.random.default_rng(2), []
    for _ in range(4 * BATCH):
        place, one = int(random.integers(3)), int(random.integers(7))
        rows.append((sides[place][0][one], sides[place][1][one], place))
    languages = LanguagePairs(CODES, np.array([place for _, _, place in rows]))
    sources, targets = [x for x, _, _ in rows], [y for _, y, _ in rows]
    return ParallelText(sources, targets, [""] * len(rows), languages=languages)


@pytest.fixture
def tower(toy_vocabulary: Vocabulary) -> Tower:
    return StaticTower(new_static(toy_vocabulary, 16, seed=1))


# The masks, in loops.


def vector_of(tower: Tower, text: str) -> Tensor:
    with torch.no_grad():
        return tower.embed(tower.cut([text]))[0]


class Loops:
    """InfoNCE of each row against what shares no text with it, on whichever side it stands."""

    def __init__(self, tower: Tower, temperature: float) -> None:
        self.tower, self.temperature = tower, temperature
        self.across = 0  # candidates that are masked since a source is another's target

    def loss(
        self,
        batch: list[tuple[str, str]],
        column: int,
        queue: list[tuple[str, tuple[str, str]]],
        *,
        in_batch: bool,
    ) -> float:
        """Compare the texts of a column with those of the other, and with a queue of these."""
        total = 0.0
        for at, row in enumerate(batch):
            query = vector_of(self.tower, row[column])
            others = [(pair[1 - column], pair) for pair in batch[:at] + batch[at + 1 :]]
            logits = [query @ vector_of(self.tower, row[1 - column])]
            for text, pair in (others if in_batch else []) + queue:
                if not set(pair) & set(row):
                    logits.append(query @ vector_of(self.tower, text))
                elif pair[0] != row[0] and pair[1] != row[1]:
                    self.across += 1
            scaled = torch.stack(logits) / self.temperature
            total -= float(scaled.log_softmax(dim=0)[0])
        return total / len(batch)


def batches_of(pairs: ParallelText) -> list[tuple[np.ndarray[Any, Any], list[tuple[str, str]]]]:
    rows = [np.arange(start, start + BATCH) for start in range(0, len(pairs), BATCH)]
    return [
        (some, [(pairs.sources[row], pairs.targets[row]) for row in some.tolist()]) for some in rows
    ]


@pytest.mark.parametrize("in_batch", [True, False])
def test_moco_masks_equal_texts_of_all_files_and_sides(
    in_batch: bool, pairs: ParallelText, tower: Tower
) -> None:
    options = MocoOptions(temperature=0.2, in_batch_negatives=in_batch, momentum=0.5)
    step = moco._Step(tower, tower, options, size=20, steps=100).train()
    step.queue_x.across = step.queue_y.across = True
    data, loops = cut_pairs(pairs, tower, tower), Loops(tower, 0.2)
    queued: list[tuple[str, str]] = []
    for rows, batch in batches_of(pairs):
        losses = step.losses(data.take(rows), np.random.default_rng(1))
        for column, name in enumerate(("source_to_target", "target_to_source")):
            queue = [(pair[1 - column], pair) for pair in queued]
            expected = loops.loss(batch, column, queue, in_batch=in_batch)
            assert losses[name].item() == pytest.approx(expected, abs=1e-5)
        step.finish()
        queued = (queued + batch)[-20:]
    assert loops.across > 10


def test_msimcse_masks_equal_texts_of_all_files_and_sides(
    pairs: ParallelText, tower: Tower
) -> None:
    options = MsimcseOptions(temperature=0.2, symmetric=True)
    step = msimcse._Step(tower, options, 2, 1, across=True).train()
    data = Rows(cut_together(tower, [pairs.sources, pairs.targets]))
    loops = Loops(tower, 0.2)
    for rows, batch in batches_of(pairs):
        losses = step.losses(data.take(rows), np.random.default_rng(1))
        for column, name in enumerate(("source_to_target", "target_to_source")):
            expected = loops.loss(batch, column, [], in_batch=True)
            assert losses[name].item() == pytest.approx(expected, abs=1e-5)
    assert loops.across > 10


def test_emma_x_takes_no_text_of_the_pair_for_a_stranger(pairs: ParallelText, tower: Tower) -> None:
    data = cut_pairs(pairs, tower, tower)
    keys = torch.from_numpy(np.stack([each.keys for each in data.columns], axis=1))
    sides = tower.embed(data.columns[0]).detach(), tower.embed(data.columns[1]).detach()
    options = EmmaXOptions(ranks=3)
    mixing = Mixing.drawn(len(pairs), options, np.random.default_rng(1))
    found = ranked_pairs(sides, sides, keys, mixing, slice(None), across=True)[2]
    expected, across = [], 0
    texts = list(zip(pairs.sources, pairs.targets, strict=True))
    for direction in range(2):
        for row, own in enumerate(texts):
            ranks = mixing.ranks[direction, row].tolist()
            others = [texts[at] for at in mixing.others[direction, row]]
            expected.append(ranks[0])
            expected += [
                rank for rank, other in zip(ranks[1:], others, strict=True) if not {*other} & {*own}
            ]
            across += sum(bool({*x} & {*own}) and x[0] != own[0] and x[1] != own[1] for x in others)
    assert found.tolist() == expected and across > 3


# What a run makes of it.

SMALL: dict[str, Any] = dict(vocabulary_size=800, dim=32, batch_size=32, epochs=2, held_out=120)
SMALL |= dict(learning_rate=0.02, threads=1, near_batches=8)
OF_METHOD: dict[str, dict[str, Any]] = {
    "msimcse": {"symmetric": True},
    "moco": {"momentum": 0.5, "queue_size": 64},
    "transaug": {"queue_size": 64},
    "emma-x": {"momentum": 0.5, "queue_size": 64, "em_epochs": 1},
}


def options_of(method: str, teacher: Path, **changes: Any) -> TrainingOptions:
    given = SMALL | OF_METHOD[method] | changes
    if method == "transaug" and "share_encoder" not in given:
        given["teacher"] = str(teacher)
    return METHODS[method].options(**given)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("pairs")
    files = [write_pairs(folder, name, 400) for name in ("en-zh", "ko-en")]
    return Corpus(read_parallel(*files, write_pairs(folder, "en-ru", 200, seed=8)))


def weights(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("model.safetensors"))]


@pytest.mark.parametrize("method", mostly_long(["moco", "msimcse", "transaug"], ["moco"]))
@pytest.mark.parametrize("batches", mostly_long(["mixed", "language"], ["language"]))
def test_every_method_learns_and_goes_on_after_a_kill_with_the_same_weights(
    method: str, batches: str, corpus: Corpus, toy_folder: Path, tmp_path: Path
) -> None:
    options = options_of(method, toy_folder, batches=batches)
    whole = train(method, corpus, options, tmp_path / "whole")
    for step in (3, 33):
        with pytest.raises(Killed):
            train(method, corpus, options, tmp_path / "new", kill_at(step), resume=step > 3)
    resumed = train(method, corpus, options, tmp_path / "new", resume=True)
    assert resumed.measures == whole.measures
    assert weights(tmp_path / "new") == weights(tmp_path / "whole")
    check_told(whole, tmp_path / "whole", method)


def check_told(made: Trained, folder: Path, method: str) -> None:
    """See that the measures are means, and that log and card tell of every pair of languages."""
    by_language = [made.measures[f"accuracy_{name}"] for name in ("en-zh", "en-ko", "en-ru")]
    assert made.measures["accuracy"] == pytest.approx(np.mean(by_language))
    if method != "transaug":  # of the stage contrast, whose student is new and has few steps
        assert made.measures["accuracy"] > made.measures["before"] + 0.1
    own = folder / "source" if (folder / "source").is_dir() else folder
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert {"accuracy_en-zh", "accuracy_en-ko", "accuracy_en-ru"} <= set(lines[-1])
    card = (own / "README.md").read_text(encoding="utf-8")
    assert 'language:\n  - "en"\n  - "zh"\n  - "ko"\n  - "ru"\n' in card
    for name, value in zip(("en-zh", "en-ko", "en-ru"), by_language, strict=True):
        assert f"| {name} | " in card and f" | {value:.1%} |\n" in card
    (worst,) = worst_language(made.measures).items()
    assert f"{worst[0]} retrieves least, {worst[1]:.1%}." in card
    assert SentenceEncoder.load(own).facts.languages == ("en", "zh", "ko", "ru")


def test_measures_are_those_of_each_pair_of_languages_among_its_own_pairs(
    pairs: ParallelText, tower: Tower
) -> None:
    english, chinese, _ = toy_sentences(30, 9)
    held = ParallelText(
        english, chinese, [""] * 30, languages=LanguagePairs(CODES[:2], np.arange(30) % 3 // 2)
    )
    rows = cut_pairs(held, tower, tower)
    step = msimcse._Step(tower, MsimcseOptions(), 2, 1)
    data = TrainingData(rows, np.ones(30), rows, held.languages, held.languages)
    found = step.measured(data)
    x, y = step.embed(rows)
    accuracies = []
    for place in range(2):
        some = [row for row in range(30) if row % 3 // 2 == place]
        right = 0
        for row in some:
            right += max(some, key=lambda other: float(x[row] @ y[other])) == row
            right += max(some, key=lambda other: float(y[row] @ x[other])) == row
        accuracies.append(right / 2 / len(some))
    names = [f"accuracy_{name}" for name in ("en-zh", "en-ko")]
    assert [found[name] for name in names] == pytest.approx(accuracies)
    assert found["accuracy"] == pytest.approx(np.mean(accuracies))
    assert list(worst_language(found)) == [("en-zh", "en-ko")[int(np.argmin(accuracies))]]
    alone = step.measured(TrainingData(rows, np.ones(30), rows))
    assert set(alone) == set(found) - set(names) and worst_language(alone) == {}
    assert step.measured(TrainingData(rows, np.ones(30), None)) == {}


class Taken(Exception):
    """Has the step of a method that is about to train."""

    def __init__(self, step: Step, data: TrainingData) -> None:
        super().__init__()
        self.step, self.data = step, data


@pytest.mark.parametrize("method", METHODS)
def test_masks_look_across_where_there_are_several_files_alone(
    method: str,
    corpus: Corpus,
    toy_pairs: ParallelText,
    toy_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def take(step: Step, data: TrainingData, *_: object) -> None:
        raise Taken(step, data)

    for module in (moco, msimcse, emma_x, transaug):
        monkeypatch.setattr(module, "run_steps", take)
    for data, expected in ((corpus, True), (Corpus(toy_pairs), False)):
        own = {"share_encoder": True} if method == "transaug" else {}
        options = options_of(method, toy_folder, **own)
        with pytest.raises(Taken) as taken:
            train(method, data, options, tmp_path / f"{expected}")
        assert (taken.value.data.languages is not None) == expected
        parts: list[Any] = [each for each in taken.value.step.modules() if hasattr(each, "across")]
        assert len(parts) == (2 if method == "moco" else 1)
        assert {each.across for each in parts} == {expected}
