"""What follows the search: the memory of scoring, pairing, judging and writing, in bytes a line.

    python bench/judging.py [--sizes 100000 1000000] [--json OUT.json]

Lines are those of examples/ again and again, each time with another word, half of them with a
translation on the other side; neighbours are drawn. Texts and neighbours are in files, as in a run
that has a folder, so that memory is what judging needs itself: RssAnon above what the process held
before, looked at from outside every 50 ms. Each size has a process of its own. No line is kept.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from memory import EVERY, held, megabytes

from xmine.evaluation.reports.record import record, write_record
from xmine.files.scratch import scratch_in
from xmine.knn.neighbours import Neighbours
from xmine.mining import candidates, selection
from xmine.mining.candidates import Candidates
from xmine.mining.options import MiningOptions
from xmine.pairs.io import write_pairs
from xmine.scoring.margin import margin_scores
from xmine.scoring.retrieval import choose_pairs
from xmine.text.packed import PackedTexts
from xmine.text.sentences import Sentences

EXAMPLES = Path(__file__).parents[1] / "examples"
K = 4
_SYLLABLES = {
    "en": [first + last for first in "bdfghklmnprstvz" for last in "aeiou"],
    "zh": list("山河湖海风云雨雪日月星辰春夏秋冬东西南北梅兰竹菊金木水火土石田园松柏"),
}


def word(number: int, language: str) -> str:
    """Write a number in syllables."""
    syllables = _SYLLABLES[language]
    text = ""
    while number:
        number, digit = divmod(number, len(syllables))
        text += syllables[digit]
    return text


def lines(language: str, size: int) -> Iterator[str]:
    """Make lines that differ in their letters."""
    known = (EXAMPLES / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    known = [line for line in known if line.strip()]
    between = " " if language == "en" else ""
    for row in range(size):
        yield known[row % len(known)] + between + word(row + 1, language)


def prepare(size: int, folder: Path) -> None:
    """Write the texts of both sides and the neighbours of their rows.

    One row in two has its translation first; all others are drawn.
    """
    for language in _SYLLABLES:
        packed = PackedTexts.of(lines(language, size))
        np.save(folder / f"{language}.npy", packed.data)
        np.save(folder / f"{language}-offsets.npy", packed.offsets)
    random = np.random.default_rng(1)
    translated = random.random(size) < 0.5
    for name, cosines_name in (("targets", "target_cosines"), ("sources", "source_cosines")):
        near = np.sort(random.beta(20, 20, (size, K)).astype(np.float32), axis=1)[:, ::-1]
        ids = random.integers(0, size, (size, K))
        near[translated, 0] = 0.95 - 0.25 * np.random.default_rng(2).random(int(translated.sum()))
        ids[translated, 0] = np.flatnonzero(translated)
        np.save(folder / f"{name}.npy", ids)
        np.save(folder / f"{cosines_name}.npy", near)


def opened(folder: Path) -> tuple[Neighbours, list[Sentences]]:
    """Map what `prepare` wrote."""
    arrays = {path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy")}
    sides = []
    for language in _SYLLABLES:
        texts = PackedTexts(arrays[language], arrays[f"{language}-offsets"])
        rows, counts = np.arange(1, len(texts) + 1), np.ones(len(texts), dtype=np.int64)
        sides.append(Sentences(language, texts, rows, len(texts), 0, 0, occurrences=counts))
    names = ("targets", "target_cosines", "sources", "source_cosines")
    return Neighbours(*(arrays[name] for name in names)), sides


def judge(folder: Path) -> None:
    """Do what follows the search, and print when it began."""
    neighbours, sides = opened(folder)
    with scratch_in(folder):
        time.sleep(4 * EVERY)
        began = time.monotonic()
        scores = margin_scores(neighbours)
        chosen = choose_pairs(neighbours, scores)
        scored = Candidates(chosen, neighbours, scores, sides[0], sides[1])
        options = MiningOptions(threshold=float("-inf"))
        scored = candidates.read_candidates(scored, options, ("en", "zh"))
        estimated = candidates.estimate_probabilities(scored)
        mined = selection.select(estimated, candidates.flag(estimated, options), options)
        write_pairs(mined.pairs.rows(), str(folder / "pairs.tsv"))
    print(json.dumps({"candidates": len(chosen), "began": began}))


def costs_of(size: int) -> dict[str, Any]:
    """Judge the candidates of `size` lines on both sides in a process, and watch it."""
    looks: list[tuple[float, int]] = []
    with TemporaryDirectory() as name:
        prepare(size, Path(name))
        command = [sys.executable, __file__, "--judge", name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                looks.append((time.monotonic(), held(process.pid).anonymous))
                time.sleep(EVERY)
            assert process.stdout is not None
            said = json.loads(process.stdout.read())
    base = max(amount for at, amount in looks if at <= said["began"])
    highest = max(amount for at, amount in looks if at >= said["began"]) - base
    return {
        "lines": size,
        "candidates": said["candidates"],
        "peak_anonymous_megabytes": megabytes(highest),
        "bytes_a_line": round(highest / size),
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.judge:
        judge(arguments.judge)
        return
    result = record({"k": K, "sizes": list(map(costs_of, arguments.sizes))})
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
