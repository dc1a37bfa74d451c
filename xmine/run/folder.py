"""The folder of a mining run: configuration, finished stages, and how a killed run resumes.

A run has six stages: texts, vectors, neighbours, matches, rescoring, pairs. A stage's files appear
whole. `run.toml` lists the values that each stage depends on, and the digest of each file, so that
no stage is computed twice and files of two runs never mix. docs/reference/runs.md describes the
files.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from xmine.errors import FileError, OptionError
from xmine.files.atomic import PARTIAL, check_parent, remove, writing
from xmine.files.digests import Watch, digest_of, refuse_unreadable
from xmine.files.lock import held
from xmine.files.reading import readable
from xmine.run.difference import Asked as Asked
from xmine.run.difference import difference
from xmine.run.run_file import DIGESTS, FORMAT, is_of_now, read_tables, write_tables
from xmine.run.run_file import RUN_FILE as RUN_FILE
from xmine.vectors.cache import Warn, unheard
from xmine.version import __version__

CANDIDATES_FILE = "candidates.parquet"
PAIRS_FILE = "pairs.parquet"
SUMMARY_FILE = "summary.json"
# The scores that pairs were chosen by, of runs where these are no margins.
SCORES_FILES = "source.scores.npy", "target.scores.npy"
# The labels that people gave the pairs: no stage makes this file again, and nothing deletes it.
JUDGEMENTS_FILE = "judgements.tsv"
# The files of steps, see `xmine.engines.steps`; each tells itself whether it is whole.
PARTS = "parts"
# The files of each stage, in order; `SIDE.every.npy` has the vectors of all sentences, unknown ones
# included, and is deleted at the end of its stage.
STAGES = {
    "texts": (
        "source.parquet",
        "source.repeats.parquet",
        "target.parquet",
        "target.repeats.parquet",
    ),
    "vectors": ("source.npy", "target.npy", "source.every.npy", "target.every.npy"),
    "neighbours": ("neighbours",),
    "matches": (
        *(
            f"{side}.{name}.npy"
            for name in ("tokens", "tokens.starts")
            for side in ("source", "target")
        ),
    ),
    "rescoring": ("source.rescoring.npy", "target.rescoring.npy"),
    "pairs": (CANDIDATES_FILE, PAIRS_FILE, SUMMARY_FILE, *SCORES_FILES),
}
# A table of repeated lines and its table are written together: neither is of use alone.
_GO_TOGETHER = {f"{side}.repeats.parquet": f"{side}.parquet" for side in ("source", "target")}
_DECIDED = "decided"
# The decisions of a run, and the stage of each; first the digests of what can be read but once.
_READ = {"source_read_digest", "target_read_digest"}
_DECISIONS = {**dict.fromkeys(_READ, "texts"), "index": "neighbours"}


@dataclass(frozen=True, slots=True)
class Run(Watch):
    """A folder that this process alone writes to.

    Attributes:
        folder: its path.
        kept: whether the folder stays; False for a temporary folder.
        tables: the tables of `run.toml`.
        warn: told of files that somebody else has changed.
        after_reading: what waits until the texts are known to be the same; see `open_run`.
    """

    folder: Path
    kept: bool
    tables: dict[str, Any] = field(default_factory=dict)
    warn: Warn = unheard
    after_reading: list[Callable[[], None]] = field(default_factory=list)
    _written: set[str] = field(default_factory=set)  # the files whose digests `run.toml` has

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

    def remove(self, name: str) -> None:
        """Delete a file or a folder of the run, with its unfinished parts."""
        for path in [*self.folder.glob(f"{name}*"), *self.folder.glob(f".{name}*")]:
            remove(path)
        self._forget(name)  # `run.toml` is written later: the digest of a missing file does no harm

    def decided(self, name: str, value: str) -> str:
        """Record a decision, or give the one that was recorded before."""
        decisions = self.tables.setdefault(_DECIDED, {})
        if name not in decisions:
            decisions[name] = value
            self.save()
        return str(decisions[name])

    def digest(self, name: str) -> str:
        """Give the digest of a file when it was written; empty if none is recorded."""
        return str(self.tables.get(DIGESTS, {}).get(name, ""))

    def sealed(self, path: Path, digest: str = "") -> None:
        """Record the digest of a file, perhaps before the file has its name.

        `run.toml` has the digest from the next `save` on, or at once where an older one would say
        that the file was changed. A file without a digest there is made again after a kill.
        """
        if self.kept:
            name = path.relative_to(self.folder).as_posix()
            self.tables.setdefault(DIGESTS, {})[name] = digest or digest_of(path)
            if name in self._written:
                self.save()

    def changed(self, path: Path) -> None:
        """Tell the log and the user that a file is made again."""
        said = f"{path}: changed since it was written: made again"
        self.note(said)
        self.warn(said)

    def forget(self, *names: str) -> None:
        """Drop the digests of files that are about to be written again."""
        self._forget(*names)
        if any(each.startswith(names) for each in self._written):
            self.save()

    def _forget(self, *names: str) -> None:
        known = self.tables.get(DIGESTS, {})
        for each in [each for each in known if each.startswith(names)]:
            del known[each]

    def save(self) -> None:
        """Write `run.toml`: after work that a kill is not to undo."""
        if self.kept:
            write_tables(self.path(RUN_FILE), self.tables)
            self._written.clear()
            self._written.update(self.tables.get(DIGESTS, {}))

    def check(self) -> None:
        """Delete files that were changed since they were written, and warn of each.

        A file without a digest is deleted with a line in the log: its process was killed before it
        recorded one. Files of the last stage stay: they are always written again. The files of a
        search are checked by `xmine.knn`.

        Raises:
            FileError: a file cannot be read; it stays.
        """
        for name in self._names():
            path, known = self.path(name), self.digest(name)
            if known == (found := digest_of(path)) != "" or not (found or os.path.lexists(path)):
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
        """List the files that may have a digest."""
        for name in [name for names in STAGES.values() for name in names]:
            if name != "neighbours" or not self.path(name).is_dir():
                yield name


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
def temporary_run() -> Iterator[Run]:
    """Work in a folder in TMPDIR that is deleted at the end."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="xmine-"))
    except OSError as error:
        raise FileError(f"{error.filename}: cannot be written: {error.strerror}") from error
    try:
        yield Run(folder, kept=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def open_run(
    folder: Path, asked: Asked, force: bool = False, warn: Warn = unheard
) -> Iterator[Run]:
    """Begin a run, or resume one, as the only process.

    Args:
        folder: a run, a folder to be made, or an empty one.
        asked: the values that each stage depends on.
        force: delete the first stage that depends on other values, and the stages behind it; where
            standard input was read and its table stays, that waits for its text, which may be
            another.
        warn: told of each file that was changed since it was written; the file is deleted.

    Raises:
        FileError: the folder holds other files, cannot be written, or another process has it open;
            or `run.toml` was changed.
        OptionError: the run depends on another value; the message names it.
    """
    check_run(folder)
    with writing(folder):
        folder.mkdir(exist_ok=True)
    with held(folder, "mining into"):
        made_with = {"xmine": __version__, "format": FORMAT}
        tables = {"made_with": made_with, **{stage: dict(each) for stage, each in asked.items()}}
        run = Run(folder, kept=True, tables=tables, warn=warn)
        known = _read(run.path(RUN_FILE)) if run.path(RUN_FILE).exists() else None
        other = None if known is None else difference(folder, known, tables, STAGES)
        if other and not force:
            hint = "give another folder, or --force to replace what depends on it"
            if other[0] == "pairs":
                hint += f"; xmine pairs cut {folder} --at P --write moves the cut alone"
            raise OptionError(other[1], hint)
        if known is None:
            run.save()
        elif not other:
            tables.update(known)
        else:
            replace = partial(_replace, run, known, other[0], dict(tables))
            if other[0] in ("texts", "vectors") or _READ.isdisjoint(known.get(_DECIDED, {})):
                replace()
            else:
                run.after_reading.append(replace)
                tables.clear()
                tables.update(known)
        try:
            for leftover in folder.rglob(f".*{PARTIAL}"):  # of a process that was killed
                remove(leftover)
            run.check()
        except OSError as error:
            raise FileError(f"{error.filename}: cannot be deleted: {error.strerror}") from error
        run._written.update((known or {}).get(DIGESTS, {}))
        try:
            yield run
        except BaseException:
            with suppress(FileError):  # of a full disk, which the first error tells of
                run.save()
            raise
        if run._written != set(run.tables.get(DIGESTS, {})):
            run.save()


def _replace(run: Run, known: dict[str, Any], first: str, asked: dict[str, Any]) -> None:
    """Delete the files of a stage and of those behind it; keep the digests of the other files."""
    run.tables.clear()
    run.tables.update(asked)
    if is_of_now(known):
        run.tables.update({name: known.get(name, {}) for name in (_DECIDED, DIGESTS)})
    stages = list(STAGES)
    # The tables lack the lines that the encoder knew nothing of; another one may know them.
    gone = stages[stages.index("texts" if first == "vectors" else first) :]
    for name in [name for stage in gone for name in STAGES[stage]]:
        run.remove(name)
    decided = run.tables.get(_DECIDED, {})
    for name in [name for name in decided if _DECISIONS.get(name, gone[0]) in gone]:
        del decided[name]
    run.save()


@contextmanager
def alone_in(folder: Path) -> Iterator[Run]:
    """Open a finished run, to write its pairs again; nobody mines into the run meanwhile."""
    with held(folder, "mining into"):
        tables = _read(folder / RUN_FILE)
        if not is_of_now(tables):
            raise FileError(f"{folder}: a run of another version of xmine", "mine it anew")
        run = Run(folder, kept=True, tables=tables)
        run._written.update(tables.get(DIGESTS, {}))
        yield run
        run.save()


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
