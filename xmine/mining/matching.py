"""Pairs -> how well their tokens match, and the figures of a second model, in files of steps.

Each candidate is looked at once: it may be chosen, and it is the rival of others. Then the loosest
stretches of chosen pairs are looked for, and a second model is asked.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import unchanged
from xmine.encoders.rescorer import Rescorer
from xmine.encoders.tokens import TokenVectors
from xmine.encoders.vectors import Encoded
from xmine.files import scratch
from xmine.files.digests import digest
from xmine.knn.cosines import pair_cosines
from xmine.knn.neighbours import Neighbours
from xmine.progress import Report, silent, ticks
from xmine.run.local import LocalEngine
from xmine.run.pair_steps import look_at
from xmine.run.steps import Steps, joined
from xmine.run.task import Engine
from xmine.scoring.alignment import Looseness, loosest_stretches
from xmine.scoring.late_interaction import FIGURES, Rows, Singles, match_pairs
from xmine.scoring.reranking import TokenMatches
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.packed import PickedTexts

# The more pairs a task has, the more alike are the lengths of the pairs of a batch.
PAIRS_OF_A_TASK = 32_768
ROWS_AT_ONCE = 65_536
_COSINES_AT_ONCE = 65_536

# Gives the tokens of both sides; a method of plain data where tasks run elsewhere.
OpenTokens = Callable[[], tuple[TokenVectors, TokenVectors]]


def match_candidates(
    open_tokens: OpenTokens,
    neighbours: Neighbours,
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
        neighbours: the candidates.
        nearest: how many of them are candidates.
        steps: make the files, float32 [pairs, 7]: the figures of `match_pairs` of each candidate,
            and the numbers of tokens of both sides.
        made_of: names the tokens.
        tick: called with the number of rows that are done, of both sides.
        engine, prepare: see `Steps.make`.
    """
    near = neighbours.first(nearest)
    sizes = len(near.targets), len(near.sources)
    cells = (
        np.arange(sizes[0])[:, None] * sizes[1] + near.targets,
        near.sources * sizes[1] + np.arange(sizes[1])[:, None],
    )
    codes = np.unique(np.concatenate([each.ravel() for each in cells]))
    figures = look_at(
        (codes // sizes[1], codes % sizes[1]),
        partial(_match, open_tokens),
        np.float32,
        steps,
        "matches",
        made_of,
        PAIRS_OF_A_TASK,
        lambda done: tick(done * sum(sizes) // len(codes)),
        apart=engine is not None and engine.shared,
        engine=engine,
        prepare=prepare,
    )
    found = []
    for side, own in enumerate(cells):
        matches = scratch.empty((*own.shape, len(FIGURES)), np.float32)
        lengths = np.empty(len(own), np.float32)
        for some in scratch.slices(len(own), ROWS_AT_ONCE):
            every = figures[np.searchsorted(codes, own[some])]
            matches[some], lengths[some] = every[..., :-2], every[:, 0, side - 2]
        found.append((matches, lengths))
    (targets, lengths), (sources, others) = found
    return TokenMatches(targets, sources, lengths, others)


def _match(open_tokens: OpenTokens, x: Rows, y: Rows) -> Singles:
    tokens = open_tokens()
    lengths = (side.lengths_of(rows) for side, rows in zip(tokens, (x, y), strict=True))
    return np.column_stack([match_pairs(*tokens, x, y), *lengths]).astype(np.float32)


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
    pairs, look = (chosen.sources, chosen.targets), partial(_stretches, open_tokens)
    given = np.float32, steps, "stretches", made_of, PAIRS_OF_A_TASK, tick
    apart = engine is not None and engine.shared
    found = look_at(pairs, look, *given, apart=apart, engine=engine, prepare=prepare)
    figures = scratch.stored(found.T)
    return Looseness(figures[:2], figures[2:])


def _stretches(open_tokens: OpenTokens, x: Rows, y: Rows) -> Singles:
    loose = loosest_stretches(*open_tokens(), x, y).looseness
    return np.concatenate([loose.values, loose.weights]).T.astype(np.float32)


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
