"""English and Chinese text made of the embedded encoder's own words, for runs of any size.

    python bench/corpora.py --lines 1000000 --seed 1 -o FOLDER [--translated 0.5]
    python bench/corpora.py --compare ref.en ref.zh [--json OUT.json]

The first writes en.txt, zh.txt and gold.tsv (true pairs: line of en.txt, line of zh.txt). The
lines mean nothing: words of a document, of its topics and of the language, drawn so that lines are
as near to each other, for that encoder, as lines of news are. The second measures how near, beside
as many lines of real translations. The files are the same on any machine; while they are written,
about 50 bytes a line are held.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from drawn_lines import Corpus, Rows

from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.files.atomic import replacing
from xmine.files.reading import read_lines
from xmine.knn.exact import search_exact
from xmine.text.sentences import folded

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
K = 4
_AT_ONCE = 8192  # lines

Quantiles = dict[str, list[list[float]]]


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


def compare(
    english: Sequence[str], chinese: Sequence[str], seeds: Sequence[int]
) -> dict[str, object]:
    """Compare real translations, line by line, with generated ones of each seed."""
    real = cosine_quantiles(english, chinese)
    generated, distinct = {}, {}
    numbers = np.arange(len(english))
    for seed in seeds:
        corpus = Corpus(len(numbers), seed)
        sides = corpus.english(numbers), corpus.chinese(numbers)
        generated[str(seed)] = cosine_quantiles(*sides)
        distinct[str(seed)] = round(min(map(share_distinct, sides)), 4)
    return {
        "lines": len(english),
        "quantiles": QUANTILES,
        "real": real,
        "generated": generated,
        "largest_difference": {
            seed: largest_difference(each, real) for seed, each in generated.items()
        },
        "distinct": distinct,
    }


def cosine_quantiles(english: Sequence[str], chinese: Sequence[str]) -> Quantiles:
    """Give the quantiles of the cosines to the four nearest lines of the other side.

    Returns:
        For each direction four rows, of the nearest, the second, the third and the fourth.
    """
    encoder = SentenceEncoder.load()
    source, target = (encoder.encode(list(each)).astype(np.float16) for each in (english, chinese))
    found = search_exact(source, target, K)
    return {
        name: np.quantile(cosines, QUANTILES, axis=0).T.round(4).tolist()
        for name, cosines in (
            ("english to chinese", found.target_cosines),
            ("chinese to english", found.source_cosines),
        )
    }


def largest_difference(ours: Quantiles, theirs: Quantiles) -> float:
    """Compare quantile with quantile."""
    gaps = (np.array(ours[name]) - np.array(theirs[name]) for name in theirs)
    return round(max(float(np.abs(gap).max()) for gap in gaps), 4)


def share_distinct(lines: Sequence[str]) -> float:
    """Give the share of lines that folding leaves."""
    return len(set(map(folded, lines))) / len(lines)


def main() -> None:
    """Write corpora, or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--translated", type=float, default=0.5, help="share, from 0 to 1")
    parser.add_argument("-o", "--output", type=Path, help="folder to write to")
    parser.add_argument("--compare", nargs=2, metavar=("EN", "ZH"), help="aligned files")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5], help="to compare")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if not (arguments.output or arguments.compare):
        parser.error("give -o FOLDER or --compare EN ZH")
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        write_corpora(arguments.output, arguments.lines, arguments.seed, arguments.translated)
    if arguments.compare:
        english, chinese = map(read_lines, arguments.compare)
        files = {"files": [Path(name).name for name in arguments.compare]}
        result = record(files | compare(english, chinese, arguments.seeds))
        print(json.dumps(result, indent=2, ensure_ascii=False))
        if arguments.json:
            write_record(arguments.json, result)


if __name__ == "__main__":
    main()
