"""The folder of a mining run: what was asked, what is done, and what goes on after a kill.

A run has four stages: texts, vectors, neighbours, pairs. Each leaves files that appear whole, and
`run.toml` says what each depends on, so that nothing is computed twice and nothing is mixed up.
docs/runs.md describes the files.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import xmine
from xmine.errors import FileError, OptionError
from xmine.files import PARTIAL, replacing
from xmine.options import dump_tables, flag, load_toml

RUN_FILE = "run.toml"
PAIRS_FILE = "pairs.parquet"
SUMMARY_FILE = "summary.json"
# What people said of the pairs: no stage makes it again, and nothing here may delete it.
JUDGEMENTS_FILE = "judgements.tsv"
TRAITS = "traits"
# The files of each stage, in the order of the walk; those of every sentence, unknown ones included,
# are gone when it is done.
STAGES = {
    "texts": (
        "source.parquet",
        "source.repeats.parquet",
        "target.parquet",
        "target.repeats.parquet",
    ),
    "vectors": ("source.npy", "target.npy", "source.every.npy", "target.every.npy", TRAITS),
    "neighbours": ("neighbours",),
    "pairs": ("candidates.parquet", PAIRS_FILE, SUMMARY_FILE),
}
_FORMAT = 1  # of the folder
# What a run decides, and the stage that it decides it for.
_DECISIONS = {
    "source_read_digest": "texts",
    "target_read_digest": "texts",
    "index": "neighbours",
}
# Names for people: what they stand for is told by the digest beside them.
_NAMES = ("source", "target", "encoder")
_CALLED = {"vectors_of_source": "--src-vectors", "vectors_of_target": "--tgt-vectors"}
_CALLED |= {"encoder_of_source": "the encoder or --src-prompt"}
_CALLED |= {"encoder_of_target": "the encoder or --tgt-prompt"}
_CALLED |= {"seed_pairs": "--seed-pairs", "gold": "--gold"}

# What a stage depends on: names and values as TOML knows them.
Asked = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Run:
    """A folder that this process alone writes to.

    Attributes:
        folder: where it is.
        kept: whether it stays; a run without a folder of its own works in a temporary one.
    """

    folder: Path
    kept: bool

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
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def decided(self, name: str, value: str) -> str:
        """Record a decision; where the run has decided before, keep to that."""
        if not self.kept:
            return value
        written = load_toml(self.path(RUN_FILE))
        decisions = written.setdefault("decided", {})
        if name not in decisions:
            decisions[name] = value
            _write(self.path(RUN_FILE), written)
        return str(decisions[name])


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
def open_run(folder: Path, asked: Asked, *, force: bool = False) -> Iterator[Run]:
    """Begin a run, or go on with one, alone.

    Args:
        folder: a run, or a folder to be made, or an empty one.
        asked: what each stage depends on.
        force: where the run depends on something else, throw away that stage and those behind it.

    Raises:
        FileError: the folder holds something else, cannot be written, or another process is at it.
        OptionError: the run was made with something else; the message names it.
    """
    _make(folder)
    with _alone(folder):
        run, path = Run(folder, kept=True), folder / RUN_FILE
        written = {"made_with": {"xmine": xmine.__version__, "format": _FORMAT}}
        wanted = {**written, **{stage: dict(each) for stage, each in asked.items()}}
        if path.exists():
            known = _read(path)
            difference = _difference(folder, known, wanted)
            if difference and not force:
                raise OptionError(
                    difference[1],
                    "give another folder, or --force to replace what depends on it",
                )
            if difference:
                gone = _drop(run, difference[0])
                decided = known.get("decided", {})
                wanted["decided"] = {
                    name: value
                    for name, value in decided.items()
                    if _DECISIONS.get(name, gone[0]) not in gone
                }
                _write(path, wanted)
        else:
            _write(path, wanted)
        for leftover in folder.rglob(f".*{PARTIAL}"):  # of a process that was killed
            leftover.unlink()
        yield run


@contextmanager
def alone_in(folder: Path) -> Iterator[Run]:
    """Give a run to change what its pairs are; nobody mines into it meanwhile.

    Raises:
        FileError: another process is at it, it cannot be written, or another version made it.
    """
    with _alone(folder):
        if _read(folder / RUN_FILE).get("made_with", {}).get("format") != _FORMAT:
            raise FileError(f"{folder}: a run of another version of xmine", "mine it anew")
        yield Run(folder, kept=True)


def check_run(folder: Path) -> None:
    """Refuse a folder that is none, or has other files in it.

    Raises:
        FileError: it cannot be a run.
    """
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


def _difference(
    folder: Path, known: dict[str, Any], wanted: dict[str, Any]
) -> tuple[str, str] | None:
    """Find the first stage that depends on something else, and say on what."""
    if known.get("made_with", {}).get("format") != _FORMAT:
        return "texts", f"{folder}: a run of another version of xmine"
    for stage in STAGES:
        before, now = known.get(stage, {}), wanted.get(stage, {})
        for name in sorted(before.keys() | now.keys()):
            if _compared(name, before.get(name)) != _compared(name, now.get(name)):
                return stage, _said(folder, name, before.get(name), now.get(name))
    return None


def _compared(name: str, value: object) -> object:
    """Leave out the folder that a file was named with: it may be named from elsewhere."""
    return Path(str(value)).name if name in _NAMES and value is not None else value


def _said(folder: Path, name: str, before: object, now: object) -> str:
    if not name.endswith("_digest"):
        return f"{folder}: was made with {_option(name, before)}, not {_option(name, now)}"
    given = name.removesuffix("_digest")
    given = _CALLED.get(given, given)
    if before is None or now is None:
        return f"{folder}: was made {'with' if now is None else 'without'} {given}"
    return f"{folder}: {given} has changed since the run was begun"


def _option(name: str, value: object) -> str:
    """Name an option as it is given."""
    if name in _NAMES:
        return "given vectors" if value is None else f"{name} {value}"
    if isinstance(value, bool):
        return flag(name) if value else f"--no-{flag(name)[2:]}"
    if value in (None, "", []):
        return f"no {flag(name)}"
    return f"{flag(name)} {','.join(value) if isinstance(value, list) else value}"


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
        return load_toml(path)
    except FileError as error:
        raise FileError(error.message, f"give another folder, or remove {path.parent}") from error


def _write(path: Path, tables: Mapping[str, Mapping[str, Any]]) -> None:
    with replacing(path) as partial:
        partial.write_text(dump_tables(tables), encoding="utf-8")
