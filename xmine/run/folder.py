"""The folder of a mining run: what was asked, what is done, and what goes on after a kill.

A run has four stages: texts, vectors, neighbours, pairs. Each leaves files that appear whole, and
`run.toml` says what each depends on and what each file was when it was written, so that nothing is
computed twice and nothing is mixed up. docs/reference/runs.md describes the files.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from xmine.errors import FileError, OptionError
from xmine.files.atomic import PARTIAL, remove
from xmine.files.digests import Watch, digest_of
from xmine.run.difference import Asked as Asked
from xmine.run.difference import difference
from xmine.run.run_file import DIGESTS, FORMAT, is_of_now, read_tables, write_tables
from xmine.run.run_file import RUN_FILE as RUN_FILE
from xmine.vectors.cache import Warn, unheard
from xmine.version import __version__

PAIRS_FILE = "pairs.parquet"
SUMMARY_FILE = "summary.json"
# What people said of the pairs: no stage makes it again, and nothing here may delete it.
JUDGEMENTS_FILE = "judgements.tsv"
FEATURES = "traits"
# The files of each stage, in the order of the walk; those of every sentence, unknown ones included,
# are gone when it is done.
STAGES = {
    "texts": (
        "source.parquet",
        "source.repeats.parquet",
        "target.parquet",
        "target.repeats.parquet",
    ),
    "vectors": ("source.npy", "target.npy", "source.every.npy", "target.every.npy", FEATURES),
    "neighbours": ("neighbours",),
    "pairs": ("candidates.parquet", PAIRS_FILE, SUMMARY_FILE),
}
_FOLDERS = ("neighbours", FEATURES)
# A table without the other is of no use; they are written together.
_GO_TOGETHER = {f"{side}.repeats.parquet": f"{side}.parquet" for side in ("source", "target")}
_DECIDED = "decided"
# What a run decides, and the stage that it decides it for.
_DECISIONS = {
    "source_read_digest": "texts",
    "target_read_digest": "texts",
    "index": "neighbours",
}


@dataclass(frozen=True, slots=True)
class Run(Watch):
    """A folder that this process alone writes to.

    Attributes:
        folder: where it is.
        kept: whether it stays; a run without a folder of its own works in a temporary one.
        tables: what stands in `run.toml`.
        warn: told what was changed by somebody else.
    """

    folder: Path
    kept: bool
    tables: dict[str, Any] = field(default_factory=dict)
    warn: Warn = unheard

    def path(self, name: str) -> Path:
        """Name one of its files."""
        return self.folder / name

    def note(self, text: str) -> None:
        """Add lines to its log."""
        if not self.kept:
            return
        now, path = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"), self.path("log.txt")
        try:
            with path.open("a", encoding="utf-8") as log:
                log.write("".join(f"{now}  {line}\n" for line in text.split("\n")))
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror}") from error

    def remove(self, name: str) -> None:
        """Delete one of its files or folders, with what is half done of it."""
        for path in [*self.folder.glob(f"{name}*"), *self.folder.glob(f".{name}*")]:
            remove(path)
        self._forget(name)  # written with what comes next: the name of what is missing does no harm

    def decided(self, name: str, value: str) -> str:
        """Record a decision; where the run has decided before, keep to that."""
        decisions = self.tables.setdefault(_DECIDED, {})
        if name not in decisions:
            decisions[name] = value
            self._write()
        return str(decisions[name])

    def digest(self, name: str) -> str:
        """Tell what a file was when it was written; nothing if nobody has said."""
        return str(self.tables.get(DIGESTS, {}).get(name, ""))

    def sealed(self, path: Path, digest: str = "") -> None:
        """Record what one of its files is, perhaps before it has its name."""
        if self.kept:
            name = path.relative_to(self.folder).as_posix()
            self.tables.setdefault(DIGESTS, {})[name] = digest or digest_of(path)
            self._write()

    def changed(self, path: Path) -> None:
        """Say in the log, and to the user, that a file is made again."""
        said = f"{path}: changed since it was written: made again"
        self.note(said)
        self.warn(said)

    def forget(self, *names: str) -> None:
        """Vouch no longer for files that are about to be written again."""
        self._forget(*names)
        self._write()

    def _forget(self, *names: str) -> None:
        known = self.tables.get(DIGESTS, {})
        for each in [each for each in known if each.startswith(names)]:
            del known[each]

    def _write(self) -> None:
        if self.kept:
            write_tables(self.path(RUN_FILE), self.tables)

    def check(self) -> None:
        """Take away what is not what it was, and say so; what is missing is made again.

        A file that nobody vouches for is taken away with a line in the log: its process was killed
        before it could. The files of the last stage stay then: they are always written again. What
        a search has left is not looked at here.
        """
        for name in self._names():
            path, known = self.path(name), self.digest(name)
            if not os.path.lexists(path) or (path.is_file() and known == digest_of(path) != ""):
                continue
            if path.is_dir() or (known and path.exists()):
                self.changed(path)
                remove(path)
            elif name not in STAGES["pairs"]:
                self.note(f"{path}: is not known to be whole: made again")
                remove(path)
        for name, other in _GO_TOGETHER.items():
            if self.digest(name) and not self.path(name).exists():
                remove(self.path(other))

    def _names(self) -> Iterator[str]:
        """Name the files that it vouches for, and what is in their places."""
        for name in [name for names in STAGES.values() for name in names]:
            if name not in _FOLDERS or not self.path(name).is_dir():
                yield name
            elif name == FEATURES:
                yield from sorted(f"{name}/{each.name}" for each in self.path(name).iterdir())


def is_run(path: str) -> bool:
    """Tell whether an output is to be a run: its name ends in `/`, or it is one already."""
    return path.endswith("/") or (Path(path) / RUN_FILE).is_file()


def working_folder(run: Path | None) -> Path:
    """Name the folder whose disk a run fills: its own or its parent, or that of temporary files."""
    return Path(tempfile.gettempdir()) if run is None else run if run.exists() else run.parent


def bytes_there(run: Path | None) -> int:
    """Count the bytes that a run has written already."""
    every = run.rglob("*") if run else ()
    return sum(path.lstat().st_size for path in every if path.is_file())


@contextmanager
def temporary_run() -> Iterator[Run]:
    """Give a folder that is gone at the end, where TMPDIR says."""
    try:
        folder = tempfile.mkdtemp(prefix="xmine-")
    except OSError as error:
        raise FileError(f"{error.filename}: cannot be written: {error.strerror}") from error
    try:
        yield Run(Path(folder), kept=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def open_run(
    folder: Path, asked: Asked, force: bool = False, warn: Warn = unheard
) -> Iterator[Run]:
    """Begin a run, or go on with one, alone.

    Args:
        folder: a run, or a folder to be made, or an empty one.
        asked: what each stage depends on.
        force: where the run depends on something else, throw away that stage and those behind it.
        warn: told of each file that is not what it was when it was written; it is gone then.
    """
    _make(folder)
    with _alone(folder):
        path = folder / RUN_FILE
        made_with = {"xmine": __version__, "format": FORMAT}
        tables = {"made_with": made_with, **{stage: dict(each) for stage, each in asked.items()}}
        run = Run(folder, kept=True, tables=tables, warn=warn)
        if path.exists():
            known = _read(path)
            other = difference(folder, known, tables, STAGES)
            if other and not force:
                hint = "give another folder, or --force to replace what depends on it"
                if other[0] == "pairs":
                    hint += f"; xmine pairs cut {folder} --at P --write moves the cut alone"
                raise OptionError(other[1], hint)
            if not other:
                tables.update(known)
            else:
                if is_of_now(known):
                    tables |= {name: known.get(name, {}) for name in (_DECIDED, DIGESTS)}
                gone = _drop(run, other[0])
                decided = tables.get(_DECIDED, {})
                for name in [name for name in decided if _DECISIONS.get(name, gone[0]) in gone]:
                    del decided[name]
                write_tables(path, tables)
        else:
            write_tables(path, tables)
        try:
            for leftover in folder.rglob(f".*{PARTIAL}"):  # of a process that was killed
                remove(leftover)
            run.check()
        except OSError as error:
            raise FileError(f"{error.filename}: cannot be deleted: {error.strerror}") from error
        yield run


@contextmanager
def alone_in(folder: Path) -> Iterator[Run]:
    """Give a run to change what its pairs are; nobody mines into it meanwhile."""
    with _alone(folder):
        tables = _read(folder / RUN_FILE)
        if not is_of_now(tables):
            raise FileError(f"{folder}: a run of another version of xmine", "mine it anew")
        yield Run(folder, kept=True, tables=tables)


def check_run(folder: Path) -> None:
    """Refuse a folder that is none, or has other files in it."""
    if not folder.parent.is_dir():
        raise FileError(f"{folder.parent}: no such folder", f"mkdir -p {folder.parent}")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder}: is a file", "give another name")
    try:
        others = folder.exists() and [each for each in folder.iterdir() if each.name[0] != "."]
    except OSError as error:
        raise FileError(f"{folder}: cannot be read: {error.strerror}") from error
    if others and not (folder / RUN_FILE).exists():
        raise FileError(f"{folder}: a folder with other files in it", "give another name")


def _make(folder: Path) -> None:
    check_run(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be written: {error.strerror}") from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; the system lets it go when the process ends, however it ends."""
    import fcntl  # of Linux and macOS

    try:
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FileError(f"{folder}: cannot be written: {error.strerror}") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(
                f"{folder}: another process is mining into it",
                "wait until it is done, or give another folder",
            ) from None
        yield
    finally:
        os.close(lock)


def _drop(run: Run, first: str) -> list[str]:
    """Delete the files of a stage and of those behind it; return which stages these are."""
    stages = list(STAGES)
    # The tables lack the lines that the encoder knew nothing of; another one may know them.
    gone = stages[stages.index("texts" if first == "vectors" else first) :]
    for stage in gone:
        for name in STAGES[stage]:
            run.remove(name)
    return gone


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_tables(path)
    except FileError as error:
        raise FileError(error.message, f"give another folder, or remove {path.parent}") from error
