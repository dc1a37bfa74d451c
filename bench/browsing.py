"""What `xmine browse` sends to its terminal for a key, and when: medians, by window.

    xmine mine a.txt b.txt -o run/
    python bench/browsing.py run/
    python bench/browsing.py --pairs 400000

The run is a copy, so that no verdict stays; `--pairs` makes a file of English and Chinese words.
Milliseconds are those from the key to the first bytes, and to the last ones; the table of the
threshold waits 80 for another key. Goals: 3 kB for a verdict at 200x60, 8 kB for a step of the
threshold (a table of Textual alone sends 0.6 kB for a row); at 400,000 pairs 45 ms, and 300 MB.
"""

import argparse
import fcntl
import os
import pty
import random
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from xmine.evaluation.reports.record import record, write_record
from xmine.text.languages import ENGLISH_WORDS

WINDOWS = ((80, 24), (120, 40), (200, 60))
FLAGS = ("", "", "", "number", "length", "partial", "number,length")
# Name, key, how often the key is pressed, seconds of silence after which it is done.
KEYS = (
    ("next row", b"j", 8, 0.5),
    ("page", b"\x1b[6~", 8, 0.5),
    ("verdict", b"a", 8, 0.5),
    ("threshold", b"t", 1, 2.0),
    ("step of the threshold", b"\x1b[C", 8, 0.5),
    ("pairs", b"p", 1, 2.0),
    ("neighbours", b"\r", 1, 2.0),
)


def made(folder: Path, pairs: int) -> Path:
    """Write a file of so many pairs with scores, probabilities and flags."""
    draw, path = random.Random(1), folder / "pairs.tsv"
    words = ["".join(draw.choices("abdegilmnoprstu", k=draw.randint(2, 9))) for _ in range(5000)]
    words += 200 * sorted(ENGLISH_WORDS)
    with path.open("w", encoding="utf-8") as file:
        file.write("source\ttarget\tsource_line\ttarget_line\tscore\tprob\tflags\n")
        for row in range(pairs):
            source = " ".join(draw.choices(words, k=draw.randint(6, 16)))
            target = "".join(map(chr, draw.choices(range(0x4E00, 0x9000), k=draw.randint(10, 30))))
            figures = f"{10 - 15 * row / pairs:.4f}\t{1 - row / pairs:.4f}\t{draw.choice(FLAGS)}"
            file.write(f"{source}\t{target}\t{row + 1}\t{draw.randint(1, pairs)}\t{figures}\n")
    return path


def sent(terminal: int, silence: float) -> tuple[int, float, float]:
    """Count the bytes until nothing comes for some seconds; ms to the first ones and to the last.

    Without any, both times are 0.
    """
    size, first, last, begun = 0, 0.0, 0.0, time.perf_counter()
    while select.select([terminal], [], [], silence)[0]:
        size += len(os.read(terminal, 1 << 16))
        last = 1000 * (time.perf_counter() - begun)
        first = first or last
    return size, first, last


def peak_of(process: int) -> float:
    """Give the most memory that a process has held, in MB."""
    (line,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(line) / 1000


def cpu_of(process: int) -> float:
    """Give the CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(run: Path, columns: int, rows: int) -> dict[str, dict[str, float]]:
    """Open a run in a window, press each key, and give bytes and CPU milliseconds of each."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as state:
        own = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
        own |= {"XMINE_STATE": state, "XMINE_JUDGE": "bench"}
        app = subprocess.Popen(
            [sys.executable, "-m", "xmine", "browse", str(run)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, **own},
            start_new_session=True,
        )
        os.close(theirs)
        try:
            size, first, last = sent(ours, 8.0)
            spent = 1000 * cpu_of(app.pid)
            found["first screen"] = {"bytes": size, "first": first, "last": last, "cpu_ms": spent}
            found["peak on opening"] = {"MB": peak_of(app.pid)}
            for name, key, times, silence in KEYS:
                before, answers = cpu_of(app.pid), []
                for _ in range(times):
                    os.write(ours, key)
                    answers.append(sent(ours, silence))
                spent = 1000 * (cpu_of(app.pid) - before) / times
                size, first, last = map(statistics.median, zip(*answers, strict=True))
                found[name] = {"bytes": size, "first": first, "last": last, "cpu_ms": spent}
            found["peak at the end"] = {"MB": peak_of(app.pid)}
        finally:
            os.killpg(app.pid, signal.SIGKILL)
            app.wait()
            os.close(ours)
    return found


def main() -> None:
    """Measure all windows, print a table, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--pairs", type=int, help="of a file that is made")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    if (given.run is None) == (given.pairs is None):
        parser.error("name a run, or --pairs")
    windows = {}
    for columns, rows in WINDOWS:
        with tempfile.TemporaryDirectory() as folder:
            copy = (
                made(Path(folder), given.pairs)
                if given.pairs
                else shutil.copytree(given.run, Path(folder, "run"))
            )
            windows[f"{columns}x{rows}"] = found = measured(copy, columns, rows)
        for name, each in found.items():
            said = "  ".join(f"{unit} {figure:>9,.1f}" for unit, figure in each.items())
            print(f"{columns}x{rows}  {name:<22} {said}")
    if given.output:
        write_record(
            given.output, record({"run": str(given.run or given.pairs), "windows": windows})
        )


if __name__ == "__main__":
    main()
