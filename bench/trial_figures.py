"""Figures of candidates that reranking could weigh besides, each a trial of bench/rerank.py."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import starmap

import numpy as np
from candidates import Floats, Pool, Rows
from lexical import Direction, compare
from numpy.typing import NDArray

from xmine.encoders.tokens import (
    HEAVIEST,
    UNIT,
    TokenVectors,
    on_axes,
    principal_axes,
    weightiest,
    whole_vectors,
)
from xmine.flags.numbers import differing, reader

_LATIN = re.compile("[A-Za-z]{2,}")


def add_cosine(pool: Pool, x: Rows, y: Rows) -> None:
    """Add the cosine of the sentences."""
    rows = (each[which] for each, which in zip(pool.vectors, (x, y), strict=True))
    spread(pool, "cosine", np.einsum("ij,ij->i", *rows, dtype=np.float64))


def add_tokens(pool: Pool, x: Rows, y: Rows) -> None:
    """Add the log of the tokens of the shorter side."""
    tokens = np.minimum(pool.tokens[0].lengths[x], pool.tokens[1].lengths[y])
    spread(pool, "log tokens", np.log(np.maximum(tokens, 1)))


def add_counterparts(pool: Pool, x: Rows, y: Rows) -> None:
    """Add figures of A and B without and with the condition that counterparts choose each other.

    "all: lower" and "all: match_lead" are without, "lower" is with the condition.
    """
    shares = np.zeros((len(x), 2, 2))
    for pair, (i, j) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        (s, v), (t, w) = pool.tokens[0].of(i), pool.tokens[1].of(j)
        if len(s) and len(t):
            cosines = s @ t.T / UNIT**2
            best = np.maximum(cosines.max(axis=1), 0), np.maximum(cosines.max(axis=0), 0)
            own, back = cosines.argmax(axis=1), cosines.argmax(axis=0)
            mutual = back[own] == np.arange(len(s)), own[back] == np.arange(len(t))
            for side, weights in enumerate((v, w)):
                found = best[side] @ weights, (best[side] * mutual[side]) @ weights
                shares[pair, :, side] = np.array(found) / weights.sum()
    spread(pool, "all: lower", shares[:, 0].min(axis=1))
    spread(pool, "lower", shares[:, 1].min(axis=1))
    every = np.stack([shares[:, 0].mean(axis=1)] * 3, axis=1)
    pool.measure("all: ", [every[each.cells] for each in pool.sets])


def add_numbers(pool: Pool, x: Rows, y: Rows) -> None:
    """Add whether numbers differ, as the flag `number` tells."""
    left, right = reader("en"), reader("zh")

    def differ(source: str, target: str) -> bool:
        return differing(source, target, left, right) is not None

    spread(pool, "numbers", _of_texts(pool, x, y, differ))


def add_latin(pool: Pool, x: Rows, y: Rows) -> None:
    """Add how many Latin words both have, at most three."""

    def shared(source: str, target: str) -> int:
        words = [set(_LATIN.findall(each.lower())) for each in (source, target)]
        return min(len(words[0] & words[1]), 3)

    spread(pool, "Latin words", _of_texts(pool, x, y, shared))


def _of_texts(pool: Pool, x: Rows, y: Rows, compare: Callable[[str, str], float]) -> Floats:
    pairs = (
        (pool.lines[0][i], pool.lines[1][j]) for i, j in zip(x.tolist(), y.tolist(), strict=True)
    )
    return np.array(list(starmap(compare, pairs)), dtype=np.float64)


def add_lengths(pool: Pool, x: Rows, y: Rows) -> None:
    """Add how far the ratio of the numbers of tokens is from the usual one, as logs."""
    ratios = np.log((pool.tokens[0].lengths[x] + 1) / (pool.tokens[1].lengths[y] + 1))
    spread(pool, "length ratio", np.abs(ratios - np.median(ratios)))


def add_lexical(pool: Pool, x: Rows, y: Rows, tables: Sequence[Direction]) -> None:
    """Add what a lexical table says."""
    for name, found in compare(tables, *pool.tokens, x, y).items():
        spread(pool, name, found)


def add_dimensions(
    pool: Pool, x: Rows, y: Rows, vectors: NDArray[np.float32], dim: int, *, of_all: bool = False
) -> None:
    """Add the figures of tokens with this many dimensions of the vectors of pieces.

    The dimensions are those of the words of the texts; `of_all`, those of the whole vocabulary.
    """
    whole, name = whole_vectors(vectors)[0], f"{dim} dimensions{' of all' * of_all}: "
    rows, weights = np.arange(0, len(whole), -(-len(whole) // 4096)), np.ones(0)
    if of_all:
        weights = np.ones(len(rows))
    else:
        shares = [np.bincount(np.asarray(each.ids), minlength=len(whole)) for each in pool.tokens]
        heavy = np.asarray(pool.tokens[0].weights, dtype=np.float64) ** 2
        rows, weights = weightiest(sum(each / each.sum() for each in shares) * heavy)
    table = whole
    if dim < whole.shape[1]:
        table = on_axes(whole, principal_axes(whole[rows], weights, dim))
    source, target = (replace(each, table=table, dim=dim) for each in pool.tokens)
    found = pool.look(x, y, (source, target))
    pool.measure(name, [found[each.cells] for each in pool.sets])


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


def spread(pool: Pool, name: str, found: Floats) -> None:
    """Give all sets the figure of their cells."""
    for each in pool.sets:
        each.figures[name] = found[each.cells]
