"""How long `xmine mine` takes on two files, and how much memory.

    python bench/mining.py SOURCE TARGET [--repeats 5] [--peer] [--json OUT.json]

Runs the command as a user would, with --threshold auto, in a process of its own, in turn with
`xmine --help` and `xmine --version`; the first turn warms the disk cache and is not counted. The
medians of the others are shown, and the least CPU-seconds. With --peer the usual way without xmine
runs too: sentence-transformers, faiss.knn both ways, ratio margins.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from xmine.encoders.hub import EMBEDDED
from xmine.evaluation.reports.record import record, write_record


def run(*words: str) -> tuple[float, float, float]:
    """Run Python once; return seconds, CPU-seconds and peak memory in MB."""
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(process.returncode)
    seconds = time.perf_counter() - started
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def usual_way(source: str, target: str, k: int = 4) -> None:
    """Mine with the same vectors and no file of xmine's: pairs that are best for both sides."""
    import faiss
    import numpy as np
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(EMBEDDED), device="cpu")
    texts = [Path(name).read_text(encoding="utf-8").splitlines() for name in (source, target)]
    left, right = (model.encode(lines, normalize_embeddings=True) for lines in texts)
    near, to = faiss.knn(left, right, k, metric=faiss.METRIC_INNER_PRODUCT)
    back, fro = faiss.knn(right, left, k, metric=faiss.METRIC_INNER_PRODUCT)
    means = near.mean(axis=1), back.mean(axis=1)
    best = (near / ((means[0][:, None] + means[1][to]) / 2)).argmax(axis=1)
    forth = np.take_along_axis(to, best[:, None], axis=1)[:, 0]
    other = (back / ((means[1][:, None] + means[0][fro]) / 2)).argmax(axis=1)
    backward = np.take_along_axis(fro, other[:, None], axis=1)[:, 0]
    for row in np.flatnonzero(backward[forth] == np.arange(len(forth))).tolist():
        print(row, forth[row], texts[0][row], texts[1][forth[row]], sep="\t")


def main() -> None:
    """Run a few times, print and save the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peer", action="store_true", help="race the usual way")
    parser.add_argument("--usual-way", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    files = arguments.source, arguments.target
    if arguments.usual_way:
        usual_way(*files)
        return
    commands = {
        "": ("-m", "xmine", "mine", *files, "-q"),
        "help_": ("-m", "xmine", "--help"),
        "version_": ("-m", "xmine", "--version"),
    }
    if arguments.peer:
        commands["peer_"] = (__file__, "--usual-way", *files)
    runs = {who: list[tuple[float, float, float]]() for who in commands}
    for turn in range(arguments.repeats + 1):
        for who, command in commands.items():
            runs[who] += [run(*command)][:turn]
    found: dict[str, object] = {"repeats": arguments.repeats}
    found |= dict(zip(("source", "target"), (Path(name).name for name in files), strict=True))
    for who in commands:
        seconds, cpu, memory = (statistics.median(each) for each in zip(*runs[who], strict=True))
        found[f"{who}seconds"], found[f"{who}cpu_seconds"] = round(seconds, 2), round(cpu, 2)
        found[f"{who}least_cpu_seconds"] = round(min(each[1] for each in runs[who]), 3)
        found[f"{who}peak_megabytes"] = round(memory)
    if arguments.peer:
        peer, ours = (min(each[1] for each in runs[who]) for who in ("peer_", ""))
        found["cpu_of_peer_to_ours"] = round(peer / ours, 2)
    result = record(found)
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
