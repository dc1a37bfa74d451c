"""How fast an encoder turns lines into vectors, in lines per CPU-second; and tokens are matched.

    python bench/encoding.py FILE... [--model FOLDER] [--match] [--json OUT.json]

CPU-seconds are user plus system time of this process with all its threads, so that the figure
does not depend on what else the machine does; times two it is what two free cores give. With
--match, FILE and FILE are translations: line n is compared token by token with lines n and n + 1.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from xmine import native
from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.token_files import compared, texts_read
from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.scoring.late_interaction import match_pairs


def matching(encoder: SentenceEncoder, files: list[str], repeats: int) -> dict[str, object]:
    """Measure the CPU time of a pair of lines of two files, in microseconds: the least."""
    left, right = (texts_read(encoder, read_lines(file)) for file in files)
    tokens = compared(encoder.body, left, right)
    x = np.arange(len(tokens[0])).repeat(2)
    y = (x + np.arange(len(x)) % 2) % len(tokens[1])
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        match_pairs(*tokens, x, y)
        seconds.append(time.process_time() - started)
    lengths = [each.lengths.mean().round(1) for each in tokens]
    figures = {"pairs": len(x), "tokens": lengths, "kernels": native.used}
    return {**figures, "microseconds_a_pair": round(1e6 * min(seconds) / len(x), 2)}


def main() -> None:
    """Encode the lines of all files a few times; print and save the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--model", default=EMBEDDED, type=Path)
    parser.add_argument("--repeats", default=9, type=int)
    parser.add_argument("--match", action="store_true")
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
        | (
            {"matching": matching(encoder, arguments.files, arguments.repeats)}
            if arguments.match
            else {}
        )
    )
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
