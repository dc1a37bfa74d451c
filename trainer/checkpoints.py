"""The folder of a run that is under way: options, vocabulary, checkpoint, best state, metrics.

It stands beside the encoder-to-be as `NAME.training/` until the run has ended.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from xmine.errors import TrainingError
from xmine.files import replacing
from xmine.options import dump_toml
from xmine.trainer.board import Board
from xmine.trainer.corpus import Corpus
from xmine.trainer.distributed import World
from xmine.trainer.options import TrainingOptions
from xmine.vocabulary import MODEL_FILE, Vocabulary

METRICS_FILE = "metrics.jsonl"
OPTIONS_FILE = "options.toml"


def run_folder(output: Path) -> Path:
    """Name the folder of the run that will make `output`."""
    return output.with_name(output.name + ".training")


class Run:
    """One training run on disk, or one stage of it; everything is written whole or not at all.

    Of several processes that train together, the first alone writes.
    """

    def __init__(self, folder: Path, options: TrainingOptions, corpus: Corpus) -> None:
        """Open the folder, new or of a run that was stopped.

        Args:
            folder: see `run_folder`.
            options: of this run.
            corpus: what it trains on and holds out, after all exclusions.

        Raises:
            TrainingError: the stopped run had other options or other data; TensorBoard is wanted
                and missing.
        """
        self.folder = folder
        self.name = ""
        self.board: Board | None = None
        if options.tensorboard and World.here().leads:
            self.board = Board(Path(options.tensorboard) / folder.stem)
        written = {"data.txt": corpus.fingerprint() + "\n", OPTIONS_FILE: dump_toml(options)}
        if any(_differs(folder / name, text) for name, text in written.items()):
            if not World.here().leads:
                raise TrainingError(
                    "this process has other options or other data than the first",
                    "give all processes the same",
                )
            raise TrainingError(
                f"{folder}: the run there has other options or other data",
                f"--options {folder / OPTIONS_FILE} --resume goes on with it, with the same data; "
                "--force starts anew",
            )
        if World.here().leads:
            folder.mkdir(exist_ok=True)
            for name, text in written.items():
                with replacing(folder / name) as partial:
                    partial.write_text(text, encoding="utf-8")

    def stage(self, name: str) -> "Run":
        """Give one stage of the run a checkpoint of its own; its metrics say which it is."""
        stage = object.__new__(Run)
        stage.folder, stage.name, stage.board = self.folder, name, self.board
        return stage

    def vocabulary(self) -> Vocabulary | None:
        """Read the vocabulary, if it is there already."""
        return Vocabulary.load(self.folder) if (self.folder / MODEL_FILE).exists() else None

    def save_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Write the vocabulary; the model last, since it tells that both files are there."""
        if World.here().leads:
            vocabulary.save(self.folder)

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Write a state under a name."""
        if World.here().leads:
            with replacing(self._path(name)) as partial:
                torch.save(dict(state), partial)

    def load(self, name: str) -> dict[str, Any] | None:
        """Read a state, if it is there."""
        path = self._path(name)
        if not path.exists():
            return None
        return torch.load(path, weights_only=True, map_location="cpu")

    @property
    def has_begun(self) -> bool:
        """Whether anything has been logged."""
        return (self.folder / METRICS_FILE).exists()

    def log(self, **numbers: float | str) -> None:
        """Append a line to the metrics: figures, or a reason in words."""
        if World.here().leads:
            line = {"stage": self.name, **numbers} if self.name else numbers
            with (self.folder / METRICS_FILE).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            if self.board:
                self.board.add(self.name, numbers)

    def forget_after(self, step: int) -> None:
        """Take back the metrics of steps that a resumed run, or stage, takes again."""
        if self.board:
            self.board.begin(self.name, step)
        path = self.folder / METRICS_FILE
        if not (path.exists() and World.here().leads):
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        with replacing(path) as partial:
            partial.write_text("".join(each for each in lines if self._keeps(each, step)))

    def _keeps(self, line: str, step: int) -> bool:
        if not line.endswith("\n"):  # a kill cut it short
            return False
        numbers = json.loads(line)
        return bool(numbers.get("stage", "") != self.name or numbers["step"] <= step)

    def _path(self, name: str) -> Path:
        return self.folder / f"{f'{self.name}-' if self.name else ''}{name}.pt"


def _differs(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") != text


def restore(own: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> None:
    """Copy saved tensors into those of a step."""
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(saved[name])
