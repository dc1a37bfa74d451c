"""Files of benchmarks from where they are published, each compared with a sum: sources.toml."""

import hashlib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from xmine.errors import FileError
from xmine.files.atomic import replacing
from xmine.files.reading import read_lines
from xmine.options import load_toml

_MOST, _SECONDS = 1 << 26, 30  # bytes of a file


@dataclass(frozen=True, slots=True)
class Source:
    """Where files of benchmarks are; the fields are the keys of sources.toml."""

    what: str
    licence: str
    page: str
    reads: str
    place: str
    pattern: str
    address: str = ""
    files: dict[str, str] = field(default_factory=dict)


def sources() -> dict[str, Source]:
    """Read sources.toml."""
    tables = load_toml(Path(__file__).with_name("sources.toml"))
    return {name: Source(**table) for name, table in tables.items()}


def fetch(source: Source, folder: Path) -> Iterator[Path]:
    """Download the files of a source that are not there, and give their paths; read all that are.

    Raises:
        FileError: a file is another than the pinned one, here or where it is published, and is not
            kept; it cannot be downloaded; or what is there is empty or no text.
    """
    for name, wanted in source.files.items():
        path, address = folder / source.place / name, source.address + name
        if path.exists():
            if hashlib.sha256(path.read_bytes()).hexdigest() != wanted:
                raise FileError(f"{path}: another file than that of {address}", "move it away")
            continue
        try:
            with urllib.request.urlopen(address, timeout=_SECONDS) as stream:
                data = stream.read(_MOST)
        except (OSError, ValueError) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            raise FileError(f"{address}: {error}", f"see {source.page}") from error
        if (found := hashlib.sha256(data).hexdigest()) != wanted:
            hint = f"it has changed since it was pinned: see {source.page}"
            raise FileError(f"{address}: the SHA-256 is {found}, not {wanted}", hint)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as partial:
            partial.write_bytes(data)
        yield path
    for path in (folder / source.place).glob(source.pattern):
        read_lines(path)
