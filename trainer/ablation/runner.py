"""The settings of an ablation, each with several seeds -> trained encoders and their figures.

The encoder that training begins with is measured as well, since a gain over another setting may be
a loss over doing nothing.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import torch

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.pair import is_pair
from xmine.errors import FileError
from xmine.files.atomic import replacing
from xmine.hardware import allowed_threads
from xmine.options import flag
from xmine.pairs.io import ParallelText
from xmine.progress import Progress, Report, silent

from ..data.corpus import Corpus
from ..models.towers import Tower
from ..options.shared import SCRATCH, TrainingOptions
from ..run.checkpoints import Run, run_folder
from ..run.devset import DevSet, measure
from ..run.fitting import fitted
from ..run.loop import Diverged
from ..run.prepare import Split, begin, cut_pairs, entailed_apart, load_encoder
from ..train import deterministic, train
from .specs import ABLATIONS, TRIPLETS, options_with, tables_of
from .tables import UNTRAINED, Cell

_FIGURES_FILE = "figures.json"
_ASKED_FILE = "asked.json"

Encoders = Mapping[str, SentenceEncoder]
# What measures encoders beside the held-out pairs: names and figures.
Measure = Callable[[Encoders], Mapping[str, float]]
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that an ablation depends on.

    Attributes:
        name: in ABLATIONS.
        corpus: what is trained on.
        options: of the method, but for what is varied and the seed.
        settings: name -> what is set; see `xmine.trainer.ablation.specs.Ablation.chosen`.
        seeds: of the runs with each setting.
        measured: what the figures depend on besides, such as the names of benchmarks.
    """

    name: str
    corpus: Corpus
    options: TrainingOptions
    settings: Mapping[str, Mapping[str, str]]
    seeds: Sequence[int] = (1,)
    measured: Mapping[str, object] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The method that is trained by."""
        return ABLATIONS[self.name].method

    def of(self, setting: str) -> tuple[Corpus, TrainingOptions]:
        """Give what a setting trains on, and its options.

        Raises:
            OptionError: a value is none of its option, or there are fewer files of triplets.
        """
        changes = self.settings[setting]
        tables = tables_of(changes, len(self.corpus.triplets))
        corpus = replace(self.corpus, triplets=self.corpus.triplets[:tables])
        return corpus, fitted(options_with(self.options, changes), corpus)

    def asked(self) -> dict[str, object]:
        """Tell what may not change when a killed ablation goes on; settings and seeds may."""
        varied = {"seed", ABLATIONS[self.name].option} - {TRIPLETS}
        options = {name: each for name, each in asdict(self.options).items() if name not in varied}
        return {
            "ablation": self.name,
            **{flag(name): each for name, each in options.items()},
            "data": self.corpus.fingerprint(),
            **self.measured,
        }


def ablate(
    plan: Plan,
    output: Path,
    benchmarks: Measure = lambda encoders: {},
    report: Report = silent,
    told: Callable[[str, Cell], None] = lambda title, cell: None,
) -> list[Cell]:
    """Train once for each setting and seed.

    What is there already is not trained or measured again, so that a killed ablation goes on.

    Args:
        plan: what is done.
        output: a folder: an encoder for each setting and seed.
        benchmarks: measures encoders by name, as training leaves them.
        report: called while it goes on.
        told: called with each cell that is done, and a title such as `momentum 0.9, seed 1
            (2 of 8)`.

    Returns:
        The cells, those of the untrained encoder first. A run whose loss is no longer a number is
        a cell without figures.

    Raises:
        OptionError: see `Plan.of`.
        FileError: the folder holds something else, or another ablation.
        XmineError: see `xmine.trainer.train.train`.
    """
    for setting in plan.settings:
        plan.of(setting)  # all are checked first
    _take_place(plan, output)
    once = benchmarks if SCRATCH in plan.options.encoders else _only_once(benchmarks)
    cells: list[Cell] = []
    total = len(plan.seeds) * (1 + len(plan.settings))
    for setting, seed in product([UNTRAINED, *plan.settings], plan.seeds):
        title = f"{plan.name} {setting}, seed {seed}"
        report(Progress(title, len(cells), total))
        folder = output / f"{setting}-seed-{seed}"
        if setting == UNTRAINED:
            cell = _untrained(plan, seed, folder, once, report)
        else:
            cell = _trained(plan, setting, seed, folder, benchmarks, report)
        cells.append(cell)
        report(Progress(title, total, total))
        told(f"{title} ({len(cells)} of {total})", cell)
    return cells


def _take_place(plan: Plan, output: Path) -> None:
    """Refuse a folder of something else, or of an ablation whose runs are none of this one."""
    path = output / _ASKED_FILE
    asked = json.loads(json.dumps(plan.asked()))
    if path.exists():
        there = json.loads(path.read_text(encoding="utf-8"))
        other = [name for name in asked | there if asked.get(name) != there.get(name)]
        if other:
            name = other[0]
            what = f"{name} is {there.get(name)!r} there, and {asked.get(name)!r} here"
            raise FileError(
                f"{output}: holds another ablation: "
                f"{'it was of other data' if name == 'data' else what}",
                "ask for the same to go on with it, or give another -o",
            )
    elif output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise FileError(f"{output}: exists and is no ablation", "give another -o")
    else:
        output.mkdir(parents=True, exist_ok=True)
        with replacing(path) as partial:
            partial.write_text(json.dumps(asked, indent=2) + "\n", encoding="utf-8")


def _cell(
    setting: str,
    seed: int,
    folder: Path,
    make: Callable[[], tuple[Figures, Encoders]],
    load: Callable[[], Encoders],
    benchmarks: Measure,
) -> Cell:
    """Make and measure what is not there yet; figures are written as soon as they are known."""
    path = folder / _FIGURES_FILE
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    encoders: Encoders = {}

    def write() -> None:
        folder.mkdir(exist_ok=True)
        with replacing(path) as partial:
            partial.write_text(json.dumps(found), encoding="utf-8")

    if not found:
        try:
            found["training"], encoders = make()
        except Diverged as error:
            found |= {"training": {}, "benchmarks": {}, "failed": error.message}
            shutil.rmtree(run_folder(folder), ignore_errors=True)
        write()
    if "benchmarks" not in found:
        found["benchmarks"] = dict(benchmarks(encoders or load()))
        write()
    figures = {**found["training"], **found["benchmarks"]}
    return Cell(setting, seed, figures, found.get("failed", ""))


def _trained(
    plan: Plan, setting: str, seed: int, folder: Path, benchmarks: Measure, report: Report
) -> Cell:
    """Train with a setting, or go on with it."""
    corpus, options = plan.of(setting)
    options = replace(options, seed=seed)

    def make() -> tuple[Figures, Encoders]:
        is_there = folder.exists()  # it was killed before its figures were written
        resume = run_folder(folder).exists() and not is_there
        trained = train(plan.method, corpus, options, folder, report, resume=resume, force=is_there)
        figures = {name: x for name, x in trained.measures.items() if name != "before"}
        return figures, trained.encoders  # the untrained encoder has a row of its own

    def load() -> Encoders:
        sides = ("source", "target") if is_pair(folder) else ("",)
        return {side: load_encoder(str(folder / side), options) for side in sides}

    return _cell(setting, seed, folder, make, load, benchmarks)


def _untrained(plan: Plan, seed: int, folder: Path, benchmarks: Measure, report: Report) -> Cell:
    """Measure the encoders that training begins with on what training holds out."""
    options = replace(plan.options, seed=seed)

    def make() -> tuple[Figures, Encoders]:
        towers, held_out = _begun(plan.corpus, fitted(options, plan.corpus), report)
        figures: Figures = {}
        if getattr(options, "teacher_column", 0):  # the student reads the target, not the source
            towers.reverse()
        is_one_space = towers[0].dim == towers[-1].dim  # or a matrix in training joins them
        if held_out and options.retrieves and is_one_space:
            rows = cut_pairs(held_out, towers[0], towers[-1])
            with torch.no_grad():
                source = towers[0].embed(rows.columns[0]).float().cpu().numpy()
                target = towers[-1].embed(rows.columns[1]).float().cpu().numpy()
            figures |= measure(source, target)
        if options.dev:
            judged = towers[-1 if options.judged_column else 0]
            figures["spearman"] = DevSet(options.dev, judged).spearman(judged)
        facts = EncoderFacts(options.codes, plan.method)
        sides = ("source", "target") if len(towers) > 1 else ("",)
        return figures, {
            side: tower.encoder(facts, "") for side, tower in zip(sides, towers, strict=True)
        }

    return _cell(UNTRAINED, seed, folder, make, lambda: make()[1], benchmarks)


def _begun(
    corpus: Corpus, options: TrainingOptions, report: Report
) -> tuple[list[Tower], ParallelText | None]:
    """Make what training begins with, in the order of `encoders`, and hold out what it holds out.

    A new encoder has a vocabulary of its own, made of the same texts.
    """
    held_out = None
    if corpus.pairs:
        split = Split.of(corpus.pairs, options)
        corpus, held_out = replace(corpus, pairs=split.seen), split.held_out
    elif corpus.triplets:
        triplets, held_out = entailed_apart(corpus.triplets, options)
        corpus = replace(corpus, triplets=triplets)
    texts = list(corpus.every_text())
    with (
        tempfile.TemporaryDirectory() as folder,
        deterministic(options.threads or allowed_threads()),
    ):
        run = Run(Path(folder), options, corpus)
        torch.manual_seed(options.seed)
        towers = [
            begin(name, options if learns else options.of_frozen(), texts, run, report).eval()
            for name, learns in zip(options.encoders, options.learning, strict=True)
        ]
    return towers, held_out


def _only_once(benchmarks: Measure) -> Measure:
    """Measure the first encoders, and give the same figures for all others: they are equal."""
    measured: list[Mapping[str, float]] = []

    def first(encoders: Encoders) -> Mapping[str, float]:
        if not measured:
            measured.append(benchmarks(encoders))
        return measured[0]

    return first
