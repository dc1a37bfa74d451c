"""State that the app keeps between starts: places and settings; and what is below a folder."""

import json
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any
from warnings import catch_warnings

from xmine.browsing.opening import open_pairs, stamp
from xmine.encoders.fingerprint import FACTS_FILE
from xmine.errors import FileError, XmineError
from xmine.files.atomic import replacing
from xmine.files.digests import identity
from xmine.files.portable import lock_at_once
from xmine.judging.counts import Counts, Share
from xmine.judging.judgements import Judgements, judge_name
from xmine.pairs.judgements import as_time
from xmine.run.folder import JUDGEMENTS_FILE, PAIRS_FILE, RUN_FILE, SUMMARY_FILE

_MOST = 50  # places
# The walk through a folder: how deep, how many folders, entries of each, and seconds.
_DEEPEST, _MOST_FOLDERS, _MOST_ENTRIES, _LONGEST = 5, 3000, 5000, 2.0
_MANY = 4  # languages are counted
# Folders that are passed over by their own name, or with those that hold one of some files.
_OTHERS, _NONE = {"node_modules", "site-packages", "__pycache__"}, {"pyvenv.cfg", "__init__.py"}
_PLACES, _SETTINGS = "places.json", "settings.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """A run, a file or an encoder.

    Attributes:
        path: of the run or file.
        kind: run; unfinished, a run that can be resumed; file; encoder.
        pairs: how many pairs a run keeps; None where that is not known.
        judged: how many pairs have a verdict.
        accepted: the share of right pairs among those that were accepted or rejected.
        expected: the precision by the estimate.
        languages: codes with a hyphen between.
        encoder: of a run its encoder, of an encoder the method of its training.
        changed: when it was written or judged, in UTC, as in 2026-01-31T12:00:00Z.
    """

    path: str
    kind: str
    pairs: int | None = None
    judged: int = 0
    accepted: float | None = None
    expected: float | None = None
    languages: str = ""
    encoder: str = ""
    changed: str = ""


def keep_place(path: Path, place: dict[str, Any]) -> None:
    """Remember where a user was in a run or a file.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_PLACES) as content:
        content.pop(_absolute(path), None)
        content[_absolute(path)] = place
        for name in [*content][:-_MOST]:
            del content[name]


def place_in(path: Path) -> Any:  # noqa: ANN401 - of a file that a user may have edited
    """Give the place that was kept last; None if there is none."""
    return load(_PLACES).get(_absolute(path))


def _absolute(path: Path) -> str:
    """Name a run, a file or two files as they are found from anywhere."""
    return ",".join(map(os.path.abspath, str(path).split(",")))


def project(folder: Path, shown: Path | None = None) -> list[Entry]:
    """List the runs and encoders below a folder, and what is shown; the newest first."""
    paths = [*map(str, walk(folder) if folder != folder.parent else ())]
    if shown is not None:
        paths.append(os.path.abspath(shown))
    found = map(look, dict.fromkeys(paths))
    return sorted(found, key=lambda each: each.changed, reverse=True)


def walk(folder: Path) -> Iterator[Path]:
    """Find the runs and encoders below a folder, those near to it first; big trees in part."""
    queue, end = deque([(os.path.abspath(folder), 0)]), time.monotonic() + _LONGEST
    for _ in range(_MOST_FOLDERS):
        if not queue or time.monotonic() > end:
            return
        path, depth = queue.popleft()
        with suppress(OSError), os.scandir(path) as entries:
            there = {each.name: each for each in islice(entries, _MOST_ENTRIES)}
            if RUN_FILE in there or FACTS_FILE in there:
                yield Path(path)
            elif depth < _DEEPEST and not there.keys() & _NONE:
                queue += [
                    (each.path, depth + 1)
                    for name, each in sorted(there.items())
                    if name[0] != "." and name not in _OTHERS and each.is_dir(follow_symlinks=False)
                ]


def look(path: str) -> Entry:
    """Tell what is at a path now."""
    place = Path(path)
    if (place / RUN_FILE).is_file():
        return _run(place)
    if (place / FACTS_FILE).is_file():
        facts = _read(place / FACTS_FILE)
        said = _joined(facts.get("languages")), str(facts.get("method") or "")
        changed = _written(place / FACTS_FILE)
        return Entry(path, "encoder", None, 0, None, None, *said, changed)
    return Entry(path, "file", changed=_written(place))


def _run(run: Path) -> Entry:
    said, judged, right = _read(run / SUMMARY_FILE), 0, Share(0, 0)
    if (verdicts := identity(run / JUDGEMENTS_FILE)) is not None:
        with suppress(OSError, XmineError):
            judged, right = _verdicts(
                run, judge_name(setting("judge")), (verdicts, str(stamp(run)))
            )
    vectors = said.get("vectors")
    pairs, expected = said.get("beads", said.get("pairs")), said.get("precision")
    encoder = vectors.get("model") if isinstance(vectors, dict) else None
    is_whole = all((run / name).is_file() for name in (PAIRS_FILE, SUMMARY_FILE))
    return Entry(
        str(run),
        "run" if is_whole else "unfinished",
        pairs if isinstance(pairs, int) else None,
        judged,
        right.share,
        expected if isinstance(expected, float) else None,
        _joined(said.get("languages")),
        Path(str(encoder or "")).name,
        max(_written(run / name) for name in (RUN_FILE, JUDGEMENTS_FILE)),
    )


@lru_cache(maxsize=200)
def _verdicts(run: Path, by: str, _: object) -> tuple[int, Share]:
    """Count one's verdicts on the pairs that a run has, and the share of right ones."""
    with catch_warnings(action="ignore"):  # whoever opens the run is told
        judgements = Judgements.open(open_pairs(run), by)
    return judgements.counts().judged, Counts.of(judgements.codes(own=True, given=False)).right


def _joined(codes: object) -> str:
    if not isinstance(codes, list):
        return ""
    return "-".join(map(str, codes)) if len(codes) < _MANY else f"{len(codes)} langs"


def _written(file: Path) -> str:
    """Tell when a file was written, as `Entry.changed`; empty where there is none."""
    found = identity(file)
    return as_time(found[2] / 1e9) if found else ""


def state_folder() -> Path:
    """Name the folder: $XMINE_STATE, or xmine in the folder for states of this system."""
    from platformdirs import user_state_dir  # 0.02 s

    return Path(os.environ.get("XMINE_STATE") or user_state_dir("xmine", appauthor=False))


def load(name: str) -> dict[str, Any]:
    """Read an object of the app; empty where there is none, or none that can be read."""
    return _read(state_folder() / name)


def _read(file: Path) -> dict[str, Any]:
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


@contextmanager
def changing(name: str) -> Iterator[dict[str, Any]]:
    """Give an object to be changed, and write it; two apps wait for each other.

    Raises:
        FileError: the folder cannot be written.
    """
    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _not_written(folder, error) from error
    try:
        _wait_for(handle)  # every process holds it for a moment only
        content = load(name)
        yield content
        with replacing(folder / name) as partial:
            partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise _not_written(folder, error) from error
    finally:
        os.close(handle)


def _wait_for(handle: int) -> None:
    while True:
        try:
            lock_at_once(handle)
        except BlockingIOError:
            time.sleep(0.002)
        else:
            return


def _not_written(folder: Path, error: OSError) -> FileError:
    return FileError(
        f"{folder}: cannot be written: {error.strerror}",
        "settings are not remembered; XMINE_STATE names another folder",
    )


def setting(name: str) -> Any:  # noqa: ANN401 - of a file that a user may have edited
    """Read a setting: `theme`, `judge`, `sample`; empty where there is none."""
    return load(_SETTINGS).get(name, "")


def keep_setting(name: str, value: object) -> None:
    """Remember a setting, or the theme.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_SETTINGS) as content:
        content[name] = value
