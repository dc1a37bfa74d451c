"""A teacher: where a new static encoder starts, and what its sentences approach."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.rows import Rows, TokenizedSide
from xmine.trainer.methods.msimcse import _Step
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.models.teacher import Lessons, Teacher
from xmine.trainer.models.towers import cut_together
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.train import train

SMALL: dict[str, Any] = {"dim": 12, "batch_size": 32, "held_out": 50, "threads": 1, "epochs": 2}


@pytest.fixture
def tower(toy_vocabulary: Vocabulary) -> StaticTower:
    return StaticTower(new_static(toy_vocabulary, 12, 1))


def test_a_token_starts_as_the_teachers_vector_of_its_text(
    toy_encoder: SentenceEncoder, toy_vocabulary: Vocabulary, tower: StaticTower
) -> None:
    random = tower.vectors.detach().clone()
    teacher = Teacher(toy_encoder, tower, "toy")
    theirs = toy_encoder.encode([toy_vocabulary.text_of(at) for at in range(len(toy_vocabulary))])
    is_known = np.asarray(theirs.any(axis=1))
    is_known[toy_vocabulary.meaningless()] = False
    unknown = torch.from_numpy(~is_known)
    assert torch.equal(tower.vectors[unknown], random[unknown])
    ours, theirs = tower.vectors.detach().numpy()[is_known], theirs[is_known]
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 0.2, rtol=1e-5)
    # Twelve of 32 axes keep what can be kept: no others lead nearer to the cosines.
    left = theirs - theirs @ teacher.axes.numpy() @ teacher.axes.numpy().T
    lost = (left**2).sum() / (theirs**2).sum()
    spectrum = np.linalg.svd(theirs, compute_uv=False) ** 2
    assert lost == pytest.approx(spectrum[12:].sum() / spectrum.sum(), abs=1e-3)


def test_lessons_are_the_vectors_of_both_sides_in_known_languages(
    toy_encoder: SentenceEncoder, tower: StaticTower, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    english = replace(toy_encoder, facts=EncoderFacts(("en",)))
    pairs = toy_pairs.take(np.arange(20))
    sides = cut_together(tower, (pairs.sources, pairs.targets))
    for encoder in (toy_encoder, english):
        folder = tmp_path / str(encoder is english)
        folder.mkdir()
        teacher = Teacher(encoder, tower, "toy")
        codes = ("en", "zh")
        found = teacher.lessons(
            Corpus(pairs=pairs), codes, (pairs.sources, pairs.targets), sides, folder, print
        )
        said = toy_encoder.encode(pairs.sources)
        if encoder is toy_encoder:
            said = said + toy_encoder.encode(pairs.targets)
        np.testing.assert_allclose(found.of(sides).numpy(), said, atol=2e-3)
    other = replace(toy_encoder, facts=EncoderFacts(("fr",)))
    with pytest.raises(TrainingError, match="of 20 rows the teacher knows neither language"):
        Teacher(other, tower, "toy").lessons(
            Corpus(pairs=pairs), codes, (pairs.sources, pairs.targets), sides, folder, print
        )


def test_a_row_without_a_lesson_has_zeros() -> None:
    lessons = Lessons(np.eye(3, dtype=np.float16), np.array([2, -1, 0]))
    side = TokenizedSide(np.zeros(3, np.int32), np.arange(4), np.arange(3))
    assert torch.equal(lessons.of([side]), torch.eye(3)[[2, 0, 0]] * torch.tensor([[1], [0], [1]]))


def test_the_loss_tells_the_lesson_of_a_row_from_those_of_the_others(
    toy_encoder: SentenceEncoder, tower: StaticTower, toy_pairs: ParallelText
) -> None:
    pairs = toy_pairs.take(np.arange(8))
    sides = cut_together(tower, (pairs.sources, pairs.targets))
    random = np.random.default_rng(1)
    said = random.standard_normal((16, 32)).astype(np.float16)
    lessons, axes = Lessons(said, np.arange(16)), torch.from_numpy(random.standard_normal((32, 12)))
    options = MsimcseOptions(**SMALL, temperature=0.1, teacher_weight=3.0, token_dropout=0.0)
    step = _Step(tower, options, 2, 1, taught=(axes.float(), lessons))
    found = step.losses(Rows(sides), random)["teacher"].item()
    x, y = (tower.embed(side).detach().numpy().astype(np.float64) for side in sides)
    taught = (said[:8].astype(np.float64) + said[8:].astype(np.float64)) @ axes.numpy()
    taught /= np.linalg.norm(taught, axis=1, keepdims=True)
    wanted = []
    for one in (x, y):
        logits = one @ taught.T / 0.1
        wanted += (np.log(np.exp(logits).sum(axis=1)) - np.diagonal(logits)).tolist()
    assert found == pytest.approx(3 * np.mean(wanted), rel=1e-4)


def test_a_taught_run_ends_with_an_encoder(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    options = MsimcseOptions(**SMALL, teacher=str(toy_folder))
    made = train(
        "msimcse", Corpus(pairs=toy_pairs, texts=toy_pairs.sources[:9]), options, tmp_path / "e"
    )
    assert made.measures["accuracy"] > 0.9
    assert not (tmp_path / "e.training").exists()


def test_what_cannot_be_taught_is_refused(toy_pairs: ParallelText, toy_folder: Path) -> None:
    for flags, said in (
        ({"encoder": str(toy_folder)}, "teaches a new encoder by PAIRS"),
        ({"architecture": "transformer", "heads": 2}, "teaches a new static encoder alone"),
        ({"dim": 64}, "32 dimensions, those of the new encoder 64"),
    ):
        given = SMALL | {"encoder": "scratch", "teacher": str(toy_folder)} | flags
        options = MsimcseOptions(**given)
        with pytest.raises(TrainingError, match=said):
            train("msimcse", Corpus(pairs=toy_pairs), options, toy_folder.parent / "made")
