"""A corpus -> an encoder in a folder: what comes before and after a method's own work."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import torch

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.hub import find_encoder
from xmine.encoders.metadata import EncoderFacts, check_replaceable, read_card, read_facts
from xmine.errors import TrainingError, XmineError
from xmine.evaluation.panel import SENTENCES, compare_encoders, languages_of_examples
from xmine.evaluation.reports.table import Line
from xmine.files.atomic import check_free, remove, replacing_folder, writing
from xmine.files.lock import LOCK_FILE, held
from xmine.files.scratch import scratch_in
from xmine.hardware import allowed_threads
from xmine.options import flag
from xmine.progress import Report, silent

from .data.corpus import Corpus
from .distributed import (
    among_peers,
    check_shared,
    gather_objects,
    join_processes,
    leads,
    on_first_rank,
    restarted,
)
from .methods import METHODS
from .options.shared import SCRATCH, TrainingOptions
from .run.card import model_card
from .run.checkpoints import (
    KEPT_FILES,
    METRICS_FILE,
    OPTIONS_FILE,
    Pace,
    TrainingRun,
    has_not_begun,
    run_folder,
)
from .run.devset import Diverged, fell, read_scored
from .run.fitting import fitted
from .run.loop import EndedOnTrial
from .run.picture import draw_training
from .run.prepare import TrainedTowers, load_encoder
from .run.reranking import fitted_weights

Resume = bool | Literal["auto"]
_UNRANKED = (
    "no weights of reranking: of {:,} held-out pairs the encoder finds too few to fit some; xmine "
    "mine learns weights from its files"
)
_WORSE = (
    "the encoder retrieves less than the one that training began with: keep that one, "
    "or give a smaller --learning-rate"
)


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished run.

    Attributes:
        encoders: the best ones, as saved: one under an empty name, or several by name.
        measures: on the held-out pairs; see `xmine.trainer.run.devset.measure`.
        rows: number of rows in training.
        excluded: number of rows left out for `--exclude`.
        remarks: of the method; the reason of an early end, and of a missing picture.
        is_worse: whether retrieval fell, see `fell`.
        retrieved: what it was measured on.
        panel: what became of all languages, see `xmine.evaluation.panel`; empty if not asked for.
        known: how many of its sentences are in the corpus, and left out.
    """

    encoders: dict[str, SentenceEncoder]
    measures: dict[str, float]
    rows: int
    excluded: int
    remarks: tuple[str, ...] = ()
    is_worse: bool = False
    retrieved: str = "pairs"
    panel: list[Line] = field(default_factory=list)
    known: int = 0


@among_peers()
def train(
    method: str,
    corpus: Corpus,
    options: TrainingOptions,
    output: Path,
    report: Report = silent,
    *,
    resume: Resume = False,
    force: bool = False,
    draws: bool = False,
    compares: bool = False,
    paced: Callable[[Pace], bool] | None = None,
    is_fitted: bool = False,
) -> Trained:
    """Train an encoder, or several, and save it to the folder `output`.

    `OUTPUT.training` holds the run until it has ended.

    Args:
        resume: go on with a run that was stopped; "auto": if there is one, as does a start that
            is not the first of `torchrun --max-restarts`.
        force: replace `output` and forget a run that was stopped.
        draws: leave a picture of loss and accuracy too, if matplotlib is there.
        compares: measure what became of all languages, if one encoder goes on from one.
        paced: called in each process after the first steps of each stage. Where it gives true in
            the first process, training ends there, and the folder of the run is removed.
        is_fitted: whether rows were left out, and options fitted to the others, before.

    Raises:
        TrainingError, FileError: data, options or folders do not allow it.
        EncoderError: an encoder to begin with cannot be read.
        EndedOnTrial: `paced` wanted no more.
    """
    kept = corpus
    if not is_fitted:
        kept = corpus.without(options.exclude).parted(options.held_out_origins)
        options = fitted(options, kept)
    folder = run_folder(output)
    if options.dev:
        read_scored(options.dev)  # so that a wrong file is told before work begins
    join_processes(options.device)
    with _opened(output, options, kept, resume=resume, force=force) as (is_new, run):
        run.paced = paced
        try:
            torch.manual_seed(options.seed)
            alike = deterministic(options.threads or allowed_threads())
            with alike, among_peers(), scratch_in(folder), run.tracked(options, output.name):
                made = METHODS[method].train(kept, options, run, report if leads() else silent)
                encoders = _encoders(made, method, options, kept)
                panel, known = list[Line](), 0
                if compares and leads():
                    panel, known = _panel(encoders, kept, options, report)
        except EndedOnTrial:
            on_first_rank(lambda: shutil.rmtree(folder))
            raise
        except XmineError as error:  # with other data or options this run cannot go on
            if leads() and is_new and not any(folder.glob("*checkpoint.pt")):
                shutil.rmtree(folder)
            if isinstance(error, Diverged):
                names = [each.name for each in fields(options)]
                rates = " or ".join(flag(name) for name in names if name.endswith("learning_rate"))
                hint = f"give a smaller {rates}, and --force to start anew"
                raise Diverged(error.message, hint) from error
            raise
        is_worse = fell(made.measures, options.held_out)
        remarks: tuple[str, ...] = (_WORSE,) if is_worse else ()
        if leads():
            remarks += _remarks(run, options, f"{output.name}: {method}" if draws else "")
            if made.held_out and "" in encoders and not encoders[""].reranking:
                remarks += (_UNRANKED.format(len(made.held_out)),)
        told = made, kept.excluded, panel, known
        cards = [model_card(method, options, each, *told) for each in encoders.values()]
        _save(encoders, cards, output)
    measured = made.measures, made.rows, kept.excluded
    return Trained(encoders, *measured, remarks, is_worse, made.retrieved, panel, known)


@contextmanager
def _opened(
    output: Path, options: TrainingOptions, corpus: Corpus, *, resume: Resume, force: bool
) -> Iterator[tuple[bool, TrainingRun]]:
    """Open the run, first in the process that writes and locks; tell whether there was none."""
    folder = run_folder(output)
    if any(gather_objects(restarted())):
        resume = resume or "auto"
    opened: list[tuple[bool, TrainingRun]] = []

    def open_run() -> None:
        goes_on = check_place(output, resume=resume, force=force)
        with writing(folder):
            folder.mkdir(exist_ok=True)
        lock.enter_context(held(folder, "training in"))
        for each in () if goes_on else list(folder.iterdir()):
            if each.name != LOCK_FILE:
                remove(each)
        opened.append((not goes_on, TrainingRun(folder, options, corpus)))
        if not (folder / METRICS_FILE).exists():
            opened[0][1].log(step=0, excluded=corpus.excluded)

    with ExitStack() as lock:
        on_first_rank(open_run)
        try:
            check_shared(folder)
        except XmineError:
            if opened and opened[0][0]:
                shutil.rmtree(folder)
            raise
        yield opened[0] if opened else (False, TrainingRun(folder, options, corpus))


def _remarks(run: TrainingRun, options: TrainingOptions, title: str) -> tuple[str, ...]:
    """Collect the remarks of the log, each once, as a resumed run may have repeated them.

    With a title, draw the log, too: a run is not lost for its picture.
    """
    logged = (run.folder / METRICS_FILE).read_text(encoding="utf-8").splitlines()
    lines = [json.loads(line) for line in logged]
    found = [line["remark"] for line in lines if "remark" in line]
    found += [
        f"{line.get('stage', 'training')} ended at step {line['step']:,}: {line['stopped']}"
        for line in lines
        if "stopped" in line
    ]
    vocabulary = run.vocabulary()
    if vocabulary is not None and len(vocabulary) < options.vocabulary_size:
        found.append(f"a vocabulary of {len(vocabulary):,} tokens: the texts give no more")
    try:
        if title:
            draw_training(run.folder / METRICS_FILE, title)
    except XmineError as error:
        found.append(f"no picture of the run: {error.message}: {error.hint}")
    return tuple(dict.fromkeys(found))


def _encoders(
    made: TrainedTowers, method: str, options: TrainingOptions, corpus: Corpus
) -> dict[str, SentenceEncoder]:
    """Make the encoders, with their cards; in the first process, one of both sides has weights."""
    # The languages of the run, then those that the encoders knew before.
    folders = [find_encoder(name) for name in options.encoders if name != SCRATCH]
    known = chain.from_iterable(read_facts(each, read_card(each)).languages for each in folders)
    facts = EncoderFacts(tuple(dict.fromkeys([*options.codes, *known])), method)
    encoders = {name: tower.encoder(facts, "") for name, tower in made.towers.items()}
    if made.held_out and "" in encoders and leads():
        encoders[""].reranking = fitted_weights(
            encoders[""], made.held_out, options.seed, options.prompts, corpus.apart
        )
    return encoders


def _panel(
    encoders: dict[str, SentenceEncoder], corpus: Corpus, options: TrainingOptions, report: Report
) -> tuple[list[Line], int]:
    """Compare the encoder with the one it began with; not where it is to read one side alone.

    Returns:
        The lines, and how many sentences are in the corpus, and were left out.
    """
    begun = set(options.encoders)
    reads_one = getattr(options, "stage", "") == "distil"
    if list(encoders) != [""] or len(begun) > 1 or SCRATCH in begun or reads_one:
        return [], 0
    before, unseen = (
        load_encoder(begun.pop(), options),
        corpus.unseen(languages_of_examples().values()),
    )
    panel = compare_encoders(before, encoders[""], unseen, options.prompts[0], report)
    return panel, SENTENCES - len(unseen)


def _save(encoders: dict[str, SentenceEncoder], cards: list[str], output: Path) -> None:
    """Write the encoders with their cards and what is told of the run, which is removed."""
    folder = run_folder(output)
    for encoder, card in zip(encoders.values(), cards, strict=True):
        encoder.card = card

    def write() -> None:
        beside = [*(folder / name for name in KEPT_FILES), *folder.glob("training.*")]
        if list(encoders) == [""]:
            encoders[""].save(output, beside=beside)
        else:
            check_replaceable(output)  # files may have come meanwhile
            with replacing_folder(output) as partial:
                for name, encoder in encoders.items():
                    encoder.save(partial / name)
                for path in beside:
                    shutil.copy(path, partial)
        shutil.rmtree(folder)

    on_first_rank(write)


@contextmanager
def deterministic(threads: int) -> Iterator[None]:
    """Let torch take some threads, and only algorithms that give the same bits again.

    On a GPU the loop allows others unless `deterministic` is given. cuBLAS is told before its
    first product. Memory that nobody reads before it is written is not filled.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    filling: Any = torch.utils.deterministic
    before = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    filled = filling.fill_uninitialized_memory
    torch.set_num_threads(threads)
    torch.set_deterministic_debug_mode("error")  # which loads no compiler, as its twin does
    filling.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.set_deterministic_debug_mode(before[1])
        filling.fill_uninitialized_memory = filled


def check_place(output: Path, *, resume: Resume, force: bool) -> bool:
    """Refuse an output, or a run beside it, that the user has not given up.

    Returns:
        Whether there is a run to go on with.

    Raises:
        FileError: `output` is there already, or holds something else than an encoder; or another
            process is training in the run.
        TrainingError: there is no run to resume; or one is there, and neither `resume` nor `force`
            says what is to become of it.
    """
    check_replaceable(output)
    check_free(output, force=force, folder=True)
    folder = run_folder(output)
    if os.access(folder / LOCK_FILE, os.W_OK):
        with held(folder, "training in"):
            pass
    if not folder.exists() or has_not_begun(folder):
        if resume is True:
            raise TrainingError(
                f"{folder}: no run to resume",
                "leave --resume out to start one; --resume auto does either",
            )
        return False
    if not (folder / OPTIONS_FILE).exists():
        raise TrainingError(
            f"{folder}: is in the way, and is no run of xmine", "move it, or give another -o"
        )
    if not resume and not force:
        raise TrainingError(
            f"{folder}: a run that was stopped is there",
            "--resume goes on with it, with the same options and data; --force starts anew",
        )
    return bool(resume)
