"""The folder of an encoder -> digests of the files that its vectors depend on."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

# Another one whenever the same encoder gives the same texts other vectors than it did before.
_VERSION = 1

# Files of an encoder's folder that its vectors do not depend on, and endings of such files.
WITHOUT_EFFECT = (
    *("xmine.json", "reranking.json", "options.toml", "data.txt", "inputs.txt"),
    *("metrics.jsonl", "training.svg", "training.csv"),
)
_ENDINGS_WITHOUT_EFFECT = (".md", ".py", ".pyc", ".onnx", ".pt", ".h5", ".msgpack")

_DIGITS = 32


@dataclass(frozen=True)
class Source:
    """Where an encoder was loaded from.

    Attributes:
        folder: of the encoder.
        files: those that the vectors depend on, see `list_files`.
        name: as the user named the encoder.
    """

    folder: Path
    files: list[tuple[str, int, int]]
    name: str

    @cached_property
    def digests(self) -> list[tuple[str, str]]:
        """Name and SHA-256 of each file; empty if the folder has other files by now."""
        try:
            digests = []
            for name, _, _ in self.files:
                with (self.folder / name).open("rb") as file:
                    digests.append((name, hashlib.file_digest(file, "sha256").hexdigest()))
            return digests if list_files(self.folder) == self.files else []
        except OSError:
            return []


def list_files(encoder: Path) -> list[tuple[str, int, int]]:
    """List name, size and time of the files that the vectors depend on, but for hidden files."""
    found = []
    for path in encoder.rglob("*"):
        name = path.relative_to(encoder).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/"))
        about = name in WITHOUT_EFFECT or path.suffix in _ENDINGS_WITHOUT_EFFECT
        if path.is_file() and not (hidden or about):
            facts = path.stat()
            found.append((name, facts.st_size, facts.st_mtime_ns))
    return sorted(found)
