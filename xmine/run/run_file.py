"""`run.toml` of a run: read and written with its own digest; the digests of the other files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xmine.errors import FileError
from xmine.files.atomic import replacing
from xmine.files.digests import digest_of, sealed, unsealed
from xmine.files.sealed_arrays import seal_of
from xmine.options import dump_tables, load_toml

RUN_FILE = "run.toml"
FORMAT = 9  # of the folder
# The table of digests, by the name of each file in the folder.
DIGESTS = "digests"
# Files that end with their own digest; `run.toml` has it, so that it tells which ones go with it.
SEALED = ("source.npy", "target.npy", "neighbours/targets.npy", "neighbours/sources.npy")
_CHANGED = "changed since it was written"


def is_of_now(tables: Mapping[str, Any]) -> bool:
    """Tell whether `run.toml` is of this version's format."""
    made_with = tables.get("made_with")
    return isinstance(made_with, dict) and made_with.get("format") == FORMAT


def read_tables(path: Path) -> dict[str, Any]:
    """Read `run.toml`."""
    tables = load_toml(path)
    if is_of_now(tables) and unsealed(path.read_text(encoding="utf-8")) is None:
        raise FileError(f"{path}: {_CHANGED}", "mine again, into another folder")
    return tables


def write_tables(path: Path, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Write `run.toml`: the same tables give the same bytes."""
    digests = dict(sorted(tables.get(DIGESTS, {}).items()))
    tables = {**{name: tables[name] for name in tables if name != DIGESTS}, DIGESTS: digests}
    with replacing(path) as partial:
        partial.write_text(sealed(dump_tables(tables)), encoding="utf-8")


def check_written(folder: Path, *names: str) -> None:
    """Refuse files of a run that were changed; files without a digest pass."""
    tables = read_tables(folder / RUN_FILE)
    digests = tables.get(DIGESTS)
    for name in names if is_of_now(tables) else set(names).difference(SEALED):
        path, found = folder / name, seal_of if name in SEALED else digest_of
        known = digests.get(name) if isinstance(digests, dict) else None
        if known and path.exists() and found(path) != known:
            raise FileError(
                f"{path}: {_CHANGED}",
                "give the command that made the run again, and it makes this file again",
            )
