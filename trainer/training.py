"""Parallel text -> an encoder in a folder: what comes before and after a method's own work."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from xmine.encoder import EMBEDDED, SentenceEncoder
from xmine.errors import TrainingError, XmineError
from xmine.facts import EncoderFacts
from xmine.files import check_free
from xmine.hardware import allowed_threads
from xmine.modules.static import StaticEmbedding
from xmine.pairs import ParallelText
from xmine.progress import Progress, Report, silent
from xmine.trainer.card import model_card
from xmine.trainer.checkpoints import Run, run_folder
from xmine.trainer.data import TrainingData, cut_into_pieces, hold_out, visits, without
from xmine.trainer.methods import METHODS
from xmine.trainer.options import TrainingOptions
from xmine.trainer.static import StaticTower
from xmine.trainer.step import Tower
from xmine.trainer.vocabulary import train_vocabulary
from xmine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished run.

    Attributes:
        encoder: the best one, as it was saved.
        measures: on the held-out pairs; see `xmine.trainer.devset.measure`.
        pairs: how many were trained on.
        excluded: how many were left out for `--exclude`.
    """

    encoder: SentenceEncoder
    measures: dict[str, float]
    pairs: int
    excluded: int


def train(
    method: str,
    pairs: ParallelText,
    options: TrainingOptions,
    output: Path,
    report: Report = silent,
    *,
    resume: bool = False,
    force: bool = False,
) -> Trained:
    """Train an encoder and save it to the folder `output`.

    Args:
        method: a name in METHODS.
        pairs: parallel text.
        options: of that method.
        output: the encoder's folder; `OUTPUT.training` holds the run until it has ended.
        report: called while it goes on.
        resume: go on with a run that was stopped.
        force: replace `output` and forget a run that was stopped.

    Raises:
        TrainingError, FileError: data, options or folders do not allow it.
    """
    folder = run_folder(output)
    check_free(output, force=force, folder=True)
    start = _read_start(options.start)
    _clear(folder, resume=resume, force=force)
    kept = without(pairs, options.exclude) if options.exclude else pairs
    is_new = not folder.exists()
    run = Run(folder, options, kept)
    try:
        tower, data, seen = _prepare(kept, options, start, run, report)
    except XmineError:  # other data or options are needed, with which this run cannot go on
        if is_new:
            shutil.rmtree(folder)
        raise
    if not run.has_begun:
        run.log(step=0, pairs=len(data.pairs), excluded=len(pairs) - len(kept))
    with _deterministic(options.threads or allowed_threads()):
        measures = METHODS[method].train(tower, data, options, run, report)
    excluded = len(pairs) - len(kept)
    card = model_card(method, options, seen, excluded, measures)
    encoder = tower.encoder(EncoderFacts(tuple(options.languages.split(",")), method), card)
    encoder.save(output, beside=[folder / "metrics.jsonl", folder / "options.toml"])
    shutil.rmtree(folder)
    return Trained(encoder, measures, len(data.pairs), excluded)


@contextmanager
def _deterministic(threads: int) -> Iterator[None]:
    """Let torch take some threads, and only algorithms that give the same bits again."""
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])


def _read_start(name: str) -> StaticEmbedding | None:
    """Load the static encoder that a transformer begins with."""
    if not name:
        return None
    body = SentenceEncoder.load(EMBEDDED if name == "embedded" else name).body
    if not isinstance(body, StaticEmbedding) or not isinstance(body.pieces, Vocabulary):
        raise TrainingError(f"--start {name}: not a static encoder of xmine")
    return body


def _clear(folder: Path, *, resume: bool, force: bool) -> None:
    """Make way for a run, unless that would touch what the user has not given up."""
    if not folder.exists():
        if resume:
            raise TrainingError(f"{folder}: no run to resume", "leave --resume out to start one")
        return
    if not (folder / "options.toml").exists():
        raise TrainingError(
            f"{folder}: is in the way, and is no run of xmine", "move it, or give another -o"
        )
    if force and not resume:
        shutil.rmtree(folder)
    elif not resume:
        raise TrainingError(
            f"{folder}: a run that was stopped is there",
            "--resume goes on with it, with the same options and pairs; --force starts anew",
        )


def _prepare(
    pairs: ParallelText,
    options: TrainingOptions,
    start: StaticEmbedding | None,
    run: Run,
    report: Report,
) -> tuple[Tower, TrainingData, ParallelText]:
    """Hold pairs out, find or train the vocabulary, build the tower, cut the pairs into pieces."""
    wanted = visits(pairs, options.source_weight, options.default_weight)
    rows, held = hold_out(pairs, wanted, options.held_out, options.seed)
    seen = pairs.take(rows)
    vocabulary = run.vocabulary()
    if start and isinstance(start.pieces, Vocabulary):
        vocabulary = start.pieces
    if vocabulary is None:
        report(Progress("vocabulary", 0, 1))
        vocabulary = train_vocabulary(
            seen.sources,
            seen.targets,
            options.vocabulary_size,
            sample=options.vocabulary_sample,
            seed=options.seed,
        )
        run.save_vocabulary(vocabulary)
        report(Progress("vocabulary", 1, 1))
    tower = _tower(vocabulary, options, start)
    data = TrainingData(
        pairs=cut_into_pieces(seen, tower.pieces),
        visits=wanted[rows],
        held_out=cut_into_pieces(pairs.take(held), tower.pieces),
    )
    return tower, data, seen


def _tower(
    vocabulary: Vocabulary, options: TrainingOptions, start: StaticEmbedding | None
) -> Tower:
    if options.architecture == "static":
        return StaticTower(vocabulary, options.width, options.seed)
    from xmine.trainer.transformer import TransformerTower

    return TransformerTower(vocabulary, options, start)
