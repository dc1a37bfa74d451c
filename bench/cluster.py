"""What `xmine mine --engine ray` costs beside a run of one process, on nodes of one core.

    python bench/cluster.py EN ZH --work FOLDER [--options "--index exact"] [--json OUT.json]

Mines both files here with one thread, then on clusters of one and of two nodes on this machine, and
compares the bytes of the pairs. Then mines again on two nodes: one is killed when a third of the
time has passed, and ten seconds later another one joins. CPU seconds are those of the command and
of all processes of the cluster; memory is anonymous (RssAnon).
"""

import argparse
import os
import resource
import shlex
import signal
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memory import EVERY, cost_of, descendants, held, megabytes
from whole import digests, finished, removed

from xmine.evaluation.reports.record import record, write_record

_TICKS = os.sysconf("SC_CLK_TCK")
_OBJECTS = 100_000_000  # bytes of Ray's store, which xmine does not use

Row = dict[str, object]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("texts", type=Path, nargs=2)
    parser.add_argument("--work", type=Path, required=True, help="folder for the runs")
    parser.add_argument("--options", default="", help="of xmine mine")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for _ in range(options.rounds):
        local = here(options)
        one, two = (on_nodes(options, nodes) for nodes in (1, 2))
        rows += [local, one, two, with_deaths(options, float(str(two["seconds"])) / 3)]
        for row in rows[-4:]:
            print(row, flush=True)
    found = {"runs": rows, **compared(rows)}
    print(found)
    if options.json:
        settings = {"options": options.options, "rounds": options.rounds}
        settings["lines"] = [sum(1 for _ in path.open("rb")) for path in options.texts]
        write_record(options.json, record({"settings": settings, "results": found}))


def compared(rows: list[Row]) -> Row:
    """Give the ratios of medians."""

    def median(who: str, what: str) -> float:
        return statistics.median(float(str(row[what])) for row in rows if row["who"] == who)

    return {
        "cpu_to_local": round(median("2 nodes", "cpu_seconds") / median("local", "cpu_seconds"), 3),
        "one_to_two_nodes": round(median("1 nodes", "seconds") / median("2 nodes", "seconds"), 2),
        "cpu_of_deaths": round(
            median("deaths", "cpu_seconds") / median("2 nodes", "cpu_seconds"), 3
        ),
        "same_bytes": len({str(row["digests"]) for row in rows}) == 1,
    }


def here(options: argparse.Namespace) -> Row:
    """Mine in one process of one thread."""
    os.environ["OMP_NUM_THREADS"] = "1"
    cost = finished(cost_of(command(options)))
    return {"who": "local", **cost.figures(), "digests": digests(options.work / "run")}


def on_nodes(options: argparse.Namespace, nodes: int) -> Row:
    """Mine on a cluster."""
    with cluster(nodes) as (address, _, spent):
        cost = finished(cost_of(command(options, address)))
        cpu, most = spent(), max(worker_memory)
    return {
        "who": f"{nodes} nodes",
        **cost.figures(),
        "cpu_seconds": round(cpu, 2),
        "peak_worker_megabytes": megabytes(most),
        "digests": digests(options.work / "run"),
    }


def with_deaths(options: argparse.Namespace, after: float) -> Row:
    """Mine on two nodes; one dies, and is replaced by a third after ten seconds."""
    with cluster(2) as (address, nodes, spent):

        def kill() -> None:
            nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
            time.sleep(10)
            nodes.add_node(num_cpus=1, object_store_memory=_OBJECTS)

        timer = threading.Timer(after, kill)
        timer.start()
        cost = finished(cost_of(command(options, address)))
        timer.join()
        cpu = spent()
    log = (options.work / "run" / "log.txt").read_text(encoding="utf-8")
    return {
        "who": "deaths",
        **cost.figures(),
        "cpu_seconds": round(cpu, 2),
        "log": [line for line in log.splitlines() if "gone" in line or "lost" in line],
        "digests": digests(options.work / "run"),
    }


def command(options: argparse.Namespace, address: str = "") -> list[str | Path]:
    """Put the command together, for a run folder that is not there yet."""
    run = removed(options.work / "run")
    engine = ["--engine", "ray", "--address", address] if address else []
    mine = [sys.executable, "-m", "xmine", "mine", *options.texts, "-o", f"{run}/", "-q"]
    return [*mine, "--no-cache", *engine, *shlex.split(options.options)]


worker_memory: list[int] = []


@contextmanager
def cluster(count: int) -> Iterator[tuple[str, Any, Any]]:
    """Start nodes of one core; give the address, the cluster, and what tells its CPU seconds."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "object_store_memory": _OBJECTS, "include_dashboard": False}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    over = threading.Event()
    worker_memory[:] = [0]

    def watch() -> None:
        while not over.wait(4 * EVERY):
            worker_memory.append(max(map(anonymous, descendants(os.getpid())), default=0))

    try:
        for _ in range(count - 1):
            nodes.add_node(num_cpus=1, object_store_memory=_OBJECTS)
        nodes.wait_for_nodes()
        threading.Thread(target=watch, daemon=True).start()
        before = cpu_seconds()
        yield nodes.address, nodes, lambda: cpu_seconds() - before
    finally:
        over.set()
        nodes.shutdown()


def anonymous(pid: int) -> int:
    """Look at the memory of a worker of Ray alone."""
    try:
        title = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return 0
    return held(pid).anonymous if title.startswith(b"ray::") else 0


def cpu_seconds() -> float:
    """Add up the seconds of the processes that this one has started, dead or alive."""
    total = _TICKS * sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    for pid in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / _TICKS


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    main()
