"""How long `xmine mine` takes on two files, and how much memory.

    python bench/mining.py SOURCE TARGET [--repeats 5] [--json OUT.json]

Runs the command as a user would, with --threshold auto, in a process of its own; the first run
warms the disk cache and is not counted. The median of the others is shown.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from xmine.evaluation.reports.record import record, write_record


def run(source: str, target: str) -> tuple[float, float, float]:
    """Mine once; return seconds, CPU-seconds and peak memory in MB."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "xmine", "mine", source, target, "-q"]
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
    run(arguments.source, arguments.target)
    runs = [run(arguments.source, arguments.target) for _ in range(arguments.repeats)]
    seconds, cpu, memory = (sorted(each)[len(each) // 2] for each in zip(*runs, strict=True))
    result = record(
        {
            "source": Path(arguments.source).name,
            "target": Path(arguments.target).name,
            "repeats": arguments.repeats,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu, 2),
            "peak_megabytes": round(memory),
        }
    )
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
