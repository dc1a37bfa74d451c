"""How long `xmine mine` takes on two files, and how much memory.

    python bench/mining.py SOURCE TARGET [--repeats 5] [--json OUT.json]

Runs the command as a user would, with --threshold auto, in a process of its own; the first run
warms the disk cache and is not counted. The median of the others is shown, and the least
CPU-seconds of each, also of `xmine --help` and of `xmine --version`.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from xmine.evaluation.reports.record import record, write_record


def run(*words: str) -> tuple[float, float, float]:
    """Run the command once; return seconds, CPU-seconds and peak memory in MB."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "xmine", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(process.returncode)
    seconds = time.perf_counter() - started
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Run a few times, print and save the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    mine = "mine", arguments.source, arguments.target, "-q"
    run(*mine)
    runs, *others = (
        [run(*words) for _ in range(arguments.repeats)]
        for words in (mine, ["--help"], ["--version"])
    )
    seconds, cpu, memory = (sorted(each)[len(each) // 2] for each in zip(*runs, strict=True))
    least = [round(min(cpu for _, cpu, _ in each), 3) for each in (runs, *others)]
    result = record(
        {
            "source": Path(arguments.source).name,
            "target": Path(arguments.target).name,
            "repeats": arguments.repeats,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu, 2),
            "peak_megabytes": round(memory),
            "least_cpu_seconds": dict(zip(("mine", "--help", "--version"), least, strict=True)),
        }
    )
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
