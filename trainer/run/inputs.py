"""Options -> digests of the encoders and files that they name, which a resumed run must find."""

from collections.abc import Mapping
from pathlib import Path

from xmine.encoders.fingerprint import list_files
from xmine.encoders.hub import find_encoder
from xmine.files.digests import digest, digest_of
from xmine.options import flag

from ..options.shared import AUTO, SCRATCH, TrainingOptions

_ENCODERS = ("encoder", "src_encoder", "tgt_encoder", "teacher", "distilled_encoder", "start")


def digests_of_inputs(options: TrainingOptions) -> dict[str, str]:
    """Hash the encoders to begin with, the teacher, and the scored pairs: flag -> digest.

    The corpus is hashed elsewhere, see `Corpus.fingerprint`.
    """
    given = {name: str(getattr(options, name, "")) for name in _ENCODERS}
    found = {
        flag(name): _digest_of_encoder(find_encoder(encoder))
        for name, encoder in given.items()
        if encoder not in ("", AUTO, SCRATCH)
    }
    if options.dev:
        found[flag("dev")] = digest_of(Path(options.dev))
    return found


def _digest_of_encoder(folder: Path) -> str:
    names = [name for name, _ in list_files(folder)]
    return digest(*names, *(digest_of(folder / name) for name in names))


def as_lines(digests: Mapping[str, str]) -> str:
    """Write digests as text, a line for each."""
    return "".join(f"{name} {value}\n" for name, value in digests.items())


def changed_inputs(before: str, now: str) -> list[str]:
    """Name the flags of files that are others by now; a run of an older version has no digests."""
    known, here = (dict(line.split(" ") for line in text.splitlines()) for text in (before, now))
    return [name for name in here if known and known.get(name, here[name]) != here[name]]
