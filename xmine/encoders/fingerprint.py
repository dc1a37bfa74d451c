"""The folder of an encoder -> digests of the files that its vectors depend on."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from xmine.encoders.layout import MODULES_FILE, read_json, read_modules, shards_in
from xmine.errors import EncoderError, FileError
from xmine.files.digests import Identity, check_unchanged, identity, refuse_unreadable

# Another one whenever the same encoder gives the same texts other vectors than it did before.
VERSION = 1

FACTS_FILE = "xmine.json"
# Files of an encoder's folder that its vectors do not depend on, and endings of such files.
WITHOUT_EFFECT = (
    *(FACTS_FILE, "reranking.json", "options.toml", "data.txt", "inputs.txt"),
    *("metrics.jsonl", "training.svg", "training.csv", "packs/options.toml"),
)
_ENDINGS_WITHOUT_EFFECT = (".md", ".py", ".pyc", ".onnx", ".pt", ".h5", ".msgpack", ".pack")

DIGITS = 32

Made = TypeVar("Made")


@dataclass(frozen=True)
class Source:
    """Where an encoder was loaded from.

    Attributes:
        folder: of the encoder.
        files: those that the vectors depend on, listed before they were read, see `list_files`.
        name: as the user named the encoder.
    """

    folder: Path
    files: list[tuple[str, Identity]]
    name: str

    @cached_property
    def saved(self) -> dict[str, str]:
        """The digests that xmine wrote when it saved the encoder; none in folders of others."""
        path = self.folder / FACTS_FILE
        files = read_json(path).get("files") if path.exists() else None
        return files if isinstance(files, dict) else {}  # older versions wrote a list

    @cached_property
    def digests(self) -> list[tuple[str, str]]:
        """Name and SHA-256 of each file, which must be as it was loaded, and as it was saved."""
        digests = []
        for name, _ in self.files:
            path = self.folder / name
            try:
                with path.open("rb") as file:
                    digests.append((name, hashlib.file_digest(file, "sha256").hexdigest()))
            except OSError as error:
                refuse_unreadable(path, error)
        self.check_unchanged()
        if list_files(self.folder) != self.files:
            raise FileError(
                f"{self.folder}: was changed while it was read", "give the command again"
            )
        found = dict(digests)
        for name, known in self.saved.items():
            is_lost = not (self.folder / name).exists()
            if known and (is_lost or found.get(name, known) != known):
                raise EncoderError(
                    f"{self.folder / name}: {'lost' if is_lost else 'changed'} since the encoder "
                    "was saved",
                    'copy the encoder again; or, to accept the change, write "" in place of the '
                    f"digest of the file in {self.folder / FACTS_FILE}",
                )
        return digests

    def check_unchanged(self) -> None:
        """Refuse files that were changed since the encoder was loaded: weights stay mapped."""
        for name, known in self.files:
            check_unchanged(self.folder / name, known)


def unchanged(source: Source | None, made: Made) -> Made:
    """Pass on what an encoder has made, if its files are as they were; a look takes 0.05 ms."""
    if source:
        source.check_unchanged()
    return made


def list_files(encoder: Path) -> list[tuple[str, Identity]]:
    """List name and identity of the files that the vectors depend on; hidden ones if named."""
    roots = {encoder}
    if (encoder / MODULES_FILE).exists():
        roots |= {each.folder for each in read_modules(encoder)}
    paths = {shard for root in roots for shards in shards_in(root) for shard in shards}
    for root in roots:
        for path in root.rglob("*"):
            hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
            about = path.relative_to(encoder).as_posix() in WITHOUT_EFFECT
            if not (hidden or about or path.suffix in _ENDINGS_WITHOUT_EFFECT):
                paths.add(path)
    files = [path for path in paths if path.is_file()]
    return sorted((path.relative_to(encoder).as_posix(), identity(path)) for path in files)
