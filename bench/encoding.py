"""How fast an encoder turns lines into vectors, in lines per CPU-second.

    python bench/encoding.py FILE... [--model FOLDER] [--json OUT.json]

CPU-seconds are user plus system time of this process with all its threads, so that the figure
does not depend on what else the machine does; times two it is what two free cores give.
"""

import argparse
import json
import time
from pathlib import Path

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines


def main() -> None:
    """Encode the lines of all files a few times; print and save the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--model", default=EMBEDDED, type=Path)
    parser.add_argument("--repeats", default=9, type=int)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    encoder = SentenceEncoder.load(arguments.model)
    lines = [line for file in arguments.files for line in read_lines(file)]
    encoder.encode(lines[:100])
    seconds = []
    for _ in range(arguments.repeats):
        started = time.process_time()
        encoder.encode(lines)
        seconds.append(time.process_time() - started)
    speeds = sorted(len(lines) / each for each in seconds)
    result = record(
        {
            "lines": len(lines),
            "repeats": arguments.repeats,
            "lines_per_cpu_second": round(speeds[len(speeds) // 2]),
            "lowest": round(speeds[0]),
            "highest": round(speeds[-1]),
        }
    )
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
