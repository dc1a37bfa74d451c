"""Pairs -> how well their tokens match, and the figures of a second model, in files of steps.

Each candidate is looked at once: it may be chosen, and it is the rival of others. Then the loosest
stretches of chosen pairs are looked for, and a second model is asked.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import unchanged
from xmine.encoders.rescorer import Rescorer
from xmine.encoders.tokens import TokenVectors
from xmine.encoders.vectors import Encoded
from xmine.files import scratch
from xmine.files.digests import digest
from xmine.files.sealed_arrays import opened_sealed
from xmine.knn.cosines import pair_cosines
from xmine.knn.neighbours import Neighbours, found_in
from xmine.progress import Report, silent, ticks
from xmine.run.local import LocalEngine
from xmine.run.steps import Steps, joined, rows_of
from xmine.run.task import Engine
from xmine.scoring.alignment import Looseness, loosest_stretches
from xmine.scoring.late_interaction import FIGURES, Rows, Singles, match_pairs
from xmine.scoring.reranking import TokenMatches
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.packed import PickedTexts

# Rows or pairs of a task: the more, the more alike are the lengths of the pairs of a batch.
ROWS_OF_A_TASK = 16_384
_COSINES_AT_ONCE = 65_536

# Gives the tokens of both sides; a method of plain data where tasks run elsewhere.
OpenTokens = Callable[[], tuple[TokenVectors, TokenVectors]]


def match_candidates(
    open_tokens: OpenTokens,
    neighbours: Neighbours | Path,
    nearest: int,
    steps: Steps,
    made_of: Sequence[str],
    tick: Callable[[int], None] = silent,
    engine: Engine | None = None,
    prepare: Callable[[], object] = lambda: None,
) -> TokenMatches:
    """Compare all candidates token by token, each once.

    Args:
        open_tokens: gives the tokens of both sides, in a task.
        neighbours: the candidates, or the folder of their search.
        nearest: how many of them are candidates.
        steps: make the files, float32 [rows, 5 k + 1]: the figures of `match_pairs` of each
            candidate, and the number of tokens of the row.
        made_of: names tokens and neighbours.
        tick: called with the number of rows that are done, of both sides.
        engine, prepare: see `Steps.make`.
    """
    near = _opened(neighbours, nearest)
    done, known, found = 0, None, []
    for name, ids in (("source", near.targets), ("target", near.sources)):
        maker = partial(_match, open_tokens, neighbours, nearest, known)
        rows = range(0, len(ids), ROWS_OF_A_TASK)
        arrays, further = (
            {f"matches-{name}": np.float32},
            partial(lambda before, row: tick(before + row), done),
        )
        key = [*made_of, str(nearest)]
        files = steps.make(arrays, key, rows, maker, further, engine=engine, prepare=prepare)
        done += len(ids)
        known = [path for (path,) in files]
        matrix = joined(files, 0, np.float32)
        found.append((matrix[:, :-1].reshape(len(matrix), -1, len(FIGURES)), matrix[:, -1]))
    (targets, lengths), (sources, others) = found
    return TokenMatches(targets, sources, lengths, others)


def _opened(neighbours: Neighbours | Path, nearest: int) -> Neighbours:
    found = found_in(neighbours) if isinstance(neighbours, Path) else neighbours
    assert found is not None
    return found.first(nearest)


def _match(
    open_tokens: OpenTokens,
    neighbours: Neighbours | Path,
    nearest: int,
    known: Sequence[Path] | None,
    start: int,
    stop: int,
) -> Iterator[tuple[Singles]]:
    """Compare the candidates of some rows of a side; `known` has the matches of the sources."""
    tokens, near, rows = open_tokens(), _opened(neighbours, nearest), np.arange(start, stop)
    if known is None:
        x, y = np.broadcast_arrays(rows[:, None], near.targets[rows])
        missing = np.ones(x.shape, dtype=bool)
        matches = np.empty((*x.shape, len(FIGURES)), np.float32)
    else:
        x, y = np.broadcast_arrays(near.sources[rows], rows[:, None])
        same = near.targets[x] == y[..., None]  # [rows, k, k of the sources]
        missing = ~same.any(axis=-1)
        theirs = rows_of(known, ROWS_OF_A_TASK, x)[..., :-1].reshape(*x.shape, -1, len(FIGURES))
        at = same.argmax(axis=-1)[..., None, None]
        matches = np.take_along_axis(theirs, at, axis=-2)[..., 0, :]
    matches[missing] = match_pairs(*tokens, x[missing], y[missing])
    lengths = tokens[0 if known is None else 1].lengths_of(rows)[:, None].astype(np.float32)
    yield (np.concatenate([matches.reshape(len(rows), -1), lengths], axis=1),)


def stretches_of_chosen(
    open_tokens: OpenTokens,
    chosen: ChosenPairs,
    steps: Steps,
    made_of: Sequence[str],
    tick: Callable[[int], None] = silent,
    engine: Engine | None = None,
    prepare: Callable[[], object] = lambda: None,
) -> Looseness:
    """Find the loosest stretches of the chosen pairs, in any order.

    Args:
        open_tokens: gives the tokens of both sides, in a task.
        chosen: the pairs.
        steps: make the files, float32 [pairs, 4]: looseness and weight of source and target.
        made_of: names the tokens.
        tick: called with the number of pairs that are done.
        engine, prepare: see `Steps.make`.
    """
    order = np.lexsort((chosen.targets, chosen.sources))
    rows = scratch.empty((len(chosen), 2), np.int64)
    rows[:, 0], rows[:, 1] = chosen.sources[order], chosen.targets[order]
    made_of = [*made_of, digest(rows.data.cast("B") if rows.size else b"")]
    given = steps.put("likely", rows) if engine and engine.shared else rows
    maker, arrays = partial(_stretches, open_tokens, given), {"stretches": np.float32}
    starts = range(0, len(rows), ROWS_OF_A_TASK)
    files = steps.make(arrays, made_of, starts, maker, tick, engine=engine, prepare=prepare)
    figures = scratch.empty((4, len(rows)), np.float32)
    if files:
        figures[:, order] = joined(files, 0, np.float32).T
    return Looseness(figures[:2], figures[2:])


def _stretches(
    open_tokens: OpenTokens, pairs: Rows | Path, start: int, stop: int
) -> Iterator[tuple[Singles]]:
    rows = opened_sealed(pairs, np.int64) if isinstance(pairs, Path) else pairs
    x, y = np.ascontiguousarray(rows[start:stop].T)
    loose = loosest_stretches(*open_tokens(), x, y).looseness
    yield (np.concatenate([loose.values, loose.weights]).T.astype(np.float32),)


def read_figures(
    model: Rescorer,
    encoded: tuple[Encoded, Encoded],
    rows: tuple[Rows, Rows],
    steps: Steps,
    encode: Callable[[SentenceEncoder], list[NDArray[np.float16]]],
    report: Report = silent,
) -> Singles:
    """Judge each pair once.

    Args:
        model: an encoder, whose figure is the cosine of two sentence vectors, or a cross-encoder,
            whose figure is the raw logit.
        encoded: the sentences of both sides.
        rows: int64 [pairs] twice, of each pair.
        steps: make the files, float32 [pairs, 1].
        encode: gives the vectors of all sentences by an encoder.
        report: told the progress of a cross-encoder.

    Returns:
        float32 [pairs].
    """
    x, y = rows
    (source, _), (target, _) = encoded
    vectors = cache(lambda: encode(model) if isinstance(model, SentenceEncoder) else [])

    def judge(start: int, stop: int) -> Iterator[tuple[Singles]]:
        ours, theirs = x[start:stop], y[start:stop]
        if isinstance(model, SentenceEncoder):
            left, right = vectors()
            figures = pair_cosines(left, right, ours, theirs)
        else:
            texts = PickedTexts(source.texts, ours)[:], PickedTexts(target.texts, theirs)[:]
            figures = model.judge(*texts)
        yield (unchanged(model.source, figures)[:, None].astype(np.float32),)

    mark = model.fingerprint()
    if mark is None and isinstance(model, SentenceEncoder):
        mark = model.fingerprint_in_memory()
    made_of = [str(mark), source.digest(), target.digest(), digest(x.tobytes(), y.tobytes())]
    size = _COSINES_AT_ONCE if isinstance(model, SentenceEncoder) else model.pairs_at_once
    tick = ticks(report, "judging pairs", len(x))
    starts, here = range(0, len(x), size), LocalEngine()
    files = steps.make({"rescoring": np.float32}, made_of, starts, judge, tick, engine=here)
    return joined(files, 0, np.float32)[:, 0] if files else np.empty(0, np.float32)
