"""The folder of a run that is under way: options, vocabulary, checkpoint, best state, metrics.

It stands beside the encoder-to-be as `NAME.training/` until the run has ended.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from xmine.errors import TrainingError
from xmine.files import replacing
from xmine.options import dump_toml
from xmine.pairs import ParallelText
from xmine.trainer.options import TrainingOptions
from xmine.vocabulary import MODEL_FILE, Vocabulary


def run_folder(output: Path) -> Path:
    """Name the folder of the run that will make `output`."""
    return output.with_name(output.name + ".training")


class Run:
    """One training run on disk; everything in it is written whole or not at all."""

    def __init__(self, folder: Path, options: TrainingOptions, pairs: ParallelText) -> None:
        """Open the folder, new or of a run that was stopped.

        Args:
            folder: see `run_folder`.
            options: of this run.
            pairs: what it trains on and holds out, after all exclusions.

        Raises:
            TrainingError: the stopped run had other options or other data.
        """
        self.folder = folder
        written = {"data.txt": fingerprint(pairs) + "\n", "options.toml": dump_toml(options)}
        if any(_differs(folder / name, text) for name, text in written.items()):
            raise TrainingError(
                f"{folder}: the run there has other options or other data",
                f"--options {folder}/options.toml --resume goes on with it, with the same pairs; "
                "--force starts anew",
            )
        folder.mkdir(exist_ok=True)
        for name, text in written.items():
            with replacing(folder / name) as partial:
                partial.write_text(text, encoding="utf-8")

    def vocabulary(self) -> Vocabulary | None:
        """Read the vocabulary, if it is there already."""
        return Vocabulary.load(self.folder) if (self.folder / MODEL_FILE).exists() else None

    def save_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Write the vocabulary; the model last, since it tells that both files are there."""
        vocabulary.save(self.folder)

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Write `name`.pt."""
        with replacing(self.folder / f"{name}.pt") as partial:
            torch.save(dict(state), partial)

    def load(self, name: str) -> dict[str, Any] | None:
        """Read `name`.pt, if it is there."""
        path = self.folder / f"{name}.pt"
        return torch.load(path, weights_only=True) if path.exists() else None

    @property
    def has_begun(self) -> bool:
        """Whether anything has been logged."""
        return (self.folder / "metrics.jsonl").exists()

    def log(self, **numbers: float) -> None:
        """Append a line to `metrics.jsonl`."""
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(numbers) + "\n")

    def forget_after(self, step: int) -> None:
        """Take back the metrics of steps that a resumed run takes again."""
        path = self.folder / "metrics.jsonl"
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [
                line for line in lines if line.endswith("\n") and json.loads(line)["step"] <= step
            ]
            with replacing(path) as partial:
                partial.write_text("".join(kept), encoding="utf-8")


def _differs(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") != text


def restore(own: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> None:
    """Copy saved tensors into those of a step."""
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(saved[name])


def fingerprint(pairs: ParallelText) -> str:
    """Hash all pairs, so that a run is not resumed with other data."""
    digest = hashlib.blake2b(digest_size=16)
    for side in (pairs.sources, pairs.targets, pairs.origins):
        digest.update("\n".join(side).encode())
        digest.update(b"\0")
    return digest.hexdigest()
