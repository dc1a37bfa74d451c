"""The folder of a mining run: `run.toml`, the files of steps in `parts/`, and the results.

`run.toml` has the options, what was read, and the digests of the results; it is written when a new
folder is made, and when a run ends. `xmine.run.steps` tells how a killed run goes on.
docs/reference/runs.md describes the files.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from xmine.errors import FileError, OptionError
from xmine.files.atomic import PARTIAL, check_parent, remove, writing
from xmine.files.cache import Warn
from xmine.files.digests import digest_of, refuse_unreadable
from xmine.files.lock import held
from xmine.files.reading import readable
from xmine.files.scratch import temporary_folder
from xmine.files.sealed_arrays import seal_of
from xmine.progress import silent
from xmine.run.run_file import DIGESTS, FORMAT, SEALED, is_of_now, read_tables, write_tables
from xmine.run.run_file import RUN_FILE as RUN_FILE
from xmine.version import __version__

CANDIDATES_FILE = "candidates.parquet"
PAIRS_FILE = "pairs.parquet"
SUMMARY_FILE = "summary.json"
# When pairs came that the first ones lacked (with times, and so with no digest in `run.toml`); and
# the pairs before, while results are written.
SINCE_FILE, BEFORE_FILE = "since.parquet", ".before.parquet"
# The scores that pairs were chosen by, of runs where these are no margins.
SCORES_FILES = "source.scores.npy", "target.scores.npy"
# The key of the table `also` in `run.toml` that tells an alignment from mined pairs.
ALIGNED = "aligned"
# The labels that people gave the pairs: no run makes this file again, and nothing deletes it.
JUDGEMENTS_FILE = "judgements.tsv"
TEXT_FILES = (
    *("source.parquet", "source.repeats.parquet"),
    *("target.parquet", "target.repeats.parquet"),
)
# What a run writes at its end, in this order.
RESULTS = (*TEXT_FILES, *SCORES_FILES, CANDIDATES_FILE, PAIRS_FILE, SUMMARY_FILE)
# The tables of `run.toml` that tell what the pairs depend on, by name.
Asked = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder that this process alone writes to.

    Attributes:
        folder: its path.
        kept: whether the folder stays; False for a temporary folder.
        tables: the tables of `run.toml`.
        warn: told of files that somebody else has changed.
    """

    folder: Path
    kept: bool
    tables: dict[str, Any] = field(default_factory=dict)
    warn: Warn = silent

    def path(self, name: str) -> Path:
        """Name one of its files."""
        return self.folder / name

    def note(self, text: str) -> None:
        """Add lines to its log."""
        if not self.kept:
            return
        now, path = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"), self.path("log.txt")
        with writing(path), path.open("a", encoding="utf-8") as log:
            log.write("".join(f"{now}  {line}\n" for line in text.split("\n")))

    def changed(self, path: Path) -> None:
        """Tell the log and the user that a file is made again."""
        said = f"{path}: changed since it was written: made again"
        self.note(said)
        self.warn(said)

    def forget(self, *names: str) -> None:
        """Drop the digests of results that are about to be written again."""
        for name in names:
            self.tables.get(DIGESTS, {}).pop(name, None)
        write_tables(self.path(RUN_FILE), self.tables)

    def finish(self) -> None:
        """Write `run.toml` with the digests of the results."""
        if self.kept:
            files = {name: seal_of for name in SEALED} | {name: digest_of for name in RESULTS}
            self.tables[DIGESTS] = {
                name: digest(self.path(name))
                for name, digest in files.items()
                if self.path(name).exists()
            }
            write_tables(self.path(RUN_FILE), self.tables)


def is_run(path: str) -> bool:
    """Tell whether a name is that of a run: it ends in `/`, or a run is there."""
    return path.endswith("/") or (Path(path) / RUN_FILE).is_file()


def makes_run(output: str) -> bool:
    """Tell whether an output is to be a run; a file of pairs has a suffix, or a comma, in it."""
    return is_run(output) or not (Path(output).suffix or "," in output)


def working_folder(run: Path | None) -> Path:
    """Give a folder on the disk that a run fills: the run, its parent, or the temporary folder."""
    return Path(tempfile.gettempdir()) if run is None else run if run.exists() else run.parent


def bytes_there(run: Path | None) -> int:
    """Count the bytes that a run has on disk."""
    every = run.rglob("*") if run else ()
    return sum(path.lstat().st_size for path in every if path.is_file())


@contextmanager
def temporary_run() -> Iterator[RunFolder]:
    """Work in a folder in TMPDIR that is deleted at the end."""
    with temporary_folder() as folder:
        yield RunFolder(folder, kept=False)


@contextmanager
def open_run(
    folder: Path, asked: Asked, force: bool = False, warn: Warn = silent
) -> Iterator[RunFolder]:
    """Begin a run, or go on with one, as the only process.

    Args:
        folder: a run, a folder to be made, or an empty one.
        asked: what the pairs depend on.
        force: replace the pairs of other text inputs, or of another version of xmine.
        warn: told of each file that was changed since it was written.

    Raises:
        FileError: the folder holds other files, cannot be written, or another process has it open;
            or `run.toml` was changed.
        OptionError: the run has pairs of other text inputs.
    """
    check_run(folder)
    with writing(folder):
        folder.mkdir(exist_ok=True)
    with held(folder, "mining into"):
        made_with = {"xmine": __version__, "format": FORMAT}
        tables = {"made_with": made_with, **{stage: dict(each) for stage, each in asked.items()}}
        run = RunFolder(folder, kept=True, tables=tables, warn=warn)
        known = _read(run.path(RUN_FILE)) if run.path(RUN_FILE).exists() else None
        if known and not force and (other := _other(known, tables)):
            hint = "give another folder, or --force to replace what is there"
            raise OptionError(f"{folder}: {other}", hint)
        if known is None or not is_of_now(known):
            write_tables(run.path(RUN_FILE), tables)
        try:
            for leftover in folder.rglob(f".*{PARTIAL}"):  # of a process that was killed
                remove(leftover)
        except OSError as error:
            raise FileError(f"{error.filename}: cannot be deleted: {error.strerror}") from error
        yield run


def _other(known: Mapping[str, Any], asked: Asked) -> str:
    """Tell in which way a run is another one; its files may stand in another folder now."""
    if not is_of_now(known):
        return "a run of another version of xmine"
    aligned, aligns = (ALIGNED in tables.get("also", {}) for tables in (known, asked))
    if aligned != aligns:
        return "has an alignment" if aligned else "has mined pairs"
    for side in ("source", "target"):
        before, now = (str(tables.get("texts", {}).get(side)) for tables in (known, asked))
        if _without_folder(before) != _without_folder(now):
            return f"was made with {side} {before}, not {now}"
    return ""


def _without_folder(given: str) -> str:
    """Leave out the folder of a file; the column behind a name may have slashes, too."""
    path, colon, column = given.rpartition(":")
    if colon and Path(path).suffix:
        return f"{Path(path).name}:{column}"
    return Path(given).name


@contextmanager
def alone_in(folder: Path) -> Iterator[RunFolder]:
    """Open a finished run, to write its pairs again; nobody mines into the run meanwhile."""
    with held(folder, "mining into"):
        tables = _read(folder / RUN_FILE)
        if not is_of_now(tables):
            raise FileError(f"{folder}: a run of another version of xmine", "mine it anew")
        run = RunFolder(folder, kept=True, tables=tables)
        yield run
        run.finish()


def check_run(folder: Path) -> None:
    """Refuse a path that is a file, a folder with other files in it, or no UTF-8."""
    if readable(str(folder)) != str(folder):
        raise FileError(f"{readable(str(folder))}: the name is not UTF-8", "give another name")
    check_parent(folder)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder}: is a file", "give another name")
    try:
        others = folder.exists() and [each for each in folder.iterdir() if each.name[0] != "."]
    except OSError as error:
        raise FileError(f"{folder}: cannot be read: {error.strerror}") from error
    if others and not (folder / RUN_FILE).exists():
        raise FileError(f"{folder}: a folder with other files in it", "give another name")


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_tables(path)
    except FileError as error:
        if isinstance(error.__cause__, OSError):  # the run may be as good as ever
            refuse_unreadable(path, error.__cause__)
        raise FileError(error.message, f"give another folder, or remove {path.parent}") from error
