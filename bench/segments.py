"""What `--segment` finds again in lines joined to paragraphs, and how fast it cuts.

    python bench/segments.py SOURCE TARGET [--eval EVAL] [--lines 5] [--json OUT.json]

Line i of SOURCE is a translation of line i of TARGET. Each side is joined to paragraphs, with a
space where the text is written with spaces, and these are shuffled, each side in an order of its
own. A pair of lines counts as found if the middles of a mined pair lie in both: a line that holds
several sentences can be found by any of them. `--eval` also joins and cuts lines of every language
of the folder that bench/language_flags.py reads.
"""

import argparse
import json
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from language_flags import sets

import xmine
from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.mining.options import MiningOptions
from xmine.text.identification import guess_language
from xmine.text.segmentation import segment


@dataclass(frozen=True)
class Joined:
    """The paragraphs of one side, and in each where which line starts, as (start, line)."""

    paragraphs: list[str]
    starts: list[list[tuple[int, int]]]

    def line(self, paragraph: int, offset: int) -> int:
        """Tell which line a place of a paragraph lies in."""
        return max((start, line) for start, line in self.starts[paragraph] if start <= offset)[1]


def join(lines: list[str], language: str, size: int, seed: int) -> Joined:
    """Join lines to shuffled paragraphs."""
    lines = [line.strip() for line in lines if line.strip()]
    space = "" if language in ("zh", "ja") else " "
    groups = [range(at, min(at + size, len(lines))) for at in range(0, len(lines), size)]
    random.Random(seed).shuffle(groups)
    paragraphs, starts = [], []
    for group in groups:
        text, places = "", []
        for line in group:
            text += space if text else ""
            places.append((len(text), line))
            text += lines[line]
        paragraphs.append(text)
        starts.append(places)
    return Joined(paragraphs, starts)


def boundaries(side: Joined, language: str) -> dict[str, float]:
    """Cut, count the line ends inside paragraphs that are found again, and the cuts there."""
    segment("1. 2.", language)  # so that its rules are loaded
    started = time.process_time()
    cuts = [segment(text, language) for text in side.paragraphs]
    seconds = time.process_time() - started
    pairs = list(zip(cuts, side.starts, strict=True))
    true = sum(len(starts) - 1 for _, starts in pairs)
    found = sum(
        len({at for at, _ in cut if at} & {at for at, _ in starts}) for cut, starts in pairs
    )
    sentences = sum(map(len, cuts))
    return {
        "line_ends_found": round(found / true, 3),
        "cuts_at_line_ends": round(found / max(sentences - len(cuts), 1), 3),
        "sentences": sentences,
        "sentences_per_second": round(sentences / seconds),
        "characters_per_second": round(sum(map(len, side.paragraphs)) / seconds),
    }


def mined(source: Joined, target: Joined, threshold: float | str) -> dict[str, float]:
    """Mine the paragraphs, and count the pairs of lines that come back."""
    with tempfile.TemporaryDirectory() as folder:
        files = (Path(folder, "source"), Path(folder, "target"))
        for file, side in zip(files, (source, target), strict=True):
            file.write_text("\n".join(side.paragraphs) + "\n", encoding="utf-8", newline="\n")
        options = MiningOptions(segment=True, threshold=threshold)
        pairs = xmine.mine(files[0], files[1], options=options).pairs
    lines = [
        (
            source.line((row.source_line or 0) - 1, _middle(row.source_offset, row.source)),
            target.line((row.target_line or 0) - 1, _middle(row.target_offset, row.target)),
        )
        for row in pairs.rows()
    ]
    right = [left for left, other in lines if left == other]
    return {
        "pairs": len(lines),
        "precision": round(len(right) / len(lines), 3),
        "lines_found": round(len(set(right)) / sum(map(len, source.starts)), 3),
    }


def _middle(offset: int | None, text: str) -> int:
    return (offset or 0) + len(text) // 2


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--eval", type=Path, help="folder with newstest and tatoeba")
    parser.add_argument("--lines", type=int, default=5, help="lines to a paragraph")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    files = [list(read_lines(path)) for path in (arguments.source, arguments.target)]
    codes = [guess_language(lines) for lines in files]
    source, target = (
        join(lines, code, arguments.lines, seed)
        for lines, code, seed in zip(files, codes, (1, 2), strict=True)
    )
    every = sets(arguments.eval) if arguments.eval else {}
    result = record(
        {
            "source": Path(arguments.source).name,
            "target": Path(arguments.target).name,
            "lines_to_a_paragraph": arguments.lines,
            "cutting": {
                "source": boundaries(source, codes[0]),
                "target": boundaries(target, codes[1]),
            },
            "languages": {
                code: {"set": name, **boundaries(join(lines, code, arguments.lines, 1), code)}
                for code, (name, _, lines) in every.items()
            },
            "auto": mined(source, target, "auto"),
            "threshold 0": mined(source, target, 0.0),
        }
    )
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
