"""State that the app keeps between starts: what was opened lately, the last one first; settings."""

import json
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any
from warnings import catch_warnings

from xmine.browsing.judgements import Judgements, judge_name
from xmine.browsing.opening import open_pairs, stamp
from xmine.browsing.samples import Share, share_of
from xmine.encoders.fingerprint import FACTS_FILE
from xmine.errors import FileError, XmineError
from xmine.files.atomic import replacing
from xmine.files.digests import identity
from xmine.files.portable import lock_at_once
from xmine.pairs.judgements import standing_in
from xmine.run.folder import JUDGEMENTS_FILE, PAIRS_FILE, RUN_FILE, SUMMARY_FILE

MOST = 50
# The walk through a folder: how deep, how many folders, entries of each, and seconds.
_DEEPEST, _MOST_FOLDERS, _MOST_ENTRIES, _LONGEST = 5, 3000, 5000, 2.0
_MANY = 4  # languages are counted
# Folders that are passed over by their own name, or with those that hold one of some files.
_OTHERS, _NONE = {"node_modules", "site-packages", "__pycache__"}, {"pyvenv.cfg", "__init__.py"}
_RECENT, _SETTINGS = "recent.json", "settings.json"
_Row = dict[str, Any]  # path, opened and, where a user was there, place


@dataclass(frozen=True, slots=True)
class Recent:
    """A run, a file or an encoder that was opened, or is there.

    Attributes:
        path: of the run or file.
        opened: time of the last opening in UTC, as in 2026-01-31T12:00:00Z.
        kind: run; unfinished, a run that can be resumed; file; encoder.
        pairs: how many pairs a run keeps; None where that is not known.
        judged: how many pairs have a verdict.
        accepted: the share of right pairs among those that were accepted or rejected.
        expected: the precision by the estimate.
        languages: codes with a hyphen between.
        encoder: of a run its encoder, of an encoder the method of its training.
        changed: when it was written or judged, as `opened`.
    """

    path: str
    opened: str
    kind: str
    pairs: int | None
    judged: int = 0
    accepted: float | None = None
    expected: float | None = None
    languages: str = ""
    encoder: str = ""
    changed: str = ""

    def facts(self) -> dict[str, object]:
        """Give the entry for JSON."""
        return {name: getattr(self, name) for name in ("path", "opened", "kind", "pairs", "judged")}


def recent() -> list[Recent]:
    """List what was opened and is there, as it is now."""
    found = (look(row["path"], row["opened"]) for row in _entries(load(_RECENT)))
    return [each for each in found if each.kind != "gone"]


def lately() -> Iterator[Path]:
    """Name what was opened and is there, without a look into it."""
    paths = (Path(row["path"]) for row in _entries(load(_RECENT)))
    return (path for path in paths if path.exists() or "," in path.name)


def remember(path: Path, when: datetime | None = None) -> None:
    """Put a run or a file on top.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_RECENT) as content:
        row, others = _taken(content, path)
        row["opened"] = f"{when or datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        content["recent"] = [row, *others][:MOST]


def keep_place(path: Path, place: dict[str, Any]) -> None:
    """Remember where a user was in a run or a file that was opened.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_RECENT) as content:
        rows, name = _entries(content), _absolute(path)
        content["recent"] = rows
        for row in rows:
            if row["path"] == name:
                row["place"] = place


def place_in(path: Path) -> Any:  # noqa: ANN401 - of a file that a user may have edited
    """Give the place that was kept last; None if there is none."""
    return _taken(load(_RECENT), path)[0].get("place")


def _taken(content: Mapping[str, object], path: Path) -> tuple[_Row, list[_Row]]:
    """Part the row of a path, which may be a new one, from the others."""
    name, rows = _absolute(path), _entries(content)
    row = next((row for row in rows if row["path"] == name), {"path": name, "opened": ""})
    return row, [each for each in rows if each is not row]


def _entries(content: Mapping[str, object]) -> list[_Row]:
    """Read the valid rows of a file that a user may have edited."""
    rows = content.get("recent")
    return [
        {**row, "opened": str(row.get("opened", ""))}
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and isinstance(row.get("path"), str)
    ]


def project(folder: Path) -> list[Recent]:
    """List what was opened, and the runs and encoders below a folder; the newest first."""
    found = {each.path: each for each in recent()}
    for path in map(str, walk(folder) if folder != folder.parent else ()):
        if path not in found:
            found[path] = look(path, "")
    return sorted(found.values(), key=lambda each: max(each.opened, each.changed), reverse=True)


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


def look(path: str, opened: str) -> Recent:
    """Tell what is at a path now."""
    place = Path(path)
    if (place / RUN_FILE).is_file():
        return _run(place, opened)
    if (place / FACTS_FILE).is_file():
        facts = _read(place / FACTS_FILE)
        said = _joined(facts.get("languages")), str(facts.get("method") or "")
        changed = _written(place / FACTS_FILE)
        return Recent(path, opened, "encoder", None, 0, None, None, *said, changed)
    files = [place] if place.is_file() else _parts_of(path)
    judged = _judged_in(files[0].with_name(f"{files[0].name}.{JUDGEMENTS_FILE}"))
    is_there = all(each.is_file() for each in files)
    return Recent(path, opened, "file" if is_there else "gone", None, judged)


def _run(run: Path, opened: str) -> Recent:
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
    return Recent(
        str(run),
        opened,
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
    rows = judgements.rows()
    return judgements.counts().judged, share_of(judgements.own(given=False), rows)


def _joined(codes: object) -> str:
    if not isinstance(codes, list):
        return ""
    return "-".join(map(str, codes)) if len(codes) < _MANY else f"{len(codes)} langs"


def _written(file: Path) -> str:
    """Tell when a file was written, as `Recent.opened`; empty where there is none."""
    found = identity(file)
    return f"{datetime.fromtimestamp(found[2] / 1e9, UTC):%Y-%m-%dT%H:%M:%SZ}" if found else ""


def _parts_of(path: str) -> list[Path]:
    """Name the files of a Moses pair, or the file behind a choice of languages or columns."""
    from xmine.pairs.paths import paths_to_read  # here: it loads every format

    try:
        return list(map(Path, paths_to_read(path).paths))
    except XmineError:
        return [Path(path)]


def _absolute(path: Path) -> str:
    """Name a run or a file as it is found from anywhere."""
    if path.exists() or "," not in str(path):
        return os.path.abspath(path)
    files = _parts_of(str(path))
    return ",".join(map(os.path.abspath, files)) if len(files) > 1 else os.path.abspath(path)


def _judged_in(file: Path) -> int:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
        return len(standing_in(file, lines, judge_name(setting("judge"))))
    except (OSError, ValueError, XmineError):
        return 0


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
        "what was opened is not remembered; XMINE_STATE names another folder",
    )


def settings() -> tuple[object, dict[str, str]]:
    """Read the name of the theme, and keys by the ids of actions; keys are joined by commas."""
    read = load(_SETTINGS)
    keys = read.get("keys")
    named = keys.items() if isinstance(keys, dict) else ()
    return read.get("theme"), {name: key for name, key in named if isinstance(key, str)}


def setting(name: str) -> Any:  # noqa: ANN401 - of a file that a user may have edited
    """Read another setting: `judge`, `sample`, `columns`, `views`; empty where there is none."""
    return load(_SETTINGS).get(name, "")


def keep_setting(name: str, value: object) -> None:
    """Remember a setting, or the theme.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_SETTINGS) as content:
        content[name] = value
