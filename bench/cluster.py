"""What `xmine mine --engine ray` costs beside a run of one process, on nodes of one core.

    python bench/cluster.py EN ZH --work FOLDER [--options "--index exact"] [--json OUT.json]

Mines both files here with one thread and with two, then on clusters of one and of two nodes on this
machine, and compares the bytes of the pairs. CPU seconds are those of the command, of workers and
of Ray's own processes, looked at once a second; memory is anonymous (RssAnon).
"""

import argparse
import json
import os
import shlex
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory import cost_of, descendants, held, megabytes
from whole import digests, finished, removed

from xmine.evaluation.reports.record import record, write_record

_TICKS = os.sysconf("SC_CLK_TCK")
_OBJECTS = 100_000_000  # bytes of Ray's store, which xmine does not use
_EVERY = 1.0  # seconds between two looks, which take time of the cores that are measured

Row = dict[str, object]
KINDS = ["1 threads", "2 threads", "1 nodes", "2 nodes"]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("texts", type=Path, nargs=2)
    parser.add_argument("--work", type=Path, default=Path("cluster"), help="folder for the runs")
    parser.add_argument("--options", default="", help="of xmine mine")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of runs")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    settings = {"options": options.options, "lines": list(map(_lines, options.texts))}
    rows = rows_before(options.json, settings)
    for kind in options.kinds * options.rounds:
        cost = cost_here if kind.endswith("threads") else cost_there
        rows.append({"who": kind, **cost(options, int(kind[0]))})
        write(options.json, {"settings": settings, "rows": rows, **compared(rows)})


def rows_before(path: Path | None, settings: Row) -> list[Row]:
    """Take the rounds of a file with the same settings and machine: new rounds add to these."""
    if not path or not path.exists():
        return []
    runs = json.loads(path.read_text(encoding="utf-8")).get("runs", {})
    now = {"settings": settings, "machine": record({})["machine"]}
    return list(runs["rows"]) if runs.items() >= now.items() else []


def _lines(path: Path) -> int:
    """Count the lines of a file."""
    with path.open("rb") as file:
        return sum(1 for _ in file)


def write(path: Path | None, found: Row) -> None:
    """Print figures, and put them into a file."""
    print(json.dumps(found, indent=1))
    if path:
        write_record(path, {"runs": record(found)})


def compared(rows: list[Row]) -> Row:
    """Tell whether all runs made the same bytes, and the medians of each kind of runs."""
    found: Row = {"same_bytes": len({str(row["digests"]) for row in rows}) == 1}
    for kind in dict.fromkeys(str(row["who"]) for row in rows):
        for name in ("seconds", "cpu_seconds"):
            values = [float(str(row[name])) for row in rows if row["who"] == kind]
            found[f"{kind}, {name}"] = statistics.median(values)
    return found


def cost_here(options: argparse.Namespace, threads: int) -> Row:
    """Mine in one process."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    cost = finished(cost_of(command(options), every=_EVERY))
    return {**cost.figures(), "digests": digests(options.work / "run")}


def cost_there(options: argparse.Namespace, nodes: int) -> Row:
    """Mine on a cluster."""
    os.environ["OMP_NUM_THREADS"] = "1"  # of the command; a task has one thread anyway
    with cluster(nodes) as made, watched() as seen:
        cost = finished(cost_of(command(options, made.address), every=_EVERY))
    workers, daemons = seen.cpu_seconds(True), seen.cpu_seconds(False)
    return {
        **cost.figures(),
        "cpu_seconds": round(cost.cpu_seconds + workers + daemons, 2),
        "cpu_seconds_of_workers": round(workers, 2),
        "cpu_seconds_of_ray": round(daemons, 2),
        "peak_worker_megabytes": megabytes(seen.memory),
        "digests": digests(options.work / "run"),
    }


def command(options: argparse.Namespace, address: str = "") -> list[str | Path]:
    """Put the command together, for a run folder that is not there yet."""
    run = removed(options.work / "run")
    engine = ["--engine", f"ray://{address}"] if address else []
    mine = [sys.executable, "-m", "xmine", "mine", *options.texts, "-o", f"{run}/", "-q"]
    return [*mine, "--no-cache", *engine, *shlex.split(options.options)]


@contextmanager
def cluster(count: int) -> Iterator[Any]:
    """Start nodes of one core."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "object_store_memory": _OBJECTS, "include_dashboard": False}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(count - 1):
            nodes.add_node(num_cpus=1, object_store_memory=_OBJECTS)
        nodes.wait_for_nodes()
        yield nodes
    finally:
        nodes.shutdown()


@dataclass
class Seen:
    """What the processes of a cluster have cost so far."""

    # processor time of each process when it was last seen, and before it was watched
    ticks: dict[int, tuple[int, int]] = field(default_factory=dict)
    workers: set[int] = field(default_factory=set)  # processes that run tasks
    memory: int = 0  # the most bytes of one worker

    def cpu_seconds(self, of_workers: bool) -> float:
        """Add up the time of workers, or that of Ray's own processes."""
        some = [self.ticks[pid] for pid in self.ticks if (pid in self.workers) == of_workers]
        return sum(last - first for first, last in some) / _TICKS

    def look(self, is_first: bool) -> None:
        """Look at all processes that this one has started, but the command."""
        for pid in descendants(os.getpid()):
            try:
                title = Path(f"/proc/{pid}/cmdline").read_bytes()
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if b"xmine\0mine\0" in title:
                continue
            now = int(stat[11]) + int(stat[12])
            self.ticks[pid] = self.ticks.get(pid, (now if is_first else 0, 0))[0], now
            if title.startswith(b"ray::"):
                self.workers.add(pid)
                self.memory = max(self.memory, held(pid)[0])


@contextmanager
def watched() -> Iterator[Seen]:
    """Look at the processes of a cluster until the block ends."""
    seen, over = Seen(), threading.Event()
    seen.look(is_first=True)

    def watch() -> None:
        while not over.wait(_EVERY):
            seen.look(is_first=False)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
        seen.look(is_first=False)


if __name__ == "__main__":
    main()
