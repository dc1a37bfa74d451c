"""What follows the search: seconds and memory of scoring, pairing, judging and writing.

    python bench/judging.py [--sizes 100000 1000000] [--json OUT.json]

Lines are those of examples/ again and again, each time with another word, half of them with a
translation on the other side; neighbours are drawn. Texts and neighbours are in files, as in a run
that has a folder, so that memory is what judging needs itself: RssAnon above what it was before.
Each size is measured in a process of its own. No line is kept.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial, wraps
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
from memory import megabytes, watched
from numpy.typing import NDArray

from xmine import flags, keeping
from xmine.candidates import Scored
from xmine.evaluation.record import record, write_record
from xmine.margin import margin_scores
from xmine.neighbours import Neighbours
from xmine.options import MiningOptions
from xmine.packed import PackedTexts
from xmine.pairing import choose_pairs
from xmine.pairs import write_pairs
from xmine.sentences import Sentences

EXAMPLES = Path(__file__).parents[1] / "examples"
K = 4
REPEATS = 5  # of scoring and pairing, which take a second
# Parts of keep, and under flag_pairs parts of that.
PARTS: tuple[tuple[ModuleType, str], ...] = (
    (keeping, "same_texts"),
    (keeping, "estimate"),
    (keeping, "_languages"),
    (keeping, "flag_pairs"),
    (flags, "traits_of"),
    (flags, "_copies"),
    (keeping, "select"),
    (keeping, "_threshold"),
)
_SYLLABLES = {
    "en": [first + last for first in "bdfghklmnprstvz" for last in "aeiou"],
    "zh": list("山河湖海风云雨雪日月星辰春夏秋冬东西南北梅兰竹菊金木水火土石田园松柏"),
}

Costs = dict[str, dict[str, float]]


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


def side(language: str, size: int, folder: Path) -> Sentences:
    """Make a table of lines whose texts are in files."""
    packed = PackedTexts.of(lines(language, size))
    texts = PackedTexts(*(in_file(each, folder) for each in (packed.data, packed.offsets)))
    rows = np.arange(1, size + 1)
    counts = np.ones(size, dtype=np.int64)
    return Sentences(f"{language}.txt", texts, rows, size, 0, 0, occurrences=counts)


def in_file(array: NDArray[Any], folder: Path) -> NDArray[Any]:
    """Write an array, and map it."""
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, array)
    mapped: NDArray[Any] = np.load(path, mmap_mode="r")
    return mapped


def drawn(size: int, folder: Path) -> Neighbours:
    """Draw neighbours of rows: for one in two its translation first, for all of them others."""
    random = np.random.default_rng(1)
    near = np.sort(random.beta(20, 20, (2, size, K)).astype(np.float32), axis=2)[:, :, ::-1]
    ids = random.integers(0, size, (2, size, K))
    translated = random.random(size) < 0.5
    near[:, translated, 0] = random.uniform(0.7, 0.95, int(translated.sum()))
    ids[:, translated, 0] = np.flatnonzero(translated)
    return Neighbours(
        *(in_file(each, folder) for each in (ids[0], near[0], ids[1], near[1])),
    )


@contextmanager
def measured(costs: Costs, name: str, base: int) -> Iterator[None]:
    """Add the seconds of a block, and its peak of memory above `base` if it is higher."""
    with watched() as peak:
        started = time.perf_counter(), time.process_time()
        yield
        seconds, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    cost = costs.setdefault(name, {"seconds": 0.0, "cpu_seconds": 0.0, "peak_megabytes": 0})
    cost["seconds"] = round(cost["seconds"] + seconds, 3)
    cost["cpu_seconds"] = round(cost["cpu_seconds"] + cpu, 3)
    cost["peak_megabytes"] = max(cost["peak_megabytes"], megabytes(peak.anonymous - base))


def watch(module: ModuleType, name: str, costs: Costs, base: int) -> None:
    """Measure a function of a module whenever it is called."""
    called: Callable[..., Any] = getattr(module, name)

    @wraps(called)
    def instead(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        with measured(costs, name, base):
            return called(*arguments, **named)

    setattr(module, name, instead)


def costs_of(size: int) -> dict[str, Any]:
    """Judge the candidates of `size` lines on both sides."""
    costs: Costs = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        sides = side("en", size, folder), side("zh", size, folder)
        neighbours = drawn(size, folder)
        with watched() as peak:
            base = peak.before
        with measured(costs, "margin_scores", base):
            scores = margin_scores(neighbours)
        with measured(costs, "choose_pairs", base):
            chosen = choose_pairs(neighbours, scores)
        together = []
        for _ in range(REPEATS):
            started = time.perf_counter()
            choose_pairs(neighbours, margin_scores(neighbours))
            together.append(time.perf_counter() - started)
        for module, part in PARTS:
            watch(module, part, costs, base)
        scored = Scored(chosen, neighbours, scores, *sides)
        with measured(costs, "keep", base):
            mined = keeping.keep(scored, MiningOptions(threshold=float("-inf")), ("en", "zh"))
        with measured(costs, "write_pairs", base):
            write_pairs(mined.pairs.rows(), str(folder / "pairs.tsv"))
    return {
        "lines": size,
        "candidates": len(chosen),
        "scoring_and_pairing_seconds": round(min(together), 3),
        "bytes_a_line": round(1e6 * max(each["peak_megabytes"] for each in costs.values()) / size),
        "parts": costs,
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    spawn = partial(ProcessPoolExecutor, 1, get_context("spawn"), max_tasks_per_child=1)
    with spawn() as pool:
        result = record({"k": K, "sizes": list(pool.map(costs_of, arguments.sizes))})
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
