"""Two text files -> what a whole run of `xmine mine` costs.

Parts `whole` and `recall` of bench/scale.py. Every run is a process of its own with an
empty cache, looked at from outside (bench/memory.py).
"""

import hashlib
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from corpora import write_corpora
from memory import Cost, bytes_under, cost_of

from xmine.options import load_toml
from xmine.pairs.io import read_pairs
from xmine.pairs.known import read_known
from xmine.scoring.gold import agreement

CACHE = "cache"

Row = dict[str, object]
LinePairs = set[tuple[int, int]]


class Texts(NamedTuple):
    """Two text files, their gold pairs if there are any, and how many lines the first one has."""

    source: Path
    target: Path
    gold: Path | None
    lines: int


def whole(arguments: Namespace) -> Iterator[Row]:
    """Mine files of each size."""
    for texts in texts_of(arguments):
        output, cache = fresh(arguments), fresh_cache(arguments)
        cost = finished(cost_of(mining(texts, output, arguments), cache=cache))
        yield {"lines": texts.lines, **cost.figures(), **outcome(texts, output)}


def recall(arguments: Namespace) -> Iterator[Row]:
    """Mine with exact and with approximate search, and count what the second one still finds."""
    for texts in texts_of(arguments):
        found: dict[str, LinePairs] = {}
        costs: dict[str, Cost] = {}
        notes: dict[str, Row] = {}
        for index in ("exact", arguments.index):
            output = fresh(arguments)
            command = [*mining(texts, output, arguments), "--index", index]
            costs[index] = finished(cost_of(command, cache=fresh_cache(arguments)))
            found[index], notes[index] = lines_of(output), search_of(output)
        exact, approximate = found["exact"], found[arguments.index]
        row: Row = {
            "lines": texts.lines,
            "pairs_exact": len(exact),
            "pairs": len(approximate),
            "recall_of_pairs": round(len(exact & approximate) / max(1, len(exact)), 4),
            "seconds_exact": round(costs["exact"].seconds, 2),
            "seconds": round(costs[arguments.index].seconds, 2),
            **notes[arguments.index],
        }
        if texts.gold:
            gold = {pair[:2] for pair in read_known(texts.gold).pairs}
            right = {name: len(pairs & gold) for name, pairs in found.items()}
            row["recall_of_right_pairs"] = round(right[arguments.index] / max(1, right["exact"]), 4)
        yield row


def texts_of(arguments: Namespace) -> list[Texts]:
    """Give the files that were named, or generate corpora of each size once."""
    if arguments.texts:
        source, target = arguments.texts
        with source.open("rb") as file:
            lines = sum(1 for _ in file)
        return [Texts(source, target, arguments.gold, lines)]
    made = []
    for lines in arguments.sizes:
        folder = arguments.work / f"lines-{lines}-seed-{arguments.seed}-{arguments.translated}"
        if not (folder / "gold.tsv").exists():  # which is written last
            folder.mkdir(parents=True, exist_ok=True)
            write_corpora(folder, lines, arguments.seed, arguments.translated)
        made.append(Texts(folder / "en.txt", folder / "zh.txt", folder / "gold.tsv", lines))
    return made


def mining(texts: Texts, output: Path, arguments: Namespace) -> list[str | Path]:
    """Put the command together."""
    place = f"{output}/" if arguments.output.endswith("/") else str(output)
    options = ["-q", *shlex.split(arguments.options)]
    return [
        sys.executable,
        "-m",
        "xmine",
        "mine",
        texts.source,
        texts.target,
        "-o",
        place,
        *options,
    ]


def fresh(arguments: Namespace) -> Path:
    """Name the output, which does not exist any more."""
    return removed(Path(arguments.work) / arguments.output.rstrip("/"))


def fresh_cache(arguments: Namespace) -> Path:
    """Empty the folder that stands for the user's cache."""
    return removed(Path(arguments.work) / CACHE)


def removed(path: Path) -> Path:
    """Remove a file or folder of an earlier run."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return path


def finished(cost: Cost) -> Cost:
    """End everything where a command failed."""
    if cost.code:
        sys.exit(f"scale.py: a command ended with {cost.code}:\n{cost.output}")
    return cost


def outcome(texts: Texts, output: Path) -> Row:
    """Say what a run made: pairs, room on disk, and how its pairs agree with gold."""
    pairs = lines_of(output)
    row: Row = {
        "pairs": len(pairs),
        "disk_megabytes": round(bytes_under(output) / 1e6, 1),
        **search_of(output),
        **stages_of(output),
    }
    if texts.gold:
        figures = agreement(pairs, {pair[:2] for pair in read_known(texts.gold).pairs})
        row |= {"precision": round(figures.precision, 4), "recall": round(figures.recall, 4)}
    return row


def lines_of(output: Path) -> LinePairs:
    """Read the line numbers of the pairs in a file, or in the file `pairs.*` of a run folder."""
    pairs = read_pairs(_pair_file(output))
    lines = ((pair.source_line, pair.target_line) for pair in pairs)
    return {(ours, theirs) for ours, theirs in lines if ours is not None and theirs is not None}


def search_of(output: Path) -> Row:
    """Say which index a run folder names, and the recall of neighbours that it measured."""
    if not output.is_dir():
        return {}
    note = load_toml(output / "neighbours" / "search.toml")
    recall = {"recall_of_neighbours": note["recall"]} if "recall" in note else {}
    return {"index": note["index"], **recall}


def stages_of(output: Path) -> Row:
    """Read the seconds of each stage from the log of a run folder."""
    if not output.is_dir():
        return {}
    lines = (output / "log.txt").read_text(encoding="utf-8").splitlines()
    log = [(datetime.fromisoformat(line[:19]), line[19:].split()[0]) for line in lines]
    found: dict[str, float] = {}
    for (began, stage), (ended, _) in pairwise(log):
        if stage.isalpha():  # not the number of pairs
            found[stage] = found.get(stage, 0.0) + (ended - began).total_seconds()
    return {"stage_seconds": {stage: seconds for stage, seconds in found.items() if seconds}}


def digests(output: Path) -> dict[str, str]:
    """Hash the pairs of a run folder."""
    path = _pair_file(output)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}


def _pair_file(output: Path) -> Path:
    if not output.is_dir():
        return output
    found = sorted(output.glob("pairs.*"))
    if not found:
        sys.exit(f"scale.py: no file pairs.* in {output}")
    return found[0]
