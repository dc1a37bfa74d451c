"""A run whose texts grow at their ends: what mining again costs, against the first run.

    python bench/growing.py --texts EN OTHER --work FOLDER [--share 0.01] [--json OUT]

Mines all but the last lines of both files, then, in the same run, all of them; and all of them in a
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
    """Mine, grow, mine again, and mine anew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, nargs=2, required=True, help="a line each sentence")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.01, help="of new lines")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    given.work.mkdir(parents=True, exist_ok=True)
    texts = [path.read_bytes().splitlines(keepends=True) for path in given.texts]
    files = [given.work / path.name for path in given.texts]
    runs = {name: removed(given.work / name) for name in ("grown", "anew")}
    rows: dict[str, dict[str, object]] = {}
    tables = {}
    for name, run, share in (
        ("first", "grown", 1 / (1 + given.share)),
        ("grown", "grown", 1.0),
        ("anew", "anew", 1.0),
    ):
        for file, lines in zip(files, texts, strict=True):
            file.write_bytes(b"".join(lines[: round(share * len(lines))]))
        log = runs[run] / "log.txt"
        log.unlink(missing_ok=True)  # so that its stages are those of this time
        command = [sys.executable, "-m", "xmine", "mine", *files, "-o", f"{runs[run]}/", "-q"]
        cost = finished(cost_of(command, cache=given.work / "cache"))
        tables[name] = read_table(runs[run])
        rows[name] = {
            "lines": [round(share * len(lines)) for lines in texts],
            "pairs": len(tables[name]),
            "cpu_seconds": round(cost.cpu_seconds, 1),
            **stages_of(runs[run]),
        }
        print(name, rows[name], flush=True)
    changes = {
        "first to grown": counted(compare(tables["first"], tables["grown"])),
        "first to anew": counted(compare(tables["first"], tables["anew"])),
        "anew to grown": counted(compare(tables["anew"], tables["grown"])),
    }
    first, grown = (float(str(rows[name]["cpu_seconds"])) for name in ("first", "grown"))
    ratio = round(grown / first, 3)
    facts = {"share": given.share, "cost": ratio, "runs": rows, "changes": changes}
    print(facts["cost"], changes)
    if given.json:
        write_record(given.json, record(facts))


if __name__ == "__main__":
    main()
