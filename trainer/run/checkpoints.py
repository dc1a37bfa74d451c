"""The folder of a run that is under way: options, vocabulary, checkpoint, best state, metrics.

It stands beside the encoder-to-be as `NAME.training/` until the run has ended.
"""

import copy
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch
from torch import Tensor

from xmine.display import count, duration, in_words
from xmine.encoders.fingerprint import list_files
from xmine.encoders.hub import find_encoder
from xmine.encoders.layout import first_line
from xmine.encoders.tokenizer import MODEL_FILE, Vocabulary
from xmine.errors import FileError, TrainingError
from xmine.files.atomic import PARTIAL, replacing
from xmine.files.digests import digest, digest_of
from xmine.files.lock import LOCK_FILE, held
from xmine.options import dump_toml, flag

from ..data.corpus import Corpus
from ..distributed import leads
from ..options.shared import AUTO, SCRATCH, TrainingOptions

METRICS_FILE = "metrics.jsonl"
OPTIONS_FILE = "options.toml"
DATA_FILE = "data.txt"  # fingerprint of the corpus
INPUTS_FILE = "inputs.txt"  # digests of encoders to begin with, and of other files
_ENCODERS = "encoder src_encoder tgt_encoder teacher distilled_encoder start guide".split()
KEPT_FILES = METRICS_FILE, OPTIONS_FILE, DATA_FILE, INPUTS_FILE  # beside the encoder, at the end


def run_folder(output: Path) -> Path:
    """Name the folder of the run that will make `output`."""
    return output.with_name(output.name + ".training")


def has_not_begun(folder: Path) -> bool:
    """Tell whether a process was killed before its run had begun: the last file is not there."""
    names = {each.name for each in folder.iterdir()} if folder.is_dir() else set()
    whole = {name for name in names if not name.endswith(PARTIAL)}
    return LOCK_FILE in whole and whole <= {LOCK_FILE, DATA_FILE, INPUTS_FILE}


def has_made(output: Path, options: TrainingOptions, corpus: Corpus) -> bool:
    """Tell whether it was a training with these options and data."""
    return not any(_differences(output, _written(options, corpus), options))


def remove_ended(folder: Path, options: TrainingOptions, corpus: Corpus) -> None:
    """Remove what a kill left of a run that had made its encoder; leave any other run."""
    if (folder / OPTIONS_FILE).is_file():
        with suppress(FileError, TrainingError), held(folder, "training in"):
            if has_made(folder, options, corpus):
                shutil.rmtree(folder, ignore_errors=True)


def _written(options: TrainingOptions, corpus: Corpus) -> dict[str, str]:
    return {
        DATA_FILE: corpus.fingerprint() + "\n",
        INPUTS_FILE: "".join(f"{name} {value}\n" for name, value in _digests(options).items()),
        OPTIONS_FILE: dump_toml(options),
    }


def files_of_run(folder: Path, options: TrainingOptions, corpus: Corpus) -> dict[str, str]:
    """Give the files that tell one run from others, by name.

    Raises:
        TrainingError: the run in the folder had other options or other data.
    """
    written = _written(options, corpus)
    if said := ", ".join(_differences(folder, written, options)):
        if not leads():
            raise TrainingError(
                f"this process has other options or other data than the first: {said}",
                "give all processes the same",
            )
        raise TrainingError(
            f"{folder}: the run there has other options or other data: {said}",
            f"--options {folder / OPTIONS_FILE} --resume goes on with it, with the same data; "
            "--force starts anew",
        )
    return written


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a run, or a stage of it, goes after its first steps.

    Attributes:
        stage: its name; empty where the method has none.
        steps: that were taken, and `total` that there are.
        seconds: of a step, without the first one.
        left: seconds until the end of the stage, with its evaluations.
        memory: bytes that this process held at most, on its GPU if it trains there.
    """

    stage: str
    steps: int
    total: int
    seconds: float
    left: float
    memory: int

    def __str__(self) -> str:
        """Say it in a line."""
        of_stage = f" of {self.stage}" if self.stage else ""
        return (
            f"after {count(self.steps, 'step')} of {self.total:,}{of_stage}: {self.seconds:.2g} s "
            f"a step, {duration(self.left)} left, {in_words(self.memory)} of memory"
        )


class TrainingRun:
    """One training run on disk, or one stage of it; everything is written whole or not at all.

    Of several processes that train together, the first alone writes.
    """

    def __init__(
        self,
        folder: Path,
        options: TrainingOptions,
        corpus: Corpus,
        paced: Callable[["Pace"], bool] | None = None,
    ) -> None:
        """Open the folder, new or of a run that was stopped.

        `paced` is called after the first steps of each stage; it tells whether they were all.

        Raises:
            TrainingError: the stopped run had other options or other data.
        """
        self.folder, self.name, self.paced = folder, "", paced
        self.tracker: Any = None  # a GeneralTracker of accelerate
        written = files_of_run(folder, options, corpus)
        if leads():
            folder.mkdir(exist_ok=True)
            for name, text in written.items():
                with replacing(folder / name) as partial:
                    partial.write_text(text, encoding="utf-8")

    @contextmanager
    def tracked(self, options: TrainingOptions, name: str) -> Iterator[None]:
        """Send what is logged to the tracker of `--log-with` meanwhile, as a run of a name."""
        if options.log_with and leads():
            from accelerate.tracking import LOGGER_TYPE_TO_CLASS

            self.tracker = LOGGER_TYPE_TO_CLASS[options.log_with]("xmine", name=name)
            self.tracker.start()
            self.tracker.store_init_configuration(asdict(options))
        try:
            yield
        finally:
            if self.tracker:
                self.tracker.finish()

    def stage(self, name: str) -> "TrainingRun":
        """Give one stage of the run a checkpoint of its own; its metrics say which it is."""
        stage = copy.copy(self)
        stage.name = name
        return stage

    def vocabulary(self) -> Vocabulary | None:
        """Read the vocabulary, if it is there already."""
        return Vocabulary.load(self.folder) if (self.folder / MODEL_FILE).exists() else None

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Write a state under a name."""
        if leads():
            path = self._path(name)
            try:
                with replacing(path) as partial:
                    torch.save(dict(state), partial)
            except RuntimeError as error:  # the words of torch for a full disk
                raise FileError(
                    f"{path}: cannot be written: {first_line(error)}",
                    "make room there, and --resume goes on",
                ) from error

    def load(self, name: str) -> dict[str, Any] | None:
        """Read a state, if it is there."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            with ZipFile(path) as file:  # torch does not compare checksums
                if file.testzip() is not None:
                    raise BadZipFile(path)
            state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
        except (RuntimeError, EOFError, ValueError, UnpicklingError, BadZipFile) as error:
            raise TrainingError(
                f"{path}: cannot be read: a file of a checkpoint that is broken or cut short",
                f"delete {self._path('checkpoint').name} and {self._path('best').name} there, and "
                "--resume takes the steps since the beginning again; --force starts anew",
            ) from error
        return state

    def log(self, **numbers: float | str) -> None:
        """Append a line to the metrics: figures, or a reason in words."""
        if leads():
            if self.tracker:
                named = {f"{self.name}/{key}".lstrip("/"): value for key, value in numbers.items()}
                self.tracker.log(named)
            line = {"stage": self.name, **numbers} if self.name else numbers
            with (self.folder / METRICS_FILE).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def forget_after(self, step: int) -> None:
        """Take back the metrics of steps that a resumed run, or stage, takes again."""
        path = self.folder / METRICS_FILE
        if not (path.exists() and leads()):
            return
        kept = []
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            with suppress(ValueError):  # a kill cut it short
                numbers = json.loads(line)
                is_ours = numbers.get("stage", "") == self.name
                if line.endswith("\n") and (not is_ours or numbers["step"] <= step):
                    kept.append(line)
        with replacing(path) as partial:
            partial.write_text("".join(kept))

    def _path(self, name: str) -> Path:
        return self.folder / f"{f'{self.name}-' if self.name else ''}{name}.pt"


def _digests(options: TrainingOptions) -> dict[str, str]:
    """Hash the encoders to begin with, the teacher, and the scored pairs: flag -> digest.

    The corpus is hashed elsewhere, see `Corpus.fingerprint`.
    """
    found = {}
    for name in _ENCODERS:
        if (encoder := str(getattr(options, name, ""))) not in ("", AUTO, SCRATCH):
            folder = find_encoder(encoder)
            files = [file for file, _ in list_files(folder)]
            found[flag(name)] = digest(*files, *(digest_of(folder / file) for file in files))
    if options.dev:
        found[flag("dev")] = digest_of(Path(options.dev))
    return found


def _differences(
    folder: Path, written: Mapping[str, str], options: TrainingOptions
) -> Iterator[str]:
    """Compare the files of a run with those to write: other data, options with both values."""
    files = {name: folder / name for name in written}
    old = {name: path.read_text("utf-8") for name, path in files.items() if path.exists()}
    try:
        there = tomllib.loads(old.get(OPTIONS_FILE, written[OPTIONS_FILE]))
    except ValueError:
        raise TrainingError(f"{files[OPTIONS_FILE]}: broken", "--force starts anew") from None
    if foreign := sorted(there.keys() - {each.name for each in fields(options)}):
        yield f"the run is of another --method, which has {flag(foreign[0])}"
        return
    if old.get(DATA_FILE, written[DATA_FILE]) != written[DATA_FILE]:
        yield "other data"
    known = dict(line.split(" ") for line in old.get(INPUTS_FILE, "").splitlines())
    for name, value in (line.split(" ") for line in written[INPUTS_FILE].splitlines()):
        if known.get(name, value) != value:
            yield f"{name} is another one by now"
    here = tomllib.loads(written[OPTIONS_FILE])
    for name in sorted(there.keys() | here.keys()):
        found = (each.get(name) for each in (here, there))
        values = ["not given" if x in (None, "", [], {}) else str(x) for x in found]
        if values[0] != values[1]:
            yield f"{flag(name)} is {values[0]} here and {values[1]} there"


def restore(own: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> None:
    """Copy saved tensors into those of a step."""
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(saved[name])
