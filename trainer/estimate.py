"""Options and a corpus -> how much memory and time training will take, before it begins.

The method itself trains on a few thousand rows of the corpus for a few steps, with encoders of its
own, and without files; memory and time of a step are scaled to the batch and the steps of the run.
"""

import os
from dataclasses import asdict, dataclass, fields

import torch

from xmine.encoders.hub import find_encoder
from xmine.encoders.metadata import read_facts
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import TrainingError
from xmine.hardware import allowed_threads, anonymous_memory, choose_device, free_memory
from xmine.options import flag
from xmine.progress import silent
from xmine.text.languages import language_name, short_code
from xmine.units import count, duration, in_words

from .data.batches import count_steps, ends_of_passes
from .data.corpus import Corpus
from .distributed import join_processes
from .methods import METHODS
from .options.queue import QueueOptions
from .options.shared import AUTO, EMBEDDED, SCRATCH, TrainingOptions
from .run.devset import read_scored
from .run.encoder_options import check_encoders
from .run.fitting import FEW, count_there, fitted, makes_vocabulary, needed_characters
from .run.languages import sampling_weights
from .run.prepare import load_encoder
from .train import deterministic
from .trials import Trial, small, small_options

_A_WEIGHT = 4 * 4  # bytes: itself, its gradient and two moments of the optimiser
# A character of the sentences that a vocabulary is made of: 23 s for 6.2 million of English and
# Chinese news, 16,000 pieces (2 cores).
_A_CHARACTER = 4e-6
_A_BYTE = 2.2e-9  # seconds to write one of a checkpoint: 0.21 s for 96 MB
_READING = 1 / 3  # of the time of a step, which computes gradients besides


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
            f"estimate: {count(self.steps, 'step')}, {count(self.rows, 'row')} an epoch, "
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
        return {**asdict(self), "total_memory": self.total_memory, "said": str(self)}

    def warnings(self, options: TrainingOptions) -> list[str]:
        """Say what will not go as it was asked for."""
        found = []
        if self.device.startswith("cuda"):
            free = torch.cuda.mem_get_info(self.device)[0]
        else:
            free = free_memory() or self.total_memory
        if self.total_memory > free:
            found.append(
                f"training takes about {in_words(self.total_memory)} of memory, {in_words(free)} "
                "are free: --recompute, --logit-rows and a smaller --batch-size take less"
            )
        if makes_vocabulary(options) and self.rows < FEW:
            names = {"encoder", "src_encoder", "tgt_encoder", "distilled_encoder"}
            new = [
                flag(each.name)
                for each in fields(options)
                if each.name in names - {*options.unread} and getattr(options, each.name) == SCRATCH
            ]
            found.append(
                f"{count(self.rows, 'row')} are few to train {' and '.join(new)} from scratch: "
                "--encoder embedded, or another trained encoder, learns more from so few"
            )
        if options.batch_size > self.rows:
            found.append(
                f"--batch-size {options.batch_size:,} for {self.rows:,} rows: an epoch is one step"
            )
        return found


def told_start(asked: TrainingOptions, options: TrainingOptions, corpus: Corpus) -> str:
    """Say that training starts from the embedded encoder, where `auto` came to that; or nothing.

    Args:
        asked: the options as they were given.
        options: the same, fitted.
        corpus: what they are fitted to.
    """
    if asked.encoder != AUTO or options.encoder != EMBEDDED:
        return ""
    kind = "pair" if corpus.pairs is not None else "row"
    known = {short_code(code) for code in read_facts(find_encoder(EMBEDDED), "").languages}
    unknown = [code for code in options.codes if short_code(code) not in known]
    doubt = f", which knows no {' and no '.join(map(language_name, unknown))}" if unknown else ""
    return (
        f"{count(count_there(corpus, options), kind)} are few: training starts from the embedded "
        f"encoder{doubt}; --encoder scratch makes a new one"
    )


def estimate_training(corpus: Corpus, options: TrainingOptions) -> TrainingEstimate:
    """Estimate what a run takes.

    Args:
        corpus: what it trains on.
        options: of the method.

    Raises:
        TrainingError: there are too few pairs to hold some out, a weight names an origin that no
            pair has, the queue is too large, or a vocabulary too small for the characters of the
            texts; or an extra is missing.
        FileError: the file of --dev cannot be read.
        EncoderError: an encoder to begin with cannot be read.
    """
    before, processes = anonymous_memory(), int(os.environ.get("WORLD_SIZE", "1"))
    join_processes(torch.device(choose_device(options.device)))  # each process tries on its own GPU
    options = fitted(options, corpus)
    stages = check_settings(corpus, options)
    queue = max(each.queue for each in stages)
    vocabulary = None
    if makes_vocabulary(options):  # is not there yet: the embedded one stands for it
        body = load_encoder("embedded", options).body
        assert isinstance(body, StaticEmbedding) and isinstance(body.pieces, Vocabulary)
        vocabulary = body.pieces
    trial = Trial(vocabulary)
    method = next(each for each in METHODS.values() if each.options is type(options))
    with (
        torch.random.fork_rng(range(torch.cuda.device_count())),
        deterministic(options.threads or allowed_threads()),
    ):
        method.train(small(corpus), small_options(options, queue), trial, silent)
    weights = tried = sum(trial.learned.values())
    if vocabulary is not None:
        new = [name for name, on in zip(options.encoders, options.learning, strict=True) if on]
        missing = options.vocabulary_size - len(vocabulary)
        weights += new.count(SCRATCH) * missing * options.dim
    kept = options.remembered(round(stages[0].rows), trial.dim, processes)
    seconds, peak = 0.0, 0.0
    for stage, of_step in zip(stages, trial.steps, strict=False):
        took, most = of_step.at(stage.batch)
        every = options.evaluate_every
        evaluations = -(-stage.steps // every) if every else stage.passes
        alone = _READING * took * processes / stage.batch  # a row, which the first process reads
        saving = _A_BYTE * _A_WEIGHT * weights
        seconds += stage.steps * took + evaluations * (alone * options.held_out + saving)
        seconds += stage.read * alone
        if kept:
            seconds -= of_step.reading * (stage.steps * stage.batch / processes - stage.rows)
        peak = max(peak, most)
    if vocabulary is not None:
        seconds += _A_CHARACTER * _characters(corpus, options.vocabulary_sample)
    program = 0 if trial.device.startswith("cuda") else before
    memory = {
        "program": program,
        "weights and optimiser": _A_WEIGHT * weights,
        "steps": max(0, int(peak) - program - _A_WEIGHT * tried),
    }
    rows, steps = round(stages[0].rows), sum(each.steps for each in stages)
    if kept:
        memory["what teachers said"] = 4 * kept
    return TrainingEstimate(rows, steps, weights, memory, trial.device, seconds)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A stage in numbers: rows of a pass, of a step, of a queue; steps and passes in all.

    `read` counts rows that are read besides: all before a pass, for --near-batches, and those whose
    keys fill a queue at first.
    """

    rows: float
    batch: int
    queue: int
    steps: int
    passes: int
    read: float


def check_settings(corpus: Corpus, options: TrainingOptions) -> list[_Counted]:
    """Refuse before work what training would refuse later.

    Returns:
        The stages that there will be.
    """
    check_encoders(options)
    stages = []
    for stage in options.stages:
        if stage.data != "triplets" or corpus.triplets:
            weights, own = sampling_weights(stage, corpus), stage.options
            if 0 < weights.sum() < 1:
                raise TrainingError(
                    "by the sampling weights an epoch takes less than a row",
                    "raise --default-weight or --source-weight",
                )
            batch = min(own.batch_size, max(1, int(weights.sum())))
            passes, steps = len(ends_of_passes(weights, own)), count_steps(weights, own)
            grouped = passes - (not own.starts_trained) if own.near_batches else 0
            queue, read = 0, grouped * weights.sum()
            if isinstance(own, QueueOptions) and stage.data != "triplets":
                queue = own.queue_for(len(weights))
                read += queue if own.queue_init == "prefill" else 0
            stages.append(_Counted(weights.sum(), batch, queue, steps, passes, read))
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
                f"no vocabulary of {options.vocabulary_size:,} tokens: the texts have {least:,} "
                "characters",
                f"give a --vocabulary-size above {least:,}, or leave it out",
            )
    return stages


def _characters(corpus: Corpus, sample: int) -> float:
    """Count the characters of so many sentences."""
    columns = list(corpus.every_text())
    sentences = sum(map(len, columns))
    characters = sum(len(text) for column in columns for text in column)
    return characters * min(1.0, sample / max(1, sentences))
