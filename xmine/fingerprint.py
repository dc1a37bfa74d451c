"""An encoder and texts -> the name of their vectors, by which a later run finds them again."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.modules.static import StaticEmbedding

if TYPE_CHECKING:
    from xmine.encoder import SentenceEncoder

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


def fingerprint(
    encoder: "SentenceEncoder", digests: list[tuple[str, str]], device: str = ""
) -> str:
    """Hash what the vectors of an encoder depend on, but for texts and prompt.

    That is the files it was loaded from and, of a transformer, how it runs; on `device`, where
    that is another one than it runs on now.
    """
    facts: list[object] = [digests, encoder.dim]
    body = encoder.body
    if not isinstance(body, StaticEmbedding):
        device = (device or encoder.device).partition(":")[0]
        facts += [device, body.dtype, body.batch_size, body.cut_at, body.pooling.include_prompt]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_DIGITS]


def vectors_key(
    encoder: "SentenceEncoder", digest: str, prompt: str = "", device: str = ""
) -> str | None:
    """Name the vectors of texts; None for an encoder that does not come from a folder.

    Args:
        encoder: what makes them.
        digest: of the texts, see `xmine.sentences.Sentences.digest`.
        prompt: as `SentenceEncoder.encode` takes it.
        device: where they were made, if not where the encoder runs now.
    """
    made_by = encoder.fingerprint(device)
    if made_by is None:
        return None
    facts = [_VERSION, made_by, digest, encoder.settings.choose(prompt)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_DIGITS]
