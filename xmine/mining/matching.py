"""Sentences and neighbours -> how well the tokens of each candidate match, in files of a step.

Each candidate is looked at once: it may be chosen, and it is the rival of others.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokens import TokenVectors
from xmine.knn.neighbours import Neighbours, found_in
from xmine.run.steps import Steps, joined, rows_of
from xmine.run.task import Engine
from xmine.scoring.late_interaction import FIGURES, match_pairs
from xmine.scoring.reranking import TokenMatches

# Rows of a task: the more, the more alike are the lengths of the pairs of a batch.
ROWS_OF_A_TASK = 16_384

Singles = NDArray[np.float32]
Rows = NDArray[np.int64]
Tokens = tuple[TokenVectors, TokenVectors]
# Gives the tokens of both sides; a method of plain data where tasks run elsewhere.
OpenTokens = Callable[[], Tokens]


def match_candidates(
    open_tokens: OpenTokens,
    neighbours: Neighbours | Path,
    nearest: int,
    steps: Steps,
    made_of: Sequence[str],
    tick: Callable[[int], None] = lambda rows: None,
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
        files = steps.make(
            {f"matches-{name}": np.float32},
            [*made_of, str(nearest)],
            rows,
            maker,
            lambda row, done=done: tick(done + row),  # type: ignore[misc]
            engine=engine,
            prepare=prepare,
        )
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
