"""The labels that people give pairs, and the file beside the pairs that takes each at once.

The first line of the file says its version, each other line has a label. A later label of the same
judge replaces an earlier one; no line is ever changed. docs/reference/runs.md has the columns.
"""

import errno
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from xmine.errors import FileError
from xmine.files.portable import lock_at_once
from xmine.files.reading import STDIN
from xmine.run.folder import JUDGEMENTS_FILE, RUN_FILE

ACCEPT, REJECT, UNSURE = "accept", "reject", "unsure"
LABELS = (ACCEPT, REJECT, UNSURE)
TAKEN_BACK = "none"
# What is wrong with a rejected pair: it is translated in part, not in its languages, or one side
# says more than the other.
KINDS = ("partial", "language", "source", "target")
WORDS = (*LABELS, *KINDS)  # that say all of a label; a kind means that the pair is rejected
Said = dict[tuple[bool, str], str]  # of a pair: whether it decides and who says it -> the word
_VERSION = 2  # of version 1 no line has `more`
_COLUMNS = "source_line target_line source_offset target_offset judgement judge texts more time"
_TITLE = "# judgements of xmine, version "
HEADER = f"{_TITLE}{_VERSION}: {_COLUMNS}\n".encode()
# The last column has a fixed width: a line that was cut short is never taken for a whole one.
_LINE = re.compile(
    r"(\d{1,18})\t(\d{1,18}|)\t(?:(\d{1,18})\t(\d{1,18})|\t)\t(accept|reject|unsure|none)\t"
    r"([^\t]*)\t([0-9a-f]{8})\t(?:(\{[^\t]*\})\t)?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)",
    re.ASCII,
)
_OPENED = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)  # of Windows
# Another process holds the lock for as long as a disk takes to write a line.
PATIENCE = 5.0  # seconds


class PairKey(NamedTuple):
    """Which pair: its lines, the offsets of its sentences, and a hash of both texts.

    The hash keeps a label from sticking to another pair if the files change. In a file of pairs
    without lines `source_line` is the number of the pair, and there is no `target_line`.
    """

    source_line: int
    target_line: int | None
    source_offset: int | None
    target_offset: int | None
    texts: str


@dataclass(frozen=True, slots=True)
class Label:
    """The label that somebody gives a pair: `accept`, `reject`, `unsure`, or `none` for no more.

    `more` has what else is said with it: a `note`, or a `repair`; each replaces the one of before.
    It may also have a `kind` of `reject`, and `adjudicates`, true of the label that decides where
    judges differ; both are of this label alone.
    """

    key: PairKey
    judgement: str
    judge: str
    time: str
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """Say all of it in one of WORDS, or `none`."""
        kind = self.more.get("kind")
        return str(kind) if self.judgement == REJECT and kind in KINDS else self.judgement

    @property
    def decides(self) -> bool:
        """Whether an adjudicator says it."""
        return self.more.get("adjudicates") is True

    def line(self) -> bytes:
        """Give its line of the file."""
        key = self.key
        where = ("" if each is None else str(each) for each in key[:4])
        more = [json.dumps(self.more, ensure_ascii=False)] if self.more else []
        columns = (*where, self.judgement, self.judge, key.texts, *more, self.time)
        return ("\t".join(columns) + "\n").encode("utf-8", "replace")


def verdict_of(word: str) -> str:
    """Give the verdict that one of WORDS means."""
    return REJECT if word in KINDS else word


def hear(said: Said, label: Label) -> None:
    """Put a label in the place of the one of before, behind all others."""
    said.pop((label.decides, label.judge), None)
    if label.judgement != TAKEN_BACK:
        said[label.decides, label.judge] = label.word


def settled(said: Said, by: str = "") -> str:
    """Give the one word that stands for what judges say of a pair; empty if they say nothing.

    It is that of the last adjudicator, else that of `by`, else what most of those say who accept or
    reject; as many against as for it are unsure, whoever spoke last.
    """
    decided = [word for (decides, _), word in said.items() if decides]
    if decided or (False, by) in said:
        return (decided or [said[False, by]])[-1]
    votes = Counter(map(verdict_of, said.values()))
    if votes[ACCEPT] == votes[REJECT]:
        return UNSURE if said else ""
    verdict = ACCEPT if votes[ACCEPT] > votes[REJECT] else REJECT
    words = Counter(word for word in said.values() if verdict_of(word) == verdict)
    return words.most_common(1)[0][0]


def hash_of(source: str, target: str) -> str:
    """Hash the texts of a pair: 8 hexadecimal digits."""
    text = f"{source}\n{target}".encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=4).hexdigest()


def now() -> str:
    """Tell the time as the file has it, in UTC."""
    return as_time(time.time())


def as_time(seconds: float) -> str:
    """Write seconds since 1970 as the file has them."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def file_beside(pairs: str | Path) -> Path:
    """Name the file of judgements of a run or of a file of pairs."""
    if (Path(pairs) / RUN_FILE).is_file():
        return Path(pairs) / JUDGEMENTS_FILE
    if str(pairs) == STDIN:
        raise FileError("pairs on standard input cannot be judged", "write them to a file first")
    from xmine.pairs.paths import paths_to_read  # here: it loads every format

    first = Path(paths_to_read(pairs).paths[0])
    return first.with_name(f"{first.name}.{JUDGEMENTS_FILE}")


def is_label_file(start: bytes) -> bool:
    """Tell a file of judgements by its first bytes."""
    return start.startswith(_TITLE.encode())


def refuse_labels(path: str | Path) -> None:
    """Refuse to write where judgements are, which nothing deletes.

    Raises:
        FileError: the file has judgements.
    """
    if not Path(path).is_file():
        return
    with suppress(OSError), open(path, "rb") as file:
        if is_label_file(file.read(len(_TITLE.encode()))):
            raise FileError(f"{path}: has what people judged", "give another name")


def why_not_writable(path: Path) -> str:
    """Say why judgements cannot be kept there; empty if they can."""
    asked = path if path.exists() else path.parent
    return "" if os.access(asked, os.W_OK) else f"{asked}: cannot be written"


def read_labels(lines: Iterable[str]) -> Iterator[tuple[int, Label]]:
    """Read labels, each with the number of its line from 1; skip a line that was cut short."""
    for number, line in enumerate(lines, start=1):
        if found := _LINE.fullmatch(line.removesuffix("\r")):  # of an editor on Windows
            source, target, at_source, at_target, said, judge, texts, more, time = found.groups()
            starts = _whole(at_source), _whole(at_target)
            key = PairKey(int(source), _whole(target), *starts, texts)
            with suppress(ValueError, RecursionError):
                yield number, Label(key, said, judge, time, json.loads(more or "{}"))


def broken_lines(path: Path) -> str:
    """Say which lines of the file are no whole labels; empty if all are."""
    if not path.is_file():
        return ""
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    whole = {number for number, _ in read_labels(lines)} | {1}
    broken = [at for at, line in enumerate(lines, 1) if line.strip() and at not in whole]
    more = f", nor are {len(broken) - 1:,} more" if broken[1:] else ""
    said = f"{path}:{broken[0]}: not a whole line of a verdict{more}" if broken else ""
    return said and f"{said}: left out, whole lines are kept"


def standing_in(path: Path, lines: list[str]) -> list[tuple[int, Label]]:
    """Find what stands of every pair in a whole file, see `settled`, with the line of its last."""
    check_header(f"{lines[0]}\n".encode(), path)
    said: dict[PairKey, Said] = {}
    last: dict[PairKey, tuple[int, Label]] = {}
    for number, label in read_labels(lines):
        hear(said.setdefault(label.key, {}), label)
        more = {**last[label.key][1].more, **label.more} if label.key in last else label.more
        last[label.key] = number, replace(label, more=more)
    stand = {key: verdict_of(settled(each)) for key, each in said.items() if each}
    return [(last[key][0], replace(last[key][1], judgement=each)) for key, each in stand.items()]


def _whole(digits: str | None) -> int | None:
    return int(digits) if digits else None


def read_from(path: Path, start: int) -> tuple[list[Label], int]:
    """Read the labels behind a byte of the file, and tell where the whole lines end."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from error
    if start == 0 and not HEADER.startswith(data):
        check_header(data, path)
    *ended, last = data.split(b"\n")
    if any(read_labels([last.decode("utf-8", "replace")])):  # the next label ends it
        ended, last = [*ended, last], b""
    text = b"\n".join(ended).decode("utf-8", "replace")
    return [each for _, each in read_labels(text.split("\n"))], start + len(data) - len(last)


def check_header(data: bytes, path: Path) -> None:
    """Refuse what is not a file of judgements that this version of xmine can read."""
    if not is_label_file(data):
        raise FileError(f"{path}: not a file of judgements", "move it away, and judge again")
    version = data[len(_TITLE) :].partition(b":")[0]
    if version not in (b"1", b"2"):
        raise FileError(
            f"{path}: judgements of version {version[:9].decode(errors='replace')}, "
            f"not {_VERSION}: made by another version of xmine",
            "read them with that one",
        )


def append(path: Path, labels: Iterable[Label], patience: float = PATIENCE) -> None:
    """Add labels to the file, and see that they are on the disk; make the file if it is missing.

    All labels are one write: a repair of two pairs is kept whole or not at all, whether a process
    is killed or the disk is full. Another process that writes there is waited for, for `patience`
    seconds.
    """
    labels = list(labels)
    try:
        handle = os.open(path, _OPENED, 0o666)
        try:
            with _locked(handle, path, patience):
                _mend(handle, path)
                size = os.fstat(handle).st_size
                try:
                    _write_whole(handle, b"".join(label.line() for label in labels))
                    os.fsync(handle)
                except OSError:
                    os.ftruncate(handle, size)
                    raise
        finally:
            os.close(handle)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written: {error.strerror}", "the judgement is not kept"
        ) from error


@contextmanager
def _locked(handle: int, path: Path, patience: float) -> Iterator[None]:
    deadline = time.monotonic() + patience
    while True:
        try:
            lock_at_once(handle)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise FileError(
                    f"{path}: another process does not let go of it",
                    "the judgement is not kept: say it again, or end that process",
                ) from None
            time.sleep(0.002)
    yield  # the lock goes when the handle is closed, or with the process


def _mend(handle: int, path: Path) -> None:
    """Begin the file, or end a last line that was cut short."""
    size = os.fstat(handle).st_size
    head = os.read(handle, len(HEADER))
    if HEADER.startswith(head) and head != HEADER:  # nothing there, or not even the header
        os.ftruncate(handle, 0)
        _write_whole(handle, HEADER)
        return
    check_header(head, path)
    os.lseek(handle, size - 1, os.SEEK_SET)
    if os.read(handle, 1) != b"\n":
        _write_whole(handle, b"\n")


def _write_whole(handle: int, line: bytes) -> None:
    """Write a line or nothing of it."""
    size = os.fstat(handle).st_size
    if os.write(handle, line) != len(line):
        os.ftruncate(handle, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
