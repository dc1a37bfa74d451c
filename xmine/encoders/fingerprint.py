"""An encoder and texts -> the name of their vectors, by which a later run finds them again."""

import hashlib
from pathlib import Path

# Another one whenever the same encoder gives the same texts other vectors than it did before.
_VERSION = 1

# Files of an encoder's folder that its vectors do not depend on, and endings of such files.
_OF_TRAINING = ("options.toml", "metrics.jsonl", "training.svg", "training.csv")

_WITHOUT_EFFECT = ("xmine.json", *_OF_TRAINING)

_ENDINGS_WITHOUT_EFFECT = (".md", ".py", ".pyc", ".onnx", ".pt", ".h5", ".msgpack")

_DIGITS = 32


def files_of(encoder: Path) -> list[tuple[str, int, int]]:
    """List the files of an encoder's folder that its vectors depend on: name, size, when written.

    Without effect are those about it, and hidden ones.
    """
    found = []
    for path in encoder.rglob("*"):
        name = path.relative_to(encoder).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/"))
        about = name in _WITHOUT_EFFECT or path.suffix in _ENDINGS_WITHOUT_EFFECT
        if path.is_file() and not (hidden or about):
            facts = path.stat()
            found.append((name, facts.st_size, facts.st_mtime_ns))
    return sorted(found)


def digests_of(encoder: Path, files: list[tuple[str, int, int]]) -> list[tuple[str, str]]:
    """Hash the files of an encoder's folder; none if they are not those of the list any more."""
    digests = []
    try:
        for name, _, _ in files:
            with (encoder / name).open("rb") as file:
                digests.append((name, hashlib.file_digest(file, "sha256").hexdigest()))
        return digests if files_of(encoder) == files else []
    except OSError:
        return []
