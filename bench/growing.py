"""The same command again, and texts that grow at their ends: what that costs, by the first run.

    python bench/growing.py --texts EN OTHER --work FOLDER [--sizes 60000 200000] [--json OUT]

Mines the first lines of both files, the same again and, in the same run, 1 % more; and these in a
new run, which the grown one is compared with. Times are CPU seconds of one thread each.
"""

import argparse
import os
import sys
from pathlib import Path

from memory import cost_of
from whole import finished, removed, stages_of

from xmine.evaluation.reports.record import record, write_record
from xmine.pairs.changes import compare, counted, read_table


def main() -> None:
    """Mine, mine again, grow, and mine anew, at each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, nargs=2, required=True, help="a line each sentence")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[60_000, 200_000])
    parser.add_argument("--share", type=float, default=0.01, help="of new lines")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    given.work.mkdir(parents=True, exist_ok=True)
    texts = [path.read_bytes().splitlines(keepends=True) for path in given.texts]
    rows = [grown(texts, size, given) for size in given.sizes]
    if given.json:
        write_record(given.json, record({"share": given.share, "sizes": rows}))


def grown(texts: list[list[bytes]], size: int, given: argparse.Namespace) -> dict[str, object]:
    """Mine at one size."""
    files = [given.work / path.name for path in given.texts]
    runs = {name: removed(given.work / name) for name in ("grown", "anew")}
    more, rows, tables = round(size * (1 + given.share)), dict[str, dict[str, object]](), {}
    for name, run, lines in (
        ("first", "grown", size),
        ("again", "grown", size),
        ("grown", "grown", more),
        ("anew", "anew", more),
    ):
        for file, every in zip(files, texts, strict=True):
            file.write_bytes(b"".join(every[:lines]))
        log = runs[run] / "log.txt"
        log.unlink(missing_ok=True)  # so that its stages are those of this time
        command = [sys.executable, "-m", "xmine", "mine", *files, "-o", f"{runs[run]}/", "-q"]
        cost = finished(cost_of(command, cache=given.work / "cache"))
        tables[name] = read_table(runs[run])
        seconds = round(cost.cpu_seconds, 2)
        rows[name] = {"lines": lines, "pairs": len(tables[name]), "cpu_seconds": seconds}
        if log.exists():
            rows[name] |= stages_of(runs[run])
        print(name, rows[name], flush=True)
    changes = {
        f"{one} to {other}": counted(compare(tables[one], tables[other]))
        for one, other in (("first", "grown"), ("first", "anew"), ("anew", "grown"))
    }
    first, *others = (float(str(rows[name]["cpu_seconds"])) for name in ("first", "again", "grown"))
    again, more_lines = (round(each / first, 3) for each in others)
    print(size, "again", again, "1 % more" if given.share == 0.01 else "grown", more_lines, changes)
    return {"lines": size, "again": again, "grown": more_lines, "runs": rows, "changes": changes}


if __name__ == "__main__":
    main()
