"""The frozen learner: its features, each kind of task, how C is chosen, and folds."""

import numpy as np
import pytest
from papers.frozen import (
    FrozenLearner,
    logistic_regression,
    pair_features,
    symmetric_features,
)
from papers.metrics import task_figures
from papers.tasks import (
    Examples,
    HeadTask,
    Kind,
    Predict,
    examples,
    folds,
    sharing_texts,
)

from tests.toys.transfer import text, two_topics
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.progress import silent


def test_features_of_a_pair_g05() -> None:
    u, v = np.array([0.6, 0.8], np.float32), np.array([1, 0], np.float32)
    np.testing.assert_allclose(pair_features(u, v), [0.6, 0.8, 1, 0, 0.4, 0.8], atol=1e-6)
    np.testing.assert_allclose(symmetric_features(u, v), [0.4, 0.8, 0.6, 0], atol=1e-6)
    np.testing.assert_array_equal(symmetric_features(u, v), symmetric_features(v, u))


def of_topics(seeds: range) -> Examples:
    return examples((((text(at % 2, at),), at % 2) for at in seeds), "toy")


def learned(encoder: SentenceEncoder, kind: Kind, train: Examples, classes: int = 0) -> Predict:
    task = HeadTask(f"a {kind}", kind, [str(at) for at in range(classes)], train, None, {}, "")
    return FrozenLearner()(encoder, task, "", silent)


def test_texts_of_two_classes_are_learned(toy_encoder: SentenceEncoder) -> None:
    train = of_topics(range(40))
    scores = learned(toy_encoder, "class", train, 3)(
        [(text(at % 2, at),) for at in range(90, 99)], "en"
    )
    assert scores.shape == (9, 3)
    assert np.isneginf(scores[:, 2]).all()  # a class without examples is never given
    assert scores.argmax(axis=1).tolist() == [at % 2 for at in range(90, 99)]


def test_the_right_choice_is_learned(toy_encoder: SentenceEncoder) -> None:
    """Right is the choice about the topic of the premise; some have two choices, some three."""

    def example(seed: int) -> tuple[tuple[str, ...], int]:
        topics = np.random.default_rng(seed).permutation(6)[: 2 + seed % 2 + 1]
        right = seed % (len(topics) - 1)
        premise = text(topics[right + 1], seed)
        return (premise, *(text(topic, seed + 500) for topic in topics[1:])), right

    made = [example(seed) for seed in range(200)]
    train = Examples([texts for texts, _ in made], np.array([r for _, r in made], dtype=float))
    tests = [example(seed) for seed in range(900, 950)]
    scores = learned(toy_encoder, "choice", train)([texts for texts, _ in tests], "en")
    right = scores.argmax(axis=1) == [answer for _, answer in tests]
    assert scores.shape == (50, 3)
    assert [np.isneginf(row).sum() for row in scores] == [3 - len(t) + 1 for t, _ in tests]
    assert right.mean() >= 0.75  # chance is 0.42


def test_dev_chooses_and_nothing_is_learned_from_it(toy_encoder: SentenceEncoder) -> None:
    """Of train a third is wrong: a dev with the same labels wants no regularisation, others some.

    Whichever is chosen, the scores are those of one model fitted on train.
    """
    texts = [(text(at % 2, at),) for at in range(90)]
    wrong = [at % 2 if at % 3 else 1 - at % 2 for at in range(90)]
    noisy, clean = Examples(texts, np.array(wrong, dtype=float)), of_topics(range(500, 590))
    learner, scores = FrozenLearner(), []
    for name, dev in (("noisy", noisy), ("clean", clean)):
        task = HeadTask(name, "class", ("0", "1"), noisy, dev, {}, "")
        scores.append(learner(toy_encoder, task, "", silent)(clean.texts, "en"))
    assert learner.chosen["noisy"][0] > learner.chosen["clean"][0]
    assert np.abs(scores[0] - scores[1]).max() > 0.01
    some, other = (task_figures("class", each, clean.answers)["accuracy"] for each in scores)
    assert other > some
    rows = toy_encoder.encode([each for (each,) in texts])
    tests = toy_encoder.encode([each for (each,) in clean.texts])
    for each, name in zip(scores, ("noisy", "clean"), strict=True):
        model = logistic_regression(rows, noisy.answers, learner.chosen[name][0])
        np.testing.assert_allclose(each, model.predict_log_proba(tests), atol=1e-5)


def test_examples_that_share_a_text_are_held_out_together(toy_encoder: SentenceEncoder) -> None:
    texts = [("a", "b"), ("c", "d"), ("b", "e"), ("f", "g"), ("h", "f"), ("i", "i")]
    groups = sharing_texts(texts)
    assert [groups.tolist().index(group) for group in groups] == [0, 1, 0, 3, 3, 5]
    random = np.random.default_rng(1)
    labels, groups = random.integers(0, 2, 200).astype(float), random.integers(0, 60, 200)
    kinds: tuple[Kind, ...] = ("pair", "number")
    for kind in kinds:
        parts = list(folds(kind, labels, 5, "x", groups))
        assert sorted(at for _, held in parts for at in held) == list(range(200))
        assert all(not set(groups[learn]) & set(groups[held]) for learn, held in parts)
    with pytest.raises(FileError, match="x: 4 groups of examples that share no text"):
        folds("pair", labels, 5, "x", groups % 4)


def test_folds_hold_everything_out_once_with_the_share_of_each_class() -> None:
    answers = np.array([0.0] * 30 + [1.0] * 10)
    parts = list(folds("class", answers, 10, "x"))
    assert sorted(at for _, held in parts for at in held) == list(range(40))
    assert all(answers[held].sum() == 1 for _, held in parts)
    assert all(not set(learn) & set(held) for learn, held in parts)
    with pytest.raises(FileError, match="x: 9 examples of the rarest class"):
        folds("class", answers[:39], 10, "x")
    with pytest.raises(FileError, match="x: 4 examples"):
        folds("number", answers[:4], 5, "x")


@pytest.fixture
def toy() -> Examples:
    return two_topics()
