"""Bytes that `xmine browse` sends to its terminal for a key, and CPU time: medians, by window.

    xmine mine a.txt b.txt -o run/
    python bench/browsing.py run/

The run is a copy, so that no verdict stays. Goals at 200x60: 3 kB for a verdict, 8 kB for a step of
the threshold; a table of Textual alone sends 0.6 kB for a row.
"""

import argparse
import fcntl
import os
import pty
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from xmine.evaluation.reports.record import record, write_record

WINDOWS = ((80, 24), (120, 40), (200, 60))
# Name, key, how often the key is pressed, seconds of silence after which it is done.
KEYS = (
    ("next row", b"j", 8, 0.5),
    ("verdict", b"a", 8, 0.5),
    ("threshold", b"t", 1, 2.0),
    ("step of the threshold", b"\x1b[C", 8, 0.5),
    ("pairs", b"p", 1, 2.0),
    ("neighbours", b"\r", 1, 2.0),
)


def sent(terminal: int, silence: float) -> int:
    """Count the bytes until nothing comes for some seconds."""
    count = 0
    while select.select([terminal], [], [], silence)[0]:
        count += len(os.read(terminal, 1 << 16))
    return count


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
            found["first screen"] = {"bytes": sent(ours, 4.0), "cpu_ms": 1000 * cpu_of(app.pid)}
            for name, key, times, silence in KEYS:
                before, sizes = cpu_of(app.pid), []
                for _ in range(times):
                    os.write(ours, key)
                    sizes.append(sent(ours, silence))
                spent = 1000 * (cpu_of(app.pid) - before) / times
                found[name] = {"bytes": statistics.median(sizes), "cpu_ms": round(spent, 1)}
        finally:
            os.killpg(app.pid, signal.SIGKILL)
            app.wait()
            os.close(ours)
    return found


def main() -> None:
    """Measure all windows, print a table, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    windows = {}
    for columns, rows in WINDOWS:
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(given.run, Path(folder, "run"))
            windows[f"{columns}x{rows}"] = found = measured(copy, columns, rows)
        for name, each in found.items():
            print(
                f"{columns}x{rows}  {name:<22} {each['bytes']:>9,.0f} B {each['cpu_ms']:>7.1f} ms"
            )
    if given.output:
        write_record(given.output, record({"run": given.run.name, "windows": windows}))


if __name__ == "__main__":
    main()
