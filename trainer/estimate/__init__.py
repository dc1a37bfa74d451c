"""Options and a corpus -> how much memory and time training will take, before it begins.

Memory follows from sizes and from what a trial step holds for its gradients; time from that step,
on towers of its own, so that nothing of the run changes.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from xmine.errors import TrainingError
from xmine.hardware import allowed_threads, anonymous_memory, choose_device, free_memory
from xmine.units import count, duration, in_words

from ..data.batches import steps_of
from ..data.corpus import Corpus
from ..distributed import together
from ..models.transformer import pieces_at_once
from ..options.shared import TrainingOptions
from ..run.devset import read_scored
from ..run.encoder_options import check_encoders
from ..run.fitting import FEW, fitted, left_out, makes_vocabulary, needed_characters
from ..run.languages import visits_of
from ..train import deterministic
from .trials import MOST, Trial, logits_seconds, tried_on

_FLOAT = 4  # bytes
# A character of the sentences that a vocabulary is made of: 23 s for 6.2 million of English and
# Chinese news, 16,000 pieces (2 cores).
_A_CHARACTER = 4e-6
_A_BYTE = 2.2e-9  # seconds to write one of a checkpoint: 0.21 s for 96 MB
_LOGITS = 3  # tables as large as the logits: themselves, their softmax, their gradient


@dataclass(frozen=True, slots=True)
class TrainingEstimate:
    """What a run will take.

    Attributes:
        rows: visited in a pass.
        steps: of all passes.
        weights: of the encoders that are trained.
        memory: bytes of each process, by what they are for.
        device: where the encoders learn.
        seconds: in all.
    """

    rows: int
    steps: int
    weights: int
    memory: dict[str, int]
    device: str
    seconds: float

    def __str__(self) -> str:
        """Say it in a line."""
        parts = ", ".join(f"{name} {in_words(size)}" for name, size in self.memory.items() if size)
        return (
            f"estimate: {count(self.steps, 'step')}, {count(self.rows, 'row')} a pass, "
            f"{self.weights:,} weights, {in_words(self.total_memory)} of memory "
            f"({parts}), {duration(self.seconds)} on {self.device}, without starting, reading and "
            "saving"
        )

    @property
    def total_memory(self) -> int:
        """Add up the bytes."""
        return sum(self.memory.values())

    def facts(self) -> dict[str, object]:
        """Tell it for programs."""
        return {**asdict(self), "total_memory": self.total_memory}

    def warnings(self, options: TrainingOptions) -> list[str]:
        """Say what will not go as it was asked for."""
        found = [self._shortage(), self._scarcity(options)]
        if options.batch_size > self.rows:
            found.append(
                f"--batch-size {options.batch_size:,} for {self.rows:,} rows: each pass is one step"
            )
        return list(filter(None, found))

    def _scarcity(self, options: TrainingOptions) -> str:
        """Say that there is too little for a new encoder."""
        if not makes_vocabulary(options) or self.rows >= FEW:
            return ""
        is_known = set(options.codes) == {"en", "zh"}
        hint = "use --encoder embedded" if is_known else "begin with an --encoder of others"
        return f"{count(self.rows, 'row')} are too few to train from scratch: {hint}"

    def _shortage(self) -> str:
        """Say that the memory will not do, and what takes less."""
        if self.device.startswith("cuda"):
            free = torch.cuda.mem_get_info(self.device)[0]
        else:
            free = free_memory() or self.total_memory
        if self.total_memory <= free:
            return ""
        return (
            f"training takes about {in_words(self.total_memory)} of memory, {in_words(free)} are "
            "free: --recompute, --logit-rows and a smaller --batch-size take less"
        )


def estimate_training(corpus: Corpus, options: TrainingOptions) -> TrainingEstimate:
    """Estimate what a run takes.

    Args:
        corpus: what it trains on.
        options: of the method, whose `encoders`, `stages`, `followers`, `queues` and `candidates`
            tell what its steps are.

    Raises:
        TrainingError: there are too few pairs to hold some out, a weight names an origin that no
            pair has, the queue is too large, or a vocabulary too small for the characters of the
            texts; or an extra is missing.
        FileError: the file of --dev cannot be read.
        EncoderError: an encoder to begin with cannot be read.
    """
    before, processes = anonymous_memory(), int(os.environ.get("WORLD_SIZE", "1"))
    together(torch.device(choose_device(options.device)))  # each process tries on its own GPU
    options = fitted(options, corpus)
    stages = check_settings(corpus, options)
    rows, members = round(stages[0].rows), 3 if corpus.kinds == ("triplets",) else 2
    own = max(1, stages[0].batch // processes)  # rows of this process
    texts = own * members // options.readers  # that each encoder reads in a step
    distinct = _distinct(corpus, options)
    queues, candidates = options.queues(distinct), options.candidates(distinct)
    with (
        torch.random.fork_rng(range(torch.cuda.device_count())),
        deterministic(options.threads or allowed_threads()),
    ):
        tried = [
            tried_on(name, _some(corpus, at, options.readers), options, learns=learns)
            for at, (name, learns) in enumerate(
                zip(options.encoders, options.learning, strict=True)
            )
        ]
        following = [
            tried[options.encoders.index(name)]
            if name in options.encoders
            else tried_on(name, _some(corpus, at, options.readers), options, learns=False)
            for at, name in enumerate(options.followers)
        ]
        device = next((each.device for each in tried if each.device != "cpu"), "cpu")
        logits = logits_seconds(tried[0].dim, device)
    learned = zip(tried, options.learning, strict=True)
    weights = sum(each.weights for each, learns in learned if learns)
    steps = sum(each.steps for each in stages)
    seconds = steps * sum(each.step for each in tried) + sum(
        each.steps * each.batch for each in stages
    ) / (own * processes) * (
        sum(each.learning * texts for each in tried)
        + sum(each.reading * texts for each in following)
        + logits * own * sum(candidates)
    )
    if makes_vocabulary(options):
        seconds += _A_CHARACTER * _characters(corpus, options.vocabulary_sample)
    every = options.evaluate_every
    evaluations = sum(each.steps // every if every else each.passes for each in stages)
    kept = 4 * _FLOAT * weights  # weights, two moments of the optimiser, the best weights
    reading = 2 * options.held_out * max(each.reading for each in tried)
    seconds += evaluations * (reading + _A_BYTE * kept)
    memory = {
        "program": before,
        "weights and optimiser": 4 * _FLOAT * weights,  # with gradients and two moments
        "copies": _FLOAT * sum(each.weights for each in following),
        "activations": _activations(tried, texts, options, torch.device(device)),
        "queues": _FLOAT * tried[0].dim * sum(queues),
        "what teachers said": _FLOAT
        * sum(options.remembered(rows, each.dim, processes) for each in following[:1]),
        "logits": _LOGITS * _FLOAT * min(own, options.logit_rows or own) * sum(candidates),
    }
    return TrainingEstimate(rows, steps, weights, memory, device, seconds)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A stage in numbers: rows of a pass, rows of a step, steps and passes in all."""

    rows: float
    batch: int
    steps: int
    passes: int


def check_settings(corpus: Corpus, options: TrainingOptions) -> list[_Counted]:
    """Refuse before work what training would refuse later.

    Returns:
        The stages that there will be.

    Raises:
        TrainingError, FileError: see `estimate_training`.
    """
    check_encoders(options)
    options.queues(_distinct(corpus, options))
    stages = []
    for stage in options.stages:
        if stage.data != "triplets" or corpus.triplets:
            visits, own = visits_of(stage, corpus), stage.options
            batch = min(own.batch_size, max(1, int(visits.sum())))
            stages.append(_Counted(visits.sum(), batch, steps_of(visits, own), own.epochs))
    if not stages:
        raise TrainingError(
            "--stage nli learns from triplets, and there are none", "give --triplets FILE"
        )
    if options.dev:
        read_scored(options.dev)
    if makes_vocabulary(options):
        least = needed_characters(corpus)
        if options.vocabulary_size <= least:
            raise TrainingError(
                f"no vocabulary of {options.vocabulary_size:,} pieces: the texts have {least:,} "
                "characters",
                f"give a --vocabulary-size above {least:,}, or leave it out",
            )
    return stages


def _distinct(corpus: Corpus, options: TrainingOptions) -> int:
    """Count the rows that there are, those that are held out too."""
    there = sum(map(len, (corpus.pairs or (), corpus.texts, *corpus.triplets[:1])))
    return there - left_out(corpus, options)


def _activations(
    tried: Sequence[Trial], texts: int, options: TrainingOptions, device: torch.device
) -> int:
    """Count the bytes held for gradients: of the batch, or of what is computed again together."""
    if not options.recompute:
        return sum(each.held for each in tried) * texts
    most = pieces_at_once(options.pieces_at_once, device)
    return int(sum(each.held * min(texts, most / each.pieces) for each in tried))


def _characters(corpus: Corpus, sample: int) -> float:
    """Count the characters of so many sentences."""
    columns = list(corpus.every_text())
    sentences = sum(map(len, columns))
    characters = sum(len(text) for column in columns for text in column)
    return characters * min(1.0, sample / max(1, sentences))


def _some(corpus: Corpus, number: int, encoders: int) -> list[str]:
    """Take some texts from all columns, or from those that one of several encoders reads."""
    columns = list(corpus.every_text())
    own = columns[number::encoders] or columns
    samples = [column[:: max(1, len(own) * len(column) // MOST)] for column in own]
    texts = [text for row in zip(*samples, strict=False) for text in row]
    order = np.random.default_rng(0).permutation(len(texts))  # sources stand one after the other
    return [texts[at] for at in order]
