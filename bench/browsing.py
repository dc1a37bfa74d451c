"""How quickly the terminal app answers: first paint, keys, memory; in a terminal of its own.

    python bench/browsing.py --make 1000000 FOLDER     mine a run to look at
    python bench/browsing.py RUN... [--json OUT.json]
    python bench/browsing.py RUN --bare [--json OUT.json]    beside a bare Textual table

The app runs in a pseudo-terminal of 140 x 40. First paint is when the score of the best pair has
arrived there, counted from the start of the command: the median of some starts, and the longest. A
key is answered when the last byte of what it changes has arrived.

A run that `--make` mines has the lines of bench/corpora.py and vectors of 16 numbers, the same but
for noise on both sides of a translation: browsing does not look at vectors.
"""

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from corpora import write_corpora
from memory import Peak, megabytes, watched

from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery
from xmine.browsing.query import select as rows_of
from xmine.evaluation.reports.record import record, write_record
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.pairs.io import write_pairs
from xmine.pairs.known import read_known

COLUMNS, LINES = 140, 40
_WIDTH, _NOISE = 16, 0.15
_PATIENCE = 120.0  # seconds that an answer may take
_QUIET = 0.4
_STARTS = 7
_PAGES = 10
_PAGE_DOWN = b"\x1b[6~"
_PAUSE = 0.1  # seconds between two keys
_DOWN, _KEYS, _TURNS = b"\x1b[B", 40, 3
_FIRST = {"xmine": "opening", "bare": "score"}  # a text of the first frame
BARE = Path(__file__).with_name("bare_table.py")

Row = dict[str, object]


class Terminal:
    """The app in a pseudo-terminal, and what has arrived there."""

    def __init__(self, number: int, process: "subprocess.Popen[bytes]") -> None:
        """Take the terminal's end of the line."""
        self.number = number
        self.process = process
        self.seen = b""  # what came last

    def press(self, keys: bytes) -> float:
        """Send keys; return the seconds until the last byte of the answer."""
        self.drain()
        started = time.perf_counter()
        os.write(self.number, keys)
        return self.drain() - started

    def wait_for(self, wanted: str) -> float:
        """Read until a text has arrived, and return when that was."""
        seen, until = b"", time.perf_counter() + _PATIENCE
        while wanted.encode() not in seen:
            left = until - time.perf_counter()
            if left <= 0 or not select.select([self.number], [], [], left)[0]:
                raise TimeoutError(f"{wanted} did not arrive: {seen[-500:]!r}")
            seen += os.read(self.number, 1 << 16)
        return time.perf_counter()

    def drain(self) -> float:
        """Read until nothing has come for a while; return when the last byte did."""
        self.seen, last = b"", time.perf_counter()
        while select.select([self.number], [], [], _QUIET)[0]:
            self.seen += os.read(self.number, 1 << 16)
            last = time.perf_counter()
        return last


def browse(run: Path) -> list[str]:
    """Give the command that browses a run."""
    return ["-m", "xmine", "browse", str(run.absolute())]


@contextmanager
def browsing(words: list[str]) -> Iterator[tuple[Terminal, Peak]]:
    """Run Python in a pseudo-terminal, and watch the memory."""
    command = [sys.executable, *words]
    number, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"}
    environment["PYTHONDONTWRITEBYTECODE"] = ""  # as where it is installed: compiled already
    with subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            with watched(process.pid) as peak:
                yield Terminal(number, process), peak
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    os.close(number)


def first_paint(words: list[str], wanted: str) -> float:
    """Start an app, and give the seconds until a text of it is there."""
    started = time.perf_counter()
    with browsing(words) as (screen, _):
        return screen.wait_for(wanted) - started


def beside_bare(run: Path) -> Row:
    """Compare first frame, first pairs and CPU time a key with a bare Textual table, in turns."""
    opened = open_pairs(run)
    rows = rows_of(opened, PairQuery(kept="kept"))
    best = _score(opened, rows, 0)
    with TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.tsv"
        write_pairs(opened.pairs(rows), str(pairs), opened.languages)
        apps = {"xmine": browse(run), "bare": [str(BARE), str(pairs)]}
        frames: dict[str, list[float]] = {name: [] for name in apps}
        starts: dict[str, list[float]] = {name: [] for name in apps}
        costs: dict[str, list[float]] = {name: [] for name in apps}
        for _ in range(_STARTS):
            for name, words in apps.items():
                frames[name].append(first_paint(words, _FIRST[name]))
                starts[name].append(first_paint(words, best))
        for _ in range(_TURNS):
            for name, words in apps.items():
                costs[name].append(cpu_of_a_key(words, best))
    found: Row = {"pairs": len(rows)}
    for name, seconds in (("first_frame", frames), ("first_pairs", starts), ("a_key_cpu", costs)):
        medians = {app: statistics.median(each) for app, each in seconds.items()}
        found[f"{name}_median_seconds"] = {app: round(each, 4) for app, each in medians.items()}
        found[f"{name}_ratio"] = round(medians["xmine"] / medians["bare"], 2)
    return found


def cpu_of_a_key(words: list[str], best: str) -> float:
    """Press the key down again and again: seconds of CPU a key."""
    with browsing(words) as (screen, _):
        screen.wait_for(best)
        screen.drain()
        before = _cpu(screen.process.pid)
        for _ in range(_KEYS):
            os.write(screen.number, _DOWN)
            time.sleep(_PAUSE)
        screen.drain()
        return (_cpu(screen.process.pid) - before) / _KEYS


def _cpu(pid: int) -> float:
    """Read the seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look_at(run: Path) -> Row:
    """Browse a run, and tell how long everything took."""
    opened = open_pairs(run)
    best_first = rows_of(opened, PairQuery(kept="kept"))
    best = _score(opened, best_first, 0)
    starts = [first_paint(browse(run), best) for _ in range(_STARTS)]
    with browsing(browse(run)) as (screen, peak):
        screen.wait_for(best)
        pages = [screen.press(_PAGE_DOWN) for _ in range(_PAGES)]
    return {
        "lines": [len(opened.source.lines), len(opened.target.lines)],
        "candidates": len(opened),
        "kept": len(best_first),
        "first_paint_median_seconds": round(statistics.median(starts), 2),
        "first_paint_worst_seconds": round(max(starts), 2),
        "page_down_median_seconds": round(statistics.median(pages), 3),
        "page_down_worst_seconds": round(max(pages), 3),
        "peak_resident_megabytes": megabytes(peak.resident),
        "peak_anonymous_megabytes": megabytes(peak.anonymous),
    }


def _score(opened: Opened, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]", at: int) -> str:
    """Say the score of a row as the table prints it."""
    assert opened.scores is not None
    return f"{opened.scores[rows[at]]:.4f}"


def make(lines: int, folder: Path) -> None:
    """Mine a run of so many lines a side, half of them translated."""
    folder.mkdir(parents=True, exist_ok=True)
    write_corpora(folder, lines, seed=1, translated=0.5)
    random = np.random.default_rng(1)
    source, target = (random.standard_normal((lines, _WIDTH)).astype(np.float32) for _ in "st")
    for x, y, _ in read_known(folder / "gold.tsv").pairs:
        target[y - 1] = source[x - 1] + _NOISE * target[y - 1]
    units = tuple(each / np.linalg.norm(each, axis=1, keepdims=True) for each in (source, target))
    mine(
        folder / "en.txt",
        folder / "zh.txt",
        options=MiningOptions(src_lang="en", tgt_lang="zh"),
        vectors=(units[0], units[1]),
        run=folder / "run",
    )


def main() -> None:
    """Read the arguments, and write what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--make", type=int)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.make:
        make(given.make, given.runs[0])
        return
    found: dict[str, object] = {"terminal": f"{COLUMNS} x {LINES}"}
    if given.bare:
        found |= beside_bare(given.runs[0])
    else:
        found["runs"] = [look_at(run) for run in given.runs]
    print(json.dumps(found, indent=2))
    if given.json:
        write_record(given.json, record(found))


if __name__ == "__main__":
    main()
