"""Align documents with gold beads, and count the beads that are right.

    python bench/align.py EVAL [--sets tb-dev mac-dev ...] [--model ENCODER] [--json OUT.json]
                               [--by align|mine|merge] [--lines 2425 8000]

EVAL has the folder align/ with sets of documents: NAME.src, NAME.tgt with a sentence a line, and
NAME.gold with a bead a line, `[rows of src]:[rows of tgt]`, from 0. Strict counts a bead if both
sides are exactly right, lax if it overlaps a gold bead on both sides; beads with an empty side are
left out: as score.py of vecalign does. `expected` is the mean probability of the beads, which
strict precision should be.

The set `joined` is news in English and ten other languages, EVAL/newstest: lines are put together
by chance, on one side or the other, and some are left out. `blind` is the same with an encoder that
knows none of the words, by lengths and lexicon alone. `long` puts such news together to LONG lines.
`cut` is tb-dev and mac-dev where one side lacks a half, the middle third, or all but a fifth. With
`--by` the lines are not aligned, but mined, or mined with `--merge`.

With `--lines` no beads are counted: the CPU seconds of the whole command `xmine align` are taken,
the least of three, on so many lines of verses and news in English and French.

`peak` is the most memory of the process so far: name one set to have that of the set.
"""

import argparse
import gzip
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from memory import cost_of
from whole import finished

from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.evaluation.reports.record import record, write_record
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine

SETS = "tb-dev mac-dev cut tb-test mac-test subtitles ro1984 hu1984 steinbeck joined blind long"
NEWS = "2014.eng-fra 2013.eng-spa 2009.eng-ita 2014.eng-hin 2018.ces-eng 2018.eng-tur 2020.eng-deu "
NEWS += "2020.eng-jpn 2020.eng-pol 2020.eng-rus"
JOINED, LEFT_OUT = 0.25, 0.02  # shares of lines
LONG = 100_000  # lines of the shorter side
# Parts that are kept of a side, in shares of its lines: from one to before another.
KEPT: list[list[tuple[float, float]]] = [
    [(0, 0.5)],
    [(0.5, 1)],
    [(0, 1 / 3), (2 / 3, 1)],
    [(0.4, 0.6)],
]

Bead = tuple[tuple[int, ...], tuple[int, ...]]


class Document(NamedTuple):
    """Lines of both sides, and which rows belong together."""

    source: list[str]
    target: list[str]
    gold: list[Bead]


def documents(folder: Path, name: str) -> Iterator[Document]:
    """Read the documents of a set."""
    if name in ("joined", "blind"):
        for each in NEWS.split():
            one, other = sorted((folder / "newstest").glob(f"newstest{each}.*"))
            yield joined(lines_of(one), lines_of(other), Random(each))
        return
    if name == "long":
        yield long(folder)
        return
    if name == "cut":
        for each in ("tb-dev", "mac-dev"):
            for whole in documents(folder, each):
                yield from (cut(whole, side, parts) for side in (0, 1) for parts in KEPT)
        return
    for path in sorted((folder / "align" / name).rglob("*.gold")):
        beads = (line.split(":")[:2] for line in lines_of(path))
        gold = [tuple(tuple(map(int, re.findall(r"\d+", side))) for side in each) for each in beads]
        sides = lines_of(path.with_suffix(".src")), lines_of(path.with_suffix(".tgt"))
        yield Document(*sides, gold)  # type: ignore[arg-type]


def lines_of(path: Path) -> list[str]:
    """Read lines; a line break is `\\n` alone."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def joined(source: list[str], target: list[str], random: Random) -> Document:
    """Put lines that are translations together by chance, and leave some out."""
    sides: tuple[list[str], list[str]] = ([], [])
    gold: list[Bead] = []
    at = 0
    while at < len(source):
        size = random.choice((2, 2, 3)) if random.random() < JOINED else 1
        texts = [source[at : at + size], target[at : at + size]]
        at += size
        kind = random.random()
        if kind < LEFT_OUT:
            texts[random.randrange(2)] = []
        elif size > 1:
            side = random.randrange(2)
            texts[side] = [" ".join(texts[side])]
        rows = []
        for lines, some in zip(sides, texts, strict=True):
            rows.append(tuple(range(len(lines), len(lines) + len(some))))
            lines += some
        gold.append((rows[0], rows[1]))
    return Document(sides[0], sides[1], gold)


def long(folder: Path) -> Document:
    """Put the news of all languages together, again and again."""
    whole = Document([], [], [])
    for time in range(100):
        for each in NEWS.split():
            one, other = sorted((folder / "newstest").glob(f"newstest{each}.*"))
            some = joined(lines_of(one), lines_of(other), Random(f"{each} {time}"))
            rows = len(whole.source), len(whole.target)
            whole.source.extend(some.source)
            whole.target.extend(some.target)
            whole.gold.extend(
                (tuple(x + rows[0] for x in x_rows), tuple(y + rows[1] for y in y_rows))
                for x_rows, y_rows in some.gold
            )
            if min(rows) >= LONG:
                return whole
    raise AssertionError("the news have too few lines")


def cut(whole: Document, side: int, parts: list[tuple[float, float]]) -> Document:
    """Keep some parts of a side, and the beads whose lines are there."""
    size = len(whole[side])
    kept = [at for start, stop in parts for at in range(int(start * size), int(stop * size))]
    rows = {old: new for new, old in enumerate(kept)}
    sides = [whole.source, whole.target]
    sides[side] = [sides[side][at] for at in kept]
    gold = []
    for bead in whole.gold:
        if all(row in rows for row in bead[side]):
            here = list(bead)
            here[side] = tuple(rows[row] for row in bead[side])
            gold.append((here[0], here[1]))
    return Document(sides[0], sides[1], gold)


def cost_of_lines(folder: Path, lines: int) -> float:
    """Give the CPU seconds of `xmine align` on verses and news, the least of three."""
    rows = (
        gzip.decompress((folder / "scripture" / "verses.tsv.gz").read_bytes()).decode().split("\n")
    )
    command = [sys.executable, "-m", "xmine", "align", "-q"]
    sides = []
    for column, code in ((1, "en"), (4, "fr")):
        sides.append([row.split("\t")[column] for row in rows[1:-1]])
        for name in ("newstest2014", "newsdiscusstest2015"):
            sides[-1] += lines_of(folder / "newstest" / f"{name}.eng-fra.{code}")
    with TemporaryDirectory() as work:
        for at, texts in enumerate(joined(sides[0], sides[1], Random(1))[:2]):
            command.append(f"{work}/{at}.txt")
            Path(command[-1]).write_text("\n".join(map(str, texts[:lines])), encoding="utf-8")
        return min(round(finished(cost_of(command)).cpu_seconds, 2) for _ in range(3))


class Counts(NamedTuple):
    """Beads of a set: found and true ones, and how many of them are right, strict and lax."""

    found: list[float]
    strict: list[bool]
    lax: list[bool]
    gold_strict: list[bool]
    gold_lax: list[bool]

    def figures(self) -> dict[str, float]:
        """Give precision, recall, F1, lax F1 and the expected precision."""
        values = [float(np.mean(each)) for each in self[1:]]
        return {
            "beads": len(self.found),
            "precision": round(values[0], 4),
            "recall": round(values[2], 4),
            "f1": f1(values[0], values[2]),
            "lax_f1": f1(values[1], values[3]),
            "expected": round(float(np.mean(self.found)), 4),
        }


def f1(precision: float, recall: float) -> float:
    """Give the harmonic mean."""
    return round(2 * precision * recall / max(precision + recall, 1e-9), 4)


def overlapping(beads: list[Bead], others: list[Bead]) -> list[bool]:
    """Tell which beads share a row of both sides with one of the others."""
    cells = {(x, y) for source, target in others for x in source for y in target}
    return [any((x, y) in cells for x in source for y in target) for source, target in beads]


def rows_of(lines: str | int | None) -> tuple[int, ...]:
    """Give the rows of lines: of 12, or of 12-13."""
    ends = str(lines or "").split("-")
    return tuple(range(int(ends[0]) - 1, int(ends[-1]))) if lines else ()


def encoder_of(model: str = "embedded", *, blind: bool = False) -> SentenceEncoder:
    """Load an encoder; a blind one knows none of the words."""
    encoder = SentenceEncoder.load(model)
    if blind:
        assert isinstance(encoder.body, StaticEmbedding)
        encoder.body.table.rows[:] = 0
    return encoder


def measure(document: Document, encoder: SentenceEncoder, counts: Counts, by: str) -> None:
    """Align or mine a document, and count."""
    sides = document.source, document.target
    if by == "align":
        pairs = list(align(*sides, encoder, AligningOptions(min_prob=0)).rows())
    else:
        pairs = list(mine(*sides, encoder, MiningOptions(merge=by == "merge")).pairs.rows())
    counts.found.extend(pair.prob or 0 for pair in pairs)
    found = [
        (
            rows_of(pair.source_lines or pair.source_line),
            rows_of(pair.target_lines or pair.target_line),
        )
        for pair in pairs
    ]
    gold = [bead for bead in document.gold if all(bead)]
    known, true = set(found), set(gold)
    counts.strict.extend(bead in true for bead in found)
    counts.gold_strict.extend(bead in known for bead in gold)
    counts.lax.extend(overlapping(found, gold))
    counts.gold_lax.extend(overlapping(gold, found))


def main() -> None:
    """Measure the sets, print a row for each, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS.split())
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--by", choices=["align", "mine", "merge"], default="align")
    parser.add_argument("--lines", nargs="+", type=int)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.lines:
        seconds = {str(lines): cost_of_lines(arguments.data, lines) for lines in arguments.lines}
        print(cost := {"cpu_seconds": seconds, "threads": os.environ.get("OMP_NUM_THREADS")})
        return write_record(arguments.json, record(cost)) if arguments.json else None
    encoder, figures = SentenceEncoder.load(arguments.model), dict[str, Any]()
    blind = encoder_of(arguments.model, blind=True)
    print("| set | beads | precision | recall | F1 | lax F1 | expected | CPU s | peak MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in arguments.sets:
        counts, start = Counts([], [], [], [], []), process_time()
        for document in documents(arguments.data, name):
            measure(document, blind if name == "blind" else encoder, counts, arguments.by)
        found = {**counts.figures(), "cpu_seconds": round(process_time() - start, 1)}
        found["peak_mb"] = getrusage(RUSAGE_SELF).ru_maxrss // 1024
        figures[name] = found
        print(f"| {name} | " + " | ".join(str(each) for each in found.values()) + " |", flush=True)
    if arguments.json:
        write_record(
            arguments.json, record({"model": arguments.model, "by": arguments.by, "sets": figures})
        )


if __name__ == "__main__":
    main()
