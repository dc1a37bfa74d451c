"""Figures of candidates that reranking could weigh besides, each a trial of bench/rerank.py."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import starmap

import numpy as np
from candidates import Floats, Pool, Rows
from lexical import Direction, compare
from numpy.typing import NDArray

from xmine.encoders.tokens import HEAVIEST, TokenVectors, on_principal_axes, whole_vectors
from xmine.flags.numbers import numbers_differ, reader

_LATIN = re.compile("[A-Za-z]{2,}")


def add_dropped(pool: Pool, x: Rows, y: Rows, matches: Floats) -> None:
    """Add the cosine, and the mean of A and B of matches [pairs, 3]."""
    rows = (each[which] for each, which in zip(pool.vectors, (x, y), strict=True))
    _spread(pool, "cosine", np.einsum("ij,ij->i", *rows, dtype=np.float64))
    _spread(pool, "mean match", matches[:, :2].mean(axis=1))


def add_numbers(pool: Pool, x: Rows, y: Rows) -> None:
    """Add whether numbers differ, as the flag `number` tells."""
    left, right = reader("en"), reader("zh")

    def differ(source: str, target: str) -> bool:
        return numbers_differ(source, target, left, right)

    _spread(pool, "numbers", _of_texts(pool, x, y, differ))


def add_latin(pool: Pool, x: Rows, y: Rows) -> None:
    """Add how many Latin words both have, at most three."""

    def shared(source: str, target: str) -> int:
        words = [set(_LATIN.findall(each.lower())) for each in (source, target)]
        return min(len(words[0] & words[1]), 3)

    _spread(pool, "Latin words", _of_texts(pool, x, y, shared))


def _of_texts(pool: Pool, x: Rows, y: Rows, compare: Callable[[str, str], float]) -> Floats:
    pairs = (
        (pool.lines[0][i], pool.lines[1][j]) for i, j in zip(x.tolist(), y.tolist(), strict=True)
    )
    return np.array(list(starmap(compare, pairs)), dtype=np.float64)


def add_lengths(pool: Pool, x: Rows, y: Rows) -> None:
    """Add how far the ratio of the numbers of tokens is from the usual one, as logs."""
    ratios = np.log((pool.tokens[0].lengths[x] + 1) / (pool.tokens[1].lengths[y] + 1))
    _spread(pool, "length ratio", np.abs(ratios - np.median(ratios)))


def add_lexical(pool: Pool, x: Rows, y: Rows, tables: Sequence[Direction]) -> None:
    """Add what a lexical table says."""
    for name, found in compare(tables, *pool.tokens, x, y).items():
        _spread(pool, name, found)


def add_dimensions(pool: Pool, x: Rows, y: Rows, vectors: NDArray[np.float32], dim: int) -> None:
    """Add the figures of tokens with this many dimensions of the vectors of pieces."""
    table = on_principal_axes(whole_vectors(vectors)[0], dim)
    source, target = (replace(each, table=table, dim=dim) for each in pool.tokens)
    found = pool.look(x, y, (source, target))
    pool.measure(f"{dim} dimensions: ", [found[each.cells] for each in pool.sets])


def add_rarity(pool: Pool) -> None:
    """Add the figures of tokens that weigh more where few lines of the same file have them."""
    found = []
    for each in pool.sets:
        source, target = starmap(_rarer, zip(pool.tokens, each.rows, strict=True))
        x, y = (rows[cells] for rows, cells in zip(each.rows, each.pairs(), strict=True))
        found.append(pool.look(x, y, (source, target)))
    pool.measure("rarity: ", found)


def _rarer(tokens: TokenVectors, rows: Rows) -> TokenVectors:
    """Multiply weights by the log of how few of some lines have a token."""
    ids, starts = np.asarray(tokens.ids), tokens.starts.tolist()
    held = [np.unique(ids[starts[row] : starts[row + 1]]) for row in rows.tolist()]
    lines = np.bincount(np.concatenate(held), minlength=len(tokens.table))
    weights = tokens.weights * np.log((len(rows) + 1) / (lines + 0.5)).clip(0)
    weights *= HEAVIEST / weights[lines > 0].max()
    return replace(tokens, weights=np.rint(weights).clip(1, HEAVIEST).astype(np.float32))


def _spread(pool: Pool, name: str, found: Floats) -> None:
    """Give all sets the figure of their cells."""
    for each in pool.sets:
        each.figures[name] = found[each.cells]
