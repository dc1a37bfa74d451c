"""An encoder and a head trained together: what frozen vectors hide is learned, nothing leaks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from papers.benchmarks import TransferOptions
from papers.finetune import FinetunedLearner, TaskHead
from papers.tasks import Examples, HeadTask, Kind, Predict

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import OptionError
from xmine.options import without_effect
from xmine.pairs.io import ParallelText
from xmine.progress import silent
from xmine.trainer.models import tower_of
from xmine.trainer.models.scratch import new_transformer
from xmine.trainer.options.contrast import MsimcseOptions

KINDS: tuple[Kind, ...] = ("class", "pair", "choice", "document", "number")
WORDS = ("fifi", "lulu", "mama")
RATES = {"static": 0.01, "transformer": 0.003}
SMALL = MsimcseOptions(
    architecture="transformer", dim=24, layers=1, heads=2, max_tokens=40, dtype="float32"
)


def blind(kind: str, vocabulary: Vocabulary) -> SentenceEncoder:
    """Make an encoder that gives the same vector to every text, static or a transformer."""
    rows = np.tile(np.linspace(-1, 1, 16, dtype=np.float32), (len(vocabulary), 1))
    body = StaticEmbedding(vocabulary, Table(rows, None))
    if kind == "static":
        return SentenceEncoder(body)
    return new_transformer(vocabulary, SMALL, body)


@pytest.fixture(params=["static", "transformer"])
def encoder(request: pytest.FixtureRequest, toy_vocabulary: Vocabulary) -> SentenceEncoder:
    return blind(request.param, toy_vocabulary)


def options(encoder: SentenceEncoder, **changes: Any) -> TransferOptions:
    kind = "static" if isinstance(encoder.body, StaticEmbedding) else "transformer"
    given = {"learning_rate": RATES[kind], "epochs": 10, "batch_size": 16, **changes}
    return TransferOptions(**given)


def examples(kind: Kind, sentences: list[str], seed: int) -> Examples:
    """Put words into sentences; the answers follow from them alone."""
    random = np.random.default_rng(seed)
    texts: list[tuple[str, ...]] = []
    answers: list[Any] = []
    for number, sentence in enumerate(sentences):
        other = sentences[number - 1]
        which = int(random.integers(3))
        if kind == "class":
            texts.append((f"{WORDS[which]} {sentence}",))
            answers.append(which)
        elif kind == "pair":  # which word has the second text?
            first, second = random.integers(2, size=2)
            texts.append((f"{sentence} {WORDS[first]}", f"{other} {WORDS[second]}"))
            answers.append(int(second))
        elif kind == "choice":  # sometimes of two, sometimes of three
            choices = [f"{other} {WORDS[0]}", f"{sentence} {WORDS[1]}", f"{other} {WORDS[1]}"]
            choices = choices[: 2 + number % 2]
            right = int(random.integers(len(choices)))
            choices[0], choices[right] = choices[right], choices[0]
            texts.append((sentence, *choices))
            answers.append(right)
        elif kind == "document":
            there = random.random(3) < 0.5
            words = [word for word, is_in in zip(WORDS, there, strict=True) if is_in]
            texts.append((" ".join([sentence, *words]),))
            answers.append(there)
        else:
            texts.append((f"{WORDS[which]} {sentence}",))
            answers.append(1 + 2 * which)
    return Examples(texts, np.array(answers, dtype=np.float64))


def task_of(kind: Kind, pairs: ParallelText, *, dev: bool = True) -> HeadTask:
    sentences = [each for each in pairs.sources if not set(each.split()) & set(WORDS)]
    classes = {"class": WORDS, "pair": WORDS[:2], "document": WORDS}.get(kind, ())
    return HeadTask(
        name="toy",
        kind=kind,
        classes=classes,
        train=examples(kind, sentences[:400], 1),
        dev=examples(kind, sentences[400:500], 2) if dev else None,
        tests={"toy": examples(kind, sentences[500:700], 3)},
        split="made up",
    )


def learned(encoder: SentenceEncoder, task: HeadTask, **changes: Any) -> Predict:
    return FinetunedLearner(options(encoder, **changes))(encoder, task, "", silent)


def right(predict: Predict, task: HeadTask) -> float:
    test = task.tests["toy"]
    scores = predict(test.texts, "en")
    if task.kind == "number":
        return float((np.abs(scores - test.answers) < 1).mean())
    if task.kind == "document":
        return float(((scores > 0) == (test.answers > 0)).mean())
    return float((scores.argmax(axis=1) == test.answers).mean())


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_learns_what_frozen_vectors_hide(
    kind: Kind, encoder: SentenceEncoder, toy_pairs: ParallelText
) -> None:
    task = task_of(kind, toy_pairs)
    texts = [text for example in task.tests["toy"].texts for text in example]
    assert np.ptp(encoder.encode(texts), axis=0).max() < 1e-5  # any frozen head is at chance
    predict = learned(encoder, task)
    test = task.tests["toy"]
    shape = {"choice": (200, 3), "number": (200,)}.get(kind, (200, len(task.classes)))
    scores = predict(test.texts, "en")
    assert scores.shape == shape and scores.dtype == np.float64
    if kind == "choice":
        assert np.isneginf(scores[:, 2]).sum() == 100  # those of two choices
    assert right(predict, task) > 0.75  # by chance 1/3 to 1/2


def test_the_encoder_stays_as_it_was(encoder: SentenceEncoder, toy_pairs: ParallelText) -> None:
    task = task_of("class", toy_pairs)
    before = encoder.encode(toy_pairs.sources[:50])
    state = torch.random.get_rng_state()
    learned(encoder, task, epochs=1)
    assert torch.equal(state, torch.random.get_rng_state())
    np.testing.assert_array_equal(encoder.encode(toy_pairs.sources[:50]), before)


def test_dev_chooses_the_epoch(toy_vocabulary: Vocabulary, toy_pairs: ParallelText) -> None:
    encoder = blind("static", toy_vocabulary)
    task = task_of("class", toy_pairs)
    assert task.dev
    wrong = Examples(task.dev.texts, (task.dev.answers + 1) % 3)
    slow = {"learning_rate": 0.002, "epochs": 6}
    with_dev = learned(encoder, task, **slow)
    misled = learned(encoder, replace(task, dev=wrong), **slow)
    without = learned(encoder, replace(task, dev=None), **slow)
    assert right(misled, task) < right(with_dev, task)
    texts = task.tests["toy"].texts
    assert right(with_dev, task) >= right(without, task) - 0.02
    assert np.abs(misled(texts, "en") - without(texts, "en")).max() > 0.01


@pytest.mark.long
def test_joined_pairs_are_read_at_once(toy_vocabulary: Vocabulary, toy_pairs: ParallelText) -> None:
    task = task_of("pair", toy_pairs)
    with pytest.raises(OptionError, match="--joined is for transformers"):
        learned(blind("static", toy_vocabulary), task, joined=True)
    said = ["--joined: no effect without --finetune"]
    assert without_effect(TransferOptions(joined=True)) == said
    encoder = blind("transformer", toy_vocabulary)
    tower = tower_of(encoder)
    joined = tower.cut_pairs([("fifi", "lulu"), ("lulu", "fifi mama")])
    parts = [tower.cut([text]).ids.tolist() for text in ("fifi", "lulu", "fifi mama")]
    assert joined.ids.tolist() == [*parts[0], *parts[1], *parts[1], *parts[2]]
    assert joined.starts.tolist() == [0, len(parts[0] + parts[1]), len(joined.ids)]
    assert learned(encoder, task, joined=True, epochs=1)(task.tests["toy"].texts, "en").ndim == 2
    task = task_of("choice", toy_pairs)  # what stands in the second text, the first being what may
    assert right(learned(encoder, task, joined=True), task) > 0.9


def test_the_head_is_linear_in_both_vectors_and_their_distance(toy_pairs: ParallelText) -> None:
    random = torch.Generator().manual_seed(1)
    vectors = torch.randn(10, 6, generator=random)
    heads: list[tuple[Kind, int]] = [("pair", 2), ("choice", 1)]
    for kind, outputs in heads:
        head = TaskHead(task_of(kind, toy_pairs), 6, joined=False)
        counts = np.array([1] * 5) if kind == "pair" else np.array([2, 3])
        weights, bias = head.linear.weight, head.linear.bias
        assert weights.shape == (outputs, 18)
        scores = head(vectors, counts)
        slow = []
        for first, second in zip(vectors[0::2], vectors[1::2], strict=True):
            distance = torch.tensor([abs(a - b) for a, b in zip(first, second, strict=True)])
            slow.append(weights @ torch.cat([first, second, distance]) + bias)
        if kind == "pair":
            torch.testing.assert_close(scores, torch.stack(slow))
        else:
            flat, scores = torch.cat(slow).detach(), scores.detach()
            torch.testing.assert_close(scores[0], torch.tensor([*flat[:2], -torch.inf]))
            torch.testing.assert_close(scores[1], flat[2:])
