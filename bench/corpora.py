"""English and Chinese text made of the embedded encoder's own words, for runs of any size.

    python bench/corpora.py --lines 1000000 --seed 1 -o FOLDER [--translated 0.5]

Writes en.txt, zh.txt and gold.tsv (true pairs: line of en.txt, line of zh.txt). The lines mean
nothing: words of a document, of its topics and of the language, drawn so that lines are as near to
each other, for that encoder, as lines of news are. The files are the same on any machine; while
they are written, about 50 bytes a line are held.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from drawn_lines import Corpus, Rows

from xmine.files.atomic import replacing

_AT_ONCE = 8192  # lines


def write_corpora(folder: Path, lines: int, seed: int, translated: float) -> None:
    """Write en.txt, zh.txt and, last, gold.tsv.

    Args:
        folder: exists.
        lines: of each file.
        seed: of everything.
        translated: share of the lines of either file that have a translation in the other.
    """
    pairs = round(lines * translated)
    corpus = Corpus(2 * lines - pairs, seed)
    english, chinese = corpus.shuffled(lines, 0), corpus.shuffled(lines, 1)
    # Numbers below `pairs` are on both sides; from there on each side has its own.
    _write(folder / "en.txt", english, corpus.english)
    _write(
        folder / "zh.txt",
        np.where(chinese < pairs, chinese, chinese + lines - pairs),
        corpus.chinese,
    )
    where = np.empty(lines, dtype=np.int64)  # the line of zh.txt, from 1
    where[chinese] = np.arange(1, lines + 1)
    with replacing(folder / "gold.tsv") as partial, partial.open("w", encoding="utf-8") as file:
        for start in range(0, lines, _AT_ONCE):
            numbers = english[start : start + _AT_ONCE]
            ours = np.flatnonzero(numbers < pairs)
            rows = zip((start + 1 + ours).tolist(), where[numbers[ours]].tolist(), strict=True)
            file.writelines(f"{source}\t{target}\n" for source, target in rows)


def _write(path: Path, numbers: Rows, lines: Callable[[Rows], list[str]]) -> None:
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:
        for start in range(0, len(numbers), _AT_ONCE):
            file.writelines(f"{line}\n" for line in lines(numbers[start : start + _AT_ONCE]))


def main() -> None:
    """Write corpora."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--translated", type=float, default=0.5, help="share, from 0 to 1")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write to")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    write_corpora(arguments.output, arguments.lines, arguments.seed, arguments.translated)


if __name__ == "__main__":
    main()
