"""The folders `eval/` and `train/` -> the sets that bench/rerank.py fits and measures on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from candidates import Pool
from mixtures import Corpus, mixtures, read_corpus

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.token_files import texts_read
from xmine.evaluation.data import DataFolder
from xmine.evaluation.readers.bucc import find_bucc
from xmine.files.reading import read_lines
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.options import load_toml
from xmine.pairs.io import read_parallel
from xmine.trainer.data.corpus import Corpus as TrainingCorpus
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.run.prepare import Split

SHARES = (0.02, 0.1, 0.3, 0.6)  # of lines with a translation, in mixtures of EVAL
FIT_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.6)
FIT_SIZES = (700, 1400)  # lines a side
ALL_SIZE = 5000
LEAST_TOKENS = 5  # of the shorter side of a pair to fit on, as in `xmine train`
NEAREST = 10


def fit_pools(encoder: SentenceEncoder, train: Path, draws: int) -> list[Pool]:
    """Mix the pairs that were held out of the embedded encoder's training, by pair of languages.

    The languages are in the order of the files of pairs, which decides what was held out.
    """
    options = MsimcseOptions(**load_toml(EMBEDDED / "options.toml"))
    codes = [code for code in encoder.facts.languages if code != "en"]
    read = read_parallel(*(train / f"en-{code}.tsv.gz" for code in codes))
    seen = TrainingCorpus(read).parted(options.held_out_origins).pairs
    assert seen
    pairs = Split.of(seen, options).held_out
    lengths = [texts_read(encoder, each).lengths for each in (pairs.sources, pairs.targets)]
    long = np.minimum(*lengths) >= LEAST_TOKENS
    pools = []
    for rows in pairs.languages.rows() if pairs.languages else [np.arange(len(pairs))]:
        some = pairs.take(rows[long[rows]])
        pool = Pool(encoder, list(some.sources), list(some.targets))
        corpus = Corpus(*pool.lines, len(some), {"fit": np.arange(len(some))}, FIT_SHARES)
        most = len(some) // 2  # lines a side, so that few need be parallel
        sizes = FIT_SIZES if max(FIT_SIZES) <= most else (most // 2, most)
        _add_mixtures(pool, corpus, sizes, draws)
        pools.append(pool)
    return pools


def _add_mixtures(pool: Pool, corpus: Corpus, sizes: tuple[int, ...], draws: int) -> None:
    """Add mixtures of a corpus, whose lines are those of the pool."""
    for each in mixtures(corpus, sizes, draws):
        order = np.argsort(each.chinese)
        place = order[np.searchsorted(each.chinese, each.english, sorter=order) % len(order)]
        gold = np.where(each.chinese[place] == each.english, place, -1)
        pool.add(each.source, each.share, (each.english, corpus.chinese_rows(each)), gold)


def mixed_pool(encoder: SentenceEncoder, data: Path, draws: int) -> Pool:
    """Mix the aligned sets of EVAL."""
    corpus = read_corpus(data)
    pool = Pool(encoder, corpus.english, corpus.chinese)
    groups = {"all": corpus.groups["all"]}
    _add_mixtures(pool, replace(corpus, groups=groups, shares=SHARES), (ALL_SIZE,), draws)
    return pool


def bucc_pool(encoder: SentenceEncoder, data: Path) -> Pool:
    """Read the BUCC sample."""
    split = find_bucc(DataFolder(data)).read("zh-en", "sample")
    chinese, english = ({name: row for row, (name, _) in enumerate(side)} for side in split.sides)
    gold = np.full(len(english), -1)
    for zh, en in split.gold:
        gold[english[en]] = chinese[zh]
    pool = Pool(encoder, *([text for _, text in side] for side in split.sides[::-1]))
    pool.add("BUCC", 0.02, (np.arange(len(english)), np.arange(len(chinese))), gold)
    return pool


def tatoeba_pool(encoder: SentenceEncoder, data: Path) -> Pool:
    """Read the Tatoeba test set of Mandarin."""
    sides = [list(read_lines(data / f"tatoeba/tatoeba.cmn-eng.{code}")) for code in ("eng", "cmn")]
    rows = np.arange(len(sides[0]))
    pool = Pool(encoder, *sides)
    pool.add("Tatoeba", 1.0, (rows, rows), rows, nearest=NEAREST)
    return pool


def paws_pool(encoder: SentenceEncoder, data: Path) -> Pool:
    """Read the pairs of PAWS-X that differ in meaning; such two sentences are neighbours."""
    files = [read_lines(data / f"pawsx/dev-{code}.tsv") for code in ("en", "zh")]
    items = [tuple(line.split("\t") for line in lines) for lines in zip(*files, strict=True)]
    some = [item for item in items if all(row[2] == "0" and all(row) for row in item)]
    some = [item for item in some if item[1][0] != item[1][1]]
    sides = [[text for item in some for text in item[side][:2]] for side in (0, 1)]
    pool, rows = Pool(encoder, *sides), np.arange(2 * len(some))
    source, target = pool.vectors
    two = [
        search_exact(source[row : row + 2], target[row : row + 2], 2) for row in rows[::2].tolist()
    ]
    ids = [np.concatenate([getattr(each, name) for each in two]) for name in ("targets", "sources")]
    cosines = [
        np.concatenate([getattr(each, f"{name}_cosines") for each in two])
        for name in ("target", "source")
    ]
    first = (rows // 2 * 2)[:, None]
    near = Neighbours(ids[0] + first, cosines[0], ids[1] + first, cosines[1])
    pool.add("PAWS-X", 1.0, (rows, rows), rows, near)
    return pool
